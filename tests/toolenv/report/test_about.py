"""What a report says of where its numbers come from (FIELD-094)."""

from __future__ import annotations

from typing import Any

from toolenv.report.about import LEFT_OUT_SHOWN, about, origin_lines, runs_to_json

CLEAN, INFEASIBLE = "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0"
CORRECTIONS = {
    "hash": "sha256:" + "c" * 64,
    "file": "/home/someone/fixes.json",
    "replace": ["live_x"],
    "widen": ["live_y", "live_z"],
    "exclude": {"live_w": "dish is Korean (issue 1169)"},
}


def header(agent: str = "one", corrections: Any = CORRECTIONS, **more: Any) -> dict[str, Any]:
    plain = {
        "agent": agent,
        "config_hash": f"hash-of-{agent}",
        "versions": {"python": "3.11.7", "toolenv": "0.1"},
        "manifests": {CLEAN: "sha256:" + "a" * 64},
        "origins": {CLEAN: {"data": "d" * 64, "corrections": corrections}},
    }
    return {**plain, **more}


def test_a_page_names_versions_data_masks_corrections_and_configurations() -> None:
    done = "1 task replaced, 2 tasks widened, 1 task left out (live_w: dish is Korean (issue 1169))"
    assert about([header(), header("two")]) == {
        "versions": "python 3.11.7, toolenv 0.1",
        f"tasks of {CLEAN}": f"data {'d' * 64}, manifest sha256:{'a' * 64}, "
        f"corrections sha256:{'c' * 64} (fixes.json): {done}",
        "configuration of one": "hash-of-one",
        "configuration of two": "hash-of-two",
    }


def test_what_differs_between_runs_is_told_of_each() -> None:
    facts = about([header(), header("two", corrections={}, versions={"python": "3.13.1"})])
    assert facts["versions"] == "python 3.11.7, toolenv 0.1; python 3.13.1"
    first, second = facts[f"tasks of {CLEAN}"].split("; ")
    assert "corrections sha256:ccc" in first
    assert second.endswith("no corrections")


def test_a_terminal_gets_a_line_for_each_environment_with_hashes_cut_short() -> None:
    both = {CLEAN: "sha256:" + "a" * 64, INFEASIBLE: "none"}
    assert origin_lines([header(corrections={}), header("two", corrections={}, manifests=both)]) == [
        f"{CLEAN}: data {'d' * 12}…, manifest sha256:{'a' * 12}…, no corrections",
        f"{INFEASIBLE}: data not recorded, manifest none, no corrections",
    ]


def test_what_is_no_hash_stays_whole() -> None:
    """Tasks made on demand have the seed and the number of them for a manifest."""
    made = {CLEAN: "workflows-1-4271-10000"}
    assert origin_lines([header(corrections={}, manifests=made)]) == [
        f"{CLEAN}: data {'d' * 12}…, manifest workflows-1-4271-10000, no corrections"
    ]


def test_long_lists_of_tasks_left_out_are_cut_and_counted() -> None:
    excluded = {f"task-{number}": "broken (me)" for number in range(LEFT_OUT_SHOWN + 7)}
    many = {**CORRECTIONS, "replace": [], "widen": [], "exclude": excluded}
    text = about([header(corrections=many)])[f"tasks of {CLEAN}"]
    assert f"{LEFT_OUT_SHOWN + 7} tasks left out" in text
    assert text.count("broken (me)") == LEFT_OUT_SHOWN
    assert text.endswith("; and 7 more)")
    nothing = {**many, "exclude": {}}
    assert about([header(corrections=nothing)])[f"tasks of {CLEAN}"].endswith("of no task here")


def test_runs_of_earlier_versions_have_less_to_tell() -> None:
    old = {"agent": "one", "manifests": {CLEAN: "sha256:x"}, "planned": {CLEAN: 1}}
    assert about([old]) == {
        f"tasks of {CLEAN}": "data not recorded, manifest sha256:x, no corrections",
        "configuration of one": "not recorded",
    }
    (told,) = runs_to_json([old])
    assert (told["agent"], told["origins"]) == ("one", None)
