"""Upstream's records as tasks: counts, tools, schemas, samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.apis import identity_of
from envs_registry.stable_tool_bench.examples import example_value
from envs_registry.stable_tool_bench.groups import GROUPS, sample
from envs_registry.stable_tool_bench.load import read_groups
from tests.envs_registry.stable_tool_bench.cases import document, make_api, parameter
from toolenv.arguments import check_arguments
from toolenv.errors import DataCorruptError, DataMissingError
from toolenv.task import Task
from toolenv.trace import Step, Trace
from toolenv.types import Message

SIZES = {  # the data's notes
    "G1_instruction": 163,
    "G1_category": 153,
    "G1_tool": 158,
    "G2_category": 124,
    "G2_instruction": 106,
    "G3_instruction": 61,
}


def test_765_queries_in_six_groups(tasks: Mapping[str, Task]) -> None:
    assert len(tasks) == 765
    assert SUITE.subsets == ("all", *SIZES, "sample-500")
    assert {group: len(SUITE.tasks(group)) for group in SIZES} == SIZES == dict(GROUPS)
    assert [task.id for group in SIZES for task in SUITE.tasks(group)] == list(tasks)


def test_ids_are_upstreams(tasks: Mapping[str, Task], shared_datasets: Path) -> None:
    folder = shared_datasets / "stabletoolbench" / "solvable_queries" / "test_query_ids"
    for group in SIZES:
        listed = json.loads((folder / f"{group}.json").read_text())
        assert {task.id for task in SUITE.tasks(group)} == set(listed)


def test_every_record_is_in_its_task(
    tasks: Mapping[str, Task], queries: Mapping[str, list[dict[str, Any]]]
) -> None:
    for query in (query for group in queries.values() for query in group):
        task = tasks[str(query["query_id"])]
        assert [message.content for message in task.messages] == [query["query"]]
        apis = [task.metadata["apis"][tool.name] for tool in task.tools]
        assert [api.identity for api in apis] == list(map(identity_of, query["api_list"]))
        pairs = {(api.identity.tool, api.identity.api) for api in task.reference.relevant}
        assert pairs == {tuple(pair) for pair in query["relevant APIs"]}
        assert "proxy_judge" in task.flags


def test_every_parameter_is_in_the_schema_optional_ones_too(
    tasks: Mapping[str, Task], entries: list[dict[str, Any]]
) -> None:
    """Upstream leaves optional parameters out where an API has no required ones."""
    tools = {api.identity: api.spec for task in tasks.values() for api in task.metadata["apis"].values()}
    only_optional = 0
    for entry in {identity_of(one): one for one in entries}.values():
        schema = tools[identity_of(entry)].parameters
        required = {raw["name"] for raw in entry["required_parameters"]}
        every = required | {raw["name"] for raw in entry["optional_parameters"]}
        assert (len(schema["properties"]), len(schema["required"])) == (len(every), len(required))
        only_optional += bool(every and not required)
    assert only_optional > 100


def test_schemas_are_ones_that_servers_take(tasks: Mapping[str, Task]) -> None:
    for tool in {id(tool): tool for task in tasks.values() for tool in task.tools}.values():
        jsonschema_rs.meta.validate(dict(tool.parameters))
        assert 0 < len(tool.description) <= 256
        for name, schema in tool.parameters["properties"].items():
            assert set(schema) == {"type", "description"}
            assert schema["type"] in ("string", "number", "boolean")
            assert name.isascii()
            assert 0 < len(name) <= 64


def test_types_examples_and_cuts() -> None:
    api = make_api(
        api_description="x" * 300,
        required_parameters=[
            parameter("Lat", "NUMBER", "49.34", "y" * 300),
            parameter("id", "STRING", "ab"),
            parameter("when", "DATE (YYYY-MM-DD)"),
        ],
        optional_parameters=[
            parameter("safe", "BOOLEAN", False),
            parameter("page", "NUMBER", 2),
            parameter("mode", "ENUM", "<0|1>"),
            parameter("id", "STRING", "again"),
        ],
    )
    assert api.spec.name == "now_for_weather_now"
    assert api.spec.description == "Weather Now: " + "x" * 243
    assert api.spec.parameters == {
        "type": "object",
        "properties": {
            "lat": {"type": "number", "description": "y" * 256 + " (example: 49.34)"},
            "is_id": {"type": "string", "description": '(example: "ab")'},
            "when": {"type": "string", "description": ""},
            "safe": {"type": "boolean", "description": "(example: false)"},
            "page": {"type": "number", "description": "(example: 2)"},
            "mode": {"type": "string", "description": '(example: "<0|1>")'},
        },
        "required": ["lat", "is_id", "when"],
    }
    assert api.required.keys() == {"lat", "is_id", "when"}


@pytest.mark.parametrize(
    ("default", "kind", "example"),
    [
        ("12", "number", 12),
        ("-8.79", "number", -8.79),
        (20172018, "number", 20172018),
        ("34913353535", "number", 34913353535),
        ("007", "number", None),
        ("1e999", "number", None),
        ("<0|1>", "number", None),
        ([], "number", None),
        ("", "string", None),
        ("x" * 257, "string", None),
        (" Oslo ", "string", "Oslo"),
        ("true", "boolean", True),
        (False, "boolean", False),
        ("checked", "boolean", None),
    ],
)
def test_examples_are_of_their_type(default: Any, kind: str, example: Any) -> None:
    found = example_value(default, kind)
    assert found == example
    assert type(found) is type(example)


def test_numbers_are_no_integers_since_examples_are_fractions(entries: list[dict[str, Any]]) -> None:
    defaults = {
        str(raw["default"])
        for entry in entries
        for raw in entry["required_parameters"] + entry["optional_parameters"]
        if raw["type"] == "NUMBER"
    }
    numbers = [one for one in defaults if one.removeprefix("-").replace(".", "", 1).isdigit()]
    assert {"8.79", "49.34"} < {one for one in numbers if Fraction(one).denominator > 1}


def test_every_required_value_meets_its_schema(tasks: Mapping[str, Task]) -> None:
    apis = {id(api): api for task in tasks.values() for api in task.metadata["apis"].values()}
    assert len(apis) == 2490
    for api in apis.values():
        assert check_arguments(api.spec, api.required, "strict").problem == ""


def test_the_sample_is_500_of_the_765_whatever_the_order(tasks: Mapping[str, Task]) -> None:
    drawn = [task.id for task in SUITE.tasks("sample-500")]
    assert len(drawn) == 500
    assert drawn == [task_id for task_id in tasks if task_id in set(drawn)]
    assert sample(reversed(list(tasks))) == set(drawn)
    assert sample(tasks, 100) < set(drawn)
    assert sample(tasks, seed=1) != set(drawn)
    # Every group is in it, roughly in proportion.
    for group, size in SIZES.items():
        share = len({task.id for task in SUITE.tasks(group)} & set(drawn)) / size
        assert 0.5 < share < 0.8
    # Frozen: results name the sample.
    assert hashlib.sha256(",".join(sorted(drawn)).encode()).hexdigest()[:16] == "cedc69046824e676"


def write(folder: Path, *queries: dict[str, Any]) -> dict[str, Path]:
    path = folder / "G.json"
    path.write_text(json.dumps(queries), encoding="utf-8")
    return {"G": path}


def query(**changes: Any) -> dict[str, Any]:
    plain = {
        "api_list": [document(), document(api_name="later")],
        "query": "Will it rain?",
        "query_id": 7,
        "relevant APIs": [["Weather Now", "now"], ["Weather Now", "now"]],
    }
    return {**plain, **changes}


def test_a_relevant_api_that_stands_twice_counts_once(tmp_path: Path) -> None:
    (task,) = read_groups(write(tmp_path, query()))["G"]
    assert [api.spec.name for api in task.reference.relevant] == ["now_for_weather_now"]  # type: ignore[attr-defined]


def test_an_api_that_stands_twice_is_offered_once(tmp_path: Path) -> None:
    (task,) = read_groups(write(tmp_path, query(api_list=[document(), document()])))["G"]
    assert [tool.name for tool in task.tools] == ["now_for_weather_now"]


def test_field_065_no_relevant_apis_is_no_criterion_and_not_an_easy_one(tmp_path: Path) -> None:
    (task,) = read_groups(write(tmp_path, query(**{"relevant APIs": []})))["G"]
    trace = Trace("S", "clean", "7", 0, 10, (Step(0, Message("It rains.")),), ("",), "message")
    assert task.reference.score(trace).success is None
    assert task.reference.solution() == ()


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (query(**{"relevant APIs": [["Weather Now", "never"]]}), "query 7: relevant API 'never'.*not in its"),
        ({"query": "?", "query_id": 1, "api_list": []}, "no field 'relevant APIs'"),
        (query(api_list=[{"tool_name": "x"}]), "no field 'category_name'"),
    ],
)
def test_broken_records_are_named(tmp_path: Path, broken: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataCorruptError, match=problem):
        read_groups(write(tmp_path, broken))


def test_missing_and_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="toolenv data pull stabletoolbench"):
        read_groups({"G": tmp_path / "absent.json"})
    (tmp_path / "half.json").write_text("[{")
    with pytest.raises(DataCorruptError, match=r"half\.json, line \d+ is not JSON"):
        read_groups({"G": tmp_path / "half.json"})
