"""JSON files that carry a version and a hash of their own content: manifests and certificates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolenv.errors import DataCorruptError, DataMissingError


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
        DataCorruptError: another version, or the hash does not match.
    """
    if not isinstance(data, dict) or data.get("version") != version:
        found = data.get("version") if isinstance(data, dict) else type(data).__name__
        raise DataCorruptError(f"{where}: version {found!r}, expected {version}")
    body = {key: value for key, value in data.items() if key != "hash"}
    if data.get("hash") != content_hash(body):
        raise DataCorruptError(
            f"{where}: hash {data.get('hash')} does not match its content {content_hash(body)}"
        )
    return data


def read_json(path: Path, what: str) -> Any:
    """What a JSON file holds.

    Raises:
        DataMissingError: no such file.
        DataCorruptError: it is no JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataMissingError(f"no {what} at {path}") from error
    except ValueError as error:
        raise DataCorruptError(f"{path} is not JSON: {error}") from error


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, and the folders it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
