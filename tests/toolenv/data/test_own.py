"""Data that its user brings: every copy vouches for itself, and is watched from then on like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolenv.data import DataStore
from toolenv.errors import DataCorruptError, DataMissingError


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    definition = {
        "key": "toy",
        "title": "Toy",
        "version": "your own copy",
        "licence": "LicenseRef-Own",
        "attribution": "somebody",
        "fetch": {"own": "ask somebody for it."},
        "layouts": [
            {"name": "upstream", "parts": ["tasks", "tools"]},
            {"name": "tasks alone", "parts": ["tasks"]},
        ],
        "parts": {
            "tasks": {"purpose": "every task", "patterns": ["tasks/**/*.json"], "files": {}},
            "tools": {"purpose": "the tools", "patterns": ["tools/*.py"], "files": {}},
        },
    }
    folder = tmp_path / "definitions"
    folder.mkdir()
    (folder / "toy.json").write_text(json.dumps(definition))
    return DataStore(folder, tmp_path / "cache")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    for path in ("tasks/a/b.json", "tools/t.py", "notes.txt"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    return folder


def test_nothing_fetches_it(store: DataStore) -> None:
    with pytest.raises(DataMissingError, match=r"ask somebody for it\. Take your copy with: .* --from DIR"):
        store.pull("toy")
    with pytest.raises(DataMissingError, match="get it with: toolenv data pull toy --from DIR"):
        store.require("toy")


def test_what_the_patterns_name_is_taken_and_vouched_for(store: DataStore, copy: Path) -> None:
    row = store.pull("toy", copy)
    assert (row.state, row.parts) == ("whole", ("tasks", "tools"))
    folder = store.require("toy", "tasks", "tools")
    taken = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert taken == [".toolenv-source.json", "tasks/a/b.json", "tools/t.py"]
    assert store.verify("toy") == []
    assert store.status()[0].size == len("tasks/a/b.json") + len("tools/t.py")


def test_a_copy_without_a_part_is_partial(store: DataStore, copy: Path) -> None:
    (copy / "tools/t.py").unlink()
    assert store.pull("toy", copy).state == "partial"
    with pytest.raises(DataMissingError, match="lacks the part 'tools'"):
        store.require("toy", "tools")


def test_a_change_since_is_found_out(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    (store.path("toy") / "tasks/a/b.json").write_text("edited by hand")
    with pytest.raises(DataCorruptError, match=r"b\.json is not what was pulled"):
        store.require("toy")
    (problem,) = store.verify("toy")
    assert (problem.path, problem.kind) == ("tasks/a/b.json", "changed")
    assert store.pull("toy", copy, force=True).state == "whole"
    assert store.verify("toy") == []


def test_another_copy_takes_its_place(store: DataStore, copy: Path) -> None:
    store.pull("toy", copy)
    (copy / "tasks/a/b.json").write_text("second edition")
    assert store.pull("toy", copy, force=True).state == "whole"
    assert (store.require("toy") / "tasks/a/b.json").read_text() == "second edition"


def test_what_is_no_copy_says_what_is_looked_for(store: DataStore, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataMissingError, match=r"is no copy of Toy: it holds no tasks/\*\*/\*\.json"):
        store.pull("toy", tmp_path / "empty")
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataMissingError, match="give the folder"):
        store.pull("toy", tmp_path / "file")
    with pytest.raises(DataMissingError, match="there is no such file or folder"):
        store.pull("toy", tmp_path / "absent")


def test_links_are_left_out(store: DataStore, copy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s.json").write_text("secret")
    (copy / "tasks" / "link.json").symlink_to(tmp_path / "secret" / "s.json")
    (copy / "tasks" / "folder").symlink_to(tmp_path / "secret")
    store.pull("toy", copy)
    taken = {path.name for path in store.path("toy").rglob("*")}
    assert "link.json" not in taken
    assert "s.json" not in taken


def test_a_name_that_not_every_platform_has_is_refused(store: DataStore, copy: Path) -> None:
    (copy / "tasks" / "a:b.json").write_text("x")
    with pytest.raises(DataCorruptError, match="colon"):
        store.pull("toy", copy)
