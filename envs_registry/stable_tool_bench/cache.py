"""Recorded responses: upstream's cache folder, if the user has it.

Its form is ``<Category>/<tool>_for_<Category>/<api>.json``, a file one JSON object: the text of a call's
arguments → ``{"error": "", "response": …}``. Upstream writes that text with ``str()`` and so misses a call
whose arguments stand in another order. Here keys are read: order, spacing and notation (Python's or JSON's)
do not count, nor does whether a number was quoted (FIELD-066).

Files are read when one of their APIs is first called. Nothing is written.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.naming import api_name, standard_category, standard_name, unreserved
from toolenv.canonical import digest
from toolenv.coercion import coerce
from toolenv.errors import DataCorruptError, DataMissingError

FILES_KEPT = 256
"""Files whose content is kept in memory, the one unused longest dropped first."""


@dataclass(frozen=True, slots=True)
class ResponseCache:
    """A folder of recorded responses.

    Attributes:
        folder: the one that holds the categories.
    """

    folder: Path

    def check(self) -> None:
        """Look whether the folder is there.

        Raises:
            DataMissingError: it is not.
        """
        if not self.folder.is_dir():
            raise DataMissingError(f"no folder of recorded responses at {self.folder}")

    def find(self, api: Api, arguments: Mapping[str, Any]) -> Any:
        """The recorded value of a call, or ``None``.

        Raises:
            DataCorruptError: the API's file is there but is no object in JSON.
        """
        return _records(self.folder, api).get(_key(api, arguments))

    def recorded(self, api: Api) -> int:
        """How many calls of an API are recorded; errors as for :meth:`find`."""
        return len(_records(self.folder, api))


def cache_file(folder: Path, api: Api) -> Path:
    """Where upstream keeps an API's responses."""
    category = standard_category(api.identity.category)
    tool = f"{standard_name(api.identity.tool)}_for_{category}"
    return folder / category / tool / f"{api_name(api.identity)}.json"


@lru_cache(maxsize=FILES_KEPT)
def _records(folder: Path, api: Api) -> Mapping[str, Any]:
    """An API's recorded values by the canonical form of the arguments; of equal calls the first counts."""
    path = cache_file(folder, api)
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except ValueError as error:
        raise DataCorruptError(f"recorded responses {path}: not JSON: {error}") from error
    if not isinstance(content, dict):
        raise DataCorruptError(f"recorded responses {path}: an object expected, not {type(content).__name__}")
    found: dict[str, Any] = {}
    for text, value in content.items():
        key = _key_of_text(api, text)
        if key is not None:
            found.setdefault(key, value)
    return found


def _key_of_text(api: Api, text: str) -> str | None:
    """The key of recorded arguments, written as JSON or as Python; ``None`` if they are no arguments.

    They are read as literals. Nothing is evaluated.
    """
    arguments = _literal(text) if text.strip() else {}
    if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
        return None
    try:
        return _key(api, arguments)
    except (RecursionError, ValueError):
        return None


def _literal(text: str) -> Any:
    # What is JSON is read as JSON: Python would take its "\/" for two characters.
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def _key(api: Api, arguments: Mapping[str, Any]) -> str:
    """The same for calls that mean the same: parameters under their standard names, in their own types."""
    named = {unreserved(standard_name(name)): value for name, value in arguments.items()}
    coerced, _ = coerce(named, api.spec.parameters)
    return digest(coerced)
