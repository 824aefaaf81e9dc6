from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.sources import CACHE, SIMULATOR, SIMULATOR_URL
from toolenv.data import DataStore
from toolenv.task import Task


@pytest.fixture(autouse=True)
def _no_sources_of_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (CACHE, SIMULATOR, SIMULATOR_URL):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="session")
def pulled(shared_datasets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root that holds StableToolBench as a pull leaves it."""
    root = tmp_path_factory.mktemp("data")
    DataStore(envs_registry.DATA_FOLDER, root).pull("stabletoolbench", shared_datasets / "stabletoolbench")
    return root


@pytest.fixture(scope="session")
def tasks(pulled: Path) -> Mapping[str, Task]:
    """Every task by id. The suite reads its files once a process, so the root is needed only here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLENV_DATA", str(pulled))
        return {task.id: task for task in SUITE.tasks("all")}


@pytest.fixture(scope="session")
def queries(shared_datasets: Path) -> Mapping[str, list[dict[str, Any]]]:
    """Upstream's own records by group."""
    folder = shared_datasets / "stabletoolbench" / "solvable_queries" / "test_instruction"
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


@pytest.fixture(scope="session")
def entries(queries: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Upstream's API documents, one for each time an API is offered."""
    return [entry for group in queries.values() for query in group for entry in query["api_list"]]
