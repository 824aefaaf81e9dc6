from __future__ import annotations

import json
import math
import tracemalloc
from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.outcomes import FlagCount, TokenKnowledge
from toolenv.metrics.registry import catalogue
from toolenv.report.collect import labels_of
from toolenv.report.notes import AGENT_ERROR_STAYS, notes
from toolenv.report.rows import ERROR_CHARACTERS, INVALID_SHOWN, Row, Run, build_rows
from toolenv.report.serial import rows_to_json

CLEAN, INFEASIBLE = "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0"

episode = partial(plain_episode, input_tokens=90, output_tokens=10, success=False)
clean = partial(episode, env=CLEAN, label="feasible")
infeasible = partial(episode, env=INFEASIBLE, label="infeasible")
stop = {"decision": "infeasible", "lenient_decision": "infeasible", "decided_by": "stop_signal"}
broken = {"valid": False, "decided_by": "server_error", "success": None}


def two_envs(agent: str = "agent") -> list[Episode]:
    """Clean: 3 of 4 done, 1 stopped. Infeasible: 1 of 2 stopped."""
    return [
        *(clean(task_id=f"t{number}", agent=agent, success=True) for number in range(3)),
        clean(task_id="t3", agent=agent, **stop),
        infeasible(task_id="t0", agent=agent, **stop),
        infeasible(task_id="t1", agent=agent, input_tokens=390),
    ]


def only(rows: list[Row], env: str) -> Row:
    (row,) = [row for row in rows if row.env == env]
    return row


def test_one_row_per_env_and_agent_and_a_pooled_one() -> None:
    rows = build_rows([Run(two_envs("b") + two_envs("a"))])
    assert [(row.env, row.agent) for row in rows] == [
        (CLEAN, "a"),
        (CLEAN, "b"),
        (INFEASIBLE, "a"),
        (INFEASIBLE, "b"),
        ("ToolFeas/BFCL (pooled)", "a"),
        ("ToolFeas/BFCL (pooled)", "b"),
    ]
    assert rows[4].pooled == (CLEAN, INFEASIBLE)
    assert (rows[4].planned, rows[4].valid, rows[4].invalid) == (6, 6, 0)


def test_a_pooled_row_holds_every_metric_by_hand() -> None:
    pooled = build_rows([Run(two_envs())])[-1]
    values = {name: one.value for name, one in pooled.metrics.items() if catalogue()[name].table == "main"}
    assert values == {
        "sr": 3 / 4,
        "fcr_strict": 1 / 2,
        "fcr_lenient": 1 / 2,
        "false_stop_rate": 1 / 4,
        "fass": 4 / 6,
        "tc_early_stop": 100,
        "tc_task_failure": 400,
        "tc_ratio": 4,
    }
    assert pooled.metrics["fass"].n == 6


def test_metrics_without_a_denominator_are_nan_with_n_0() -> None:
    rows = build_rows([Run(two_envs())])
    for env, names in (
        (CLEAN, ["fcr_strict", "fcr_lenient", "tc_ratio"]),
        (INFEASIBLE, ["sr", "false_stop_rate"]),
    ):
        for name in names:
            estimate = only(rows, env).metrics[name]
            assert math.isnan(estimate.value)
            assert (estimate.n, estimate.withheld) == (0, False)


def test_what_does_not_belong_together_is_not_pooled() -> None:
    others = [
        episode(env="ToolFeas/BFCL-output-drift-v0", label="feasible", task_id="1"),
        episode(env="ToolFeas/BFCL-mixed-v0", label="infeasible", task_id="1"),
        episode(env="ToolFeas/APIBank-clean-v0", label="feasible", task_id="1"),
        episode(env="ToolFeas/APIBank-mixed-v0", label="infeasible", task_id="1"),
        episode(env="ToolFeas/TauBench-infeasible-v0", label="infeasible", task_id="1"),
        infeasible(task_id="1", agent="somebody else"),
        episode(env="own name", label="feasible", task_id="1"),
    ]
    rows = build_rows([Run([clean(task_id="1"), *others])])
    assert [row.pooled for row in rows] == [()] * 8


