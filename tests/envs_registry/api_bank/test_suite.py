"""The suite as an environment: subsets, pools, conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.api_bank import SUITE
from envs_registry.api_bank.conversation import messages
from envs_registry.api_bank.dialogues import RecordedCall, Said
from envs_registry.api_bank.settings import Setting
from envs_registry.api_bank.subsets import SUBSETS
from tests.support.corrections import entry, write_corrections
from toolenv.agents.oracle import Oracle
from toolenv.agents.registry import make_agent
from toolenv.cli.build import PROVENANCE
from toolenv.cli.certify import planner_of
from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.certificates.settle import settled
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.validation import summarise, validate_source

SIZES = {"level-1": 209, "level-1-open": 4, "level-2": 49, "level-2-open": 1, "level-3": 50}
"""NOTES.md: 213 dialogues that are not empty, 4 of which end with the user's words; 50, one of them; 50."""


@pytest.mark.parametrize("subset", list(SUBSETS))
def test_sizes(subset: str) -> None:
    tasks = SUITE.tasks(subset)
    dialogues = SUBSETS[subset].name.removesuffix("-all").removesuffix("-dialogue")
    assert len(tasks) == len({task.id for task in tasks}) == SIZES[dialogues]
    manifest = SUITE.masks(subset)
    assert manifest.masks.keys() | manifest.excluded.keys() == {task.id for task in tasks}


def test_field_094_a_file_leaves_tasks_out_and_the_source_says_why(tmp_path: Path) -> None:
    """Each form of a dialogue is a task of its own; answers cannot be replaced here."""
    left_out = ["ForgotPassword-level-1-1", "ForgotPassword-level-1-1@dialogue"]
    path = tmp_path / "fixes.json"
    write_corrections(path, "APIBank", {task_id: entry("exclude") for task_id in left_out})
    for pool, task_id in zip((None, "dialogue"), left_out, strict=True):
        source = make_source(SUITE.configured(pool=pool, corrections=path))
        assert len(source.task_ids) == 208
        assert list(source.corrections["exclude"]) == [task_id]
    write_corrections(path, "APIBank", {left_out[0]: entry("replace", {})})
    with pytest.raises(UsageError, match="suite APIBank cannot replace, only exclude"):
        SUITE.configured(corrections=path)


def test_ids_are_unique_over_all_subsets() -> None:
    names = [name for name in SUBSETS if name != "default"]
    ids = [task.id for name in names for task in SUITE.tasks(name)]
    assert len(ids) == len(set(ids))


def test_the_whole_pool_or_the_dialogues_own() -> None:
    task_id = "AddAlarm-level-1-1"
    own = {"AddAlarm", "GetUserToken"}
    whole, small = (
        envs_registry.make_env("APIBank", "clean", pool=pool, tasks=found).reset(seed=0)[0]
        for pool, found in (("all", task_id), ("dialogue", f"{task_id}@dialogue"))
    )
    assert len(whole.tools) == 52  # all but ToolSearcher
    assert own < {tool.name for tool in whole.tools}
    assert {tool.name for tool in small.tools} == own
    assert whole.messages == small.messages


def test_a_pool_that_does_not_exist() -> None:
    with pytest.raises(UnknownNameError, match="dialogue"):
        envs_registry.make_env("APIBank", "clean", pool="dialog")
    with pytest.raises(UsageError, match="level-1"):
        envs_registry.make_env("APIBank", "clean", pool="search")


def test_masks_are_the_tools_of_the_recorded_calls() -> None:
    source = make_source(SUITE, "infeasible")
    assert len(source.task_ids) == 208 - 3
    for task_id in source.task_ids:
        task = source.get(task_id)
        assert task.mask == {call.name for call in task.metadata["setting"].dialogue.calls}
        assert len(task.offered()) == 52 - len(task.mask)


def test_what_can_be_worked_out_is_not_called_infeasible() -> None:
    """Three dialogues ask for nothing but what a formula that the user says comes to."""
    for subset, calculators in (("level-1", 3), ("level-2", 2), ("level-3", 0)):
        manifest = SUITE.masks(subset)
        refuted = [task for task, known in manifest.evidence.items() if known["status"] == "refuted"]
        assert len(refuted) == calculators
        assert all(task.startswith("Calculator-") for task in refuted)
        assert {manifest.evidence[task]["status"] for task in manifest.masks} == {"certified"}


@pytest.mark.parametrize("subset", ["level-2", "level-3", "level-1-open"])
def test_the_manifests_are_what_build_makes(subset: str) -> None:
    data = SUITE.masks(subset).data
    built, _ = settled(SUITE, planner_of(SUITE), reference_masks(SUITE, subset, Oracle(), data, PROVENANCE))
    assert built == SUITE.masks(subset)


