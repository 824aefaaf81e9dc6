"""Conditions and masks of the suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import envs_registry
from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.groups import GROUPS
from tests.support.corrections import REASON, SOURCE, entry, write_corrections
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.errors import UsageError
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.task import Task

EMPTIED = {  # queries whose pool is their relevant set, by the data's notes
    "G1_instruction": 47,
    "G1_category": 65,
    "G1_tool": 50,
    "G2_category": 7,
    "G2_instruction": 13,
    "G3_instruction": 14,
}


def test_ids_are_registered() -> None:
    ids = [f"ToolFeas/StableToolBench-{condition}-v0" for condition in ("clean", "infeasible", "mixed")]
    assert set(ids) < set(envs_registry.env_ids())


def test_masks_are_the_relevant_apis_but_where_they_are_the_whole_pool(tasks: Mapping[str, Task]) -> None:
    for group, emptied in EMPTIED.items():
        manifest = SUITE.masks(group)
        assert Counter(manifest.excluded.values()) == {"the mask empties the pool": emptied}
        assert len(manifest.masks) == GROUPS[group] - emptied
    manifest = SUITE.masks("all")
    assert (len(manifest.masks), len(manifest.excluded)) == (569, 196)
    assert "toolenv build" in manifest.provenance
    for task_id, task in tasks.items():
        relevant = {api.spec.name for api in task.reference.relevant}
        pool = {tool.name for tool in task.tools}
        assert set(manifest.masks.get(task_id, ())) == (relevant if relevant < pool else set())
        assert ("mask_empties_pool" in manifest.flags[task_id]) == (relevant == pool)
        assert "proxy_judge" in manifest.flags[task_id]


def test_field_094_a_file_leaves_tasks_out_and_the_source_says_why(
    tasks: Mapping[str, Task], tmp_path: Path
) -> None:
    first = next(iter(tasks))
    path = write_corrections(tmp_path / "fixes.json", "StableToolBench", {first: entry("exclude")})
    source = make_source(SUITE.configured(corrections=path))
    assert len(source.task_ids) == 764
    assert source.corrections["exclude"] == {first: f"{REASON} ({SOURCE})"}
    with pytest.raises(UsageError, match=f"'{first}': left out by"):
        make_source(SUITE.configured(corrections=path), tasks=first)


def test_the_sample_s_masks_are_those_of_its_tasks(tasks: Mapping[str, Task]) -> None:
    manifest = SUITE.masks("sample-500")
    drawn = {task.id for task in SUITE.tasks("sample-500")}
    assert manifest.masks.keys() | manifest.excluded.keys() == drawn
    assert manifest.masks.items() <= SUITE.masks("all").masks.items()


@pytest.mark.parametrize(
    ("agent", "clean", "infeasible"), [("oracle", 765, 569), ("noop", 0, 0), ("always-stop", 0, 569)]
)
def test_reference_agents(tasks: Mapping[str, Task], agent: str, clean: int, infeasible: int) -> None:
    policy = make_agent(agent)
    for condition, expected in (("clean", clean), ("infeasible", infeasible)):
        source = make_source(SUITE, condition)
        env = ToolEnv(source)
        episodes = [rollout(env, policy, seed=0, task_id=one).episode for one in source.task_ids]
        assert all(episode.valid for episode in episodes)
        assert sum(episode.reward or 0 for episode in episodes) == expected


def test_a_masked_task_offers_the_distractors_alone(tasks: Mapping[str, Task]) -> None:
    source = make_source(SUITE, "infeasible")
    task = source.get("588")
    offered = {tool.name for tool in task.offered()}
    assert offered
    assert offered.isdisjoint(api.spec.name for api in task.reference.relevant)


def test_a_query_without_distractors_says_why_it_has_no_infeasible_form(tasks: Mapping[str, Task]) -> None:
    excluded = next(iter(SUITE.masks("all").excluded))
    with pytest.raises(UsageError, match="the mask empties the pool"):
        make_source(SUITE, "infeasible", tasks=excluded)
