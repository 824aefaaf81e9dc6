"""Episodes as a Parquet file: one row an episode, for pandas, polars, DuckDB and the like.

Needs pyarrow, the extra ``parquet``. The columns are the fields of :class:`Origin` and of
:class:`toolenv.episode.Episode`, and how many of an episode's tokens are those of the recorded one that it
went on from. Facts of several parts are structs or, where the parts differ between episodes, JSON text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from toolenv.episode import Episode
from toolenv.errors import DataCorruptError, StoreError, UsageError
from toolenv.trace import Trace
from toolenv.types import NO_TOKENS


class Origin(NamedTuple):
    """Which run an episode is of.

    Attributes:
        folder: its directory: what tells it from other runs of the same configuration.
        run: the hash of its configuration.
        toolenv: the version that played it; ``None`` if the run does not say.
    """

    folder: str
    run: str = ""
    toolenv: str | None = None


Record: TypeAlias = tuple[Origin, Episode, Any]
"""Where an episode is from, the episode, and its trace as plain JSON; ``None`` will do for one that went on
from no other, where traces are not written."""

ROWS = 20_000
"""Rows in a group, at most: what is in memory at a time."""

ROWS_WITH_TRACES = 2_000

_TEXT, _WHOLE, _NUMBER, _TRUTH, _TEXTS, _JSON = "string", "int64", "double", "bool", "texts", "json"

COLUMNS: Mapping[str, str | Mapping[str, str]] = {
    **dict.fromkeys(Origin._fields, _TEXT),
    "env": _TEXT,
    "agent": _TEXT,
    "task_id": _TEXT,
    "trial": _WHOLE,
    "seed": _WHOLE,
    "label": _TEXT,
    "decision": _TEXT,
    "lenient_decision": _TEXT,
    "decided_by": _TEXT,
    "success": _TRUTH,
    "reward": _NUMBER,
    "valid": _TRUTH,
    "turns": _WHOLE,
    "calls": _WHOLE,
    "input_tokens": _WHOLE,
    "output_tokens": _WHOLE,
    "estimated_tokens": _TRUTH,
    "flags": _TEXTS,
    "error": _TEXT,
    "accurate": _TRUTH,
    "task": {"domain": _TEXT, "workflow": _TEXT, "tools": _WHOLE, "reference_calls": _WHOLE},
    "exposure": {
        "hazard": _TEXT,
        "mode": _TEXT,
        "tool": _TEXT,
        "armed": _TRUTH,
        "fired": _WHOLE,
        "seen": _WHOLE,
    },
    "reaction": {"failure": _TEXT, "first_action": _TEXT, "calls_after": _WHOLE, "answered": _TRUTH},
    "roles": _JSON,
    "trouble": _JSON,
    "input_tokens_before": _WHOLE,
    "output_tokens_before": _WHOLE,
}
"""The columns and what they hold; with traces there is one more, ``trace``, JSON text."""


def import_pyarrow() -> Any:
    """The library with its part for Parquet.

    Raises:
        UsageError: it is not installed; names the extra.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UsageError(
            f"Parquet needs pyarrow ({error}): pip install -e '.[parquet]' in a checkout"
        ) from error
    return pyarrow


def partial_of(path: Path) -> Path:
    """Where a file is written until it is whole."""
    return path.with_name(f"{path.name}.partial")


def write_parquet(path: Path, records: Iterable[Record], *, traces: bool = False) -> int:
    """Write a file, a group of rows at a time, and return how many rows it has. It appears when it is whole.

    Args:
        path: the file; one that is there is replaced.
        records: read once.
        traces: whether to write the traces, too.

    Raises:
        StoreError: the file cannot be written, or an episode does not fit the columns.
        UsageError: pyarrow is not installed.
    """
    pyarrow = import_pyarrow()
    schema = _schema(pyarrow, traces)
    partial = partial_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pyarrow.parquet.ParquetWriter(partial, schema, compression="zstd") as writer:
            rows = sum(_write_group(writer, pyarrow, schema, group) for group in _groups(records, traces))
        os.replace(partial, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink()
    return rows


def _groups(records: Iterable[Record], traces: bool) -> Iterator[list[dict[str, Any]]]:
    rows = (_row(record, traces) for record in records)
    while group := list(islice(rows, ROWS_WITH_TRACES if traces else ROWS)):
        yield group


def _write_group(writer: Any, pyarrow: Any, schema: Any, group: list[dict[str, Any]]) -> int:
    try:
        writer.write_batch(pyarrow.RecordBatch.from_pylist(group, schema))
    except (pyarrow.ArrowException, OverflowError, TypeError) as error:
        first, last = (
            tuple(row[name] for name in ("env", "task_id", "trial")) for row in (group[0], group[-1])
        )
        raise StoreError(f"an episode from {first} to {last} does not fit the columns: {error}") from error
    return len(group)


def _row(record: Record, traces: bool) -> dict[str, Any]:
    origin, episode, trace = record
    plain = {**origin._asdict(), **episode.to_json(), **_before(episode, trace)}
    row = {name: _cell(plain[name], kind) for name, kind in COLUMNS.items()}
    return {**row, "trace": _json(trace)} if traces else row


def _before(episode: Episode, trace: Any) -> dict[str, int | None]:
    """The tokens of the recorded episode that one went on from; ``None`` where unknown."""
    before = NO_TOKENS
    if isinstance(trace, Mapping) and (trace.get("continuation") or trace.get("trouble")):
        try:
            before = Trace.from_json(trace).usage_before
        except DataCorruptError as error:
            raise StoreError(f"the episode {episode.key} of {episode.agent}: {error}") from error
    return {"input_tokens_before": before.input_tokens, "output_tokens_before": before.output_tokens}


def _cell(value: Any, kind: str | Mapping[str, str]) -> Any:
    return _json(value) if kind == _JSON and value is not None else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _schema(pyarrow: Any, traces: bool) -> Any:
    columns = {**COLUMNS, "trace": _JSON} if traces else COLUMNS
    return pyarrow.schema([(name, _type(pyarrow, kind)) for name, kind in columns.items()])


def _type(pyarrow: Any, kind: str | Mapping[str, str]) -> Any:
    if not isinstance(kind, str):
        return pyarrow.struct([(name, _type(pyarrow, inner)) for name, inner in kind.items()])
    if kind == _TEXTS:
        return pyarrow.list_(pyarrow.string())
    return pyarrow.string() if kind == _JSON else pyarrow.type_for_alias(kind)