def test_masking_empties_the_dialogues_own_pool() -> None:
    with pytest.raises(UsageError, match="208 × the mask empties the pool"):
        make_source(SUITE, "infeasible", subset="level-1-dialogue")
    flagged = Counter(flag for task in make_source(SUITE, subset="level-1-dialogue").task_ids
                      for flag in SUITE.masks("level-1-dialogue").flags[task])  # fmt: skip
    assert flagged == {"mask_empties_pool": 208, "no_reference": 1}


def test_searching_is_never_critical() -> None:
    for subset in ("level-2", "level-3"):
        masks = SUITE.masks(subset).masks
        assert not any("ToolSearcher" in tools for tools in masks.values())
        source = make_source(SUITE, subset=subset)
        played = rollout(ToolEnv(source), make_agent("oracle"), seed=0, task_id=source.task_ids[0])
        assert any(call.name == "ToolSearcher" for call, _ in played.trace.calls("ok"))


@pytest.mark.parametrize("condition", ["clean", "infeasible", "mixed"])
@pytest.mark.parametrize("subset", ["default", "level-2", "level-3"])
def test_the_environment_is_what_it_claims_to_be(condition: str, subset: str) -> None:
    source = make_source(SUITE, condition, subset=subset)
    found = summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))
    assert found.findings == ()
    assert found.flagged == ({"no_reference": 1} if condition == "clean" and subset != "level-3" else {})


def test_what_disagrees_in_the_data_is_listed() -> None:
    """FIELD-063 and FIELD-098: by task and revision."""
    lines = {task.id: SUITE.warnings(task) for task in SUITE.tasks("default")}
    kinds = Counter(
        kind
        for found in lines.values()
        for line in found
        for kind in ("was recorded with parameter 'device_id'", "when recorded and now", "by the CSV")
        if kind in line
    )
    # Renamed: CancelTimedSwitch 5, TimedSwitch 3. Old data: the same 5, and QueryScene's 5 less an open one.
    assert kinds["was recorded with parameter 'device_id'"] == 8
    assert kinds["when recorded and now"] == 9
    assert kinds["by the CSV"] > 30
    assert all(line.endswith("(upstream 483554eae102)") for found in lines.values() for line in found)


def test_every_call_of_the_network_that_a_task_needs_was_recorded() -> None:
    """FIELD-066: coverage is 1 for every task, so none has to be left out of the infeasible ones for it."""
    needed = [
        (setting, call)
        for subset in ("default", "level-1-open", "level-2")
        for setting in (task.metadata["setting"] for task in SUITE.tasks(subset))
        for call in setting.dialogue.calls
        if call.name in ("Dictionary", "Translate")
    ]
    assert len(needed) == 5 + 4  # NOTES.md
    for setting, call in needed:
        noted = setting.world(replay="never").call(call.name, call.arguments)
        assert (noted.value, noted.record) == (call.result["output"], {"source": "recorded"})


def strict_roles(dialogue: list[Mapping[str, Any]]) -> list[str]:
    turns = [
        RecordedCall(turn["api_name"], turn["param_dict"], turn["result"], turn["param_dict"])
        if turn["role"] == "API"
        else Said("user" if turn["role"] == "User" else "assistant", turn["text"])
        for turn in dialogue
    ]
    return [message.role for message in messages(turns)]


def test_calls_become_tool_calls_and_replies() -> None:
    """FIELD-099, its own dialogue."""
    found = {"output": {"name": "Appoint"}}
    dialogue: list[Mapping[str, Any]] = [
        {"role": "User", "text": "Book GP."},
        {"role": "API", "api_name": "ToolSearcher", "param_dict": {"keywords": "book"}, "result": found},
        {"role": "API", "api_name": "Appoint", "param_dict": {"d": "1 May"}, "result": {"output": "ok"}},
        {"role": "AI", "text": "Done."},
    ]
    assert strict_roles(dialogue) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    dialogue.insert(1, {"role": "AI", "text": "Let me look."})
    assert strict_roles(dialogue) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    dialogue[4:] = [{"role": "User", "text": "Thanks."}]
    assert strict_roles(dialogue)[-3:] == ["tool", "assistant", "user"]


def test_the_user_speaks_as_recorded(find: Callable[[str], Setting]) -> None:
    setting = find("ForgotPassword-level-1-1")
    (task,) = [one for one in SUITE.tasks("default") if one.id == "ForgotPassword-level-1-1"]
    said = [message.content for message in task.messages if message.role == "user"]
    said += [message.content for turn in task.turns for message in turn.messages]
    assert tuple(said) == setting.dialogue.user_texts
    assert task.messages[0].content == "The current year is 2023."
    assert len(said) == 5


def test_the_cap_is_the_papers() -> None:
    """Paper 1, Appendix C."""
    source = make_source(SUITE)
    assert source.max_turns == 12
    observation, _ = ToolEnv(source).reset(seed=0)
    assert observation.turns_left == 12
