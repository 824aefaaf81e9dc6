"""Hashes of files. Expected values: FIPS 180-2 appendix B.1 ("abc") and the well-known hash of nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toolenv.data.toy import write_tree
from toolenv.data.maintain import main, make_manifest, nest
from toolenv.data.manifest import Problem, file_hash, find_problems, is_safe, missing_files

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "data", {"a/abc.txt": b"abc", "empty.txt": b""})


def test_file_hash(folder: Path) -> None:
    assert file_hash(folder / "a/abc.txt") == ABC
    assert file_hash(folder / "empty.txt") == NOTHING


def test_a_folder_that_is_right_has_no_problems(folder: Path) -> None:
    write_tree(folder, {".toolenv-source.json": b"{}", "a/__pycache__/x.cpython-311.pyc": b"x"})
    assert find_problems(folder, {"a/abc.txt": ABC, "empty.txt": NOTHING}) == []


def test_each_difference_is_told(folder: Path) -> None:
    write_tree(folder, {"a/extra.py": b""})
    problems = find_problems(folder, {"a/abc.txt": NOTHING, "empty.txt": NOTHING, "gone.txt": ABC})
    assert problems == [
        Problem("a/abc.txt", "changed", NOTHING, ABC),
        Problem("a/extra.py", "unexpected"),
        Problem("gone.txt", "missing", ABC),
    ]
    assert str(problems[0]) == f"a/abc.txt: expected sha256 {NOTHING}, found {ABC}"
    assert [str(problem) for problem in problems[1:]] == ["a/extra.py: unexpected", "gone.txt: missing"]


def test_a_link_that_leads_nowhere_is_missing_and_a_stray_one_unexpected(folder: Path) -> None:
    (folder / "gone.txt").symlink_to(folder / "nowhere")
    assert missing_files(folder, {"gone.txt": ABC}) == ["gone.txt"]
    manifest = {"a/abc.txt": ABC, "empty.txt": NOTHING}
    assert find_problems(folder, manifest) == [Problem("gone.txt", "unexpected")]


@pytest.mark.parametrize("path", ["a", "a/b.json", "a b/ü.txt", "..a/b", ".hidden"])
def test_safe_paths(path: str) -> None:
    assert is_safe(path)


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a\\b", "C:a", "a\0b"])
def test_unsafe_paths(path: str) -> None:
    assert not is_safe(path)


def test_maintainers_make_manifests_by_pattern(folder: Path) -> None:
    write_tree(folder, {"a/deep/abc.txt": b"abc", "a/note.md": b""})
    assert make_manifest(folder, ["a/*.txt", "*.txt"]) == {"a/abc.txt": ABC, "empty.txt": NOTHING}
    assert list(make_manifest(folder, ["**/*.txt"])) == ["a/abc.txt", "a/deep/abc.txt", "empty.txt"]
    assert nest({"a/abc.txt": ABC, "empty.txt": NOTHING}) == {
        "a": {"abc.txt": ABC},
        ".": {"empty.txt": NOTHING},
    }


def test_the_maintainers_command_renews_the_parts_it_finds(folder: Path, tmp_path: Path) -> None:
    parts = {
        "data": {"patterns": ["a/*.txt"], "files": {}},
        "code": {"patterns": ["*.py"], "files": {".": {"kept.py": NOTHING}}},
    }
    definition = tmp_path / "toy.json"
    definition.write_text(json.dumps({"key": "toy", "parts": parts}))
    main([str(definition), str(folder)])
    renewed = json.loads(definition.read_text())
    assert renewed["key"] == "toy"
    assert renewed["parts"]["data"]["files"] == {"a": {"abc.txt": ABC}}
    assert renewed["parts"]["code"]["files"] == {".": {"kept.py": NOTHING}}
