"""Tokens by role, written and read back."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from toolenv.hygiene import clean_action
from toolenv.ledger import AGENT, add_ledgers, kept_of, read_ledger, under_role, write_ledger
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, Usage

PLANNED = {"planner": Usage(100, 20, 30, 5, generations=2), "executor": Usage(None, 7, estimated=True)}
ACTIONS: list[Action] = [
    ToolCalls((ToolCall("pay"),), raw={"content": "I pay."}),
    Message("Done.", raw={"content": "Done."}),
    Stop("payment", raw={"content": "STOP: payment"}),
    Malformed("{", "not JSON", record={"content": "{"}),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: type(action).__name__)
def test_what_is_written_is_read(action: Action) -> None:
    written = write_ledger(action, PLANNED, {"planning": ["a", "b"]})
    assert written == action
    assert written.usage == Usage(None, 27, 30, 5, generations=3, estimated=True)
    assert read_ledger(written) == PLANNED
    assert read_ledger(clean_action(written)) == PLANNED
    assert kept_of(written)["content"] == kept_of(action)["content"]
    assert kept_of(written)["planning"] == ["a", "b"]


def test_an_action_of_one_agent_has_one_role() -> None:
    assert read_ledger(Message("hi", usage=Usage(3, 4))) == {AGENT: Usage(3, 4)}
    assert read_ledger(Message("hi")) == {AGENT: Usage()}
    plain = write_ledger(Message("hi"), {AGENT: Usage(3, 4)}, {})
    assert (plain.usage, kept_of(plain)) == (Usage(3, 4), None)


def entry(**changes: Any) -> dict[str, Any]:
    fields = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens")
    retried = ("retried_input_tokens", "retried_output_tokens")
    plain = {**dict.fromkeys((*fields, *retried), 0), "generations": 1, "estimated": False}
    return {**plain, "input_tokens": 3, "output_tokens": 4, **changes}


@pytest.mark.parametrize(
    "roles",
    [
        {},
        [],
        "planner",
        {"planner": 7},
        {"planner": {}},
        {"planner": entry(input_tokens=4)},  # does not add up
        {"planner": entry(), "executor": entry()},
        {"planner": entry(input_tokens="3")},
        {"planner": entry(input_tokens=True)},
        {"planner": entry(generations=None)},
        {"planner": entry(estimated=1)},
        {"planner": entry(more=1)},
        {"planner": entry(output_tokens=-4)},
    ],
)
def test_a_model_s_reply_cannot_pass_for_a_ledger(roles: Any) -> None:
    """A server's message may hold any key, and all of it is kept in ``raw``."""
    assert read_ledger(Message("hi", usage=Usage(3, 4), raw={"roles": roles})) == {AGENT: Usage(3, 4)}


def test_an_entry_that_adds_up_is_one() -> None:
    said = Message("hi", usage=Usage(3, 4), raw={"roles": {"planner": entry()}})
    assert read_ledger(said) == {"planner": Usage(3, 4)}


def test_roles_within_roles() -> None:
    inner = write_ledger(Message("hi"), PLANNED, {"planning": ["inner"]})
    assert under_role("planner", read_ledger(inner)) == {
        "planner/planner": PLANNED["planner"],
        "planner/executor": PLANNED["executor"],
    }
    assert under_role("planner", {AGENT: Usage(1, 1)}) == {"planner": Usage(1, 1)}
    assert under_role("", PLANNED) == PLANNED
    outer = write_ledger(inner, under_role("executor", PLANNED), {"planning": ["outer"]})
    assert kept_of(outer)["planning"] == ["outer"]
    assert kept_of(outer)["inner"] == {"planning": ["inner"]}


def test_ledgers_are_added_role_by_role() -> None:
    assert add_ledgers([PLANNED, {"planner": Usage(1, 2)}, {AGENT: Usage(5, 6)}]) == {
        "planner": Usage(101, 22, 30, 5, generations=3),
        "executor": PLANNED["executor"],
        AGENT: Usage(5, 6),
    }
    assert add_ledgers([]) == {}


@pytest.mark.parametrize(
    "raw", ["text", 7, {"deep": float("nan")}, {"long": "x" * 2_000_000}], ids=["text", "7", "nan", "long"]
)
def test_the_ledger_survives_whatever_a_policy_keeps(raw: Any) -> None:
    written = clean_action(write_ledger(Message("hi", raw=raw), PLANNED, {"planning": []}))
    assert read_ledger(written) == PLANNED
    assert len(str(kept_of(written))) < 30_000
    assert "inner" in kept_of(written)


def test_counts_of_numpy_are_counts() -> None:
    counts: list[Any] = [numpy.int64(3), numpy.int64(4)]
    ledger = {"planner": Usage(*counts)}
    assert read_ledger(write_ledger(Message("hi"), ledger, {})) == {"planner": Usage(3, 4)}
