"""Recorded responses in upstream's layout: found in any order and notation, and reported (FIELD-066)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.cache import ResponseCache, cache_file
from envs_registry.stable_tool_bench.coverage import best_source, coverage, covered_tasks
from envs_registry.stable_tool_bench.sources import CACHE, Sources, sources_from_environment
from envs_registry.stable_tool_bench.suite import StableToolBench
from tests.envs_registry.stable_tool_bench.cases import make_api, make_env, make_task, parameter
from toolenv.errors import DataCorruptError, DataMissingError, UsageError
from toolenv.types import Message, ToolCall, ToolCalls


def record(folder: Path, api: Api, calls: dict[str, Any]) -> ResponseCache:
    path = cache_file(folder, api)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(calls), encoding="utf-8")
    return ResponseCache(folder)


def test_files_lie_as_upstream_has_them(tmp_path: Path) -> None:
    api = make_api(category_name="News, Media", tool_name="31Events - Invites", api_name="ID")
    assert cache_file(tmp_path, api) == (
        tmp_path / "News_Media" / "get_31events_invites_for_News_Media" / "is_id.json"
    )


@pytest.mark.parametrize(
    "key",
    [
        "{'city': 'Oslo', 'days': 2}",  # str() of Python's dict, as upstream
        "{'days': 2, 'city': 'Oslo'}",
        "{ 'days':2,'city':'Oslo' }",
        '{"city":"Oslo","days":2}',  # JSON, as in caches others topped up
        "{'city': 'Oslo', 'days': '2'}",  # upstream shows models a type and takes any
        "{'City': 'Oslo', 'days': 2.0}",
        '{"city": "\\u004fslo", "days": 2}',
    ],
)
def test_field_066_argument_order_spacing_and_notation_do_not_matter(tmp_path: Path, key: str) -> None:
    api = make_api()
    cache = record(tmp_path, api, {key: {"error": "", "response": "sunny"}})
    for arguments in ({"city": "Oslo", "days": 2}, {"days": 2, "city": "Oslo"}):
        assert cache.find(api, arguments) == {"error": "", "response": "sunny"}
    assert cache.find(api, {"city": "Rome", "days": 2}) is None
    assert cache.find(api, {"city": "Oslo"}) is None


def test_no_arguments_and_null_are_keys_too(tmp_path: Path) -> None:
    api = make_api(required_parameters=[])
    cache = record(tmp_path, api, {"{}": 1, "{'city': None}": 2, '{"city": null, "days": true}': 3})
    found = [cache.find(api, one) for one in ({}, {"city": None}, {"city": None, "days": True})]
    assert found == [1, 2, 3]


def test_what_is_no_arguments_is_passed_over_and_nothing_is_evaluated(tmp_path: Path) -> None:
    api = make_api()
    marker = tmp_path / "evaluated"
    keys = [f"__import__('pathlib').Path({str(marker)!r}).touch()", "[1]", "{1: 2}", "{'a': 1j}", "{", "("]
    keys += ["(" * 5000, "[" * 5000, "{'a': " * 300 + "1" + "}" * 300]
    cache = record(tmp_path, api, {**dict.fromkeys(keys, 0), "{'city': 'Oslo'}": 1})
    assert cache.recorded(api) == 1
    assert cache.find(api, {"city": "Oslo"}) == 1
    assert not marker.exists()


def test_of_equal_calls_the_first_counts(tmp_path: Path) -> None:
    api = make_api()
    cache = record(tmp_path, api, {"{'city': 'Oslo'}": "first", '{"city":"Oslo"}': "second"})
    assert cache.find(api, {"city": "Oslo"}) == "first"


def test_a_reserved_parameter_is_found_under_either_name(tmp_path: Path) -> None:
    api = make_api(required_parameters=[parameter("id")])
    cache = record(tmp_path, api, {"{'is_id': 'a'}": 1, "{'id': 'b'}": 2})
    assert [cache.find(api, {"is_id": one}) for one in "ab"] == [1, 2]


def test_the_cache_answers_first_and_each_result_says_its_source(tmp_path: Path) -> None:
    recorded, templated, neither = (
        make_api(),
        make_api(api_name="later"),
        make_api(api_name="never", template_response={}),
    )
    cache = record(
        tmp_path,
        recorded,
        {
            "{'city': 'Oslo'}": {"error": "", "response": {"t": 3}},
            "{'city': 'Ur'}": {"error": "No such city", "response": ""},
            "{'city': 'Bonn'}": "rain",
        },
    )
    env = make_env(make_task([recorded, templated, neither]), Sources(cache))
    env.reset(seed=0)
    calls = [(recorded, "Oslo"), (recorded, "Ur"), (recorded, "Bonn"), (recorded, "Rome")]
    calls += [(templated, "Oslo"), (neither, "Oslo")]
    env.step(ToolCalls(tuple(ToolCall(api.spec.name, {"city": city}) for api, city in calls)))
    results = [result for _, result in env.trace.calls()]
    assert [result.record for result in results] == [
        {"source": "cache"},
        {"source": "cache"},
        {"source": "cache"},
        {"source": "template", "cache": "miss"},
        {"source": "template", "cache": "miss"},
        {"source": "generic", "cache": "miss"},
    ]
    assert [result.kind for result in results] == ["ok", "tool_error", "ok", "ok", "ok", "ok"]
    assert json.loads(results[0].content) == {"error": "", "response": {"t": 3}}
    assert json.loads(results[1].content) == {"error": "No such city", "response": ""}
    assert json.loads(results[2].content) == {"error": "", "response": "rain"}
    # Nothing of this is for the agent.
    seen = [message.content for message in env.step(Message("Done."))[0].messages]
    assert not any("source" in text or "cache" in text for text in seen)


def test_field_066_a_miss_is_the_same_on_every_run(tmp_path: Path) -> None:
    api = make_api(template_response={})
    cache = record(tmp_path, api, {"{'city': 'Oslo'}": {"error": "", "response": {"t": 3}}})
    texts = {json.dumps(Sources(cache).answer(api, {"city": "Rome"}, 0).value) for _ in range(3)}
    assert len(texts) == 1


def test_coverage_is_reported_by_task(tmp_path: Path) -> None:
    recorded, templated, neither = (
        make_api(),
        make_api(api_name="later"),
        make_api(api_name="never", template_response=None),
    )
    cache = record(tmp_path, recorded, {"{'city': 'Oslo'}": 1, "{'city': 'Ur'}": 2})
    assert [best_source(api, cache) for api in (recorded, templated, neither)] == [
        "cache",
        "template",
        "none",
    ]
    assert best_source(recorded, None) == "template"
    task = make_task([recorded, templated, neither])
    found = coverage(task, cache)
    assert (dict(found.pool), found.recorded_calls) == ({"cache": 1, "template": 1, "none": 1}, 2)
    assert found.share == pytest.approx(2 / 3)
    assert covered_tasks([task], 0.6, cache) == ("1",)
    assert covered_tasks([task], 0.7, cache) == ()
    with pytest.raises(UsageError, match=r"least=1\.5"):
        covered_tasks([task], 1.5)


def test_the_folder_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = make_api()
    record(tmp_path, api, {"{'city': 'Oslo'}": {"error": "", "response": "sunny"}})
    assert sources_from_environment() == Sources()
    monkeypatch.setenv(CACHE, str(tmp_path))
    world = StableToolBench().world(make_task([api]), seed=0)
    assert world.call(api.spec.name, {"city": "Oslo"}).record == {"source": "cache"}
    monkeypatch.setenv(CACHE, str(tmp_path / "absent"))
    with pytest.raises(DataMissingError, match=r"no folder of recorded responses at .*absent"):
        StableToolBench().world(make_task([api]), seed=0)


@pytest.mark.parametrize(("content", "problem"), [("{", "not JSON"), ("[]", "an object expected, not list")])
def test_a_broken_file_is_no_miss_but_an_invalid_episode(tmp_path: Path, content: str, problem: str) -> None:
    api = make_api()
    path = cache_file(tmp_path, api)
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(DataCorruptError, match=f"now.json: {problem}"):
        ResponseCache(tmp_path).find(api, {"city": "Oslo"})
    env = make_env(make_task([api]), Sources(ResponseCache(tmp_path)))
    env.reset(seed=0)
    *_, info = env.step(ToolCalls((ToolCall(api.spec.name, {"city": "Oslo"}),)))
    assert info["verdict"]["valid"] is False
    assert problem in env.trace.error
