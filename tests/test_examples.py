"""Every example and every Python block of the README runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def run(code: str, folder: Path) -> str:
    script = folder / "script.py"
    script.write_text(code, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("bfcl_package")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path) -> None:
    """Every rate bears its interval and its n."""
    told = run(path.read_text(encoding="utf-8"), tmp_path)
    assert told.strip()
    rates = re.findall(r"(?:FCR|SR|FASS|[Ff]alse stops?)(?: strict| of a random policy)?:? (\d.*)", told)
    assert all(re.match(r"[\d.]+% \[[<>\d.]+–[<>\d.]+\], n=[\d,]+", one) for one in rates), told


@pytest.mark.usefixtures("bfcl_package")
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_readme_blocks_run(number: int, tmp_path: Path) -> None:
    run(BLOCKS[number], tmp_path)


def test_there_is_something_to_run() -> None:
    assert len(EXAMPLES) >= 3
    assert BLOCKS
