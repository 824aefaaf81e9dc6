"""Names: upstream's standard form, one for one API, reversible (FIELD-020)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from envs_registry.stable_tool_bench.apis import build_apis, identity_of
from envs_registry.stable_tool_bench.naming import (
    ApiId,
    function_names,
    parameter_name,
    standard_category,
    standard_name,
    unreserved,
)
from toolenv.names import lookup_table
from toolenv.task import Task
from toolenv.types import ToolSpec


@pytest.mark.parametrize(
    ("text", "standard"),
    [
        ("Songkick concert", "songkick_concert"),
        ("Kick.com API | Kick API", "kick_com_api_kick_api"),
        ("31Events - Send Native Calendar Invites", "get_31events_send_native_calendar_invites"),
        ("👋 Demo Project", "demo_project"),
        ("__a--b__", "a_b"),
        ("天气 now", "天气_now"),
        ("a^b", "a^b"),
        ("!!!", ""),
    ],
)
def test_the_standard_form(text: str, standard: str) -> None:
    assert standard_name(text) == standard


@pytest.mark.parametrize("word", ["from", "class", "return", "false", "true", "id", "and"])
def test_reserved_words_get_a_prefix(word: str) -> None:
    assert unreserved(word) == f"is_{word}"
    assert unreserved(f"{word}s") == f"{word}s"


def test_categories_are_named_as_upstreams_folders() -> None:
    assert standard_category("News, Media") == "News_Media"
    assert standard_category("Artificial Intelligence/Machine Learning") == (
        "Artificial_Intelligence_Machine_Learning"
    )
    assert standard_category("Health_and_Fitness") == "Health_and_Fitness"


def test_parameters_that_share_a_standard_name_are_numbered() -> None:
    taken: list[str] = []
    for original in ("id", "ID", "is-id", "***"):
        taken.append(parameter_name(original, taken))
    assert taken == ["is_id", "is_id_2", "is_id_3", "parameter"]


some_text = some.text(alphabet="aAbB1 _-./^天", max_size=6)


@given(some.lists(some.builds(ApiId, some_text, some_text, some_text), max_size=12))
def test_no_two_apis_share_a_name_and_the_order_does_not_count(identities: list[ApiId]) -> None:
    names = function_names(identities)
    assert set(names) == set(identities)
    assert len(set(names.values())) == len(names)
    assert names == function_names(reversed(identities))


FIELD_020 = (
    "retrieve_detailed_historical_weather_measurements_for_location_by_hour_v1",
    "retrieve_detailed_historical_weather_measurements_for_location_by_day_v1",
    "天气 lookup",
)


def test_field_020_long_names_are_whole_and_their_wire_names_legal_and_distinct() -> None:
    documents = [
        {
            "category_name": "Weather",
            "tool_name": "T",
            "api_name": name,
            "api_description": "",
            "required_parameters": [],
            "optional_parameters": [],
        }
        for name in FIELD_020
    ]
    specs = [api.spec for api in build_apis(documents).values()]
    assert [spec.name for spec in specs] == [
        f"{FIELD_020[0]}_for_t",
        f"{FIELD_020[1]}_for_t",
        "天气_lookup_for_t",
    ]
    wires = [spec.wire_name for spec in specs]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", wire) for wire in wires)
    assert len(set(wires)) == 3
    assert all(lookup_table(specs)[spec.wire_name] is spec for spec in specs)


def upstream_name(entry: Mapping[str, Any]) -> str:
    """Upstream's name before the cut, by the rule in the data's notes."""

    def standard(text: str) -> str:
        text = re.sub("_+", "_", re.sub(r"[^\u4e00-\u9fa5^a-zA-Z0-9_]", "_", text)).lower().strip("_")
        return f"get_{text}" if text and text[0] in "0123456789" else text

    own = standard(entry["api_name"])
    own = f"is_{own}" if own in {"from", "class", "return", "false", "true", "id", "and"} else own
    return f"{own}_for_{standard(entry['tool_name'])}"


def test_field_020_in_the_real_data_no_pool_has_two_tools_of_one_name(
    queries: Mapping[str, list[dict[str, Any]]], tasks: Mapping[str, Task]
) -> None:
    cut_collide = set()
    for query in (query for group in queries.values() for query in group):
        cut = [upstream_name(entry)[-64:] for entry in query["api_list"]]
        if len(set(cut)) < len(cut):
            cut_collide.add(query["query_id"])
        pool = tasks[str(query["query_id"])].tools
        for names in ([tool.name for tool in pool], [tool.wire_name for tool in pool]):
            assert len(set(names)) == len(query["api_list"])
    assert cut_collide == {27847, 79053, 9039, 27543}  # four queries, by the data's notes


def test_names_are_upstreams_where_upstreams_are_unique_and_lead_back_to_the_api(
    entries: list[dict[str, Any]], tasks: Mapping[str, Task]
) -> None:
    assert sum(len(upstream_name(entry)) > 64 for entry in entries) == 117  # by the data's notes
    by_name: dict[str, ToolSpec] = {}
    identities = {}
    for task in tasks.values():
        for name, api in task.metadata["apis"].items():
            assert by_name.setdefault(name, api.spec) is api.spec
            identities[name] = api.identity
    assert sorted(identities.values()) == sorted(set(map(identity_of, entries)))
    assert len(identities) == 2490
    plain = Counter(upstream_name(entry) for entry in {identity_of(one): one for one in entries}.values())
    own = {identity: name for name, identity in identities.items()}
    for entry in entries:
        expected, found = upstream_name(entry), own[identity_of(entry)]
        assert found == expected if plain[expected] == 1 else re.fullmatch(f"{expected}_[0-9a-f]{{8}}", found)
    # The same API of the same tool in several categories; never in one pool.
    assert sum(count > 1 for count in plain.values()) == 8


def test_wire_names_are_the_same_in_every_pool(tasks: Mapping[str, Task]) -> None:
    wires: dict[str, str] = {}
    for task in tasks.values():
        for tool in task.tools:
            assert wires.setdefault(tool.name, tool.wire_name) == tool.wire_name
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.wire_name)
    assert len(set(wires.values())) == len(wires)
    assert sum(name != wire for name, wire in wires.items()) == sum(len(name) > 64 for name in wires)
