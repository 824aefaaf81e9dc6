from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.tau_bench.domains import DOMAINS
from envs_registry.tau_bench.load import load_database
from envs_registry.tau_bench.world import TauWorld
from toolenv.data import DataStore
from toolenv.errors import ToolError


@pytest.fixture(scope="session")
def tau_root(shared_datasets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds τ-bench and nothing else."""
    root = tmp_path_factory.mktemp("data")
    DataStore(envs_registry.DATA_FOLDER, root).pull("tau-bench", shared_datasets / "tau-bench")
    return root


@pytest.fixture(autouse=True)
def tau_folder(tau_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data set's folder, found by whatever runs in the test."""
    monkeypatch.setenv("TOOLENV_DATA", str(tau_root))
    return tau_root / "tau-bench"


@pytest.fixture
def new_world(tau_folder: Path) -> Callable[[str], TauWorld]:
    """Makes a world in which nothing has happened yet, by domain."""
    return lambda domain: TauWorld.create(DOMAINS[domain], load_database(tau_folder, domain))


def answer(world: TauWorld, name: str, **arguments: Any) -> Any:
    """What a call returns, a designed failure as its text."""
    try:
        return world.call(name, arguments)
    except ToolError as failure:
        return str(failure)
