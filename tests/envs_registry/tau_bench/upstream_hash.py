"""Upstream's data hash, written from TOOLS.md, section 4: what end states are checked against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from envs_registry.tau_bench.database import Database
from envs_registry.tau_bench.world import TauWorld


def hashable(value: Any) -> Any:
    """The canonical form of a value."""
    if isinstance(value, dict):
        return tuple((key, hashable(item)) for key, item in sorted(value.items()))
    return tuple(map(hashable, value)) if isinstance(value, list) else value


def hash_of(value: Any) -> str:
    """The hash of a whole database, or of a part of one."""
    return hashlib.sha256(str(hashable(value)).encode()).hexdigest()


class Hasher:
    """Hashes the end states of many worlds over one database, whose records it writes out once.

    Args:
        database: the pristine database.
    """

    def __init__(self, database: Database) -> None:
        self._tables = {
            name: {key: str(hashable(record)) for key, record in records.items()}
            for name, records in database.tables.items()
        }

    def __call__(self, world: TauWorld) -> str:
        """The hash of a world's database."""
        changed = world.view()
        tables = [
            (name, _tuple(self._pairs(records, changed.get(name, {}))))
            for name, records in sorted(self._tables.items())
        ]
        text = _tuple(f"({name!r}, {table})" for name, table in tables)
        return hashlib.sha256(text.encode()).hexdigest()

    def _pairs(self, records: Mapping[str, str], changed: Mapping[str, Any]) -> Iterator[str]:
        texts = {**records, **{key: str(hashable(record)) for key, record in changed.items()}}
        return (f"({key!r}, {text})" for key, text in sorted(texts.items()))


def _tuple(items: Iterator[str]) -> str:
    """The text of a tuple of more than one item."""
    return f"({', '.join(items)})"
