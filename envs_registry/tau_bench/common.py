"""What the tools of both domains share."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from envs_registry.tau_bench.arithmetic import calculate as value_of
from envs_registry.tau_bench.database import Record, Table, View
from toolenv.errors import ToolError

TRANSFERRED = "Transfer successful"


def stop(problem: str) -> NoReturn:
    """End a tool with upstream's error text."""
    raise ToolError(f"Error: {problem}")


def dump(value: Any) -> str:
    """A value as upstream shows it: JSON, everything but ASCII escaped."""
    return json.dumps(value)


def find(table: Table, key: Any, otherwise: str) -> Record:
    """The record of that key, for reading; ``otherwise`` is the error where there is none."""
    if key not in table:
        stop(otherwise)
    return table[key]


def calculate(data: View, expression: Any) -> str:
    """Section 9.1."""
    return value_of(expression)


def get_user_details(data: View, user_id: Any) -> str:
    """Sections 9.8 and 10.5."""
    return dump(find(data["users"], user_id, "user not found"))


def think(data: View, thought: Any) -> str:
    """Sections 9.15 and 10.10."""
    return ""


def transfer_to_human_agents(data: View, summary: Any) -> str:
    """Sections 9.16 and 10.11."""
    return TRANSFERRED
