"""Whatever was said, the request is one that the strictest servers and templates take."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from toolenv.agents.wire import WireForm, to_openai_messages, write
from toolenv.types import ChatMessage, Observation, ToolCall

texts = st.text(st.characters(codec=None), max_size=8)
ids = st.sampled_from(["", "a", "b", "call00001", "é", "x" * 65])
calls = st.lists(
    st.builds(ToolCall, texts, st.dictionaries(texts, texts | st.floats() | st.none(), max_size=2), ids),
    max_size=3,
)
messages = st.lists(
    st.builds(ChatMessage, st.sampled_from(["system", "user", "tool"]), texts, st.just(()), ids)
    | st.builds(ChatMessage, st.just("assistant"), texts, calls.map(tuple), st.just("")),
    max_size=8,
)


@given(messages)
def test_whatever_was_said_is_a_request_that_strict_servers_take(conversation: list[ChatMessage]) -> None:
    wire = to_openai_messages(Observation(tuple(conversation), (), turns_left=5))
    json.dumps(wire, ensure_ascii=False, allow_nan=False).encode("utf-8")
    spoken = [one for one in wire if one["role"] != "system"]
    assert all(one["role"] != "system" for one in wire[1:])
    expected = "user"
    waiting: list[str] = []
    seen: set[str] = set()
    for one in spoken:
        if one["role"] == "tool":
            assert one["tool_call_id"] == waiting.pop(0)
            assert one["content"]
            continue
        assert not waiting
        assert one["role"] == expected
        expected = "assistant" if expected == "user" else "user"
        waiting = [call["id"] for call in one.get("tool_calls", [])]
        assert not seen.intersection(waiting)
        seen.update(waiting)
        if waiting:
            expected = "assistant"
    assert not waiting


THINKING = WireForm(reasoning_field="reasoning_content")


@given(messages, st.dictionaries(st.integers(0, 8), texts, max_size=3))
def test_a_conversation_written_as_it_grows_reads_as_if_written_at_once(
    conversation: list[ChatMessage], reasoning: dict[int, str]
) -> None:
    before = None
    for end in range(len(conversation) + 1):
        seen = Observation(tuple(conversation[:end]), (), turns_left=5)
        before = write(seen, form=THINKING, reasoning=reasoning, before=before)
        at_once = write(seen, form=THINKING, reasoning=reasoning)
        assert (before.wire, before.ids) == (at_once.wire, at_once.ids)


@given(messages, messages)
def test_a_conversation_that_went_otherwise_is_written_anew(
    conversation: list[ChatMessage], other: list[ChatMessage]
) -> None:
    before = write(Observation(tuple(other), (), turns_left=5))
    seen = Observation(tuple(conversation), (), turns_left=5)
    assert write(seen, before=before).wire == write(seen).wire
    assert write(seen, form=THINKING, reasoning={0: "so"}, before=write(seen)).wire == (
        write(seen, form=THINKING, reasoning={0: "so"}).wire
    )
