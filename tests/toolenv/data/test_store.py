"""What is here, what is whole, and what a user reads when it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toolenv.data.toy import FILES, define, define_wheel, write_tree
from toolenv.data import DataStore, Problem, data_root, source_path
from toolenv.errors import DataCorruptError, DataError, DataMissingError, UnknownNameError

REAL = Path(__file__).parents[3] / "envs_registry" / "data"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "copy", FILES)


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(define_wheel(tmp_path / "definitions", b""), tmp_path / "cache")


def test_the_root_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path / "here"))
    assert data_root() == tmp_path / "here"
    assert source_path("bfcl") == tmp_path / "here" / "bfcl"
    assert source_path("bfcl", tmp_path) == tmp_path / "bfcl"
    assert DataStore(REAL).path("bfcl") == tmp_path / "here" / "bfcl"
    monkeypatch.setenv("TOOLENV_DATA", "~/data")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_root() == tmp_path / "data"


def test_the_root_is_else_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for unset in (lambda: monkeypatch.setenv("TOOLENV_DATA", ""), lambda: monkeypatch.delenv("TOOLENV_DATA")):
        unset()
        assert tmp_path in data_root().parents
        assert data_root().name == "toolenv"


def test_absent_data_say_the_command(store: DataStore) -> None:
    for ask in (store.require, store.verify):
        with pytest.raises(DataMissingError, match=r"get it with: toolenv data pull toy$"):
            ask("toy")
    assert store.status()[0].state == "absent"
    assert store.status()[0].size == 0


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("bfcl", "bfcl"),
        ("BFCL", "bfcl"),
        ("TauBench", "tau-bench"),
        ("tau_bench", "tau-bench"),
        ("APIBank", "api-bank"),
        ("StableToolBench", "stabletoolbench"),
    ],
)
def test_a_suites_name_is_a_key(name: str, key: str) -> None:
    assert DataStore(REAL).source(name).key == key


@pytest.mark.parametrize(
    ("name", "nearest"), [("bfcll", "bfcl"), ("taubenhc", "tau-bench"), ("apibnk", "api-bank")]
)
def test_an_unknown_key_offers_the_nearest(name: str, nearest: str) -> None:
    store = DataStore(REAL)
    for ask in (store.pull, store.require, store.verify, store.path):
        with pytest.raises(UnknownNameError, match=f"unknown data set '{name}'; did you mean '{nearest}'"):
            ask(name)


def test_an_unknown_part_offers_the_nearest(store: DataStore) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown part 'cod' in data set toy; did you mean 'code'"):
        store.require("toy", "cod")


def test_status_rows_are_json_and_name_the_licence(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    assert json.loads(json.dumps(store.status()[0].as_dict())) == {
        "key": "toy",
        "title": "Toy",
        "version": "1.0",
        "licence": "MIT",
        "attribution": "Copyright (c) nobody",
        "state": "whole",
        "path": str(store.root / "toy"),
        "size": sum(map(len, FILES.values())),
        "layout": "wheel",
        "parts": ["data", "code"],
        "missing_parts": [],
    }


def test_whole_data_stay_untouched(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    before = store.path("toy").stat()
    lines: list[str] = []
    assert store.pull("toy", report=lines.append).state == "whole"  # and asks neither pip nor a network
    assert lines == [f"Toy is whole at {store.path('toy')}"]
    assert store.path("toy").stat().st_ino == before.st_ino


def test_a_copy_that_is_not_needed_is_said_to_be_unread(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    lines: list[str] = []
    store.pull("toy", copy, report=lines.append)
    assert lines == [f"Toy is whole at {store.path('toy')} and stays as it is: {copy} was not read"]


def test_copies_are_writable_though_the_original_is_not(store: DataStore, copy: Path) -> None:
    for path in copy.rglob("*.json"):
        path.chmod(0o444)
    store.pull("toy", copy)
    assert all(path.stat().st_mode & 0o200 for path in store.path("toy").rglob("*.json"))


def test_lost_files_are_noticed_and_pulled_again(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    (store.path("toy") / "toy_eval/world.py").unlink()
    with pytest.raises(DataCorruptError, match=r"lacks toy_eval/world\.py since the pull"):
        store.require("toy")
    assert store.status()[0].state == "damaged"
    assert [str(problem) for problem in store.verify("toy")] == ["toy_eval/world.py: missing"]
    assert store.pull("toy", copy).state == "whole"
    assert store.verify("toy") == []


def test_a_failed_force_leaves_what_was_there(store: DataStore, copy: Path, tmp_path: Path) -> None:
    store.pull("toy", copy)
    write_tree(copy, {"toy_eval/world.py": b"other"})
    with pytest.raises(DataCorruptError):
        store.pull("toy", copy, force=True)
    assert store.verify("toy") == []
    assert sorted(path.name for path in store.root.iterdir()) == [".toy.lock", "toy"]


def test_data_of_another_manifest_are_outdated(store: DataStore, copy: Path, tmp_path: Path) -> None:
    """As after an upgrade of toolenv that pins another version."""
    store.pull("toy", copy)
    changed = {"data": {"purpose": "every task", "files": {"toy_eval": {"world.py": "0" * 64}}}}
    layouts = [{"name": "only", "parts": ["data"]}]
    define(tmp_path / "newer", "toy", {"archives": []}, parts=changed, layouts=layouts, version="2.0")
    newer = DataStore(tmp_path / "newer", store.root)
    with pytest.raises(
        DataCorruptError, match=r"manifest [0-9a-f]{12} .*\(2\.0\); replace it with: toolenv data"
    ):
        newer.require("toy")
    assert newer.status()[0].state == "outdated"
    old, new = store.source("toy").manifest_hash, newer.source("toy").manifest_hash
    assert old != new
    assert newer.verify("toy")[-1] == Problem(".toolenv-source.json", "changed", new, old)


def test_a_folder_of_the_users_own_is_never_replaced_unasked(store: DataStore, copy: Path) -> None:
    write_tree(store.path("toy"), {**FILES, "my notes.txt": b"mine"})
    for ask in (store.require, store.verify, store.pull):
        with pytest.raises(DataCorruptError, match=r"not put there by a pull.*toolenv data pull toy --force"):
            ask("toy")
    assert (store.path("toy") / "my notes.txt").exists()
    assert store.status()[0].state == "damaged"
    assert store.pull("toy", copy, force=True).state == "whole"


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"key": "toy", "parts": 3}', "\0\0"])
def test_a_torn_record_vouches_for_nothing(store: DataStore, copy: Path, record: str) -> None:
    store.pull("toy", copy)
    (store.path("toy") / ".toolenv-source.json").write_text(record)
    with pytest.raises(DataCorruptError, match="not put there by a pull"):
        store.require("toy")


def test_a_root_that_cannot_be_written_is_told(tmp_path: Path, store: DataStore, copy: Path) -> None:
    """Below a plain file not even the superuser, who runs tests in containers, can write."""
    (tmp_path / "file").write_text("")
    blocked = DataStore(tmp_path / "definitions", tmp_path / "file" / "cache")
    with pytest.raises(
        DataError, match=r"cannot put Toy into .*file/cache/toy: .*TOOLENV_DATA names another"
    ):
        blocked.pull("toy", copy)
    with pytest.raises(DataMissingError, match="toolenv data pull toy"):
        blocked.require("toy")


def test_a_full_disk_is_told_and_leaves_nothing(
    store: DataStore, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("toolenv.data.copies.shutil.copyfile", full)
    with pytest.raises(DataError, match="No space left on device"):
        store.pull("toy", copy)
    assert [path.name for path in store.root.iterdir()] == [".toy.lock"]


def test_an_origin_that_is_not_there_is_told(store: DataStore, tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"nowhere: there is no such file or folder"):
        store.pull("toy", tmp_path / "nowhere")
