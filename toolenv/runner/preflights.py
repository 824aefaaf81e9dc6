"""What the requests before a run cost: beside the episodes, since it belongs to none of them.

Each start of a run that tries its servers adds a line to a file that is only ever appended to, and so does
each worker that tries a model of its own, and each resumption that a failed try ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from toolenv.append_only import locked, opened_for_lines, unwritable
from toolenv.errors import StoreError
from toolenv.hashed_json import strict_json
from toolenv.ledger import Ledger, ledger_from_json, ledger_to_json
from toolenv.types import NO_TOKENS, Usage

PREFLIGHTS_FILE = "preflights.jsonl"

ENVIRONMENT = "environment/"
"""How the names of those begin whose servers are no part of the agent."""

USER_ROLE, SUITE_ROLE = f"{ENVIRONMENT}user", f"{ENVIRONMENT}suite"
"""Simulated users; simulators and judges."""


def append_preflight(folder: Path, spent: Mapping[str, Usage]) -> None:
    """Add what one start, or one worker, spent by role; nothing where it spent nothing.

    The run directory must be this process's own.

    Raises:
        StoreError: it cannot be written.
    """
    told = {role: usage for role, usage in spent.items() if usage != NO_TOKENS}
    if not told:
        return
    path = folder / PREFLIGHTS_FILE
    line = json.dumps({"roles": ledger_to_json(told)}, separators=(",", ":")).encode() + b"\n"
    descriptor = opened_for_lines(path)
    try:
        while line:
            line = line[os.write(descriptor, line) :]
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        os.close(descriptor)


def keep_failed_preflight(folder: Path, lock: Path, spent: Mapping[str, Usage]) -> None:
    """Add what a try spent that ended a resumption, unless the run is another process's just now."""
    with suppress(StoreError):
        held = locked(lock, folder)
        try:
            append_preflight(folder, spent)
        finally:
            held.release()


def read_preflights(folder: Path) -> list[Ledger]:
    """What each start and worker of a run spent by role before its first episode; none where nothing is kept.

    Raises:
        StoreError: a line that is no record, by number.
    """
    path = folder / PREFLIGHTS_FILE
    try:
        *lines, _ = path.read_bytes().split(b"\n")  # behind the last break is what a crash left unfinished
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    return [_ledger(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _ledger(line: bytes, where: str) -> Ledger:
    try:
        record = strict_json(line.decode())
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{where}: not a record: {error}") from error
    roles = record.get("roles") if isinstance(record, dict) else None
    ledger = ledger_from_json(roles)
    if not ledger:
        raise StoreError(f"{where}: not a record: roles is {roles!r:.80}, expected tokens by role")
    return ledger
