"""Where the numbers of a report come from: versions, data, masks and corrections of its runs (FIELD-094)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from toolenv.report.format import counted

LEFT_OUT_SHOWN = 20
"""How many tasks that corrections leave out are named with the reason."""

_SHORT_HASH = 12
_HASH = re.compile(r"[0-9a-f]+")
_PARTS = ("agent", "config_hash", "versions", "manifests", "origins")
_DONE = {"replace": "replaced", "widen": "widened"}


def runs_to_json(headers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """``[{"agent", "config_hash", "versions", "manifests", "origins"}, …]``, one per ``run.json``."""
    return [{name: header.get(name) for name in _PARTS} for header in headers]


def about(headers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What a reader of a page must know of its runs, as names and texts.

    Where runs differ in something, their texts stand one after the other.

    Args:
        headers: ``run.json`` of each run.
    """
    facts: dict[str, dict[str, None]] = {}
    for header in headers:
        for name, text in _facts(header):
            facts.setdefault(name, {})[text] = None
    return {name: "; ".join(texts) for name, texts in facts.items()}


def origin_lines(headers: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each env, with hashes cut short: which data, which masks, which corrections."""
    lines = (f"{env}: {_origin(one, env, _SHORT_HASH)}" for one in headers for env in one["manifests"])
    return list(dict.fromkeys(lines))


def _facts(header: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    versions = header.get("versions")
    if isinstance(versions, dict):
        yield "versions", ", ".join(f"{name} {version}" for name, version in versions.items())
    for env in header["manifests"]:
        yield f"tasks of {env}", _origin(header, env)
    yield f"configuration of {header['agent']}", str(header.get("config_hash", "not recorded"))


def _origin(header: Mapping[str, Any], env: str, digits: int | None = None) -> str:
    origin = header.get("origins", {}).get(env, {})
    data, corrections = origin.get("data", "not recorded"), origin.get("corrections", {})
    known = f"data {_cut(data or 'none', digits)}, manifest {_cut(header['manifests'][env], digits)}"
    return f"{known}, {_corrections(corrections, digits) if corrections else 'no corrections'}"


def _corrections(found: Mapping[str, Any], digits: int | None) -> str:
    """The hash, the file's name, how many tasks are corrected, and which are left out for what reason."""
    numbers = {word: len(found[action]) for action, word in _DONE.items()}
    done = [f"{counted(number, 'task')} {word}" for word, number in numbers.items() if number]
    excluded = found["exclude"]
    if excluded:
        shown = [f"{name}: {why}" for name, why in list(excluded.items())[:LEFT_OUT_SHOWN]]
        more = [f"and {len(excluded) - LEFT_OUT_SHOWN} more"] if len(excluded) > LEFT_OUT_SHOWN else []
        done.append(f"{counted(len(excluded), 'task')} left out ({'; '.join([*shown, *more])})")
    what = ", ".join(done) or "of no task here"
    return f"corrections {_cut(found['hash'], digits)} ({PurePath(found['file']).name}): {what}"


def _cut(value: object, digits: int | None) -> str:
    """A hash, or its first digits behind ``sha256:``; whatever is no hash stays whole."""
    kind, colon, text = str(value).rpartition(":")
    is_whole = digits is None or len(text) <= digits or _HASH.fullmatch(text) is None
    return str(value) if is_whole else f"{kind}{colon}{text[:digits]}…"
