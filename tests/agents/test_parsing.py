"""The rules of parse_reply: what decides, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from toolenv.agents.parsing import MAX_RECORD, parse_reply
from toolenv.names import with_wire_names
from toolenv.received import normalise_message
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, ToolSpec

FENCED_CALL = '```json\n{"name": "get_balance", "parameters": {"account": "A1"}}\n```'


def tool(name: str, **properties: str) -> ToolSpec:
    typed = {key: {"type": kind} for key, kind in properties.items()}
    return ToolSpec(name, parameters={"type": "object", "properties": typed})


TOOLS = with_wire_names(
    [
        tool("get_balance", account="string", limit="integer"),
        tool("transfer_funds", to="string", amount="number"),
        tool("math.factorial", number="integer"),
        tool("ls"),
    ]
)


def parse(
    content: str | None = None,
    tool_calls: Sequence[Mapping[str, Any]] | None = None,
    *,
    reasoning: str | None = None,
    finish_reason: str | None = "stop",
    tools: Sequence[ToolSpec] = TOOLS,
    text_calls: bool = True,
) -> Action:
    return parse_reply(
        content=content,
        tool_calls=tool_calls,
        reasoning=reasoning,
        finish_reason=finish_reason,
        tools=tools,
        text_calls=text_calls,
    )


def native(name: object, arguments: object = "{}", id: object = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_native_calls_keep_order_ids_and_text() -> None:
    action = parse(
        "I look.",
        [native("get_balance", '{"account": "A1"}', "a"), native("math_factorial", {"number": 5}, "b")],
    )
    assert action == ToolCalls(
        (ToolCall("get_balance", {"account": "A1"}, "a"), ToolCall("math_factorial", {"number": 5}, "b")),
        "I look.",
    )


def test_field_016_reasoning_is_never_a_stop() -> None:
    thought = "The rules:\nSTOP: if a tool is missing. transfer_funds is present, so I should not STOP."
    calls = [{"id": "c1", "name": "transfer_funds", "arguments": '{"to":"B2","amount":5}'}]
    expected = ToolCalls((ToolCall("transfer_funds", {"to": "B2", "amount": 5}, "c1"),))
    for content, reasoning in (
        ("", thought),
        (f"<think>{thought}</think>", None),
        (f"{thought}</think>", None),
    ):
        action = parse(content, calls, reasoning=reasoning)
        assert action == expected
        assert isinstance(action, ToolCalls)
        assert action.raw == {"reasoning": thought}
        words = parse(f"{content}\nDone.", reasoning=reasoning)
        assert words == Message("Done.") or words == Message("\nDone.")


def test_field_049_a_final_sentence_after_tool_use_is_a_message() -> None:
    empty: tuple[Any, ...] = (None, [], ())
    for calls in empty:
        assert parse("There are three files.", calls) == Message("There are three files.")


def test_field_050_a_reply_cut_off_is_neither_answer_nor_stop() -> None:
    assert parse("", reasoning="long ...", finish_reason="length") == Malformed(
        "", "it was cut off at the token limit", "length"
    )
    for text in ("The balance of", "STOP: no ref", '<tool_call>{"name": "get_ba', "<think>I must"):
        action = parse(text, finish_reason="length")
        assert isinstance(action, Malformed)
        assert action.kind == "length"
        assert action.raw == ("" if "<think>" in text else text)  # partial text is kept


def test_field_050_usable_calls_count_though_the_reply_was_cut_off() -> None:
    action = parse(None, [native("ls"), native("get_balance", '{"acc', "c2")], finish_reason="length")
    assert isinstance(action, ToolCalls)
    assert [bool(call.problem) for call in action.calls] == [False, True]
    for unusable in ('{"acc', "", None):
        action = parse(None, [native("get_balance", unusable)], finish_reason="length")
        assert isinstance(action, Malformed)
        assert action.kind == "length"
    text = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert parse(text, finish_reason="length") == ToolCalls((ToolCall("ls"),))


def test_field_052_calls_decide_and_not_the_finish_reason() -> None:
    assert parse("Hello!", [], finish_reason="tool_calls") == Message("Hello!")
    assert parse("", [native("ls")], finish_reason="stop") == ToolCalls((ToolCall("ls", {}, "c1"),))
    assert parse("", [native("ls")], finish_reason=None) == ToolCalls((ToolCall("ls", {}, "c1"),))


def test_native_calls_win_over_calls_in_the_text() -> None:
    action = parse(FENCED_CALL, [native("ls")])
    assert action == ToolCalls((ToolCall("ls", {}, "c1"),), FENCED_CALL)


def test_calls_win_over_a_stop_signal() -> None:
    assert parse("STOP: no tool", [native("ls")]) == ToolCalls((ToolCall("ls", {}, "c1"),), "STOP: no tool")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("STOP: no refund tool", "no refund tool"),
        ("**STOP:** no payment tool", "no payment tool"),
        ("**STOP: no payment tool**", "no payment tool"),
        ("stop: refund tool is not provided", "refund tool is not provided"),
        ("I looked.\nSTOP: no refund tool\nSorry.", "no refund tool\nSorry."),
        ("<think>hm</think>STOP:x", "x"),
        ("STOP:", ""),
    ],
)
def test_a_stop_signal_without_calls_is_a_stop(text: str, reason: str) -> None:
    assert parse(text) == Stop(reason)


def test_words_before_the_signal_are_kept_for_readers() -> None:
    assert parse("I looked.\nSTOP: no tool").raw == {"content": "I looked.\nSTOP: no tool"}


def test_a_phrase_is_left_to_the_judge() -> None:
    text = "The required tool is not available."
    assert parse(text) == Message(text)


def test_an_empty_reply_is_an_empty_message() -> None:
    for text in (None, "", "<think>hm</think>", "<|im_end|>"):
        assert parse(text) == Message("")


def test_field_079_surrogates_in_text_are_mended() -> None:
    assert parse("ok \ud83c end \ud83c\udf78") == Message("ok \ufffd end \U0001f378")


def test_a_giant_reply_is_cut() -> None:
    action = parse("x" * 3_000_000)
    assert isinstance(action, Message)
    assert len(action.text) == 2_000_000


def test_reasoning_is_kept_in_raw_and_cut() -> None:
    action = parse("<think>" + "y" * 50_000 + "</think>Hi", reasoning="x")
    assert isinstance(action, Message)
    assert action == Message("Hi")
    assert len(action.raw["reasoning"]) == MAX_RECORD
    assert action.raw["reasoning"].startswith("x\nyyy")


def test_a_call_as_text_keeps_the_words_before_it_and_the_raw_text() -> None:
    action = parse("I check.\n" + FENCED_CALL)
    assert action == ToolCalls((ToolCall("get_balance", {"account": "A1"}),), "I check.")
    assert action.raw == {"content": "I check.\n" + FENCED_CALL}


def test_end_of_turn_tokens_are_taken_off() -> None:
    assert parse("Done.<|im_end|>\n<|endoftext|>") == Message("Done.")
    assert parse("STOP: no tool</s>") == Stop("no tool")


def test_without_tools_a_tag_is_still_an_attempt() -> None:
    text = '<tool_call>{"name": "issue_refund", "arguments": {"order": "W1"}}</tool_call>'
    assert parse(text, tools=()) == ToolCalls((ToolCall("issue_refund", {"order": "W1"}),))


def test_field_091_old_and_new_messages_have_one_form() -> None:
    assert normalise_message({"role": "assistant", "content": "x", "tool_calls": None}) == {
        "role": "assistant",
        "content": "x",
    }
    assert normalise_message(
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    ) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_f", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    assert normalise_message({"role": "function", "name": "f", "content": "1"}) == {
        "role": "tool",
        "name": "f",
        "tool_call_id": "call_f",
        "content": "1",
    }


def test_parts_and_both_names_of_reasoning_are_read() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
    ]
    assert normalise_message({"content": parts}) == {"content": "ab", "reasoning": "hm"}
    assert normalise_message({"content": "a", "reasoning_content": "hm"}) == {
        "content": "a",
        "reasoning": "hm",
    }
    assert normalise_message({"content": "a", "reasoning": "hm"}) == {"content": "a", "reasoning": "hm"}
    assert normalise_message({"role": "assistant"}) == {"role": "assistant", "content": None}


def test_a_normalised_old_message_parses() -> None:
    message = normalise_message(
        {"content": None, "function_call": {"name": "ls", "arguments": json.dumps({})}}
    )
    assert parse(message["content"], message["tool_calls"]) == ToolCalls((ToolCall("ls", {}, "call_ls"),))
