"""The definitions of the real data sets, and what a bad one says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.toolenv.data.toy import define, define_wheel, wheel_of
from toolenv.data import DataSource, Wheel, load_source, load_sources
from toolenv.data.source import Own
from toolenv.errors import DataCorruptError

DEFINITIONS = Path(__file__).parents[3] / "envs_registry" / "data"
HEX = "0" * 64


@pytest.fixture(scope="module")
def sources() -> dict[str, DataSource]:
    return load_sources(DEFINITIONS)


def test_the_data_sets_are_defined(sources: dict[str, DataSource]) -> None:
    """Four that are fetched, and one that its user has to bring, of which there is nothing to hash."""
    assert set(sources) == {"api-bank", "bfcl", "stabletoolbench", "tau-bench", "tool-bench-x"}
    own = sources["tool-bench-x"]
    assert isinstance(own.fetch, Own)
    assert own.files(own.parts) == {}


# From datasets/*/NOTES.md: commits, and files by hand count.
@pytest.mark.parametrize(
    ("key", "licence", "pins", "counts"),
    [
        ("tau-bench", "MIT", ["59a200c6d575d595120f1cb70fea53cef0632f6b"], {"data": 8, "derived": 6}),
        (
            "api-bank",
            "Apache-2.0",
            ["483554eae102996f5ec1f4feab4e78ef29c2a394", "1d76900822d9ecfcd6e9eb0ca64a073cb892b735"],
            # 19 tables, 214 + 50 dialogues, the list of APIs
            {"data": 19 + 214 + 50 + 1, "tests": 5, "derived": 2},
        ),
        ("stabletoolbench", "Apache-2.0", ["aa4ed9f4737ad98bd706663f01d63623c3427812"], {"data": 12}),
    ],
)
def test_repositories_are_pinned_as_in_the_notes(
    sources: dict[str, DataSource], key: str, licence: str, pins: list[str], counts: dict[str, int]
) -> None:
    source = sources[key]
    assert source.licence == licence
    assert [archive.commit for archive in source.archives] == pins
    assert {name: len(part.files) for name, part in source.parts.items()} == counts


def test_bfcl_is_the_pinned_wheel(sources: dict[str, DataSource]) -> None:
    """The hash is that of the index's file; data files as in NOTES.md, backends as in its list of classes."""
    source = sources["bfcl"]
    sha256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
    assert source.fetch == Wheel("bfcl-eval", "2026.3.23", sha256)
    assert source.licence == "Apache-2.0"
    code = source.parts["code"].files
    for backend in ("gorilla_file_system", "math_api", "message_api", "posting_api", "ticket_api"):
        assert f"bfcl_eval/eval_checker/multi_turn_eval/func_source_code/{backend}.py" in code
    assert not any("unused" in path for path in source.files(source.parts))


def test_hashes_are_those_of_the_local_copies(sources: dict[str, DataSource], shared_datasets: Path) -> None:
    for source in sources.values():
        for path, digest in source.files(name for name in source.parts if name != "code").items():
            assert hashlib.sha256((shared_datasets / source.key / path).read_bytes()).hexdigest() == digest


def test_definitions_hold_hashes_and_no_data() -> None:
    assert sum(path.stat().st_size for path in DEFINITIONS.iterdir()) < 64 * 1024
    assert {path.suffix for path in DEFINITIONS.iterdir()} == {".json"}


def test_the_manifest_hash_is_of_files_alone(tmp_path: Path) -> None:
    wheel = wheel_of({})
    one = load_source(define_wheel(tmp_path / "one", wheel) / "toy.json")
    other = load_source(define(tmp_path / "two", "toy", {"archives": []}, title="Renamed") / "toy.json")
    changed = {"data": {"purpose": "every task", "files": {".": {"a.json": HEX}}}}
    third = load_source(
        define(
            tmp_path / "three",
            "toy",
            {"archives": []},
            parts=changed,
            layouts=[{"name": "only", "parts": ["data"]}],
        )
        / "toy.json"
    )
    assert one.manifest_hash == other.manifest_hash != third.manifest_hash


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"key": "other"}, "'other' is not the file's name"),
        ({"layouts": []}, "no layout"),
        ({"layouts": [{"name": "x", "parts": ["dta"]}]}, "no such part: dta"),
        ({"layouts": [{"name": "x", "prts": ["data"]}]}, "prts"),
        ({"parts": {}}, "no such part: code, data"),
        ({"parts": {"data": {"files": {}}}}, "'purpose' is missing"),
        ({"fetch": {}}, "'archives' is missing"),
        ({"fetch": {"wheel": {"name": "x", "version": "1", "sha256": "abc"}}}, "'abc' is not a sha256"),
        ({"fetch": {"archives": [{"repository": "o/r", "commit": "main"}]}}, "'main' is not a full commit"),
    ],
)
def test_a_bad_definition_names_the_file_and_the_fault(
    tmp_path: Path, changes: dict[str, object], complaint: str
) -> None:
    path = define(tmp_path, "toy", {"archives": []}) / "toy.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(DataCorruptError, match=complaint) as raised:
        load_source(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("path", ["../a.json", "/etc/a", "a//b", "a/./b", "a\\b", "C:/a", ""])
def test_a_definition_cannot_point_outside(tmp_path: Path, path: str) -> None:
    folder, _, name = path.rpartition("/")
    parts = {"data": {"purpose": "x", "files": {folder: {name: HEX}}}}
    layouts = [{"name": "only", "parts": ["data"]}]
    define(tmp_path, "toy", {"archives": []}, parts=parts, layouts=layouts)
    with pytest.raises(DataCorruptError, match="not a plain relative path"):
        load_source(tmp_path / "toy.json")


def test_text_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "toy.json").write_text("{")
    with pytest.raises(DataCorruptError, match=r"toy\.json"):
        load_source(tmp_path / "toy.json")
