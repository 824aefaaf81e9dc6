"""``toolenv report`` and ``toolenv rescore``: tables of kept runs, and whether they still hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE

# DESIGN.md, "Handles for inspection".
METRICS = {
    "fass",
    "false_stop_rate",
    "fcr_lenient",
    "fcr_strict",
    "sr",
    "tc_early_stop",
    "tc_ratio",
    "tc_task_failure",
    # docs/metrics.md, paper 2
    "accuracy",
    "accuracy_exposed",
    "answer_synthesis_failure",
    "call_expansion",
    "early_abandonment",
    "exposure_rate",
    "first_action_other",
    "first_action_retry",
    "first_action_stop",
    "first_action_switch",
    "ineffective_continuation",
    "post_error_calls",
    "under_utilization",
}


@pytest.fixture
def kept(toolenv: Command, place: Path) -> Path:
    """Ten episodes of the random agent."""
    ended = toolenv("run", CLEAN, INFEASIBLE, "--agent", "random", "--limit", 5, "--out", "kept")
    assert ended.code == 0
    return place / "kept"


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / EPISODES_FILE).read_text(encoding="utf-8").splitlines()]


def rewrite(folder: Path, new: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in new)
    (folder / EPISODES_FILE).write_text(text, encoding="utf-8")


def test_the_table(toolenv: Command, kept: Path) -> None:
    ended = toolenv("report", "kept")
    assert (ended.code, ended.err) == (0, "")
    for part in (CLEAN, INFEASIBLE, "ToolFeas/BFCL (pooled)", "FCR", "stop"):
        assert part in ended.out


def test_the_json_has_the_promised_structure(toolenv: Command, kept: Path) -> None:
    ended = toolenv("report", "kept", "--json")
    assert (ended.code, ended.err) == (0, "")
    report = json.loads(ended.out)
    assert list(report) == ["rows", "runs"]
    named = [
        (row["env"], row["agent"], row["planned"], row["valid"], row["invalid"]) for row in report["rows"]
    ]
    assert named == [
        (CLEAN, "random", 5, 5, 0),
        (INFEASIBLE, "random", 5, 5, 0),
        ("ToolFeas/BFCL (pooled)", "random", 10, 10, 0),
    ]
    for row in report["rows"]:
        assert set(row["metrics"]) == METRICS
        for metric in row["metrics"].values():
            assert {"value", "low", "high", "n"} <= set(metric)
    clean = report["rows"][0]["metrics"]
    assert (clean["fcr_strict"]["value"], clean["fcr_strict"]["n"]) == (None, 0), "NaN is null"


def test_masks_that_say_what_is_proven_need_no_labels_file(toolenv: Command, place: Path) -> None:
    """Ten multi-turn tasks, all certified (docs/certificates.md); an agent that never stops fails each."""
    few = ("--subset", "multi_turn_base", "--limit", 10)
    assert toolenv("run", INFEASIBLE, *few, "--agent", "never-stop", "--out", "certified").code == 0
    found = json.loads(toolenv("report", "certified", "--json").out)["labels"]
    assert [(one["rule"], one["certified"]["value"], one["certified"]["n"]) for one in found] == [
        ("strict", 1.0, 10),
        ("lenient", 1.0, 10),
    ]
    assert "FCR and the errors of labels" in toolenv("report", "certified").out


def test_the_json_s_numbers_are_those_of_the_records(toolenv: Command, kept: Path) -> None:
    episodes = [record["episode"] for record in records(kept)]
    infeasible = [one for one in episodes if one["label"] == "infeasible"]
    continued = sum(one["decision"] == "feasible" for one in infeasible)
    rows = json.loads(toolenv("report", "kept", "--json").out)["rows"]
    assert rows[1]["metrics"]["fcr_strict"]["value"] == pytest.approx(continued / len(infeasible))
    assert rows[2]["metrics"]["fass"]["value"] == pytest.approx(sum(one["reward"] for one in episodes) / 10)


def test_episodes_that_never_ended_are_counted_as_planned(toolenv: Command, kept: Path) -> None:
    rewrite(kept, records(kept)[:2])
    rows = json.loads(toolenv("report", "kept", "--json").out)["rows"]
    assert [(row["planned"], row["valid"]) for row in rows] == [(5, 2), (5, 0), (10, 2)]
    assert rows[1]["metrics"]["fcr_strict"]["value"] is None


def test_a_run_without_any_episode_has_a_table_of_nothing(toolenv: Command, kept: Path) -> None:
    for make_empty in (lambda path: path.write_bytes(b""), Path.unlink):
        make_empty(kept / EPISODES_FILE)
        assert toolenv("report", "kept").code == 0
        rows = json.loads(toolenv("report", "kept", "--json").out)["rows"]
        assert [(row["planned"], row["valid"], row["invalid"]) for row in rows] == [
            (5, 0, 0),
            (5, 0, 0),
            (10, 0, 0),
        ]
        numbers = {(metric["value"], metric["n"]) for row in rows for metric in row["metrics"].values()}
        assert numbers == {(None, 0)}
        assert toolenv("rescore", "kept").code == 0


def test_a_page_is_written_in_folders_yet_to_be_made(toolenv: Command, kept: Path, place: Path) -> None:
    ended = toolenv("report", "kept", "--html", "new/folder/page.html")
    assert ended.code == 0
    assert ended.out.endswith("Page: new/folder/page.html\n")
    assert "random" in (place / "new/folder/page.html").read_text(encoding="utf-8")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where even root writes no file")
def test_a_page_that_turns_out_not_to_be_writable(toolenv: Command, kept: Path) -> None:
    ended = toolenv("report", "kept", "--html", "/proc/toolenv.html")
    assert (ended.code, ended.out) == (2, "")
    assert "/proc/toolenv.html cannot be written" in ended.err


def test_several_runs_in_one_table(toolenv: Command, kept: Path, place: Path) -> None:
    assert toolenv("run", INFEASIBLE, "--agent", "oracle", "--limit", 5, "--out", "oracle").code == 0
    for folders in (["kept", "oracle"], ["."], [".", "kept", "./oracle"]):
        rows = json.loads(toolenv("report", *folders, "--json").out)["rows"]
        agents = [(row["env"], row["agent"], row["valid"]) for row in rows if not row["pooled"]]
        assert agents == [(CLEAN, "random", 5), (INFEASIBLE, "oracle", 5), (INFEASIBLE, "random", 5)]


def test_runs_that_repeat_each_other_are_refused_by_name(toolenv: Command, kept: Path, place: Path) -> None:
    assert toolenv("run", CLEAN, "--agent", "random", "--limit", 2, "--out", "again").code == 0
    ended = toolenv("report", "kept", "again")
    assert (ended.code, ended.out) == (2, "")
    for part in ("stands twice", CLEAN, "'random'", "kept, again"):
        assert part in ended.err
    assert ended.err.count("\n") == 1


def test_a_corrupt_line_is_named(toolenv: Command, kept: Path) -> None:
    lines = (kept / EPISODES_FILE).read_bytes().splitlines(keepends=True)
    (kept / EPISODES_FILE).write_bytes(b"".join([*lines[:3], b"{\n", *lines[3:]]))
    for command in ("report", "rescore"):
        ended = toolenv(command, "kept")
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith(f"toolenv: kept/{EPISODES_FILE}, line 4: not a record")


def test_a_byte_order_mark_is_called_one(toolenv: Command, kept: Path) -> None:
    path = kept / EPISODES_FILE
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    ended = toolenv("report", "kept")
    told = "kept/episodes.jsonl, line 1: not a record: it begins with a UTF-8 BOM; save the file without"
    assert (ended.code, ended.out, ended.err) == (2, "", f"toolenv: {told}\n")


def test_rescoring_changes_nothing(toolenv: Command, kept: Path) -> None:
    before = (kept / EPISODES_FILE).read_bytes()
    ended = toolenv("rescore", "kept")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("10 episodes judged again, 0 changed\n")
    assert (kept / EPISODES_FILE).read_bytes() == before


@pytest.mark.parametrize("agent", ["oracle", "never-stop"])
def test_rescoring_changes_nothing_in_multi_turn_tasks(toolenv: Command, place: Path, agent: str) -> None:
    command = ("run", CLEAN, INFEASIBLE, "--agent", agent, "--subset", "multi_turn_base", "--limit", 10)
    assert toolenv(*command, "--out", "x").code == 0
    ended = toolenv("rescore", "x")
    assert (ended.code, ended.out.splitlines()[-1]) == (0, "20 episodes judged again, 0 changed")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("success", True),
        ("reward", 0.5),
        ("decision", "infeasible"),
        ("label", "infeasible"),
        ("calls", 99),
        ("input_tokens", 5),
    ],
)
def test_a_record_that_was_tampered_with_is_found_out(
    toolenv: Command, kept: Path, field: str, value: object
) -> None:
    # The first of the random agent's episodes that ended in a message, without success.
    found = records(kept)
    changed = next(one["episode"] for one in found if one["episode"]["decided_by"] == "message")
    assert changed[field] != value
    changed[field] = value
    rewrite(kept, found)
    ended = toolenv("rescore", "kept")
    assert ended.code == 1
    assert ended.out.endswith("10 episodes judged again, 1 changed\n")
    assert f"changed: {changed['env']} {changed['task_id']} trial 0: " in ended.out


def test_an_answer_that_was_tampered_with_is_judged_anew(toolenv: Command, place: Path) -> None:
    assert toolenv("run", CLEAN, "--agent", "oracle", "--tasks", "multiple_0", "--out", "x").code == 0
    found = records(place / "x")
    (call,) = found[0]["trace"]["steps"][0]["action"]["calls"]
    call["arguments"] = {name: 1 for name in call["arguments"]}
    rewrite(place / "x", found)
    ended = toolenv("rescore", "x")
    assert ended.code == 1
    assert "success True, reward 1.0 -> feasible by message, success False, reward 0.0" in ended.out


def test_a_traceback_that_moved_is_no_change(toolenv: Command, kept: Path) -> None:
    found = records(kept)
    found[0]["episode"]["error"] = "line 12"
    rewrite(kept, found)
    assert toolenv("rescore", "kept").code == 0


def test_a_task_that_is_gone_is_named(toolenv: Command, kept: Path) -> None:
    found = records(kept)
    for part in ("episode", "trace"):
        found[0][part]["task_id"] = "multiple_x"
    rewrite(kept, found)
    ended = toolenv("rescore", "kept")
    assert (ended.code, ended.out) == (2, "")
    assert "toolenv: kept: unknown task id 'multiple_x' in BFCL-clean" in ended.err


def test_traces_of_other_masks_are_not_judged(toolenv: Command, kept: Path) -> None:
    header = json.loads((kept / RUN_FILE).read_text())
    header["manifests"][INFEASIBLE] = "sha256:0"
    (kept / RUN_FILE).write_text(json.dumps(header))
    ended = toolenv("rescore", "kept")
    assert (ended.code, ended.out) == (2, "")
    assert f"{INFEASIBLE} was run with the masks sha256:0, and this version has sha256:" in ended.err


def test_a_reader_that_leaves_early_sees_no_traceback(kept: Path) -> None:
    from tests.toolenv.cli.command import spawn

    reading, writing = os.pipe()
    os.close(reading)
    with spawn("report", "kept", "--json", cwd=kept.parent, stdout=writing) as process:
        os.close(writing)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")
