"""StableToolBench's files as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from envs_registry import DATA_FOLDER
from envs_registry.stable_tool_bench.apis import Api, build_apis, identity_of
from envs_registry.stable_tool_bench.groups import GROUPS
from envs_registry.stable_tool_bench.naming import ApiId
from envs_registry.stable_tool_bench.proxy import ProxyReference
from toolenv.data import DataStore, read_json
from toolenv.errors import DataCorruptError
from toolenv.task import Task
from toolenv.types import ChatMessage

QUERIES = Path("solvable_queries") / "test_instruction"
PROXY_FLAG = "proxy_judge"


@cache
def load_groups() -> Mapping[str, tuple[Task, ...]]:
    """Every task by group, in upstream's order. All files are read: a name tells an API from all others.

    Raises:
        DataMissingError: with the command that fetches the data.
        DataCorruptError: an entry lacks something, or a group has not the size it should.
    """
    folder = DataStore(DATA_FOLDER).require("stabletoolbench", "data") / QUERIES
    groups = read_groups({group: folder / f"{group}.json" for group in GROUPS})
    for group, size in GROUPS.items():
        if len(groups[group]) != size:
            raise DataCorruptError(f"StableToolBench {group}: {len(groups[group])} queries, expected {size}")
    return MappingProxyType(groups)


def read_groups(files: Mapping[str, Path]) -> dict[str, tuple[Task, ...]]:
    """The tasks of query files in upstream's form, by group; errors as for :func:`load_groups`."""
    queries = {group: _read(path) for group, path in files.items()}
    try:
        documents = [one for group in queries.values() for query in group for one in query["api_list"]]
        apis = build_apis(documents)
        return {
            group: tuple(_task(group, query, apis) for query in entries) for group, entries in queries.items()
        }
    except KeyError as error:
        raise DataCorruptError(f"StableToolBench: an entry has no field {error}") from error


def _read(path: Path) -> list[dict[str, Any]]:
    queries: list[dict[str, Any]] = read_json(path, "stabletoolbench")
    return queries


def _task(group: str, query: Mapping[str, Any], apis: Mapping[ApiId, Api]) -> Task:
    pool = list({one: apis[one] for one in map(identity_of, query["api_list"])}.values())
    return Task(
        id=str(query["query_id"]),
        messages=(ChatMessage("user", query["query"]),),
        tools=tuple(api.spec for api in pool),
        reference=ProxyReference(_relevant(query, pool)),
        flags=frozenset({PROXY_FLAG}),
        metadata={"group": group, "apis": MappingProxyType({api.spec.name: api for api in pool})},
    )


def _relevant(query: Mapping[str, Any], pool: Sequence[Api]) -> tuple[Api, ...]:
    """The APIs that the query was written for, each once; a pair that stands twice counts once."""
    by_pair = {(api.identity.tool, api.identity.api): api for api in pool}
    found = {}
    for tool, api in query["relevant APIs"]:
        if (tool, api) not in by_pair:
            where = f"StableToolBench query {query['query_id']}"
            raise DataCorruptError(f"{where}: relevant API {api!r} of {tool!r} is not in its list")
        found[tool, api] = by_pair[tool, api]
    return tuple(found.values())
