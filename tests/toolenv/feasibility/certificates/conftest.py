from __future__ import annotations

from pathlib import Path

import pytest

import envs_registry
from toolenv.data import DataStore


@pytest.fixture(scope="session")
def real_suites(bfcl_package: Path, shared_datasets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds τ-bench and API-Bank, and BFCL as it was found."""
    root = tmp_path_factory.mktemp("data")
    for name in ("tau-bench", "api-bank"):
        DataStore(envs_registry.DATA_FOLDER, root).pull(name, shared_datasets / name)
    (root / "bfcl").symlink_to(bfcl_package.parent)
    return root


@pytest.fixture(autouse=True)
def data(real_suites: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLENV_DATA", str(real_suites))
    return real_suites
