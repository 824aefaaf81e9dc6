"""Replies kept on disk, so that a run made again costs nothing.

A reply is found by all that was sent, to which server, and where in which episode: the episode's seed and how
often the same request was made in it before. Repeated trials thus stay apart, and so do votes of one model.
Failures are never kept. Threads and processes may share a folder; nothing in it ever changes but whole files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolenv.errors import UsageError
from toolenv.model_server.outcome import Reply
from toolenv.types import Usage
from toolenv.usage import as_recalled

ENTRY_VERSION = 1
LOGGER = logging.getLogger(__name__)


class ResponseCache:
    """A folder of replies.

    Args:
        folder: made if absent.

    Raises:
        UsageError: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise UsageError(f"cache {folder} cannot be written: {error.strerror or error}") from error

    def find(self, key: str) -> Reply | None:
        """The reply kept under ``key``, its tokens marked as recalled.

        An entry that cannot be read is named in a log message and is none.
        """
        path = self._path(key)
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            LOGGER.warning("%s cannot be read (%s); asking again", path, error.strerror or error)
            return None
        reply = _read(text, key)
        if reply is None:
            LOGGER.warning("%s is damaged; asking again", path)
        return reply

    def keep(self, key: str, reply: Reply) -> None:
        """Keep a reply; if that cannot be done, a log message says why, and the run goes on."""
        path = self._path(key)
        try:
            path.parent.mkdir(exist_ok=True)
            _write_whole(path, _entry(key, reply))
        except OSError as error:
            LOGGER.warning("%s cannot be written: %s", path, error.strerror or error)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.json"


def key_of(url: str, body: Any, seed: int | None, position: int) -> str:
    """The key of a request: a sha256 in hexadecimal.

    Args:
        url: the server's.
        body: all that is sent, as JSON values.
        seed: the episode's; ``None`` outside any.
        position: how often the same was asked in the episode before.
    """
    asked = {"version": ENTRY_VERSION, "url": url, "seed": seed, "position": position, "body": body}
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(key: str, reply: Reply) -> bytes:
    usage = {name: getattr(reply.usage, name) for name in Usage.__slots__}
    kept = {
        "message": reply.message,
        "finish_reason": reply.finish_reason,
        "model": reply.model,
        "usage": usage,
        "id": reply.id,
    }
    text = json.dumps(kept, ensure_ascii=False)
    return json.dumps({"version": ENTRY_VERSION, "key": key, "sum": _sum(text), "reply": text}).encode()


def _read(entry: bytes, key: str) -> Reply | None:
    try:
        found = json.loads(entry)
        if (found["version"], found["key"], found["sum"]) != (ENTRY_VERSION, key, _sum(found["reply"])):
            return None
        kept: Mapping[str, Any] = json.loads(found["reply"])
        usage = as_recalled(Usage(**kept["usage"]))
        return Reply(kept["message"], kept["finish_reason"], kept["model"], usage, kept["id"], recalled=True)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _write_whole(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
