"""The user's own line in a traceback: found in real ones, with frames of others around it."""

from __future__ import annotations

import json
import traceback

import pytest

from toolenv.actions import check_action
from toolenv.report.raised_at import raised_at, up_to_raised


def caught(*arguments: object) -> str:
    """The traceback of a JSON text that is none, raised in Python's own library."""
    try:
        json.loads(*arguments)  # type: ignore[arg-type]
    except Exception as error:
        return "".join(traceback.format_exception(error))
    raise AssertionError


def test_frames_of_python_below_the_users_own_are_passed_over() -> None:
    found = caught("{")
    assert "decoder.py" in found
    line = caught.__code__.co_firstlineno + 3
    assert raised_at(found) == f"test_raised_at.py:{line} in caught"


def test_frames_of_toolenv_below_and_above_are_passed_over() -> None:
    try:
        check_action(5, "policy 'x'")
    except ValueError as error:
        found = "".join(traceback.format_exception(error))
    assert found.count("actions.py") == 1
    assert raised_at(found).startswith("test_raised_at.py:")


@pytest.mark.parametrize(
    "error",
    [
        "",
        "ValueError: no traceback",
        '  File "/x/site-packages/numpy/linalg.py", line 3, in inv\n',
        '  File "<frozen runpy>", line 198, in run\n',
        '  File "/usr/lib/python3.12/json/decoder.py", line 3, in decode\n',
    ],
)
def test_where_nothing_is_the_users_own_nothing_is_told(error: str) -> None:
    assert raised_at(error) == ""


def test_paths_of_other_systems() -> None:
    assert raised_at('  File "C:\\me\\broken.py", line 2, in boom\n    x()\n') == "broken.py:2 in boom"


def traced(error: Exception) -> str:
    try:
        raise error
    except Exception as raised:
        return "".join(traceback.format_exception(raised))


def with_note() -> Exception:
    error = ValueError("wrong")
    error.add_note("see docs/environment.md")
    return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("cannot parse reply:\n{\n 'a': 1\n}\n"), "ValueError: cannot parse reply:"),
        (KeyError("a"), "KeyError: 'a'"),
        (ValueError(), "ValueError"),
        (with_note(), "ValueError: wrong"),
        (
            ExceptionGroup("several", [ValueError("a"), TypeError("b")]),
            "ExceptionGroup: several (2 sub-exceptions)",
        ),
    ],
)
def test_the_line_that_names_the_exception_is_found(error: Exception, line: str) -> None:
    found = traced(error)
    assert up_to_raised(found).splitlines()[-1] == line
    assert raised_at(found).endswith(" in traced")
    cut = "…" + up_to_raised(found)[-120:]
    assert up_to_raised(cut).endswith(line), "the end of one is read alike"


def test_of_a_chain_it_is_the_last_one() -> None:
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise RuntimeError("second\nmore") from error
    except RuntimeError as error:
        found = "".join(traceback.format_exception(error))
    assert up_to_raised(found).splitlines()[-1] == "RuntimeError: second"


@pytest.mark.parametrize("text", ["", "no server answers", "several\nlines of a server"])
def test_what_is_no_traceback_stays_as_it_is(text: str) -> None:
    assert up_to_raised(text) == text
