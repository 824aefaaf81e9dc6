"""``import toolenv`` stays light: what is heavy is loaded by what needs it (DESIGN.md, packaging)."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"torch", "vllm", "transformers", "openai", "scipy", "pandas", "jinja2", "rich", "typer"}
PROGRAM = """
import json, sys
import gymnasium
before = set(sys.modules)
import toolenv
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps({"file": toolenv.__file__, "loaded": sorted(loaded)}))
"""


def test_import_toolenv_loads_nothing_heavy() -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["file"].endswith("__init__.py")
    assert "toolenv" in seen["loaded"]
    assert set(seen["loaded"]) & HEAVY == set()
