"""What in a task's own data does not fit together: listed for readers, never acted on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from envs_registry import DATA_FOLDER
from envs_registry.tau_bench.database import View
from envs_registry.tau_bench.reference import EndStateReference
from toolenv.data import DataStore
from toolenv.errors import ToolError
from toolenv.task import Task

_OWNED: Final = {"order_id": "orders", "reservation_id": "reservations"}
_USER_ID: Final = re.compile(r"\b[a-z]+_[a-z]+_[0-9]{4}\b")
_MONTHS: Final = ("january", "february", "march", "april", "may", "june", "july", "august")
_NAMED_DATE: Final = re.compile(rf"\b({'|'.join(_MONTHS)}) ([0-9]{{1,2}})\b")
_DATE: Final = re.compile(r"2024-[0-9]{2}-[0-9]{2}")


def disagreements(task: Task) -> tuple[str, ...]:
    """One line each, with upstream's revision.

    Ground-truth calls that return an error (FIELD-063); calls about another user than the task's, user ids
    in the instruction that are not the task's, and dates of which ground truth and instruction share none
    (FIELD-114).
    """
    reference = task.reference
    assert isinstance(reference, EndStateReference)
    found = (
        *_failing_calls(reference),
        *_other_users(task, reference),
        *_other_dates(task, reference),
    )
    return tuple(f"{line} (upstream {_revision()})" for line in found)


@cache
def _revision() -> str:
    """The commit of upstream that the findings are about."""
    return DataStore(DATA_FOLDER).source("tau-bench").version


def _failing_calls(reference: EndStateReference) -> Iterator[str]:
    world = reference.make_world()
    for number, action in enumerate(reference.actions, start=1):
        try:
            world.call(action.name, action.arguments)
        except ToolError as failure:
            yield f"ground-truth call {number}, {action.name}{_shown(action.arguments)}, returns {failure}"


def _other_users(task: Task, reference: EndStateReference) -> Iterator[str]:
    expected = task.metadata["user_id"]
    for user_id in dict.fromkeys(_USER_ID.findall(task.metadata["instruction"])):
        if user_id != expected:
            yield f"the instruction names user {user_id}, the task is about {expected}"
    owners = [_owner(reference.make_world().data, action.arguments) for action in reference.actions]
    for owner in dict.fromkeys(owners):
        if owner not in (None, expected):
            yield f"the ground truth acts for user {owner}, the task is about {expected}"


def _owner(data: View, arguments: Any) -> str | None:
    """Whom a call is about; ``None`` where it does not say or names a record that does not exist."""
    if "user_id" in arguments:
        return str(arguments["user_id"])
    for name, table in _OWNED.items():
        if name in arguments and arguments[name] in data[table]:
            return str(data[table][arguments[name]]["user_id"])
    return None


def _other_dates(task: Task, reference: EndStateReference) -> Iterator[str]:
    named = [
        f"2024-{_MONTHS.index(month) + 1:02}-{int(day):02}"
        for month, day in _NAMED_DATE.findall(task.metadata["instruction"].lower())
    ]
    used = [date for action in reference.actions for date in _DATE.findall(json.dumps(action.arguments))]
    if named and used and set(named).isdisjoint(used):
        yield f"the instruction is about {_listed(named)}, the ground truth about {_listed(used)}"


def _listed(dates: Sequence[str]) -> str:
    return ", ".join(sorted(set(dates)))


def _shown(arguments: Any) -> str:
    return f"({json.dumps(arguments, ensure_ascii=False)})"
