"""ToolSearcher: a lexical retriever over the tools on offer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import envs_registry
from envs_registry.api_bank.settings import Setting, settings
from envs_registry.api_bank.subsets import Level
from envs_registry.api_bank.tool_search import ToolSearch, names_in, spaced
from toolenv.env import ToolEnv
from toolenv.source import make_source
from toolenv.types import Observation, ToolCall, ToolCalls


def searches(data: Path, level: Level) -> list[tuple[Setting, str, str]]:
    """Dialogue, keywords and tool of every recorded search."""
    return [
        (setting, call.arguments["keywords"], names_in(call.result["output"])[-1])
        for setting in settings(data, level)
        for call in setting.dialogue.calls
        if call.name == "ToolSearcher"
    ]


def index(setting: Setting, without: frozenset[str] = frozenset()) -> ToolSearch:
    documents = [one for name, one in setting.documents.items() if name not in without | {"ToolSearcher"}]
    return ToolSearch(documents, {})


@pytest.mark.parametrize("split", [False, True], ids=["as recorded", "as upstream's evaluator splits them"])
def test_names_find_their_tools(data: Path, split: bool) -> None:
    """APIS.md 5.15: all 114 of level 3, where keywords are names."""
    found = searches(data, 3)
    assert len(found) == 114
    for setting, keywords, name in found:
        assert index(setting).best(spaced(keywords) if split else keywords) == name


def test_keywords_find_tools(data: Path) -> None:
    """A cosine of trigrams finds 30 of the 45 tools that upstream's model found (APIS.md 5.15)."""
    found = searches(data, 2)
    assert len(found) == 45
    assert sum(index(setting).best(keywords) == name for setting, keywords, name in found) >= 30


@pytest.mark.parametrize("level", [2, 3])
def test_recorded_searches_find_what_they_found(data: Path, level: Level) -> None:
    for setting, keywords, name in searches(data, level):
        everything = frozenset(setting.documents) - {"ToolSearcher"}
        noted = setting.world(found_among=everything).call("ToolSearcher", {"keywords": keywords})
        assert names_in(noted.value)[-1] == name


def test_a_tool_that_needs_a_token_comes_with_the_tool_that_gives_one(
    find: Callable[[str], Setting],
) -> None:
    """APIS.md 5.14, the fifth key included."""
    giver, tool = index(find("AddAlarm-level-3-1"))("add alarm")
    assert (giver["name"], tool["name"]) == ("GetUserToken", "AddAlarm")
    assert giver["desc_for_search"] == "get user tokenGet the user token by username and password."
    assert set(tool) == {"name", "description", "input_parameters", "output_parameters"}


def test_nothing_is_found_for_words_no_tool_has(find: Callable[[str], Setting]) -> None:
    setting = find("AddAlarm-level-3-1")
    world = setting.world(found_among=frozenset({"AddAlarm"}), shown=frozenset({"ToolSearcher"}))
    noted = world.call("ToolSearcher", {"keywords": "xyzzy"})
    assert (noted.failed, noted.value) == (True, "Error: No tool matches these keywords.")
    assert world.listed == frozenset({"ToolSearcher"})


def names(observation: Observation) -> set[str]:
    return {tool.name for tool in observation.tools}


def search(keywords: str) -> ToolCalls:
    return ToolCalls((ToolCall("ToolSearcher", {"keywords": keywords}),))


def test_an_agent_sees_the_tools_it_has_found() -> None:
    """FIELD-099: the search does not hide which tools answer, and shows no tool before it is found."""
    env = ToolEnv(make_source(envs_registry.get_suite("APIBank"), subset="level-2"))
    observation, _ = env.reset(seed=0, options={"task_id": "AddAlarm-level-3-1"})
    assert names(observation) == {"ToolSearcher"}
    observation, *_ = env.step(ToolCalls((ToolCall("NoSuchTool"),)))
    assert observation.messages[-1].content.endswith("Tools offered: ToolSearcher.")
    observation, *_ = env.step(search("add alarm"))
    assert names(observation) == {"ToolSearcher", "GetUserToken", "AddAlarm"}
    observation, *_ = env.step(search("query stock"))
    assert names(observation) == {"ToolSearcher", "GetUserToken", "AddAlarm", "QueryStock"}
    observation, _ = env.reset(seed=0, options={"task_id": "AddAlarm-level-3-1"})
    assert names(observation) == {"ToolSearcher"}


def test_a_masked_tool_is_not_found() -> None:
    """FIELD-099: masking takes it out of the index too, and out of what comes with other tools."""
    env = ToolEnv(make_source(envs_registry.get_suite("APIBank"), "infeasible", subset="level-2"))
    env.reset(seed=0, options={"task_id": "AddAlarm-level-3-1"})
    assert env.task.mask == {"AddAlarm", "GetUserToken"}
    for keywords in ("add alarm", "AddAlarm", "set alarm", "get user token"):
        observation, *_ = env.step(search(keywords))
        assert not names(observation) & env.task.mask
        assert not any(f'"name": "{name}"' in observation.messages[-1].content for name in env.task.mask)
    assert "QueryAlarm" in names(observation) or "DeleteAlarm" in names(observation)


@pytest.mark.parametrize(("subset", "tools"), [("level-2-all", 52), ("level-3-all", 21)])
def test_all_tools_can_be_offered_without_the_search(subset: str, tools: int) -> None:
    """FIELD-099: a flag offers all tools without ToolSearcher."""
    env = ToolEnv(make_source(envs_registry.get_suite("APIBank"), subset=subset))
    observation, _ = env.reset(seed=0)
    assert len(observation.tools) == tools
    assert "ToolSearcher" not in names(observation)
