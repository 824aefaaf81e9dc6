"""Whatever a server sends is an action or a failure, never a crash (the reading alone, without HTTP)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolenv.actions import check_action
from toolenv.agents.chat import to_action
from toolenv.model_server.outcome import Reply
from toolenv.model_server.responses import read_reply
from toolenv.names import with_wire_names
from toolenv.types import Stop, ToolSpec, Usage

TOOLS = with_wire_names([ToolSpec("math.add", "Sum."), ToolSpec("transfer_funds", "Send money.")])

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=9)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
odd_calls = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": values,
            "function": st.fixed_dictionaries({"name": values, "arguments": values}) | values,
        },
    )
    | values,
    max_size=3,
)
odd_messages = st.fixed_dictionaries(
    {},
    optional={
        "content": values,
        "tool_calls": odd_calls | values,
        "function_call": values,
        "reasoning": values,
        "refusal": values,
    },
)
bodies = values | st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries({"message": odd_messages, "finish_reason": values}), max_size=2
        )
    },
    optional={"usage": values, "model": values, "error": values},
)


@given(bodies)
def test_no_body_crashes_the_reading_or_becomes_a_stop_by_itself(body: object) -> None:
    text = json.dumps(body)
    outcome = read_reply(text)
    if isinstance(outcome, Reply):
        action = check_action(to_action(outcome, TOOLS), "chat")
        assert action.usage is not None
        assert not isinstance(action, Stop) or "stop" in text.lower()


@pytest.mark.parametrize("text", ["[" * 200_000, "{", "", "<html>", "9" * 10_000, '{"a": "\\ud83c"}'])
def test_bodies_that_hold_no_reply_are_failures(text: str) -> None:
    outcome = read_reply(text)
    assert not isinstance(outcome, Reply)
    assert outcome.transient
    assert outcome.usage == Usage()


def test_field_079_surrogates_in_a_reply_are_clean_before_anyone_reads_them() -> None:
    text = json.dumps({"choices": [{"message": {"content": "\ud83c"}}], "model": "\ud83c\udf78"})
    outcome = read_reply(text)
    assert isinstance(outcome, Reply)
    assert outcome.message["content"] == "�"
    assert outcome.model == "🍸"