def test_versions_are_pooled_apart() -> None:
    newer = [
        episode(env="ToolFeas/BFCL-clean-v1", label="feasible", task_id="1"),
        episode(env="ToolFeas/BFCL-infeasible-v1", label="infeasible", task_id="1"),
    ]
    names = [row.env for row in build_rows([Run([*two_envs(), *newer])]) if row.pooled]
    assert names == ["ToolFeas/BFCL (pooled, v0)", "ToolFeas/BFCL (pooled, v1)"]


def test_field_009_planned_valid_and_invalid_counts() -> None:
    episodes = [clean(task_id="good", success=True), *(clean(task_id=f"b{n}", **broken) for n in range(19))]
    (row,) = build_rows([Run(episodes, {(CLEAN, "agent"): 20})])
    assert (row.planned, row.valid, row.invalid, row.coverage) == (20, 1, 19, 0.05)
    shown, over_valid = row.metrics["sr"], row.over_valid["sr"]
    assert math.isnan(shown.value)
    assert (shown.low, shown.high, shown.n, shown.withheld) == (0.05, 1, 1, True)
    assert (over_valid.value, over_valid.n, over_valid.high) == (1, 1, 1)
    assert over_valid.low == pytest.approx(0.2065, abs=1e-4)  # 1 / (1 + 1.959964²)
    assert row.invalid_by == {"server_error": 19}
    assert len(row.invalid_episodes) == 19


def test_a_planned_env_without_episodes_has_a_row() -> None:
    (row,) = build_rows([Run([], {(CLEAN, "agent"): 5})])
    assert (row.planned, row.valid, row.invalid) == (5, 0, 0)
    sr, fcr = row.metrics["sr"], row.metrics["fcr_strict"]
    assert (sr.n, sr.withheld, sr.low, sr.high) == (0, True, 0, 1)
    assert (fcr.n, fcr.withheld) == (0, False), "no episode of a clean env can be a false continue"
    (empty,) = build_rows([Run([], {(CLEAN, "agent"): 0})])
    assert math.isnan(empty.coverage)


def test_a_condition_that_a_run_has_not_come_to_is_withheld_and_pooled() -> None:
    """Stopped after 4 of 12 clean episodes, before the first of 12 infeasible ones; bounds by hand."""
    episodes = [clean(task_id=str(number), success=True) for number in range(4)]
    rows = build_rows([Run(episodes, {(CLEAN, "agent"): 12, (INFEASIBLE, "agent"): 12})])
    assert [(row.env, row.planned, row.valid) for row in rows] == [
        (CLEAN, 12, 4),
        (INFEASIBLE, 12, 0),
        ("ToolFeas/BFCL (pooled)", 24, 4),
    ]
    bounds = [
        (rows[0], "sr", 4 / 12, 1),
        (rows[1], "fcr_strict", 0, 1),
        (rows[1], "fass", 0, 1),
        (rows[2], "sr", 4 / 12, 1),
        (rows[2], "fass", 4 / 24, 1),
    ]
    for row, name, low, high in bounds:
        found = row.metrics[name]
        assert (found.withheld, found.low, found.high) == (True, low, high), (row.env, name)


@pytest.mark.parametrize(
    ("env", "labels"),
    [
        (CLEAN, {"feasible"}),
        (INFEASIBLE, {"infeasible"}),
        ("ToolFeas/BFCL-mixed-v0", {"feasible", "infeasible"}),
        ("ToolFeas/Workflows-confusable-v0", {"feasible", "infeasible"}),
        ("ToolFeas/Workflows-output-drift-v0", {"feasible"}),
        ("somebody's own", {"feasible", "infeasible"}),
    ],
)
def test_the_labels_that_missing_episodes_may_have(env: str, labels: set[str]) -> None:
    assert labels_of(env) == labels


def test_runs_add_up() -> None:
    first = Run([clean(task_id="1", success=True)], {(CLEAN, "agent"): 1})
    second = Run([clean(task_id="2")], {(CLEAN, "agent"): 2})
    unplanned = Run([clean(task_id="3")])
    (row,) = build_rows([first, second, unplanned])
    assert (row.planned, row.valid) == (4, 3)


def test_no_episode_counts_twice() -> None:
    with pytest.raises(UsageError, match=r"stands twice.*'t7'"):
        build_rows([Run([clean(task_id="t7")]), Run([clean(task_id="t7")])])


