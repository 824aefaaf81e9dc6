"""Data in a public repository: archives from a loopback server, and local copies in each layout."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path

import pytest

from tests.toolenv.data.toy import (
    COMMIT,
    DERIVED,
    OLDER_COMMIT,
    OLDER_REPOSITORY,
    REPOSITORY,
    SOURCE,
    ArchiveServer,
    define_repository,
    derive,
    tar_of,
    write_tree,
)
from toolenv.data import DataStore
from toolenv.errors import DataCorruptError, DataMissingError

ARCHIVE = f"/o/toy/tar.gz/{COMMIT}"
OLDER_ARCHIVE = f"/o/toy/tar.gz/{OLDER_COMMIT}"
SHARED = {
    "data/tasks.json": REPOSITORY["bench/data/tasks.json"],
    "test-data/level-3.json": OLDER_REPOSITORY["bench/test-data/level-3.json"],
    "derived/tasks.json": DERIVED,
}


@pytest.fixture
def store(tmp_path: Path, server: ArchiveServer) -> DataStore:
    definitions = define_repository(tmp_path / "definitions")
    server.bodies = {ARCHIVE: tar_of(REPOSITORY), OLDER_ARCHIVE: tar_of(OLDER_REPOSITORY)}
    return DataStore(
        definitions, tmp_path / "cache", derivations={"toy": derive}, archive_host=server.address
    )


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".toolenv-source.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_archives_at_the_pinned_commits_become_what_shared_holds(
    store: DataStore, server: ArchiveServer
) -> None:
    """Upstream's Python source is read, its result checked by hash, and the source not kept."""
    lines: list[str] = []
    status = store.pull("toy", report=lines.append)
    assert (status.state, status.layout) == ("whole", "upstream")
    assert contents(store.require("toy", "data", "tests", "derived")) == SHARED
    assert server.asked == [ARCHIVE, OLDER_ARCHIVE]
    assert lines == [
        f"downloading {server.address}{ARCHIVE}",
        f"downloading {server.address}{OLDER_ARCHIVE}",
        "checking 3 files",
    ]
    record = json.loads((store.path("toy") / ".toolenv-source.json").read_text())
    assert record["pins"] == [f"o/toy@{COMMIT}", f"o/toy@{OLDER_COMMIT}"]


@pytest.mark.parametrize("inside", ["", "bench"])
@pytest.mark.parametrize("layout", ["shared", "upstream"])
def test_local_copies_of_either_layout_give_the_same(
    store: DataStore, server: ArchiveServer, tmp_path: Path, layout: str, inside: str
) -> None:
    """In the repository's own tree the data stand in a folder; DIR may be either."""
    files = SHARED
    if layout == "upstream":
        files = {**{path: SHARED[path] for path in SHARED if "derived" not in path}, "src/tasks.py": SOURCE}
    origin = tmp_path / "copy"
    write_tree(origin / inside, {**files, "NOTES.md": b"not read"})
    status = store.pull("toy", origin)
    assert (status.state, status.layout) == ("whole", layout)
    assert contents(store.path("toy")) == SHARED
    assert server.asked == []


def test_one_archive_file_gives_what_it_holds(store: DataStore, tmp_path: Path) -> None:
    (tmp_path / "toy.tar.gz").write_bytes(tar_of(REPOSITORY))
    status = store.pull("toy", tmp_path / "toy.tar.gz")
    assert (status.state, status.layout, status.missing_parts) == ("partial", "checkout", ("tests",))
    with pytest.raises(DataMissingError, match=r"lacks the part 'tests' of Toy, needed for level 3"):
        store.require("toy", "tests")


def test_a_copy_of_something_else_names_the_nearest_layout(store: DataStore, tmp_path: Path) -> None:
    write_tree(tmp_path / "copy", {path: SHARED[path] for path in list(SHARED)[:2]})
    with pytest.raises(DataMissingError, match=r"no copy of Toy.*'shared', the nearest, has 1 more: deri"):
        store.pull("toy", tmp_path / "copy")


