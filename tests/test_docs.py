"""The code of docs/adding-a-suite.md runs as the page shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"```\w+ file=(\S+)\n(.*?)```", re.DOTALL)


def test_adding_a_suite(tmp_path: Path) -> None:
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, code in BLOCK.findall((ROOT / "docs/adding-a-suite.md").read_text(encoding="utf-8")):
        files[name].append(code)
    for name, parts in files.items():
        (tmp_path / name).write_text("\n\n".join(parts), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}

    def run(script: str) -> str:
        command = [sys.executable, "-W", "error", script]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

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
