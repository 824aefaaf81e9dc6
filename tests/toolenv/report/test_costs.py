"""What runs cost, as a reader sees it."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from toolenv.report.costs import RunCosts, costs_facts, costs_to_json, render_costs
from toolenv.runner.costs import Money

PAID = RunCosts("ToolFeas/BFCL-clean-v0", "chat:x", Money(1.25, 0), {"agent": Money(1.25, 0)})
UNPRICED = RunCosts("ToolFeas/BFCL-clean-v0", "chat:y", Money(0.0, 3), {"agent": Money(0.0, 3)})


def test_what_is_not_known_is_not_free() -> None:
    out = StringIO()
    Console(file=out, width=120).print(render_costs([PAID, UNPRICED]))
    rows = [line.split() for line in out.getvalue().splitlines() if " all " in line]
    assert [row[-2:] for row in rows] == [["1.2500", "0"], ["–", "3"]]
    told = costs_facts([PAID, UNPRICED])
    assert list(told.values()) == ["all 1.2500 (0 unknown)", "all – (3 unknown)"]
    assert [one["unknown"] for one in costs_to_json([PAID, UNPRICED])] == [0, 3]
