"""JSON files that carry a version and a hash of their own content: manifests and certificates."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolenv.errors import DataCorruptError, DataMissingError, StoreError, UsageError

MOST_LEVELS = 100
"""Containers within containers that a file may hold; deeper ones cannot be compared or shown everywhere."""

_NAMES: Mapping[type, str] = {str: "a string", int: "a whole number", dict: "an object", list: "a list"}


def content_hash(body: Mapping[str, Any]) -> str:
    """``sha256:…`` over a JSON object; the order of its keys does not matter."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its hash."""
    return {**body, "hash": content_hash(body)}


def unsealed(data: Any, version: int, where: str) -> dict[str, Any]:
    """The object, its version and hash checked.

    Args:
        data: what a file held.
        version: the one that can be read.
        where: names the file in errors.

    Raises:
        DataCorruptError: no JSON object, another version, or the hash does not match.
    """
    if not isinstance(data, dict):
        raise DataCorruptError(f"{where}: a JSON object is expected, not a {type(data).__name__}")
    if data.get("version") != version:
        raise DataCorruptError(f"{where}: version {data.get('version')!r}, expected {version}")
    try:
        right = content_hash({key: value for key, value in data.items() if key != "hash"})
    except UnicodeEncodeError as error:
        raise DataCorruptError(f"{where}: holds text that no file can hold: {error.reason}") from error
    if data.get("hash") != right:
        raise DataCorruptError(f"{where}: hash {data.get('hash')} does not match its content {right}")
    return data


def expect_fields(data: Mapping[str, Any], fields: Mapping[str, type], where: str) -> None:
    """Check that fields are there and of their JSON type.

    Args:
        data: an object of a file.
        fields: name → ``str``, ``dict``, ``list``, …
        where: names the file, and the place in it, in errors.

    Raises:
        DataCorruptError: one is missing or of another type; named with its value.
    """
    for name, kind in fields.items():
        if name not in data:
            raise DataCorruptError(f"{where}: {name!r} is missing")
        if not isinstance(data[name], kind) or (kind is int and isinstance(data[name], bool)):
            raise DataCorruptError(f"{where}: {name!r} is {data[name]!r:.80}, expected {_NAMES[kind]}")


def given_path(option: str, value: object) -> Path:
    """The path that a caller gave as an option.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{option}={value!r}: give a path")
    return Path(value)


def read_json(path: Path, what: str) -> Any:
    """What a JSON file holds.

    Raises:
        DataMissingError: no such file.
        DataCorruptError: it is no file that can be read, no JSON, or such of which readers differ in what it
            says: a key twice in one object, NaN.
    """
    try:
        return strict_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataMissingError(f"no {what} at {path}") from error
    except OSError as error:
        raise DataCorruptError(f"{path} is no {what}: it cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise DataCorruptError(f"{path} is not JSON: {error}") from error


def strict_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is none, has a key twice in one object (neither may silently win), NaN or an infinity,
            or more than :data:`MOST_LEVELS` levels.
        RecursionError: far more levels.
    """
    data = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    level, levels = [data], 0
    while level := [item for one in level if isinstance(one, dict | list) for item in _items(one)]:
        levels += 1
        if levels > MOST_LEVELS:
            raise ValueError(f"more than {MOST_LEVELS} levels of objects and lists")
    return data


def _items(container: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"{twice!r:.80} stands twice in one object")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, and the folders it needs.

    Raises:
        StoreError: it cannot be written.
    """
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
