"""JSON files that cannot be read: file, line, and the command that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolenv.data import read_json, read_json_lines
from toolenv.errors import DataCorruptError, DataMissingError

MEND = r"; mend it with: toolenv data pull toy --force$"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.json"


def test_lines_are_objects_and_a_line_separator_inside_one_is_none(file: Path) -> None:
    file.write_text('{"a": 1}\n\n{"b": "x\u2028y"}\n', encoding="utf-8")
    assert read_json_lines(file, "toy") == [{"a": 1}, {"b": "x\u2028y"}]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1}\n{"b": ', "line 2 is not JSON: Expecting value at column 7"),
        (b'{"a": 1}\n\n{"b": 1}\n[2]\n', "line 4 holds no object but a list"),
        (b'{"a": 1}\n{"b": "\xff"}\n', r"line 2 is not UTF-8 \(invalid start byte\)"),
        (b'{"a": 1}\n{"b": ' + b"[" * 200_000, "line 2 is no JSON that can be read"),
    ],
)
def test_a_bad_line_is_named(file: Path, content: bytes, said: str) -> None:
    file.write_bytes(content)
    with pytest.raises(DataCorruptError, match=rf"tasks\.json, {said}.*{MEND}"):
        read_json_lines(file, "toy")


def test_a_cut_file_is_named_with_the_line_where_it_ends(file: Path) -> None:
    file.write_text('[\n {"a": 1},\n {"b')
    with pytest.raises(DataCorruptError, match=rf"tasks\.json, line 3 is not JSON: Unterminated .*{MEND}"):
        read_json(file, "toy")


@pytest.mark.parametrize("read", [read_json, read_json_lines])
def test_a_file_that_is_not_there_brings_the_command(file: Path, read: object) -> None:
    assert callable(read)
    with pytest.raises(DataMissingError, match=r"no .*tasks\.json; fetch it with: toolenv data pull toy$"):
        read(file, "toy")
