"""What the README shows of the quickstart is what the quickstart prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.toolenv.cli.command import ROOT, environment, spawned

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```text\n(.*?)```", README, re.DOTALL)


@pytest.mark.slow
def test_the_readme_shows_what_quickstart_prints(tmp_path: Path, bfcl_package: Path) -> None:
    """Whole, on 252 tasks of Workflows and all of BFCL, as on a terminal of 80 columns."""
    ended = spawned("quickstart", cwd=tmp_path, env=environment(COLUMNS="80"))
    assert ended.code == 0, ended.err
    (shown,) = SHOWN
    assert [line.rstrip() for line in ended.out.splitlines()] == shown.splitlines()
    assert len(shown.splitlines()) < 50, "little more than a screen"


def test_the_readme_imports_the_package_before_it_makes_an_environment() -> None:
    """Without it, Gymnasium says that the namespace is not found."""
    (first, *_) = (block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL))
    assert first.index("import toolenv") < first.index("gym.make(")
