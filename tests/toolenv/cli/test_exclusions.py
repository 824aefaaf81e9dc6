"""Tasks that an environment leaves out are counted with the reason wherever its numbers are shown."""

from __future__ import annotations

import json
from pathlib import Path

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command

# 1,453 tasks of BFCL's default subset, 1,451 of them with a mask: two have a reference that BFCL's own
# checker does not accept.
REASON = "no successful trace: the reference solution is not judged successful"
TOLD = f"{INFEASIBLE}: 1,451 of 1,453 tasks; left out: 2 × {REASON}"
LEFT_OUT = ["live_multiple_862-181-3", "live_multiple_964-207-0"]


def test_a_run_and_its_report_say_what_is_left_out(toolenv: Command, place: Path) -> None:
    run = toolenv("run", CLEAN, INFEASIBLE, "--agent", "noop", "--tasks", "multiple_0", "--out", "x")
    assert run.code == 0
    report = toolenv("report", "x", "--html", "page.html")
    for ended in (run, report):
        assert TOLD in " ".join(ended.out.split())
        assert f"{CLEAN}: 1,4" not in ended.out, "it has all its tasks"
    assert f"2 × {REASON}" in (place / "page.html").read_text(encoding="utf-8")


def test_the_ids_are_in_the_header_and_in_the_json(toolenv: Command, place: Path) -> None:
    assert toolenv("run", INFEASIBLE, "--agent", "noop", "--limit", 1, "--out", "x").code == 0
    header = json.loads((place / "x" / "run.json").read_text())
    (told,) = json.loads(toolenv("report", "x", "--json").out)["runs"]
    for origins in (header["origins"], told["origins"]):
        assert (origins[INFEASIBLE]["tasks"], origins[INFEASIBLE]["excluded"]) == (1453, {REASON: LEFT_OUT})


def test_envs_lists_what_is_left_out(toolenv: Command) -> None:
    assert f"• {TOLD}" in toolenv("envs", INFEASIBLE).out.splitlines()
    (hint,) = [line for line in toolenv("envs").out.splitlines() if "fewer tasks than the suite" in line]
    assert hint.endswith("why: toolenv envs 'ToolFeas/APIBank-*-v0'")
    rows = {row["id"]: row for row in json.loads(toolenv("envs", "--json").out)["envs"]}
    assert (rows[INFEASIBLE]["tasks"], rows[INFEASIBLE]["of"]) == (1451, 1453)
    assert rows[INFEASIBLE]["left_out"] == {REASON: 2}
    assert (rows[CLEAN]["tasks"], rows[CLEAN]["of"], rows[CLEAN]["left_out"]) == (1453, 1453, {})
