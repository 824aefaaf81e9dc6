from __future__ import annotations

import io
from functools import partial

import pytest
from rich.console import Console

from tests.support.episodes import plain_episode
from toolenv.feasibility.annotation.evidence import LabelEvidence
from toolenv.report.labels import LabelRow, label_rows, label_rows_to_json, render_label_rows
from toolenv.report.rows import Run, build_rows

ENV = "ToolFeas/BFCL-infeasible-v0"
episode = partial(
    plain_episode,
    env=ENV,
    label="infeasible",
    lenient_decision="infeasible",
    decided_by="stop_phrase",
    reward=0.0,
    calls=0,
)
EVIDENCE = LabelEvidence("m", {"t0": "infeasible"}, 10, 10, 10)


def rows_of(planned: int, *agents: str) -> list[LabelRow]:
    """Of ten tasks of each agent, each continued under the strict rule and stopped under the lenient one."""
    episodes = [episode(agent=agent, task_id=f"t{number}") for agent in agents for number in range(10)]
    rows = build_rows([Run(episodes, {(ENV, agent): planned for agent in agents})])
    return label_rows(rows, episodes, {ENV: EVIDENCE, "ToolFeas/Other-infeasible-v0": EVIDENCE})


def printed(rows: list[LabelRow], width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(render_label_rows(rows))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_two_rows_for_each_agent() -> None:
    rows = rows_of(10, "a", "b")
    assert [(row.agent, row.rule) for row in rows] == [
        ("a", "strict"),
        ("a", "lenient"),
        ("b", "strict"),
        ("b", "lenient"),
    ]
    # Wilson from 10 of 10 is 0.72: at most 2 of the 10 labels are wrong; that changes neither 10/10 nor 0/10.
    assert [(row.bounds.low, row.bounds.high) for row in rows[:2]] == [(1, 1), (0, 0)]
    assert [row.certified.value for row in rows[:2]] == [1, 0]
    assert {row.bounds.method for row in rows} == {"worst case over 2 wrong labels"}


def test_an_fcr_that_the_table_withholds_is_not_shown_here_either() -> None:
    assert rows_of(12, "a") == []  # 83% coverage
    assert "No FCR to set beside the labels" in printed([])


def test_names_are_shown_as_text() -> None:
    shown = printed(rows_of(10, "[red]a[/red]\x1b[2J"))
    assert "[red]a[/red]\\x1b[2J" in shown
    assert "\x1b[2J" not in shown
    assert "100%" in shown


@pytest.mark.parametrize("key", ["env", "agent", "rule", "bounds", "certified"])
def test_json_has_the_promised_structure(key: str) -> None:
    plain = label_rows_to_json(rows_of(10, "a"))
    assert len(plain) == 2
    assert all(key in row for row in plain)


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_interval_or_id_is_cut(width: int) -> None:
    shown = printed(rows_of(10, "an-agent"), width)
    words = shown.split()
    assert "…" not in shown
    assert words.count("20.7–100") == words.count("0–79.3") == 1, "Wilson of 1 of 1, and of none"
    assert words.count("n=10") == words.count("n=1") == 2
    assert {"environment", "an-agent"} <= set(words)
    assert ENV in words
    assert shown.startswith("\n"), "a line apart from what stands above"
    assert (" ".join(words).count("worst case over 2 wrong labels") == 2) == (width >= 100)
