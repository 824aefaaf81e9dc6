"""The rules of parse_reply: what decides, what is kept, what a bad reply becomes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from toolenv.agents.calls import MAX_CALLS
from toolenv.agents.parsing import MAX_RECORD, normalise_message, parse_reply
from toolenv.names import with_wire_names
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
        tool("get_pet", id="integer"),
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


def arguments_of(arguments: object) -> tuple[Mapping[str, Any], str]:
    action = parse(None, [native("ls", arguments)])
    assert isinstance(action, ToolCalls)
    (call,) = action.calls
    assert not (call.arguments and call.problem)
    return call.arguments, call.problem


# what decides


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


# attempts that cannot be read


def test_field_001_a_call_that_cannot_be_parsed_is_malformed() -> None:
    text = '<tool_call>\n<tool_call name="pay_invoice" arguments={"id": 7}/>\n</tool_call>'
    action = parse(text)
    assert isinstance(action, Malformed)
    assert (action.raw, action.kind) == (text, "unparsable")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "ls", "arguments": {}',
        '<tool_call>{"name": "get_balance", "arguments": {"account": "A1"}</tool_call>',
        '<tool_call>{"name": "get_balance"}, "arguments": {"account": "A1"}}</tool_call>',
        '<tool_call>{"name": "get_balance", "args": {"account": "A1"}}</tool_call>',
        '<tool_call>{"name": "get_balance", "arguments": ["A1"]}</tool_call>',
        '<tool_call>{"arguments": {"account": "A1"}}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": {"x": NaN}}</tool_call>',
        '<tool_call>{"name": "ls", "arguments": {}}</tool_call><tool_call>oops</tool_call>',
        "<tool_call></tool_call>",
        "<tool_call>[]</tool_call>",
        "<function=get_balance><parameter=account>A1</parameter>",
        "<function=get_balance><parameter=account>A1</function>",
        "<function=get_bal",
        "[TOOL_CALLS] nothing",
        '[TOOL_CALLS]get_balance[ARGS]{"account": ',
        "<|python_tag|>import os",
        "<｜tool▁calls▁begin｜>",
        "<|tool_call_begin|>functions.ls:0",
        "<|channel|>commentary to=functions.ls json<|message|>",
        '{"name": "get_balance", "parameters": {"account": "A1"',
        '{"name": "get_balance", "parameters": ["A1"]}',
        "[get_balance('A1')]",
        "[get_balance(account='A1'",
        "get_balance('A1')",
        "STOP: no tool\n<tool_call>{broken",
    ],
)
def test_a_visible_attempt_that_cannot_be_read_is_malformed(text: str) -> None:
    for text_calls in (True, False):
        action = parse(text, text_calls=text_calls)
        assert isinstance(action, Malformed)
        assert (action.raw, action.kind) == (text, "unparsable")
        assert action.why


def test_field_053_a_call_as_text_is_read_or_malformed_as_asked() -> None:
    assert parse(FENCED_CALL) == ToolCalls((ToolCall("get_balance", {"account": "A1"}),))
    action = parse(FENCED_CALL, text_calls=False)
    assert isinstance(action, Malformed)
    assert (action.raw, action.kind) == (FENCED_CALL, "unparsable")


@pytest.mark.parametrize(
    "text",
    [
        'Here it is: {"name": "Bingo", "age": 30}',
        '{"name": "Bingo", "age": 30}',
        '{"name": "Bingo Smith", "parameters": {"age": 30}}',
        'The owner of {"name": "Bingo", "parameters": {"age": 30}} is Ann.',
        '{"name": "get_pet", "description": "a tool", "parameters": {"type": "object", "properties": {}}}',
        'I called `{"name": "get_pet", "parameters": {"id": 1}}` and it was Bingo.',
        '{"type": "dog", "id": 4}',
        "[]",
        "[1, 2]",
        "[see(the manual)]",
        "[the docs](https://example.org)",
        "get_pet(id=1) returned Bingo.",
        "Models write `<tool_call>` around calls.",
        'The marker is "[TOOL_CALLS]".',
    ],
)
def test_field_090_json_and_talk_about_calls_are_text(text: str) -> None:
    for text_calls in (True, False):
        assert parse(text, text_calls=text_calls) == Message(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<think>```\nSTOP: x", Message),
        ("<think><|channel|>final<|message|>\nSTOP: x", Message),
        ("'<function=ls>words<think>\nSTOP: x", Malformed),
        ("\u2028[get_pet(id=1)]\n**STOP:** x", ToolCalls),
        ("`STOP: x`<tool_call>{", Malformed),
        ("\\<tool_call>{", Malformed),
    ],
)
def test_what_the_fuzzing_found(text: str, kind: type[Action]) -> None:
    assert isinstance(parse(text), kind)


# arguments


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"account": "A1"}', {"account": "A1"}),
        ({"account": "A1"}, {"account": "A1"}),
        ('"{\\"account\\": \\"A1\\"}"', {"account": "A1"}),
        ("", {}),
        ("  ", {}),
        (None, {}),
        ("null", {}),
        ("\ufeff {}", {}),
        ('{"message": "line one\nline two\ttab"}', {"message": "line one\nline two\ttab"}),  # FIELD-058
        ("{'a': True, 'b': None}", {"a": True, "b": None}),  # FIELD-059, 1
        ("{\"a\": true, 'b': [1,2]}", {"a": True, "b": [1, 2]}),  # FIELD-059, 2
        ("{'a': (1, -2.5e3), 'b': {'c': 'it\\'s'}}", {"a": [1, -2500.0], "b": {"c": "it's"}}),
        (r"{'a': '\d+'}", {"a": r"\d+"}),
        ('{"t": "\\ud83c\\udf78"}', {"t": "\U0001f378"}),  # FIELD-079
        ('{"t": "ok \\ud83c end"}', {"t": "ok \ufffd end"}),  # FIELD-079
        ({"t": "\ud83c\udf78", "u": "\ud83c"}, {"t": "\U0001f378", "u": "\ufffd"}),
        ('{"t": "\\u0000\u2028"}', {"t": "\x00\u2028"}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
    ],
)
def test_arguments_are_read_leniently(written: object, arguments: Mapping[str, Any]) -> None:
    assert arguments_of(written) == (arguments, "")


@pytest.mark.parametrize(
    "written",
    [
        "{'x','y'}",  # FIELD-059, 3
        "().__class__.__bases__[0].__subclasses__()",  # FIELD-059, 4
        "[" * 20_000,  # FIELD-059, 5
        "{'a': __import__('os').system('id')}",
        "{'a': b'x'}",
        "{'a': f'{x}'}",
        "{'a': [x for x in (1,)]}",
        "{'a': 1 if 2 else 3}",
        "{'a': 9**9**9}",
        "{'a': 1+1}",
        "{'a': ...}",
        "{'a': 1j}",
        "{**{'a': 1}}",
        "{1: 2}",
        "{'a': 'x' 'y'}",
        "{'a':" * 2000 + "1" + "}" * 2000,
        '{"a":' * 65 + "1" + "}" * 65,
        '{"a":' * 100_000,
        "{'a': " + "-" * 40_000 + "1}",
        "{'a': " + "a." * 20_000 + "b}",
        "{'a': " + "f(" * 20_000,
        "{'a': '" + "\\'" * 20_000,
        '{"x": NaN}',  # FIELD-041
        '{"x": -Infinity}',
        '{"x": 1e999}',
        "{'x': 1e999}",
        {"x": float("nan")},
        {"x": {1, 2}},
        {1: "x"},
        '{"x": ' + "9" * 5000 + "}",
        '{"x": 1}}',
        "[1]",
        "true",
        '"text"',
        5,
        [],
        '{"x": "' + "y" * 2_000_000 + '"}',
    ],
    ids=lambda written: f"{str(written)[:30]} ({len(str(written))})",
)
def test_arguments_that_cannot_be_read_are_a_problem_of_that_call(written: object) -> None:
    arguments, problem = arguments_of(written)
    assert arguments == {}
    assert problem.startswith("the arguments cannot be read: ")
    assert len(problem) < 300


def test_field_018_every_call_of_several_gets_its_own_place() -> None:
    calls = [
        {"id": "a", "name": "ok", "arguments": "{}"},
        {"id": "b", "name": "raises", "arguments": "{}"},
        {"id": "c", "name": "not_offered", "arguments": "{"},
    ]
    action = parse(None, calls)
    assert isinstance(action, ToolCalls)
    assert [(call.name, call.id, bool(call.problem)) for call in action.calls] == [
        ("ok", "a", False),
        ("raises", "b", False),
        ("not_offered", "c", True),
    ]


@pytest.mark.parametrize("name", [None, "", "  ", 5, "x" * 257, "<|channel|>commentary"])
def test_a_call_without_a_name_makes_the_reply_malformed(name: object) -> None:
    action = parse("text", [native("ls"), native(name)])
    assert isinstance(action, Malformed)
    assert (action.raw, action.kind) == ("text", "unparsable")


@pytest.mark.parametrize(
    "calls", ["ls", {"name": "ls"}, 5, [None], ["ls"], [[]], [native("ls")] * (MAX_CALLS + 1)]
)
def test_calls_of_another_shape_make_the_reply_malformed(calls: Any) -> None:
    assert isinstance(parse("STOP: no tool", calls), Malformed)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (" ls ", "ls"),
        ("functions.ls", "ls"),
        ("ls<|channel|>commentary", "ls"),
        ("functions.unknown", "functions.unknown"),
        ("math.factorial", "math.factorial"),
        ("math_factorial", "math_factorial"),
    ],
)
def test_what_servers_leave_around_a_name_is_taken_off(written: str, name: str) -> None:
    action = parse(None, [native(written)])
    assert action == ToolCalls((ToolCall(name, {}, "c1"),))


@pytest.mark.parametrize(
    ("written", "kept"), [(None, ""), (7, "7"), ({}, ""), ("x" * 300, ""), ("a b", "a b")]
)
def test_ids_of_any_kind_are_taken_or_left_out(written: object, kept: str) -> None:
    assert parse(None, [native("ls", "{}", written)]) == ToolCalls((ToolCall("ls", {}, kept),))


# bounds and records


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
