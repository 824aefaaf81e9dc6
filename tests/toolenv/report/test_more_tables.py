"""What stands beside the rows: by workflow and so on, degradation, tokens by role, agents told the truth."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from tests.support.episodes import plain_episode
from toolenv.episode import Episode, RoleTokens
from toolenv.errors import UnknownNameError
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import Reaction
from toolenv.facts.task_facts import TaskFacts
from toolenv.metrics.failures import Thresholds
from toolenv.report.build import Report, build_report
from toolenv.report.collect import Run
from toolenv.report.page import render_page
from toolenv.report.serial_more import report_to_json
from toolenv.report.tables import render_more
from toolenv.report.terminal import render_rows

CLEAN, DRIFT = "ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-output-drift-v0"
OTHER = "ToolFeas/BFCL-execution-failure-v0"
BROKEN: dict[str, Any] = {"valid": False, "decided_by": "server_error", "success": None}

episode = partial(plain_episode, turns=4, calls=4, input_tokens=90, output_tokens=10)


def drifted(number: int, right: bool, workflow: str, tools: int, **changes: Any) -> Episode:
    settings: dict[str, Any] = {
        "env": DRIFT,
        "success": right,
        "accurate": right,
        "task": TaskFacts("travel", workflow, tools, tools),
        "exposure": Exposure("output-drift", "units" if number % 2 else "nesting", "weigh", True, 1, 1),
        "reaction": Reaction("perturbed", "switch", 2, True),
    }
    return episode(task_id=f"t{number}", **{**settings, **changes})


HAZARD = [
    drifted(0, True, "sequential", 2),
    drifted(1, False, "sequential", 3),
    drifted(2, True, "parallel", 4),
    drifted(3, True, "parallel", 5),
    drifted(4, False, "mixture", 8),
]
CLEAN_ONES = [
    episode(
        env=CLEAN,
        task_id=f"t{number}",
        success=True,
        accurate=True,
        task=TaskFacts("travel", "mixture", 4, 4),
    )
    for number in range(4)
]


def text_of(report: Report) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=160, color_system=None)
    console.print(render_rows(report.rows))
    console.print(render_more(report))
    return stream.getvalue()


def values(
    report: Report, dimension: str, metric: str = "accuracy"
) -> dict[str, tuple[int, int, int, int | None]]:
    return {
        row.value: (row.planned, row.valid, row.invalid, row.metrics[metric].count)
        for row in report.by[dimension]
    }


def test_by_workflow_and_number_of_tools() -> None:
    report = build_report([Run(HAZARD)], by=["workflow", "tools", "mode", "hazard", "domain"])
    assert values(report, "workflow") == {
        "sequential": (2, 2, 0, 1),
        "parallel": (2, 2, 0, 2),
        "mixture": (1, 1, 0, 0),
    }
    assert values(report, "tools") == {"≤3": (2, 2, 0, 1), "4": (1, 1, 0, 1), "≥5": (2, 2, 0, 1)}
    assert values(report, "mode") == {
        "output-drift nesting": (3, 3, 0, 2),
        "output-drift units": (2, 2, 0, 1),
    }
    assert values(report, "hazard") == {"output-drift": (5, 5, 0, 3)}
    assert values(report, "domain") == {"travel": (5, 5, 0, 3)}
    assert [row.value for row in report.by["workflow"]] == ["sequential", "parallel", "mixture"]


def test_episodes_without_facts_are_unknown_and_those_without_hazard_none() -> None:
    old = episode(env=CLEAN, task_id="old", success=True)
    report = build_report([Run([*CLEAN_ONES, old])], by=["workflow", "tools", "hazard", "exposure"])
    assert values(report, "workflow", "sr") == {"mixture": (4, 4, 0, 4), "unknown": (1, 1, 0, 1)}
    assert list(values(report, "tools")) == ["4", "unknown"]
    assert list(values(report, "hazard")) == ["unknown"]
    (armed,) = build_report([Run([drifted(0, True, "parallel", 4, exposure=Exposure())])], by=["hazard"]).by[
        "hazard"
    ]
    assert armed.value == "none"


def test_what_never_ended_is_a_row_of_its_own_and_invalid_ones_are_in_theirs() -> None:
    episodes = [*HAZARD, drifted(5, False, "mixture", 4, accurate=None, **BROKEN)]
    report = build_report([Run(episodes, {(DRIFT, "agent"): 9})], by=["workflow"])
    found = values(report, "workflow")
    assert found["mixture"] == (2, 1, 1, 0)
    assert found["not finished"] == (3, 0, 0, None)
    assert sum(planned for planned, *_ in found.values()) == 9
    rows = {row.value: row for row in report.by["workflow"]}
    assert rows["mixture"].metrics["accuracy"].withheld
    assert rows["parallel"].metrics["accuracy"].withheld, "the three that never ended may be of any"
    assert rows["parallel"].over_valid["accuracy"].value == 1


def test_a_few_that_never_ended_put_no_value_in_doubt() -> None:
    many = [drifted(number, True, "parallel", 4) for number in range(19)]
    report = build_report([Run(many, {(DRIFT, "agent"): 20})], by=["workflow"])
    parallel, missing = report.by["workflow"]
    assert (parallel.metrics["accuracy"].value, missing.planned) == (1, 1)


def test_an_unknown_grouping_is_named() -> None:
    with pytest.raises(UnknownNameError, match="grouping 'workflo' in --by; did you mean 'workflow'"):
        build_report([Run(HAZARD)], by=["workflo"])


def test_degradation_by_hand() -> None:
    """Tasks t0 to t3 are in both: 4 of 4 clean, 3 of 4 with the hazard; t4 has no partner."""
    (row,) = build_report([Run(CLEAN_ONES), Run(HAZARD)]).degradation
    assert (row.clean, row.hazard, row.metric) == (CLEAN, DRIFT, "accuracy")
    assert (row.matching.pairs, row.matching.only_second) == (4, 1)
    assert row.comparison.difference.value == 0.25
    assert (row.comparison.pairs.only_first, row.comparison.p) == (1, 1.0)  # type: ignore[union-attr]
    text = text_of(build_report([Run(CLEAN_ONES), Run(HAZARD)]))
    assert "Degradation V(P0) - V(Ph)" in text
    assert "+25.0" in text
    assert "1 of its valid episodes have no partner in the clean condition" in text


def test_degradation_takes_one_suite_and_one_agent() -> None:
    others = [
        drifted(0, True, "parallel", 4, agent="somebody else"),
        drifted(0, True, "parallel", 4, env=OTHER),
        drifted(0, True, "parallel", 4, env="ToolFeas/Workflows-output-drift-v1"),
        drifted(0, True, "parallel", 4, env="ToolFeas/Workflows-infeasible-v0"),
        drifted(0, True, "parallel", 4, env="own name"),
    ]
    assert build_report([Run(CLEAN_ONES), Run(others)]).degradation == []


def test_unlike_runs_are_not_compared_and_a_note_says_why() -> None:
    runs = [Run(CLEAN_ONES, settings={"max_turns": 5}), Run(HAZARD, settings={"hazard_seed": 0})]
    report = build_report(runs)
    assert dict(report.degradation[0].differing) == {"max_turns": ("5", "not set")}
    assert report.degradation[0].comparison.difference.n == 0
    text = text_of(report)
    assert "Degradation" not in text
    assert "not compared" in text
    alike = build_report([Run(CLEAN_ONES), Run(HAZARD, settings={"hazard_seed": 0})])
    assert alike.degradation[0].comparison.difference.n == 4, "a clean run can have no hazard seed"


def test_success_stands_in_where_accuracy_is_not_told() -> None:
    clean = [episode(env="ToolFeas/BFCL-clean-v0", task_id="t0", success=True)]
    (row,) = build_report([Run(clean), Run([drifted(0, False, "", 1, env=OTHER, accurate=None)])]).degradation
    assert (row.metric, row.comparison.difference.value) == ("sr", 1)


def test_tables_of_paper_2_stand_only_where_they_have_something_to_say() -> None:
    bare = text_of(build_report([Run([episode(env="ToolFeas/BFCL-clean-v0", task_id="1", success=True)])]))
    assert "Accuracy" not in bare
    clean = text_of(build_report([Run(CLEAN_ONES)]))
    assert "Accuracy" in clean
    assert "behaviour in failed episodes" not in clean
    assert "armed" not in clean, "where nothing is armed that column would be 0"
    both = text_of(build_report([Run(HAZARD)]))
    assert f"{DRIFT}: behaviour in failed episodes" in both
    for head in (
        "armed",
        "Exposed",
        "retry",
        "switch",
        "stop",
        "expansion",
        "abandonment",
        "Under-utilization",
    ):
        assert head in both


def test_the_json_has_what_was_asked_for() -> None:
    plain = report_to_json(build_report([Run(HAZARD)]))
    assert list(plain) == ["rows"]
    full = build_report([Run(CLEAN_ONES), Run(HAZARD)], by=["workflow"], thresholds=Thresholds(2, 1.5))
    data = json.loads(json.dumps(report_to_json(full), allow_nan=False))
    assert list(data) == ["rows", "by", "degradation", "thresholds"]
    assert data["thresholds"] == {"post_error_calls": 2, "call_expansion": 1.5}
    assert data["by"]["workflow"][1]["metrics"]["accuracy"]["n"] == 2
    assert data["rows"][1]["exposure"] == {"armed": 5, "fired": 5, "seen": 5}
    (degraded,) = data["degradation"]
    assert degraded["difference"]["value"] == 0.25
    assert degraded["pairs"] == {"both": 3, "only_first": 1, "only_second": 0, "neither": 0}
    assert (degraded["matched"], degraded["unpaired"]) == (4, {"first": 0, "second": 1})
    failures = data["rows"][1]["metrics"]
    assert (failures["ineffective_continuation"]["count"], failures["ineffective_continuation"]["n"]) == (
        2,
        2,
    )
    medians = report_to_json(build_report([Run(HAZARD)]))["rows"][0]["metrics"]
    assert medians["ineffective_continuation"]["count"] == 0
    assert medians["under_utilization"]["count"] == 1, "t4: 4 calls of 8"
    assert medians["answer_synthesis_failure"]["count"] == 1, "t1: 4 calls of 3"


def test_tokens_by_role_by_hand() -> None:
    """Right stops at 30 + 0 and 50 + 20: 40 for the planner, 10 for the executor; together 50."""
    stop: dict[str, Any] = {
        "label": "infeasible",
        "decision": "infeasible",
        "env": "ToolFeas/BFCL-infeasible-v0",
        "success": False,
    }
    spent: list[dict[str, RoleTokens]] = [
        {"planner": RoleTokens(20, 10)},
        {"planner": RoleTokens(40, 10), "executor": RoleTokens(15, 5)},
    ]
    episodes = [
        episode(
            task_id=f"t{at}",
            roles=roles,
            input_tokens=sum(one.input_tokens or 0 for one in roles.values()),
            output_tokens=sum(one.output_tokens or 0 for one in roles.values()),
            **stop,
        )
        for at, roles in enumerate(spent)
    ]
    report = build_report([Run(episodes)])
    costs = report.rows[0].roles
    assert {role: one.early_stop.value for role, one in costs.items()} == {"planner": 40, "executor": 10}
    assert report.rows[0].metrics["tc_early_stop"].value == 50
    assert costs["planner"].task_failure.n == 0
    assert "Tokens by role" in text_of(report)
    assert report_to_json(report)["rows"][0]["roles"]["executor"]["early_stop"]["value"] == 10
    assert "Tokens by role" not in text_of(build_report([Run(HAZARD)]))


def test_agents_that_are_told_the_truth_are_marked() -> None:
    told = build_report([Run(HAZARD, privileged=True)])
    assert told.rows[0].privileged
    assert "told the truth" in text_of(told)
    assert report_to_json(told)["rows"][0]["privileged"] is True
    assert "told the truth" in render_page(told.rows, report=told)
    assert "told the truth" not in text_of(build_report([Run(HAZARD)]))


def test_the_page_has_every_table() -> None:
    report = build_report([Run(CLEAN_ONES), Run(HAZARD)], by=["workflow", "tools"])
    page = render_page(report.rows, report=report)
    for part in (
        "Degradation",
        "By workflow",
        "By tools",
        "sequential",
        "≥5",
        "Behaviour in failed episodes",
    ):
        assert part in page
    assert "+25.0" in page
    assert "<script" not in page


@pytest.mark.parametrize("name", ["[red]x[/red]", "\x1b[2J", "<b>bold</b>"])
def test_names_are_inert_in_every_table(name: str) -> None:
    episodes = [
        drifted(number, True, "parallel", 4, agent=name, task=TaskFacts(name, name, 4, 4))
        for number in range(2)
    ]
    clean = [episode(env=CLEAN, task_id="t0", agent=name, success=True, accurate=True)]
    report = build_report([Run([*episodes, *clean])], by=["workflow", "domain"])
    assert "\x1b" not in text_of(report)
    assert name.replace("\x1b", "\\x1b") in text_of(report)
    assert "<b>bold</b>" not in render_page(report.rows, report=report)
