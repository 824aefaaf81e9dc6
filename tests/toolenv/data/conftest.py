"""A loopback server that hands out archives, and a pip that asks no index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toolenv.data.toy import ArchiveServer, serving


@pytest.fixture
def server() -> Iterator[ArchiveServer]:
    state = ArchiveServer()
    with serving(state.answer) as state.address:
        yield state


@pytest.fixture
def pip_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands in for the package index: the real pip finds only what lies in this folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder
