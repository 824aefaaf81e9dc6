from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import envs_registry
from envs_registry.api_bank.settings import Setting, settings
from envs_registry.api_bank.subsets import Level
from envs_registry.api_bank.world import APIBankWorld, Replay
from toolenv.data import DataStore

NewWorld: TypeAlias = Callable[..., APIBankWorld]


@pytest.fixture(scope="session")
def api_bank_root(shared_datasets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds API-Bank and nothing else."""
    root = tmp_path_factory.mktemp("data")
    DataStore(envs_registry.DATA_FOLDER, root).pull("api-bank", shared_datasets / "api-bank")
    return root


@pytest.fixture(autouse=True)
def data(api_bank_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data set's folder, found by whatever runs in the test."""
    monkeypatch.setenv("TOOLENV_DATA", str(api_bank_root))
    return api_bank_root / "api-bank"


@pytest.fixture
def find(data: Path) -> Callable[[str], Setting]:
    """A dialogue by its id."""
    known: dict[str, Setting] = {}
    levels: tuple[Level, ...] = (1, 2, 3)
    for level in levels:
        known |= {setting.dialogue.id: setting for setting in settings(data, level)}
    return known.__getitem__


@pytest.fixture
def new_world(data: Path) -> NewWorld:
    """Makes a world in which nothing has happened yet, without recordings."""

    def make(level: Level = 1, replay: Replay = "never", seed: int = 0) -> APIBankWorld:
        return settings(data, level)[0].world(seed, replay=replay)

    return make


def outcome(world: APIBankWorld, name: str, /, **arguments: Any) -> Any:
    """What a call returns, a failure as its text."""
    answer = world.answer(name, arguments)
    if answer.failure is not None:
        return answer.failure
    assert answer.result is not None
    return answer.result["output"]


def as_upstream(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result record without the name, which some recordings lack."""
    return {key: value for key, value in result.items() if key != "api_name"}
