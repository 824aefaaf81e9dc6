"""Visible attempts to call that cannot be read are malformed; talk about calls is text."""

from __future__ import annotations

import pytest

from toolenv.agents.parsing import parse_reply
from toolenv.names import with_wire_names
from toolenv.types import Action, Malformed, Message, ToolCall, ToolCalls, ToolSpec

FENCED_CALL = '```json\n{"name": "get_balance", "parameters": {"account": "A1"}}\n```'


def tool(name: str, **properties: str) -> ToolSpec:
    typed = {key: {"type": kind} for key, kind in properties.items()}
    return ToolSpec(name, parameters={"type": "object", "properties": typed})


TOOLS = with_wire_names(
    [
        tool("get_balance", account="string", limit="integer"),
        tool("get_pet", id="integer"),
        tool("ls"),
    ]
)


def parse(content: str, text_calls: bool = True) -> Action:
    return parse_reply(
        content=content,
        tool_calls=None,
        reasoning=None,
        finish_reason="stop",
        tools=TOOLS,
        text_calls=text_calls,
    )


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
        '<tool_call>{"name": "ls", "arguments": {}}</tool_call><tool_call>oops!</tool_call>',
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


@pytest.mark.parametrize("text", ["<tool_call>{}</tool_call>" * 3, "[TOOL_CALLS]" * 3, "<function=ls>" * 3])
def test_tags_around_nothing_are_malformed(text: str) -> None:
    assert isinstance(parse(text), Malformed)


def test_too_many_calls_are_malformed() -> None:
    for one in ('<tool_call>{"name": "ls"}</tool_call>', '{"name": "ls", "parameters": {}}\n', "[ls()]\n"):
        assert isinstance(parse(one * 128), ToolCalls)
        assert isinstance(parse(one * 129), Malformed)
