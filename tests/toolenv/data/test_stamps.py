"""Files that changed since the pull: found by size and time, confirmed by hash, replaced by a pull."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.toolenv.data.toy import FILES, define_wheel, write_tree
from toolenv.data import DataStore
from toolenv.errors import DataCorruptError

CODE = "toy_eval/world.py"
RECORD = ".toolenv-source.json"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "copy", FILES)


@pytest.fixture
def store(tmp_path: Path, copy: Path) -> DataStore:
    store = DataStore(define_wheel(tmp_path / "definitions", b""), tmp_path / "cache")
    store.pull("toy", copy)
    return store


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read to be hashed."""
    from toolenv.data import manifest

    names: list[str] = []
    really = manifest.file_hash

    def noted(path: Path) -> str:
        names.append(path.name)
        return really(path)

    monkeypatch.setattr(manifest, "file_hash", noted)
    return names


def age(path: Path, nanoseconds: int = 10**9) -> None:
    """Make a file's time of change another one, as an editor does."""
    times = path.stat()
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + nanoseconds))


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how == "a flipped byte":
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        age(path)
    elif how == "cut":
        os.truncate(path, len(content) // 2)
    else:
        path.write_bytes(b"")


@pytest.mark.parametrize("how", ["a flipped byte", "cut", "emptied"])
def test_damage_is_seen_refused_and_replaced(store: DataStore, copy: Path, how: str) -> None:
    damage(store.path("toy") / CODE, how)
    assert store.status()[0].state == "damaged"
    with pytest.raises(
        DataCorruptError, match=r"toy_eval/world\.py is not what was pulled.*: toolenv data pull toy --force$"
    ):
        store.require("toy")
    assert [(problem.path, problem.kind) for problem in store.verify("toy")] == [(CODE, "changed")]
    assert store.pull("toy", copy).state == "whole"
    assert (store.require("toy") / CODE).read_bytes() == FILES[CODE]
    assert store.verify("toy") == []


def test_several_damaged_files_are_counted(store: DataStore) -> None:
    for path in FILES:
        damage(store.path("toy") / path, "cut")
    with pytest.raises(
        DataCorruptError, match=r"tasks\.json is not .* \(and 2 more files are gone or changed\)"
    ):
        store.require("toy")


def test_whole_data_are_not_read(store: DataStore, hashed: list[str]) -> None:
    store.require("toy", "code")
    store.status()
    assert hashed == []


def test_a_file_that_is_only_newer_is_hashed_once(store: DataStore, hashed: list[str]) -> None:
    age(store.path("toy") / CODE)
    store.require("toy")
    store.require("toy")
    assert hashed == ["world.py"]
    assert [path.name for path in sorted(store.root.iterdir())] == [".toy.lock", "toy"]


def test_a_cache_that_was_copied_is_hashed_once(store: DataStore, tmp_path: Path, hashed: list[str]) -> None:
    shutil.copytree(store.root, tmp_path / "elsewhere", copy_function=shutil.copyfile)
    for path in FILES:
        age(tmp_path / "elsewhere" / "toy" / path)
    moved = DataStore(tmp_path / "definitions", tmp_path / "elsewhere")
    moved.require("toy")
    moved.require("toy")
    assert sorted(hashed) == ["tasks.json", "tasks.json", "world.py"]


def test_a_record_from_before_there_were_stamps_is_brought_up_to_date(
    store: DataStore, hashed: list[str]
) -> None:
    path = store.path("toy") / RECORD
    new = json.loads(path.read_text())
    path.write_text(json.dumps({name: value for name, value in new.items() if name != "stamps"}))
    store.require("toy")
    assert len(hashed) == 3
    assert json.loads(path.read_text()) == new
    store.require("toy")
    assert len(hashed) == 3


def test_a_record_from_before_there_were_stamps_vouches_for_no_damage(store: DataStore) -> None:
    path = store.path("toy") / RECORD
    old = {name: value for name, value in json.loads(path.read_text()).items() if name != "stamps"}
    path.write_text(json.dumps(old))
    damage(store.path("toy") / CODE, "a flipped byte")
    for _ in range(2):  # the first look notes the stamps of the others
        with pytest.raises(DataCorruptError, match=r"world\.py is not what was pulled"):
            store.require("toy")


def test_a_change_that_keeps_size_and_time_is_remembered_once_verified(store: DataStore, copy: Path) -> None:
    path = store.path("toy") / CODE
    times = path.stat()
    damage(path, "a flipped byte")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert store.status()[0].state == "whole"
    assert [problem.path for problem in store.verify("toy")] == [CODE]
    assert store.status()[0].state == "damaged"
    assert store.pull("toy", copy).state == "whole"
    assert store.verify("toy") == []


@pytest.mark.parametrize("stamps", [3, [], {"toy_eval/world.py": 3}, {"toy_eval/world.py": [1]}])
def test_stamps_that_are_none_make_a_torn_record(store: DataStore, stamps: object) -> None:
    path = store.path("toy") / RECORD
    path.write_text(json.dumps({**json.loads(path.read_text()), "stamps": stamps}))
    with pytest.raises(DataCorruptError, match="not put there by a pull"):
        store.require("toy")


def test_a_busy_cache_keeps_its_record(store: DataStore) -> None:
    """A pull holds the lock; a look in the meantime neither waits nor writes."""
    from toolenv.data.swap import exclusive

    age(store.path("toy") / CODE)
    before = (store.path("toy") / RECORD).read_text()
    with exclusive(store.path("toy"), waiting=lambda: None):
        store.require("toy")
        assert (store.path("toy") / RECORD).read_text() == before
    store.require("toy")
    assert (store.path("toy") / RECORD).read_text() != before
