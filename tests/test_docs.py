"""The code of the pages runs as they show it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```\w+ file=(\S+)\n(.*?)```", re.DOTALL)


def test_adding_a_suite(tmp_path: Path) -> None:
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, code in BLOCK.findall((ROOT / "docs/adding-a-suite.md").read_text(encoding="utf-8")):
        files[name].append(code)
    for name, parts in files.items():
        (tmp_path / name).write_text("\n\n".join(parts), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}

    def run(*script: str) -> str:
        command = [sys.executable, "-W", "error", *script]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    toolenv = ("-c", "from toolenv.cli import main; main()")
    clean = "library_envs:ToolFeas/Library-clean-v0"
    assert f"{clean}: 3 tasks, 0 findings" in run(*toolenv, "validate", clean), "before there are masks"
    built = ("build", "library_suite:SUITE", "--reference", "--out", "other.json")
    assert "other.json: 3 masks, 0 excluded" in run(*toolenv, *built)

    assert "'lend-dune': ('lend',)" in run("build.py")
    lines = run("use.py").splitlines()
    assert "ToolFeas/Library-mixed-v0" in lines[0]
    assert lines[1:] == [
        "lend-dune feasible 1.0",
        "find-emma feasible 1.0",
        "return-emma feasible 1.0",
        "lend-dune infeasible 1.0",
        "find-emma infeasible 1.0",
        "return-emma infeasible 1.0",
    ]
    assert f"{clean}: 3 tasks" in run(*toolenv, "validate", clean)
    assert clean in run(*toolenv, "envs", "library_envs:ToolFeas/Library-*-v0")
    for number, place in enumerate(
        ((), ("--concurrency", "2"), ("--runner", "processes", "--concurrency", "2"))
    ):
        out = str(tmp_path / f"run{number}")
        options = ("--agent", "oracle", "--out", out, "--json", *place)
        told = json.loads(run(*toolenv, "run", "library_envs:ToolFeas/Library-[ci]*-v0", *options))
        assert {row["env"]: row["valid"] for row in told["rows"]} == {
            clean: 3,
            clean.replace("clean", "infeasible"): 3,
            "library_envs:ToolFeas/Library (pooled)": 6,
        }
        assert "6" in run(*toolenv, "rescore", out)
    assert clean in run(*toolenv, "report", out)

    for place in ("turns", "talks"):
        (tmp_path / f"{place}_envs.py").write_text(
            f"import envs_registry\nenvs_registry.register_suite('talks:{place.upper()}')\n"
        )
        talk = f"{place}_envs:ToolFeas/Library{place.title()}-clean-v0"
        assert f"{talk}: 1 tasks, 0 findings" in run(*toolenv, "validate", talk)

    assert "execution-failure: " in run(
        *toolenv, "arm", "library_suite:SUITE", "--out", "hazards", "--fewest", "1"
    )
    suite = tmp_path / "library_suite.py"
    armed = '    only_computes = True\n    hazards = FOLDER / "hazards"\n'
    suite.write_text(suite.read_text().replace("    only_computes = True\n", armed))
    failing = clean.replace("clean", "execution-failure")
    assert f"{failing}: " in run(*toolenv, "validate", failing)


@pytest.mark.parametrize("page", ["environment", "python"])
def test_the_blocks_of_a_page(page: str, tmp_path: Path) -> None:
    """They print, one after the other, what stands behind each ``print``."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.findall(r"^print\(.*\)  # (.*)$", "".join(blocks), re.MULTILINE)
    (tmp_path / "script.py").write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == shown
    assert len(shown) == "".join(blocks).count("print(") > 5


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_the_blocks_of_a_page_import_what_they_use(page: str) -> None:
    """Each page's, one after the other: whoever copies them meets no ``NameError``."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python(?: file=\S+)?\n(.*?)```", text, re.DOTALL)
    linted = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"],
        input="\n".join(block for block in blocks if not block.startswith(" ")),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout + linted.stderr
