"""Several pulls at once, and pulls killed half way."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.toolenv.data.toy import (
    COMMIT,
    FILES,
    OLDER_COMMIT,
    OLDER_REPOSITORY,
    REPOSITORY,
    ArchiveServer,
    define_repository,
    define_wheel,
    derive,
    tar_of,
    write_tree,
)
from toolenv.data import DataStatus, DataStore
from toolenv.data.swap import exclusive

PROJECT = Path(__file__).parents[3]
CHILD = """
import os, signal, sys
from pathlib import Path
from toolenv.data import DataStore, swap
definitions, cache, copy, stage = sys.argv[1:]
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def report(line):
    print(line, flush=True)
    if line.startswith(stage):
        die()
rename = os.rename
def rename_until(source, target):
    (die if stage == f"rename to {Path(target).name}" else rename)(source, target)
swap.os.rename = rename_until
print(DataStore(Path(definitions), Path(cache)).pull("toy", Path(copy), force=True, report=report).state)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "copy", FILES)


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(define_wheel(tmp_path / "definitions", b""), tmp_path / "cache")


def start(store: DataStore, copy: Path, stage: str = "never") -> subprocess.Popen[str]:
    """A pull in a process of its own, to be killed when it comes to a stage."""
    places = [str(copy.parent / "definitions"), str(store.root), str(copy)]
    command = [sys.executable, "-c", CHILD, *places, stage]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


# The stages before files are copied, and before the finished folder moves to its place.
@pytest.mark.parametrize("stage", ["checking", "rename to toy"])
def test_a_first_pull_that_is_killed_leaves_nothing_half(store: DataStore, copy: Path, stage: str) -> None:
    with start(store, copy, stage) as child:
        assert child.wait() == -9
    assert store.status()[0].state == "absent"
    assert list(store.root.glob(".toy.work-*"))  # what the dead process could not clean up …
    assert store.pull("toy", copy).state == "whole"
    assert store.verify("toy") == []
    assert sorted(path.name for path in store.root.iterdir()) == [".toy.lock", "toy"]  # … the next one does


@pytest.mark.parametrize(("stage", "left"), [("checking", "whole"), ("rename to replaced", "whole")])
def test_a_repeated_pull_that_is_killed_leaves_the_old_copy(
    store: DataStore, copy: Path, stage: str, left: str
) -> None:
    store.pull("toy", copy)
    with start(store, copy, stage) as child:
        assert child.wait() == -9
    assert store.status()[0].state == left
    assert store.verify("toy") == []


def test_pulls_at_once_download_once(tmp_path: Path, server: ArchiveServer) -> None:
    server.bodies = {
        f"/o/toy/tar.gz/{COMMIT}": tar_of(REPOSITORY),
        f"/o/toy/tar.gz/{OLDER_COMMIT}": tar_of(OLDER_REPOSITORY),
    }
    definitions = define_repository(tmp_path / "definitions")
    barrier = threading.Barrier(6)
    rows: list[DataStatus] = []

    def pull() -> None:
        store = DataStore(
            definitions, tmp_path / "cache", derivations={"toy": derive}, archive_host=server.address
        )
        barrier.wait()
        rows.append(store.pull("toy"))

    threads = [threading.Thread(target=pull) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.state for row in rows] == ["whole"] * 6
    assert len(server.asked) == 2
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [".toy.lock", "toy"]


def test_a_pull_waits_for_another_process(store: DataStore, copy: Path) -> None:
    with exclusive(store.path("toy"), waiting=lambda: None):
        child = start(store, copy)
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting for another pull of toy\n"
        assert store.status()[0].state == "absent"
    with child:
        assert child.stdout.read().splitlines() == ["checking 3 files", "whole"]
