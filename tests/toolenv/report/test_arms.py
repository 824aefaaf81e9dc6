"""The table of a study's arms, counted by hand on ten tasks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from toolenv.episode import Episode
from toolenv.report.arms import ArmRow, ArmRun, arms_to_json, build_arms
from toolenv.report.arms_table import render_arms
from toolenv.runner.baseline import fingerprint

ENV = "ToolFeas/Toy-output-drift-v0"
TASKS = [f"task-{number}" for number in range(10)]


def episode(task_id: str, success: bool | None, *, valid: bool = True, trial: int = 0) -> Episode:
    return Episode(
        env=ENV,
        agent="one",
        task_id=task_id,
        trial=trial,
        seed=trial,
        label="feasible",
        decision="feasible",
        lenient_decision="feasible",
        decided_by="message" if valid else "server_error",
        success=success if valid else None,
        reward=float(bool(success)) if valid else None,
        valid=valid,
        turns=3,
        calls=2,
        input_tokens=10,
        output_tokens=1,
    )


def outcomes(successes: Iterable[int], of: Iterable[int] = range(10)) -> list[Episode]:
    wanted = set(successes)
    return [episode(TASKS[number], number in wanted) for number in of]


def run(
    arm: str, episodes: list[Episode], base: list[Episode] | None = None, planned: int | None = None
) -> ArmRun:
    header: dict[str, Any] = {
        "arm": arm,
        "agent": "one" if arm == "baseline" else f"one [{arm}]",
        "config_hash": "b" if arm == "baseline" else arm,
        "planned": {ENV: len(episodes) if planned is None else planned},
    }
    if arm != "baseline":
        header["baseline"] = {"config_hash": "b", **({} if base is None else {"failed": fingerprint(base)})}
    return ArmRun(header, episodes)


BASE = outcomes({0, 1, 2, 3})
FAILED = range(4, 10)


def ten_tasks() -> list[ArmRun]:
    """Succeeded: 4 at first, of the other 6 one after more rounds and three with the hint; 9 when clean."""
    return [
        run("oracle", outcomes(range(1, 10))),
        run("hint", outcomes({4, 5, 6}, FAILED), BASE),
        run("baseline", BASE),
        run("tts", outcomes({4}, FAILED), BASE),
    ]


def rows_of(runs: Iterable[ArmRun]) -> dict[str, ArmRow]:
    return {row.arm: row for row in build_arms(runs).rows}


def test_every_arm_is_told_over_all_tasks() -> None:
    rows = rows_of(ten_tasks())
    assert list(rows) == ["baseline", "tts", "hint", "oracle"]
    counted = {
        arm: (row.success_rate.count, row.success_rate.n, row.went_on, row.recovered)
        for arm, row in rows.items()
    }
    assert counted == {
        "baseline": (4, 10, 0, 0),
        "tts": (5, 10, 6, 1),
        "hint": (7, 10, 6, 3),
        "oracle": (9, 10, 0, 0),
    }
    assert {(row.planned, row.valid, row.invalid) for row in rows.values()} == {(10, 10, 0)}


def test_differences_are_paired() -> None:
    """The oracle arm lost task 0, which the baseline had: 6 gained, 1 lost, so half a task in ten."""
    rows = rows_of(ten_tasks())
    assert rows["baseline"].comparison is None
    found = {arm: row.comparison for arm, row in rows.items() if row.comparison is not None}
    pairs = {arm: one.pairs and (one.pairs.only_first, one.pairs.only_second) for arm, one in found.items()}
    assert pairs == {"tts": (1, 0), "hint": (3, 0), "oracle": (6, 1)}
    assert [round(one.difference.value, 9) for one in found.values()] == [0.1, 0.3, 0.5]
    # McNemar's exact p: twice the chance of 0 of 3, and of at most 1 of 7, at one half each.
    assert found["hint"].p == pytest.approx(2 / 2**3)
    assert found["oracle"].p == pytest.approx(2 * (1 + 7) / 2**7)


def test_below_90_percent_of_the_pairs_a_difference_has_no_point() -> None:
    """Two of the oracle's ten are invalid; of the other eight 4 are gained and 1 is lost: (3 ± 2) of ten."""
    lost = [episode(TASKS[number], None, valid=False) for number in (8, 9)]
    arms = [run("baseline", BASE), run("oracle", [*outcomes(range(1, 8), range(8)), *lost])]
    found = rows_of(arms)["oracle"].comparison
    assert found is not None
    assert (found.difference.withheld, found.p) == (True, None)
    assert (found.difference.low, found.difference.high) == (pytest.approx(0.1), pytest.approx(0.5))


def test_the_share_of_the_gap() -> None:
    rows = rows_of(ten_tasks())
    assert {arm: (row.closed.n and round(row.closed.value, 9)) for arm, row in rows.items()} == {
        "baseline": 0,
        "tts": 0.2,
        "hint": 0.6,
        "oracle": 0,
    }
    assert rows_of(ten_tasks()[1:])["hint"].closed.n == 0  # without the oracle arm there is no gap


def test_trials_of_a_task_are_not_independent() -> None:
    """Each task three times, alike: as many tasks, so as wide an interval, and n counts episodes."""
    once = rows_of(ten_tasks())

    def thrice(episodes: Iterable[Episode]) -> list[Episode]:
        return [replace(one, trial=trial, seed=trial) for one in episodes for trial in range(3)]

    base = thrice(BASE)
    runs = [
        run(one.arm, thrice(one.episodes), base if one.arm in ("hint", "tts") else None)
        for one in ten_tasks()
    ]
    for arm, row in rows_of(runs).items():
        assert (row.success_rate.n, row.success_rate.count) == (30, 3 * (once[arm].success_rate.count or 0))
        if row.comparison is not None:
            before = once[arm].comparison
            assert before is not None
            assert row.comparison.difference.low == pytest.approx(before.difference.low)
            assert row.comparison.p == before.p
        if row.closed.n:
            assert row.closed.value == pytest.approx(once[arm].closed.value)
            assert row.closed.low == pytest.approx(once[arm].closed.low)


def test_what_is_no_outcome_is_left_out_everywhere() -> None:
    """Task 4 met a failed server in the baseline, task 9 in the hint arm: no failures of the agent."""
    base = [episode(TASKS[4], None, valid=False) if one.task_id == "task-4" else one for one in BASE]
    hinted = [*outcomes({5, 6}, range(5, 9)), episode(TASKS[9], None, valid=False)]
    rows = rows_of([run("baseline", base), run("hint", hinted, base), run("oracle", outcomes(range(1, 10)))])
    assert (rows["hint"].planned, rows["hint"].valid, rows["hint"].invalid) == (10, 8, 2)
    assert (rows["hint"].success_rate.withheld, rows["baseline"].success_rate.withheld) == (True, False)
    comparison = rows["hint"].comparison
    assert comparison is not None
    assert comparison.pairs is not None
    assert (comparison.pairs.n, comparison.pairs.only_first) == (8, 2)
    assert (rows["hint"].closed.n, rows["hint"].closed.withheld) == (8, True)
    hinted = [*outcomes({5, 6}, range(4, 9)), episode(TASKS[9], None, valid=False)]
    rows = rows_of([run("baseline", BASE), run("hint", hinted, BASE), run("oracle", outcomes(range(1, 10)))])
    # Over the nine tasks that are left: baseline 4, hint 6, oracle 8.
    assert (rows["hint"].closed.n, rows["hint"].closed.withheld) == (9, False)
    assert rows["hint"].closed.value == pytest.approx(2 / 4)
    assert any(
        "1 of its episodes invalid by server_error" in note
        for note in build_arms([run("baseline", base), run("hint", hinted, base)]).notes
    )


def test_unfinished_arms_are_told() -> None:
    rows = rows_of([run("baseline", BASE), run("tts", outcomes({4}, range(4, 7)), BASE, planned=6)])
    assert (rows["tts"].planned, rows["tts"].valid, rows["tts"].went_on) == (10, 7, 6)
    assert rows["tts"].success_rate.withheld


def test_runs_that_make_no_study() -> None:
    assert build_arms([run("baseline", BASE)]).rows == []
    lone = build_arms([run("hint", outcomes({4}, FAILED), BASE)])
    assert (lone.rows, len(lone.notes)) == ([], 1)
    assert "one [hint]: its baseline, the run with configuration b, is not among these" in lone.notes[0]
    other = build_arms([run("baseline", outcomes({9})), run("hint", outcomes({4}, FAILED), BASE)])
    assert (other.rows, len(other.notes)) == ([], 1)
    assert "went on from another run" in other.notes[0]
    twice = build_arms([*ten_tasks(), run("tts", outcomes((), FAILED), BASE)])
    assert len(twice.rows) == 4
    assert "two runs are the same arm" in twice.notes[0]


def test_the_table_and_json() -> None:
    report = build_arms(ten_tasks())
    console = Console(file=io.StringIO(), width=160)
    console.print(render_arms(report))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert f"Arms of one in {ENV}" in printed
    for text in ("60.0%", "+30.0", "0.250", "failed episodes go on, told what is wrong"):
        assert text in printed
    plain = arms_to_json(report)
    assert [one["arm"] for one in plain] == ["baseline", "tts", "hint", "oracle"]
    assert plain[0]["difference"] is None
    assert (plain[2]["recovered"], plain[2]["sr"]["count"], plain[2]["closed"]["n"]) == (3, 7, 10)


def test_names_are_shown_and_not_obeyed() -> None:
    runs = [ArmRun({**one.header, "agent": "[red]x[/red]\\x1b[31m"}, one.episodes) for one in ten_tasks()]
    console = Console(file=io.StringIO(), width=160)
    console.print(render_arms(build_arms(runs)))
    assert "[red]x[/red]" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_p_stands_behind_its_difference_and_each_part_repeats_the_arm(width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    console.print(render_arms(build_arms(ten_tasks())))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    (line,) = [one for one in printed.splitlines() if "+30.0" in one]
    assert line.index("0.250") > line.index("+30.0")
    table = printed.partition("Over all tasks")[0]
    assert "…" not in table
    assert table.count("\n oracle ") == table.count("\n hint ") == (2 if width == 80 else 1)
