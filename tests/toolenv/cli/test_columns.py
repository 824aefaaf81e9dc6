"""Whatever stands above a column of a table is found in docs/metrics.md."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.table import Table

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, ROOT, Command
from toolenv.metrics.comparison import QUANTITIES
from toolenv.metrics.registry import catalogue
from toolenv.report.costs import render_costs
from toolenv.report.troubles import HEADS

DOCS = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
HAZARD = "ToolFeas/Workflows-hazard-v0"
WORKFLOWS = "ToolFeas/Workflows-clean-v0"


def is_found(name: str) -> bool:
    """As a whole, between the signs of a table or commas."""
    return re.search(rf"[|,] {re.escape(name)} ?[|,]", DOCS) is not None


@pytest.mark.parametrize(
    "title", sorted({one.title for one in catalogue().values()} | {one.title for one in QUANTITIES})
)
def test_each_metric_has_its_title_beside_its_name(title: str) -> None:
    assert is_found(title)


def names_in(head: str) -> list[str]:
    """The names in a head: one over several lines, a word broken by a hyphen, or one a line."""
    unbroken = re.sub(r"-\n", "", head)
    whole = unbroken.replace("\n", " ")
    return [whole] if is_found(whole) else unbroken.splitlines()


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The heads of all tables that are printed from now on."""
    found: set[str] = set()
    add_column = Table.add_column

    def noted(self: Table, header: Any = "", *arguments: Any, **options: Any) -> None:
        found.add(str(header))
        add_column(self, header, *arguments, **options)

    monkeypatch.setattr(Table, "add_column", noted)
    return found


def test_each_head_of_the_tables_that_commands_print(toolenv: Command, heads: set[str]) -> None:
    envs = (CLEAN, INFEASIBLE, WORKFLOWS, HAZARD)
    tasks = ("--limit", 3)
    assert toolenv("run", *envs, "--agent", "random", *tasks, "--out", "a").code == 0
    assert toolenv("run", *envs, "--agent", "planner(random)->executor(noop)", *tasks, "--out", "b").code in (
        0,
        1,
    )
    study = ("--arm", "baseline", "--arm", "tts", "--out", "c")
    assert toolenv("run", HAZARD, "--agent", "random", *tasks, *study).code == 0
    assert toolenv("report", "a", "b", "--by", "tools").code == 0
    assert toolenv("compare", "a", "b").code == 0
    assert toolenv("envs", "ToolFeas/BFCL-*").code == 0
    render_costs([])
    heads.update(HEADS)
    assert len(heads) > 40, "the tables have been printed"
    unknown = [name for head in heads for name in names_in(head) if name and not is_found(name)]
    assert unknown == []