def test_source_that_reads_differently_is_refused(store: DataStore, tmp_path: Path) -> None:
    """The Python source has no hash of its own; what is read from it has."""
    files = {**REPOSITORY, **OLDER_REPOSITORY, "bench/src/tasks.py": b"TASKS = ['first', 'third']\n"}
    with pytest.raises(DataCorruptError, match=r"derived/tasks\.json: expected sha256"):
        store.pull("toy", write_tree(tmp_path / "copy", files))
    assert not store.path("toy").exists()


def test_a_changed_file_is_refused(store: DataStore, server: ArchiveServer) -> None:
    server.bodies[ARCHIVE] = tar_of({**REPOSITORY, "bench/data/tasks.json": b"{}"})
    with pytest.raises(DataCorruptError, match=r"data/tasks\.json: expected sha256"):
        store.pull("toy")


def test_a_reader_that_leaves_other_files_is_found_out(tmp_path: Path) -> None:
    def careless(upstream: Path, target: Path) -> None:
        derive(upstream, target)
        write_tree(target, {"derived/scratch.txt": b""})

    definitions = define_repository(tmp_path / "definitions")
    store = DataStore(definitions, tmp_path / "cache", derivations={"toy": careless})
    copy = write_tree(tmp_path / "copy", {**REPOSITORY, **OLDER_REPOSITORY})
    with pytest.raises(DataCorruptError, match=r"derived/scratch\.txt: unexpected"):
        store.pull("toy", copy)


def test_without_a_reader_nothing_is_downloaded(tmp_path: Path, server: ArchiveServer) -> None:
    definitions = define_repository(tmp_path / "definitions")
    store = DataStore(definitions, tmp_path / "cache", archive_host=server.address)
    with pytest.raises(DataMissingError, match=r"Python source.*--from DIR' takes a copy in layout 'shared'"):
        store.pull("toy")
    assert server.asked == []
    assert store.pull("toy", write_tree(tmp_path / "copy", SHARED)).state == "whole"


@pytest.mark.parametrize("status", [404, 429, 500])
def test_a_refusal_is_told_with_address_and_status(
    store: DataStore, server: ArchiveServer, status: int
) -> None:
    server.bodies[OLDER_ARCHIVE] = status
    with pytest.raises(
        DataMissingError, match=rf"{OLDER_ARCHIVE}: HTTP {status} .*toolenv data pull toy --from"
    ):
        store.pull("toy")
    assert not store.path("toy").exists()


def test_a_download_that_breaks_off_is_told(store: DataStore, server: ArchiveServer) -> None:
    server.bodies[ARCHIVE] = tar_of({"a.bin": random.Random(0).randbytes(10**5), **REPOSITORY})
    server.cut_after = 50_000
    with pytest.raises(DataMissingError, match=rf"{ARCHIVE} broke off: .* pull toy --from DIR$"):
        store.pull("toy")
    assert not store.path("toy").exists()


def test_a_host_that_never_answers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolenv.data.download.SOCKET_TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"http://127.0.0.1:{silent.getsockname()[1]}"
        definitions = define_repository(tmp_path / "definitions")
        store = DataStore(definitions, tmp_path, derivations={"toy": derive}, archive_host=host)
        with pytest.raises(DataMissingError, match=r"broke off: timed out.* pull toy --from DIR$"):
            store.pull("toy")


def test_a_host_out_of_reach_is_told(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host = f"http://127.0.0.1:{closed.getsockname()[1]}"
        definitions = define_repository(tmp_path / "definitions")
        store = DataStore(definitions, tmp_path, derivations={"toy": derive}, archive_host=host)
        with pytest.raises(DataMissingError, match=r"cannot be reached:.*refused.* pull toy --from DIR$"):
            store.pull("toy")


def test_a_hostile_archive_is_refused(store: DataStore, server: ArchiveServer, tmp_path: Path) -> None:
    server.bodies[ARCHIVE] = tar_of({"../../evil.txt": b"", **REPOSITORY})
    with pytest.raises(DataCorruptError, match="outside"):
        store.pull("toy")
    assert not list(tmp_path.rglob("evil.txt"))
