"""Reads the JSON files of a data set; what cannot be read is named with its place and the way to mend it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolenv.errors import DataCorruptError, DataMissingError


def read_json(path: Path, key: str) -> Any:
    """What a JSON file of the data set ``key`` holds.

    Raises:
        DataMissingError: there is no such file; with the command that fetches it.
        DataCorruptError: it is no JSON; names file, line and column, and the command that mends it.
    """
    return _parsed(_text(path, key), path, 1, key)


def read_json_lines(path: Path, key: str) -> list[dict[str, Any]]:
    """The objects in a file of the data set ``key``, one a line; empty lines count for nothing.

    Raises:
        DataMissingError: there is no such file; with the command that fetches it.
        DataCorruptError: a line is no JSON object; names it, and the command that mends it.
    """
    # Not splitlines(): it also breaks at U+2028 and others that may stand inside a JSON string.
    lines = enumerate(_text(path, key).split("\n"), start=1)
    return [_object(line, path, number, key) for number, line in lines if line.strip()]


def _text(path: Path, key: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataMissingError(f"no {path}; fetch it with: toolenv data pull {key}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _corrupt(path, line, f"is not UTF-8 ({error.reason})", key) from error


def _object(text: str, path: Path, line: int, key: str) -> dict[str, Any]:
    value = _parsed(text, path, line, key)
    if not isinstance(value, dict):
        raise _corrupt(path, line, f"holds no object but a {type(value).__name__}", key)
    return value


def _parsed(text: str, path: Path, line: int, key: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        said = f"is not JSON: {error.msg} at column {error.colno}"
        raise _corrupt(path, line + error.lineno - 1, said, key) from error
    except (ValueError, RecursionError) as error:
        raise _corrupt(path, line, f"is no JSON that can be read ({error})", key) from error


def _corrupt(path: Path, line: int, said: str, key: str) -> DataCorruptError:
    return DataCorruptError(f"{path}, line {line} {said}; mend it with: toolenv data pull {key} --force")
