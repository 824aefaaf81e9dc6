"""The few numbers of a suite that are looked at first."""

from __future__ import annotations

import io
from functools import partial

from rich.console import Console

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.report.notes import ACCURACY_LEGEND, CAPTION
from toolenv.report.rows import Row, Run, build_rows
from toolenv.report.summary import summary_notes, summary_table
from toolenv.report.terminal import render_rows

CLEAN, HAZARD, INFEASIBLE = (f"ToolFeas/Toy-{name}-v0" for name in ("clean", "hazard", "infeasible"))
STOP = {"decision": "infeasible", "lenient_decision": "infeasible", "decided_by": "stop_signal"}


def episodes(number: int, agent: str, env: str, **changes: object) -> list[Episode]:
    make = partial(plain_episode, agent=agent, env=env, success=False)
    label = "infeasible" if env == INFEASIBLE else "feasible"
    return [make(label=label, task_id=f"t{at}", **changes) for at in range(number)]


def printed(*parts: object, width: int = 80) -> list[str]:
    text = io.StringIO()
    for part in parts:
        Console(file=text, width=width).print(part)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def rows_of(*every: list[Episode], told: bool = False) -> list[Row]:
    return build_rows([Run([one for part in every for one in part], privileged=told)])


def test_one_row_an_agent_over_all_conditions_by_hand() -> None:
    solver = [
        episodes(20, "solver", CLEAN, success=True),
        episodes(10, "solver", HAZARD),
        episodes(20, "solver", INFEASIBLE),
    ]
    quitter = [episodes(20, "quitter", CLEAN, **STOP), episodes(20, "quitter", INFEASIBLE, **STOP)]
    lines = printed(summary_table("Toy", rows_of(*solver, *quitter), ["solver", "quitter"]))
    cells = [line.split() for line in lines]
    # Solves all clean tasks and none under a hazard, stops never: half of all 40 are right; and so are half
    # of those of one that always stops. Only one was played under the hazard, so that n is the column's.
    assert ["agent", "n=20", "n=10", "n=20", "n=20", "20", "tasks"] in cells
    assert ["clean", "hazard", "strict", "stop", "n=40", "of"] in cells
    assert ["solver", "100%", "0%", "100%", "0%", "50.0%"] in cells
    assert ["quitter", "0%", "0%", "100%", "50.0%"] in cells


def test_where_n_differs_it_stands_below_each_number() -> None:
    every = rows_of(episodes(20, "a", CLEAN, success=True), episodes(7, "b", CLEAN))
    lines = printed(summary_table("Toy", every, ["a", "b"]))
    assert ["agent", "SR", "clean"] not in [line.split() for line in lines]
    assert sum("n=20" in line for line in lines) == sum("n=7" in line for line in lines) == 1
    assert not any("hazard" in line or "FCR" in line for line in lines), "columns without data are left out"


def test_references_and_episodes_without_outcome_are_told() -> None:
    every = rows_of(
        episodes(3, "sage", CLEAN, success=True), episodes(2, "sage", CLEAN, valid=False, trial=1), told=True
    )
    told = list(summary_notes(every))
    assert "Told the truth, and so a reference and no result: sage." in told
    assert "2 episodes of 5 without a valid outcome, and so not counted." in told


def test_a_table_with_accuracy_above_sr_says_why_they_differ() -> None:
    without = rows_of(episodes(3, "a", CLEAN))
    equal = rows_of(episodes(3, "a", CLEAN, success=True, accurate=True))
    beside = rows_of(episodes(3, "a", CLEAN, success=False, accurate=True))
    for rows in (without, equal):
        assert " ".join(printed(render_rows(rows))).count("docs/metrics.md") == 0
    assert " ".join(" ".join(printed(render_rows(beside))).split()).count(f"{CAPTION} {ACCURACY_LEGEND}") == 1
