"""What a user brings as ``module:attribute``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolenv.errors import UnknownNameError, UsageError
from toolenv.plugged_in import plugged_in

MODULES = {
    "own_good": "thing = 7",
    "own_lacking": "\nimport no_such_library",
    "own_failing": "\n\nraise RuntimeError('boom')",
    "own_broken": "x = (",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name, None)


def test_what_is_there() -> None:
    assert plugged_in("agent", "own_good", "thing") == 7


@pytest.mark.parametrize("name", ["", ".own_good", "own good", "no_such_module", "json.nothing"])
def test_no_module_of_that_name(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown agent or module {name!r}; known: oracle"):
        plugged_in("agent", name, "thing", ["oracle"])


def test_the_nearest_name_of_ours_and_of_the_module() -> None:
    with pytest.raises(UnknownNameError, match="unknown agent or module 'Orakle'; did you mean 'oracle'"):
        plugged_in("agent", "Orakle", "thing", ["oracle"])
    with pytest.raises(
        UnknownNameError, match="unknown attribute 'Thin' in module own_good; did you mean 'th"
    ):
        plugged_in("agent", "own_good", "Thin")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "own_lacking",
            r"ModuleNotFoundError: No module named 'no_such_library' \(.*own_lacking.py, line 2\)",
        ),
        ("own_failing", r"RuntimeError: boom \(.*own_failing.py, line 3\)"),
        ("own_broken", r"SyntaxError: .*\(own_broken.py, line 1\)$"),
    ],
)
def test_a_module_that_fails_is_told_with_its_line(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"module '{name}' cannot be imported: {told}"):
        plugged_in("agent", name, "thing")


def test_a_file_s_name_is_no_module_s() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown agent or module 'my_agent\.py'; did you mean 'my_agent'\?"
    ):
        plugged_in("agent", "my_agent.py", "careful", ["oracle"])
