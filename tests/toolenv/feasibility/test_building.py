"""From successful traces to a mask manifest: what is masked, what is not and why, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.feasibility.office import (
    CANCEL,
    COPY,
    FIND,
    LIST,
    LOOK,
    MOVE,
    ORDER_LIST,
    REMOVE,
    SUITE,
    TASKS,
    THINK,
    call,
    play,
    traces_of,
)
from tests.toolenv.feasibility.real_suites import oracle_trace, real_source
from toolenv.errors import DataCorruptError, UsageError
from toolenv.feasibility import critical_tools as rules
from toolenv.feasibility.building import BuildSettings, BuiltTask, assemble, build_tasks
from toolenv.feasibility.critical_tools import Rule
from toolenv.feasibility.manifest import FLAGS, STATUSES, MaskManifest
from toolenv.feasibility.successful_traces import SuccessfulTrace, Traces
from toolenv.feasibility.task_building import DOING_NOTHING, NATURAL, NONE_NEEDED
from toolenv.source import make_source

PLAIN, SLICED = BuildSettings(), BuildSettings(sliced=True)


def built(traces: Traces, settings: BuildSettings = PLAIN) -> dict[str, BuiltTask]:
    return {one.task_id: one for one in build_tasks(SUITE, TASKS, traces, settings)}


def manifest_of(traces: Traces, settings: BuildSettings = PLAIN) -> MaskManifest:
    return assemble(SUITE, "default", "none", build_tasks(SUITE, TASKS, traces, settings), traces, settings)


def witness(task_id: str, calls: Iterable[Any]) -> Traces:
    """A success of somebody who was run without the masked tools."""
    one = SuccessfulTrace("solver", 0, play(task_id, calls), "masked-run", is_witness=True)
    return Traces({task_id: [one]})


def test_the_shared_tools_are_masked_with_their_evidence() -> None:
    traces = traces_of("put-away", a=[LIST, MOVE], b=[MOVE], c=[LIST, THINK, MOVE])
    found = built(traces)["put-away"]
    assert (found.mask, found.reason) == (("mv",), "")
    assert found.flags == ("semantically_redundant",)
    assert found.evidence == {
        "attempts": {"a": 1, "b": 1, "c": 1},
        "successes": {"a": 1, "b": 1, "c": 1},
        "tools": {"ls": 2, "mv": 3, "think": 1},
        "status": "questioned",
        "semantically_redundant": {"mv": [{"tool": "cp", "similarity": pytest.approx(0.8, abs=0.2)}]},
    }


def test_field_019_an_intersection_is_not_called_a_proof() -> None:
    found = built(traces_of("cancel", a=[LOOK, CANCEL], b=[LOOK, CANCEL]))["cancel"]
    assert found.evidence["status"] == "intersection"
    assert "no proof" in STATUSES["intersection"]


def test_field_019_a_run_without_the_masked_tools_that_succeeds_rejects_the_task() -> None:
    traces = traces_of("put-away", a=[LIST, MOVE], b=[MOVE], c=[LIST, MOVE])
    found = built(traces + witness("put-away", [COPY, REMOVE]))["put-away"]
    assert (found.mask, found.reason) == ((), rules.REFUTED)
    assert found.evidence["status"] == "refuted"
    assert found.evidence["witnesses"] == ["masked-run"]
    assert found.evidence["intersection"] == ["mv"], "what the paper's heuristic would have masked"


def test_field_019_a_witness_that_shares_a_tool_repairs_the_mask() -> None:
    traces = traces_of("cancel", a=[FIND, LOOK, CANCEL], b=[FIND, LOOK, CANCEL])
    assert built(traces)["cancel"].mask == ("cancel_item", "find_user", "get_order")
    found = built(traces + witness("cancel", [LOOK, CANCEL]))["cancel"]
    assert (found.mask, found.evidence["status"]) == (("cancel_item", "get_order"), "intersection")
    assert found.evidence["intersection"] == ["cancel_item", "find_user", "get_order"]


def test_field_019_a_trace_that_holds_another_way_rejects_the_task() -> None:
    back = call("cp", source="archive/log.txt", destination="log.txt")
    found = built(traces_of("put-away", a=[MOVE], b=[MOVE, back, COPY, REMOVE]))["put-away"]
    assert (found.mask, found.reason) == ((), rules.REFUTED)
    assert found.evidence["refuted_by"] == ["b, trial 0"]
    assert found.evidence["refuted_mask"] == ["mv"]


def test_field_019_a_task_that_is_solved_without_any_tool_is_rejected() -> None:
    found = built(traces_of("hello", a=[LIST], b=[LIST]))["hello"]
    assert (found.mask, found.reason, found.flags) == ((), DOING_NOTHING, ("do_nothing_passes",))


def test_slicing_takes_out_of_the_mask_what_was_used_and_not_needed() -> None:
    traces = traces_of("cancel", a=[LIST, FIND, LOOK, CANCEL], b=[FIND, LIST, LOOK, CANCEL])
    assert built(traces)["cancel"].mask == ("cancel_item", "find_user", "get_order", "ls")
    found = built(traces, SLICED)["cancel"]
    assert found.mask == ("cancel_item", "get_order")
    assert found.evidence["intersection"] == ["cancel_item", "find_user", "get_order", "ls"]
    first = found.evidence["slices"][0]
    assert (first["agent"], first["dropped"], first["minimal"]) == ("a", ["ls", "find_user"], True)
    assert [(one["call"], one["tool"]) for one in first["kept"]] == [(3, "get_order"), (4, "cancel_item")]


def test_a_task_whose_every_tool_can_be_spared_has_no_sliced_mask() -> None:
    calls = [MOVE, call("cp", source="archive/log.txt", destination="log.txt"), COPY, REMOVE]
    found = built(traces_of("put-away", a=calls, b=calls), SLICED)["put-away"]
    assert (found.mask, found.reason) == ((), NONE_NEEDED)


def test_what_the_query_holds_is_flagged_with_the_value() -> None:
    calls = [FIND, ORDER_LIST, LOOK, CANCEL]
    found = built(traces_of("known-id", a=calls, b=calls))["known-id"]
    assert "find_user" in found.mask
    assert "query_grounded" in found.flags
    assert found.evidence["query_grounded"] == {"find_user": ["mia_li_3668"]}
    assert found.evidence["status"] == "intersection", "the other tools are still needed"


def test_sliced_masks_hold_no_grounded_tool_and_the_evidence_still_names_it() -> None:
    calls = [FIND, ORDER_LIST, LOOK, CANCEL]
    found = built(traces_of("known-id", a=calls, b=calls), SLICED)["known-id"]
    assert found.mask == ("cancel_item", "get_order", "list_orders")
    assert "query_grounded" not in found.flags
    assert found.evidence["query_grounded"] == {"find_user": ["mia_li_3668"]}


def test_every_task_is_masked_or_has_its_reason() -> None:
    traces = (
        traces_of("put-away", a=[MOVE], b=[COPY, REMOVE])
        + traces_of("cancel", a=[LOOK, CANCEL])
        + Traces({}, {"price": {"a": 1, "b": 2}})
    )
    manifest = manifest_of(traces)
    assert manifest.masks == {}
    assert manifest.excluded == {
        "put-away": rules.NOTHING_SHARED,
        "cancel": rules.TOO_FEW_AGENTS,
        "cancel-any": rules.NOT_TRIED,
        "known-id": rules.NOT_TRIED,
        "price": rules.NO_SUCCESS,
        "hello": rules.NOT_TRIED,
        "shipped": NATURAL,
    }
    assert manifest.flags == {"price": ("never_solved",)}
    assert manifest.evidence["price"]["attempts"] == {"a": 1, "b": 2}


def test_the_manifest_says_how_it_was_built_and_every_id_accepts_it(tmp_path: Path) -> None:
    manifest = manifest_of(traces_of("put-away", a=[LIST, MOVE], b=[MOVE]), SLICED)
    file = tmp_path / "masks.json"
    manifest.write(file)
    assert MaskManifest.read(file) == manifest
    assert manifest.built["criterion"] == "at-least-k"
    assert manifest.built["agents_needed"] == 2
    assert manifest.built["sliced"] is True
    source = make_source(SUITE, "infeasible", masks=file)
    assert source.task_ids == ("put-away", "shipped")
    assert source.get("put-away").mask == {"mv"}
    assert source.get("put-away").flags <= FLAGS.keys()
    assert {tool.name for tool in source.get("put-away").offered()}.isdisjoint({"mv"})


def test_a_manifest_from_before_there_was_evidence_keeps_its_hash() -> None:
    given = {
        "version": 1, "suite": "BFCL", "subset": "default", "data": "d", "provenance": "p",
        "masks": {"t": ["mv"]}, "excluded": {}, "flags": {},
        # sha256sum of the other fields as JSON with sorted keys and no blanks, worked out in a shell.
        "hash": "sha256:633a8d3d4c0b1cb95c9998b2a0a051ef857f2b40ae779a6d6cab06e9fb72b37a",
    }  # fmt: skip
    manifest = MaskManifest.from_json(given)
    assert manifest.to_json() == given


def test_evidence_is_part_of_the_hash(tmp_path: Path) -> None:
    file = tmp_path / "masks.json"
    manifest_of(traces_of("put-away", a=[MOVE], b=[MOVE])).write(file)
    changed = json.loads(file.read_text())
    changed["evidence"]["put-away"]["status"] = "certified"
    with pytest.raises(DataCorruptError, match="does not match its content"):
        MaskManifest.from_json(changed)


def test_building_is_the_same_every_time() -> None:
    traces = traces_of(
        "cancel-any", a=[FIND, ORDER_LIST, LOOK, CANCEL], b=[THINK, FIND, ORDER_LIST, LOOK, CANCEL]
    )
    assert len({manifest_of(traces, SLICED).hash for _ in range(3)}) == 1


def test_the_papers_criterion() -> None:
    settings = BuildSettings(Rule("all-agents"))
    same = traces_of("put-away", a=[LIST, MOVE], b=[MOVE, LIST])
    assert built(same, settings)["put-away"].mask == ("ls", "mv")
    different = traces_of("put-away", a=[LIST, MOVE], b=[MOVE])
    assert built(different, settings)["put-away"].reason == rules.AGENTS_DIFFER
    assert "agents_needed" not in settings.to_json()


@pytest.mark.parametrize("bound", [0, -5, True])
def test_a_bound_on_replays_has_to_be_a_number(bound: int) -> None:
    with pytest.raises(UsageError, match="max_replays"):
        BuildSettings(max_replays=bound)


def test_flags_of_the_suite_that_its_worlds_need_are_kept() -> None:
    """Where the right answer breaks the schema, the flag is what lets the world accept it."""
    source = real_source("BFCL", "live_multiple")
    task_id = next(one for one in source.task_ids if "reference_breaks_schema" in source.get(one).flags)
    trace = oracle_trace(source, task_id)
    successes = [SuccessfulTrace(agent, 0, trace, "a-run") for agent in ("a", "b")]
    traces = Traces({task_id: successes}, {task_id: {"a": 1, "b": 1}})
    (found,) = build_tasks(source.suite, [source.get(task_id)], traces, SLICED)
    assert "reference_breaks_schema" in found.flags
    assert found.mask == tuple(sorted(one.name for one, _ in trace.calls("ok")))
