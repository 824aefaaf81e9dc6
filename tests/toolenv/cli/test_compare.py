"""``toolenv compare``, ``report --by`` and degradation, on runs of the scripted policies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.cli.command import Command
from toolenv.episode import FACTS
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE

CLEAN, FAILING = "ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-execution-failure-v0"


@pytest.fixture
def runs(toolenv: Command, place: Path) -> Path:
    """Two scripts, each on twelve tasks clean and with a hazard."""
    for agent, name in (("recovery:naive", "naive"), ("recovery", "full")):
        ended = toolenv("run", CLEAN, FAILING, "--agent", agent, "--limit", 12, "--out", name)
        assert ended.code == 0, ended.err
    return place


def test_two_agents_on_the_same_tasks(toolenv: Command, runs: Path) -> None:
    ended = toolenv("compare", "full", "naive", "--json")
    assert (ended.code, ended.err) == (0, "")
    clean, failing = json.loads(ended.out)["comparisons"]
    assert (clean["first"]["env"], clean["first"]["agent"], clean["second"]["agent"]) == (
        CLEAN,
        "recovery",
        "naive",
    )
    assert clean["metrics"]["sr"]["pairs"] == {"both": 12, "only_first": 0, "only_second": 0, "neither": 0}
    assert failing["metrics"]["sr"]["pairs"]["only_first"] == 12
    assert failing["metrics"]["sr"]["difference"]["value"] == 1
    assert failing["metrics"]["sr"]["p"] == 2 / 2**12
    assert (failing["matched"], failing["unpaired"], failing["other_seeds"]) == (
        12,
        {"first": 0, "second": 0},
        0,
    )
    assert "fcr_strict" not in failing["metrics"], "no infeasible task was played"
    text = toolenv("compare", "full", "naive").out
    for part in ("A: recovery (told the truth)", "B: naive", "+100", "<0.001", "12 pairs of episodes"):
        assert part in text


def test_two_conditions_of_one_agent(toolenv: Command, runs: Path) -> None:
    for env, name in ((CLEAN, "c"), (FAILING, "f")):
        assert toolenv("run", env, "--agent", "recovery:naive", "--limit", 9, "--out", name).code == 0
    (row,) = json.loads(toolenv("compare", "c", "f", "--json").out)["comparisons"]
    assert (row["first"]["env"], row["second"]["env"]) == (CLEAN, FAILING)
    assert row["metrics"]["sr"]["difference"]["value"] == 1
    report = json.loads(toolenv("report", "c", "f", "--json").out)
    (degraded,) = report["degradation"]
    assert degraded["difference"]["value"] == row["metrics"]["accuracy"]["difference"]["value"]
    assert "Degradation" in toolenv("report", "c", "f").out


def test_a_run_compared_with_itself_differs_in_nothing(toolenv: Command, runs: Path) -> None:
    for row in json.loads(toolenv("compare", "full", "full", "--json").out)["comparisons"]:
        assert {one["difference"]["value"] for one in row["metrics"].values()} == {0}


def test_what_cannot_be_compared_is_refused(toolenv: Command, runs: Path) -> None:
    assert toolenv("run", CLEAN, "--agent", "noop", "--limit", 3, "--out", "other").code == 0
    ended = toolenv("compare", ".", "other")
    assert ended.code == 0, "one agent against each of two"
    lines = (runs / "full" / EPISODES_FILE).read_text(encoding="utf-8").splitlines()
    ids = [json.loads(line)["episode"]["task_id"] for line in lines]
    for name, task_id in (("near", ids[0]), ("far", ids[11])):
        assert toolenv("run", CLEAN, "--agent", "noop", "--tasks", task_id, "--out", name).code == 0
    ended = toolenv("compare", "far", "near")
    assert (ended.code, ended.out) == (2, "")
    assert "nothing to compare" in ended.err
    assert toolenv("compare", "full", "nowhere").code == 2


def test_names_that_have_no_partner_are_listed(toolenv: Command, runs: Path) -> None:
    (runs / "one").mkdir()
    (runs / "two").mkdir()
    for folder, agent in (
        ("one/a", "noop"),
        ("one/b", "always-stop"),
        ("two/a", "oracle"),
        ("two/b", "random"),
    ):
        assert toolenv("run", CLEAN, "--agent", agent, "--limit", 2, "--out", folder).code == 0
    ended = toolenv("compare", "one", "two")
    assert (ended.code, ended.out) == (2, "")
    assert "no agent in common" in ended.err
    for name in ("always-stop", "noop", "oracle", "random"):
        assert name in ended.err


def test_below_90_percent_of_the_pairs_there_is_no_point(toolenv: Command, runs: Path) -> None:
    """FIELD-009, of two runs: 10 of 12 is 83%."""
    path = runs / "full" / EPISODES_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in [one for one in lines if one["episode"]["env"] == FAILING][:2]:
        line["episode"].update(valid=False, success=None, decided_by="server_error")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    clean, failing = json.loads(toolenv("compare", "full", "naive", "--json").out)["comparisons"]
    assert clean["metrics"]["sr"]["difference"]["value"] == 0
    found = failing["metrics"]["sr"]
    assert [found[name]["value"] for name in ("first", "second", "difference")] == [None] * 3
    assert (found["difference"]["low"], found["difference"]["high"]) == (8 / 12, 1)
    assert (found["p"], found["pairs"]["only_first"]) == (None, 10)
    assert any("fewer than 90% of the pairs" in note for note in failing["notes"])
    text = toolenv("compare", "full", "naive").out
    assert "withheld" in text
    assert "[+66.7 to +100]" in text
    assert "fewer than 90% of the pairs" in " ".join(text.split())


def test_tables_by_what_was_asked_for(toolenv: Command, runs: Path) -> None:
    report = json.loads(
        toolenv("report", "naive", "full", "--json", "--by", "workflow,tools", "--by", "mode").out
    )
    assert list(report["by"]) == ["workflow", "tools", "mode"]
    for rows in report["by"].values():
        assert sum(row["planned"] for row in rows) == 48
    text = toolenv("report", "naive", "--by", "workflow").out
    assert f"{FAILING} by workflow" in text
    assert toolenv("report", "naive", "--html", "page.html", "--by", "tools").code == 0
    assert "By tools" in (runs / "page.html").read_text(encoding="utf-8")
    wrong = toolenv("report", "naive", "--by", "workflows")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean 'workflow'?" in wrong.err


def test_thresholds_move_failures_between_categories(toolenv: Command, runs: Path) -> None:
    def shares(*options: object) -> dict[str, Any]:
        report = json.loads(toolenv("report", "naive", "--json", *options).out)
        assert ("thresholds" in report) is bool(options)
        return {
            name: one["count"] for name, one in report["rows"][1]["metrics"].items() if "continuation" in name
        }

    assert shares("--after-error", 1)["ineffective_continuation"] > shares()["ineffective_continuation"]


def test_runs_of_earlier_versions_are_still_reported(toolenv: Command, runs: Path) -> None:
    """Episodes of version 1 and a run.json that says nothing of privileges: facts are unknown, rates stay."""
    before = json.loads(toolenv("report", "naive", "--json").out)["rows"]
    path = runs / "naive" / EPISODES_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        kept = {name: value for name, value in line["episode"].items() if name not in FACTS}
        line["episode"] = {**kept, "version": 1}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    header = json.loads((runs / "naive" / RUN_FILE).read_text())
    assert header.pop("privileged") is True
    (runs / "naive" / RUN_FILE).write_text(json.dumps(header))
    after = json.loads(toolenv("report", "naive", "--json", "--by", "workflow").out)
    assert [row["metrics"]["sr"] for row in after["rows"]] == [row["metrics"]["sr"] for row in before]
    assert {row["metrics"]["accuracy"]["n"] for row in after["rows"]} == {0}
    assert {row["value"] for row in after["by"]["workflow"]} == {"unknown"}
    ended = toolenv("rescore", "naive")
    assert (ended.code, ended.out[-40:].strip()) == (0, "24 episodes judged again, 0 changed")


def test_run_json_says_who_is_told_the_truth(toolenv: Command, place: Path) -> None:
    for agent, told in (("oracle", True), ("always-stop", False), ("recovery", True)):
        assert toolenv("run", CLEAN, "--agent", agent, "--limit", 1, "--out", agent).code == 0
        assert json.loads((place / agent / RUN_FILE).read_text())["privileged"] is told
        (row,) = json.loads(toolenv("report", agent, "--json").out)["rows"]
        assert row["privileged"] is told
        assert ("told the truth" in toolenv("report", agent).out) is told