def test_more_episodes_than_planned_is_an_error() -> None:
    with pytest.raises(UsageError, match="2 episodes, but 1 planned"):
        build_rows([Run([clean(task_id="1"), clean(task_id="2")], {(CLEAN, "agent"): 1})])


def test_outcomes_tokens_and_flags_stand_beside_the_metrics() -> None:
    episodes = [
        clean(task_id="1", flags=("can_never_pass",)),
        clean(task_id="2", flags=("can_never_pass",), input_tokens=None),
        clean(task_id="3", success=True, estimated_tokens=True),
    ]
    (row,) = build_rows([Run(episodes)])
    assert row.outcomes["continued"] == 3
    assert row.tokens == TokenKnowledge(exact=1, estimated=1, unknown=1)
    assert row.flagged == {"can_never_pass": FlagCount(tasks=2, episodes=2, succeeded=0)}
    assert row.metrics["sr"].n == 3  # flagged tasks count all the same


def test_field_106_trials_are_reported_where_there_are_several() -> None:
    episodes = [clean(task_id="t1", trial=trial, success=bool(s)) for trial, s in enumerate([1, 0, 1, 1, 0])]
    (row,) = build_rows([Run(episodes)])
    assert row.trials is not None
    assert row.trials.pass_hat[2].value == pytest.approx(0.3)
    assert all(row.trials is None for row in build_rows([Run(two_envs())]))


def test_field_108_memory_does_not_grow_with_texts() -> None:
    """2,000 records of 1 MB pass through; what is kept stays far below one hundredth of that."""

    def stream() -> Iterator[Episode]:
        for number in range(2000):
            yield clean(task_id=str(number), error="x" * 1_000_000, **broken)

    build_rows([Run(two_envs())])  # what is imported at first use is not counted
    tracemalloc.start()
    (row,) = build_rows([Run(stream())])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert row.invalid == 2000
    assert len(row.invalid_episodes) == INVALID_SHOWN
    assert peak < 16_000_000


def test_json_is_the_promised_form() -> None:
    episodes = [*two_envs(), *(clean(task_id=f"b{number}", **broken) for number in range(9))]
    data = rows_to_json(build_rows([Run(episodes)]))
    assert list(data) == ["rows"]
    text = json.dumps(data, allow_nan=False)
    row = json.loads(text)["rows"][0]
    assert {key: row[key] for key in ("env", "agent", "planned", "valid", "invalid")} == {
        "env": CLEAN,
        "agent": "agent",
        "planned": 13,
        "valid": 4,
        "invalid": 9,
    }
    assert row["metrics"]["fcr_strict"]["value"] is None
    assert row["metrics"]["fcr_strict"]["n"] == 0
    assert row["metrics"]["sr"] == {
        "value": None,
        "low": 3 / 13,
        "high": 12 / 13,
        "n": 4,
        "method": "worst case",
        "count": 3,
        "excluded": 0,
        "estimated": 0,
        "withheld": True,
        "tasks": None,
    }
    assert row["over_valid"]["sr"]["value"] == 0.75


def test_json_of_trials() -> None:
    episodes = [clean(task_id="t1", trial=trial, success=bool(s)) for trial, s in enumerate([1, 0, 1, 1, 0])]
    (row,) = json.loads(json.dumps(rows_to_json(build_rows([Run(episodes)]))))["rows"]
    assert row["trials"]["rates"] == {"t1": 0.6}
    assert row["trials"]["flipping"]["value"] == 1
    assert row["trials"]["pass_hat"]["3"]["value"] == pytest.approx(0.1)


def test_no_runs_have_no_rows() -> None:
    assert rows_to_json(build_rows([])) == {"rows": []}


def test_runs_with_other_settings_are_not_pooled_and_a_note_says_in_what_they_differ() -> None:
    """A clean run of one subset and one turn says nothing of the false stops of an infeasible default run."""
    halves = [[one for one in two_envs() if one.env == env] for env in (CLEAN, INFEASIBLE)]
    rows = build_rows([Run(halves[0], settings={"subset": "multiple", "max_turns": 1}), Run(halves[1])])
    assert [row.env for row in rows] == [CLEAN, INFEASIBLE]
    differing = {"max_turns": ("1", "not set"), "subset": ('"multiple"', "not set")}
    assert [row.differing for row in rows] == [differing] * 2
    told = 'runs are not alike: they differ in max_turns (1; not set), subset ("multiple"; not set).'
    assert [note.endswith(told) for note in notes(rows) if "not pooled" in note] == [True, True]


