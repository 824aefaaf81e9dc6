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
from collections.abc import Iterator, Mapping
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
        for arguments in _read_arguments(text):
            found.setdefault(_key(api, arguments), value)
    return found


def _read_arguments(text: str) -> Iterator[dict[str, Any]]:
    """The arguments in a key, Python's literals or JSON; none if it is neither. Nothing is evaluated."""
    for read in (ast.literal_eval, json.loads):
        try:
            value = read(text) if text.strip() else {}
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            yield value
        return


def _key(api: Api, arguments: Mapping[str, Any]) -> str:
    """The same for calls that mean the same: parameters under their standard names, in their own types."""
    named = {unreserved(standard_name(name)): value for name, value in arguments.items()}
    coerced, _ = coerce(named, api.spec.parameters)
    try:
        return digest(coerced)
    except (RecursionError, ValueError):
        return ""
