"""Hostile and broken archives: refused whole, and nothing is ever written outside."""

from __future__ import annotations

import io
import random
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.toolenv.data.toy import tar_of, zip_of
from toolenv.data import archives
from toolenv.data.archives import Wanted, untar, unzip
from toolenv.errors import DataCorruptError

WANTED = Wanted(frozenset({"a/tasks.json"}))
OUTSIDE = ["../evil.txt", "a/../../evil.txt", "/tmp/evil.txt", "..\\evil.txt", "C:/evil.txt", "a/.."]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "outer" / "target"


def read_zip(tmp_path: Path, content: bytes, target: Path, wanted: Wanted = WANTED) -> list[str]:
    (tmp_path / "toy.whl").write_bytes(content)
    return unzip(tmp_path / "toy.whl", target, wanted)


def read_tar(content: bytes, target: Path, wanted: Wanted = WANTED, folder: str = "") -> list[str]:
    return untar(io.BytesIO(content), "toy.tar.gz", folder, target, wanted)


def written(target: Path) -> list[str]:
    return sorted(
        path.name for path in target.parent.parent.rglob("*") if path.is_file() and path.suffix != ".whl"
    )


def test_only_what_is_wanted_comes_out(tmp_path: Path, target: Path) -> None:
    files = {"a/tasks.json": b"[1]", "a/setup.py": b"raise SystemExit", "b/tasks.json": b"[2]"}
    assert read_zip(tmp_path, zip_of(files), target) == ["a/tasks.json"]
    assert (target / "a/tasks.json").read_bytes() == b"[1]"
    assert written(target) == ["tasks.json"]


def test_a_tar_is_read_below_its_folder(target: Path) -> None:
    files = {"bench/a/tasks.json": b"[1]", "a/tasks.json": b"[2]", "bench-2/a/tasks.json": b"[3]"}
    assert read_tar(tar_of(files), target, folder="bench") == ["a/tasks.json"]
    assert (target / "a/tasks.json").read_bytes() == b"[1]"


def test_patterns_do_not_cross_folders(target: Path) -> None:
    files = {"src/a.py": b"", "src/deep/b.py": b"", "src/c.txt": b"", "src/d.py": b""}
    assert read_tar(tar_of(files), target, Wanted(frozenset(), ("src/*.py",))) == ["src/a.py", "src/d.py"]


def test_a_tar_is_read_no_further_than_needed(target: Path) -> None:
    """Repositories are large: here the rest is torn off, which only a reader who wants more can notice."""
    rest = random.Random(0).randbytes(10**6)  # cannot be compressed
    torn = tar_of({"a/tasks.json": b"[1]", "a/rest.bin": rest})[: 10**5]
    assert read_tar(torn, target) == ["a/tasks.json"]
    with pytest.raises(DataCorruptError):
        read_tar(torn, target.with_name("second"), Wanted(WANTED.paths, ("b/*.py",)))


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_zip_that_reaches_outside_is_refused(tmp_path: Path, target: Path, name: str) -> None:
    with pytest.raises(DataCorruptError, match="outside") as raised:
        read_zip(tmp_path, zip_of({name: b"evil", "a/tasks.json": b"[1]"}), target)
    assert repr(name) in str(raised.value)
    assert written(target) == []


@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "top/../../evil.txt", "top/a/../../.."])
def test_a_tar_that_reaches_outside_is_refused(target: Path, name: str) -> None:
    content = tar_of({}, extra=(tarfile.TarInfo(name),))
    with pytest.raises(DataCorruptError, match="outside"):
        read_tar(content, target)
    assert written(target) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_link_or_device_in_place_of_a_file_is_refused(target: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("top/a/tasks.json")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(DataCorruptError, match=r"link or device.*top/a/tasks\.json"):
        read_tar(tar_of({}, extra=(member,)), target)
    assert written(target) == []


def test_a_link_to_a_folder_does_not_lead_files_out(tmp_path: Path, target: Path) -> None:
    """The classic two steps: a link named as a folder, then a file through it. Links are not made at all."""
    link = tarfile.TarInfo("top/a")
    link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(link)
        member = tarfile.TarInfo("top/a/tasks.json")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"[1]"))
    read_tar(buffer.getvalue(), target)
    assert not (target / "a").is_symlink()
    assert not (tmp_path / "tasks.json").exists()


def test_a_link_in_a_zip_is_refused(tmp_path: Path, target: Path) -> None:
    info = zipfile.ZipInfo("a/tasks.json")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataCorruptError, match="link or device"):
        read_zip(tmp_path, buffer.getvalue(), target)
    assert written(target) == []


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path, target: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/tasks.json", "[1]")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a/tasks.json", "[2]")
    with pytest.raises(DataCorruptError, match=r"a/tasks\.json twice"):
        read_zip(tmp_path, buffer.getvalue(), target)


def test_bombs_are_cut_off(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million zeros in a kilobyte; what counts is what comes out, not what a header says."""
    bomb = {"a/tasks.json": bytes(10**6)}
    assert len(zip_of(bomb)) < 2000
    monkeypatch.setattr(archives, "MAX_FILE_BYTES", 10**5)
    with pytest.raises(DataCorruptError, match="larger than"):
        read_zip(tmp_path, zip_of(bomb), target)
    with pytest.raises(DataCorruptError, match="larger than"):
        read_tar(tar_of(bomb), target.with_name("second"))


def test_many_small_files_are_a_bomb_too(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_TOTAL_BYTES", 1000)
    content = tar_of({f"src/{number}.py": bytes(400) for number in range(5)})
    with pytest.raises(DataCorruptError, match=r"src/2\.py is larger"):
        read_tar(content, target, Wanted(frozenset(), ("src/*.py",)))


def test_a_tar_of_unwanted_files_ends_somewhere(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 10_000)
    with pytest.raises(DataCorruptError, match="unpacks to more than 10,000 bytes"):
        read_tar(tar_of({"unwanted.bin": bytes(20_000)}), target)


@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", zip_of({"a/tasks.json": b"[1]"})[:-30]],
    ids=["empty", "text", "torn"],  # a zip's bytes tell the time
)
def test_what_is_no_zip_is_refused(tmp_path: Path, target: Path, content: bytes) -> None:
    with pytest.raises(DataCorruptError, match=r"toy\.whl cannot be unpacked"):
        read_zip(tmp_path, content, target)


def test_a_damaged_zip_member_is_refused(tmp_path: Path, target: Path) -> None:
    content = bytearray(zip_of({"a/tasks.json": b"0123456789" * 50}))
    content[60] ^= 0xFF
    with pytest.raises(DataCorruptError, match=r"toy\.whl cannot be unpacked"):
        read_zip(tmp_path, bytes(content), target)


def test_what_is_no_tar_or_is_torn_is_refused(target: Path) -> None:
    whole = tar_of({"b.bin": bytes(range(256)) * 400, "a/tasks.json": b"[1]"})
    for content in (b"", b"<html>busy</html>", whole[: len(whole) // 2]):
        with pytest.raises(DataCorruptError, match=r"toy\.tar\.gz cannot be unpacked"):
            read_tar(content, target)


def test_an_encrypted_member_is_refused(tmp_path: Path, target: Path) -> None:
    content = bytearray(zip_of({"a/tasks.json": b"[1]"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    with pytest.raises(DataCorruptError, match=r"toy\.whl cannot be unpacked.*encrypted"):
        read_zip(tmp_path, bytes(content), target)