def test_runs_with_equal_settings_are_pooled() -> None:
    halves = [[one for one in two_envs() if one.env == env] for env in (CLEAN, INFEASIBLE)]
    rows = build_rows([Run(half, settings={"masks": "m.json", "max_turns": 3}) for half in halves])
    assert rows[-1].pooled == (CLEAN, INFEASIBLE)
    assert not any("not pooled" in note for note in notes(rows))


def test_one_env_of_unlike_runs_is_not_pooled_either() -> None:
    runs = [Run(two_envs(), settings={"max_turns": 3}), Run([clean(task_id="t9")], settings={"max_turns": 1})]
    rows = build_rows(runs)
    assert [row.pooled for row in rows] == [(), ()]
    assert rows[0].differing == {"max_turns": ("3", "1")}


def test_other_agents_and_suites_stay_pooled_beside_one_that_is_not() -> None:
    halves = [[one for one in two_envs() if one.env == env] for env in (CLEAN, INFEASIBLE)]
    unlike = [Run(halves[0], settings={"subset": "multiple"}), Run(halves[1])]
    rows = build_rows([*unlike, Run(two_envs("other"))])
    assert [row.agent for row in rows if row.pooled] == ["other"]


def raised(message: str) -> str:
    """What a traceback of 60 frames looks like."""
    frames = "".join(f'  File "deep.py", line {number}, in call\n    call()\n' for number in range(60))
    return f"Traceback (most recent call last):\n{frames}ZeroDivisionError: {message}\n"


def test_field_105_the_end_of_a_long_error_is_kept() -> None:
    failed = {**broken, "decided_by": "agent_error"}
    cases = [raised("a bug"), raised("x" * 5000), "no model server answers at " + "y" * 5000, "short"]
    (row,) = build_rows([Run([clean(task_id=str(at), error=one, **failed) for at, one in enumerate(cases)])])
    tail, long_line, one_line, short = [one.error for one in row.invalid_episodes]
    assert tail.startswith("…")
    assert tail.endswith("ZeroDivisionError: a bug")
    assert long_line.startswith("ZeroDivisionError: xxx")
    assert one_line.startswith("no model server answers at yyy")
    assert short == "short"
    assert max(map(len, (tail, long_line, one_line))) == ERROR_CHARACTERS + 1


def test_field_105_the_notes_say_what_made_episodes_invalid() -> None:
    bug = {**broken, "decided_by": "agent_error"}
    late = clean(task_id="late", error=raised("a bug"), **bug)
    lost = [clean(task_id=f"s{number}", error="connection refused", **broken) for number in range(150)]
    rows = build_rows([Run([*lost, late])])
    assert rows[0].invalid_episodes[-1].task_id == "late", "the first of each kind is kept"
    told = [note for note in notes(rows) if " invalid by " in note]
    assert told == [
        f"{CLEAN}, agent: 1 episode invalid by agent_error (agent/exception); late: ZeroDivisionError: a bug"
        f" (deep.py:59 in call){AGENT_ERROR_STAYS}.",
        f"{CLEAN}, agent: 150 episodes invalid by server_error; s0: connection refused.",
    ]


def test_infeasible_tasks_that_were_solved_are_counted_and_told() -> None:
    """Two trials of one task solved without its tools; a right stop where nothing had to be done is none."""
    solved = [infeasible(task_id="t0", trial=trial, success=True) for trial in range(2)]
    others = [infeasible(task_id="t1"), infeasible(task_id="t2", **{**stop, "success": True})]
    (row,) = build_rows([Run([*solved, *others])])
    assert (row.refuted.episodes, row.refuted.tasks) == (2, 1)
    assert rows_to_json([row])["rows"][0]["refuted"] == {"episodes": 2, "tasks": 1}
    (told,) = [text for text in notes([row]) if "without the masked tools" in text]
    assert told == (
        f"{INFEASIBLE}, agent: 2 infeasible episodes of 1 task solved without the masked tools: the label of"
        " these is in doubt, and they count as false continues; toolenv build … --refutations DIR takes such"
        " tasks out, or masks less."
    )
    (none,) = build_rows([Run(others)])
    assert not [text for text in notes([none]) if "without the masked tools" in text]
