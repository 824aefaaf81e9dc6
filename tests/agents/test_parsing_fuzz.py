"""Ten thousand bad replies, and giant ones: parse_reply never raises, never hangs, never makes up a stop."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from toolenv.agents.parsing import parse_reply
from toolenv.names import with_wire_names
from toolenv.types import Action, Malformed, Message, Stop, ToolCalls, ToolSpec

TOOLS = with_wire_names([ToolSpec("get_pet"), ToolSpec("math.add"), ToolSpec("ls")])

PIECES = (
    "<tool_call>",
    "</tool_call>",
    "<function=ls>",
    "<parameter=x>",
    "</parameter>",
    "</function>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<|python_tag|>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<|channel|>analysis<|message|>",
    "<|channel|>commentary to=functions.ls json<|message|>",
    "<|end|>",
    "analysis",
    "assistantfinal",
    "<think>",
    "</think>",
    "STOP:",
    "stop: ",
    "**STOP:**",
    "\nSTOP: no tool\n",
    "> STOP: quoted",
    "    STOP: code",
    "`STOP: code`",
    '"STOP: quoted"',
    "I will not STOP: go on",
    "```",
    "```json\n",
    "~~~",
    '{"name": "ls", "arguments": {}}',
    '{"name": "get_pet", "parameters": {"id": 1}}',
    '{"name": "Bingo", "age": 30}',
    "[get_pet(id=1)]",
    "get_pet(id=1)",
    "ls(",
    "{'name': 'ls', 'arguments': {'a': True}}",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "\\",
    "\n",
    " ",
    ",",
    ":",
    "NaN",
    "\ud83c",
    "\udf78",
    "\x00",
    "\u2028",
    "\ufeff",
    "The required tool is not available.",
    "words",
)
VALID = (
    'I look.\n<tool_call>\n{"name": "get_pet", "arguments": {"id": 1}}\n</tool_call>',
    "<tool_call>\n<function=get_pet>\n<parameter=id>\n1\n</parameter>\n</function>\n</tool_call>",
    '```json\n{"name": "get_pet", "parameters": {"id": 1}}\n```',
    "[get_pet(id=1), ls()]",
    '[TOOL_CALLS]get_pet[CALL_ID]abcDEF123[ARGS]{"id": 1}',
    "<think>\nSTOP: or not\n</think>\n\nThe pet is Bingo.\nSTOP: no more",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{}\n```<｜tool▁call▁end｜>",
)
Reply = tuple[Any, Any]


def pieces(source: random.Random) -> Reply:
    return "".join(source.choices(PIECES, k=source.randint(0, 12))), None


def truncated(source: random.Random) -> Reply:
    text = source.choice(VALID)
    return text[: source.randint(0, len(text))], None


def mutated(source: random.Random) -> Reply:
    text = list(source.choice(VALID))
    for _ in range(source.randint(1, 6)):
        place = source.randrange(len(text))
        text[place : place + source.randint(0, 3)] = source.choice(PIECES)
    return "".join(text), None


def noise(source: random.Random) -> Reply:
    encoding = source.choice(("utf-8", "latin-1", "utf-16-le"))
    return source.randbytes(source.randint(0, 200)).decode(encoding, "replace"), None


def nested(source: random.Random) -> Reply:
    depth = source.choice((1, 63, 64, 65, 1000, 20_000))
    opening, closing = source.choice((("[", "]"), ('{"a":', "}"), ("(", ")"), ("<think>", "</think>")))
    text = opening * depth + closing * source.choice((0, depth))
    wrapping = source.choice(
        ("{}", "<tool_call>{}</tool_call>", '{{"name": "ls", "arguments": {}}}', "[ls(x={})]")
    )
    return wrapping.format(text), None


def native(source: random.Random) -> Reply:
    content = pieces(source)[0] if source.random() < 0.5 else None
    calls = [native_call(source) for _ in range(source.choice((0, 1, 1, 2, 3, 130)))]
    return content, calls + calls[:1]


def native_call(source: random.Random) -> Any:
    values: tuple[Any, ...] = (
        None,
        "",
        7,
        1.5,
        True,
        [],
        {},
        "x" * 300,
        "ls",
        "get_pet",
        "\ud83c",
        "functions.ls",
        float("nan"),
    )
    arguments = (*values, "{}", '{"id": 1', "{'id': 1}", pieces(source)[0], {"id": {1}}, {"a": {"b": [None]}})
    call = {"name": source.choice(values), "arguments": source.choice(arguments)}
    shapes = (
        call,
        {"id": source.choice(values), "function": call},
        {"function": source.choice(values)},
        None,
        "ls",
    )
    return source.choice(shapes)


def other_types(source: random.Random) -> Reply:
    odd: tuple[Any, ...] = (None, 5, 1.5, True, [], {}, [1], {"a": 1}, b"STOP: x", "STOP: x")
    return source.choice(odd), source.choice(odd)


KINDS: Sequence[Callable[[random.Random], Reply]] = (
    pieces,
    pieces,
    pieces,
    mutated,
    mutated,
    truncated,
    noise,
    nested,
    native,
    other_types,
)


def parse(content: Any, calls: Any, finish_reason: str | None = "stop", text_calls: bool = True) -> Action:
    return parse_reply(
        content=content,
        tool_calls=calls,
        reasoning=None,
        finish_reason=finish_reason,
        tools=TOOLS,
        text_calls=text_calls,
    )


def says_stop(content: str) -> bool:
    """An oracle of its own: outside reasoning, a line whose first letters are STOP, and then a colon."""
    told = re.sub(r"(?s)<\|channel\|>analysis<\|message\|>.*?(?=<\||\Z)", "\n", content)
    told = re.sub(r"(?is)<think>.*?(?:</think>|\Z)", "\n", told)
    told = re.split(r"(?i)</think>", told)[-1]
    told = re.sub(r"<\|\w+\|>|assistantfinal", "\n", told)
    signal = re.compile(r"[^a-z0-9\"'`>]*stop[^a-z0-9\"'`>]*:")
    return any(signal.match(line.casefold()) for line in told.splitlines())


def check(content: Any, calls: Any, action: Action) -> None:
    assert isinstance(action, ToolCalls | Message | Stop | Malformed)
    if isinstance(action, Stop):
        assert not calls
        assert says_stop(content)
    if isinstance(action, ToolCalls):
        assert action.calls
        assert all(call.name and not (call.problem and call.arguments) for call in action.calls)
    if isinstance(action, Message) and isinstance(content, str):
        assert "<tool_call>{" not in action.text
    json.dumps(
        [getattr(action, name) for name in action.__slots__], default=vars_of, allow_nan=False
    ).encode()


def vars_of(value: Any) -> Any:
    return {name: getattr(value, name) for name in value.__slots__}


@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_bad_replies(seed: int) -> None:
    source = random.Random(seed)
    seen = set()
    for number in range(1000):
        content, calls = KINDS[number % len(KINDS)](source)
        finish_reason = source.choice(("stop", "stop", "tool_calls", "length", None, "content_filter"))
        action = parse(content, calls, finish_reason, text_calls=source.random() < 0.8)
        check(content, calls, action)
        seen.add(type(action))
    assert seen == {ToolCalls, Message, Stop, Malformed}


@pytest.mark.parametrize("text", VALID)
def test_every_truncation(text: str) -> None:
    for end in range(len(text) + 1):
        for finish_reason in ("stop", "length"):
            action = parse(text[:end], None, finish_reason)
            check(text[:end], None, action)
            assert finish_reason == "stop" or isinstance(action, ToolCalls | Malformed)


GIANTS = {
    "words": "word " * 500_000,
    "opening tags": "<tool_call>" * 100_000,
    "empty calls": "<tool_call>{}</tool_call>" * 50_000,
    "good calls": '<tool_call>{"name":"ls"}</tool_call>' * 30_000,
    "elements": "<function=ls>" * 100_000,
    "parameters": "<function=ls>" + "<parameter=x>1</parameter>" * 40_000,
    "parameters never closed": "<function=ls>" + "<parameter=x>" * 80_000,
    "keys": "<tool_call>ls" + "<arg_key>k</arg_key><arg_value>v</arg_value>" * 20_000,
    "keys never closed": "<tool_call>ls<arg_key>k</arg_key><arg_value>" + "<arg_key>" * 80_000,
    "Mistral": "[TOOL_CALLS]" * 80_000,
    "python tags": "<|python_tag|>" * 80_000,
    "DeepSeek": "<｜tool▁call▁begin｜>" * 60_000,
    "channels": "to=functions.ls " * 60_000,
    "names": '{"name": ' * 100_000,
    "names in quotes": '{"name": "' * 100_000,
    "unknown calls": '{"name": "x", "arguments": {}} word ' * 30_000,
    "brackets": "[" * 1_000_000,
    "brackets and spaces": "[ " * 500_000,
    "braces and quotes": "{'" * 400_000,
    "escapes": "[ls(x='" + "\\'" * 400_000,
    "lists": "[ls(x=1)]\n" * 80_000,
    "lists never closed": "[get_pet(id=\n" * 80_000,
    "unknown lists": "[foo(x=1)]\n" * 80_000,
    "arguments": "[ls(" + ", ".join(f"a{number}=1" for number in range(100_000)) + ")]",
    "one string": '<tool_call>{"name": "ls", "arguments": {"x": "' + "y" * 1_500_000 + '"}}</tool_call>',
    "fences": "```json\n" * 100_000,
    "closing fences": "```" + "\n``` " * 200_000,
    "spaces": "<tool_call>" + " " * 1_000_000,
    "end signs": "</s>" * 400_000,
    "reasoning": "<think>" * 200_000,
    "signals": "> STOP: x\n" * 100_000,
    "Gemma": "<start_function_call>" * 50_000,
    "Gemma's keys": "<start_function_call>call:ls{" + "a:1," * 100_000,
    "Gemma's texts": "<start_function_call>call:ls{" + "a:<escape>x<escape>," * 80_000 + "a:<escape>",
    "Gemma's spaces": "<start_function_call>" + " " * 1_000_000,
    "Gemma's bare text": "<|tool_call>call:ls{a:" + "x " * 700_000,
    "Gemma's thoughts": "<|channel>thought\n" * 80_000,
    "Gemma's calls": "<start_function_call>call:ls{}" * 50_000,
    "quoted calls": "'<start_function_call>\"<tool_call>" * 30_000 + "</tool_call>",
    "Step-3": "<｜tool_call_begin｜>function<｜tool_sep｜>" * 40_000,
    "Step-3's elements": "<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name='ls'>" * 20_000,
    "names alone": "<tool_call>zap</tool_call>" * 50_000,
    "a long name": "<tool_call>" + "z" * 1_000_000 + "</tool_call>",
    "analysis to": "<|channel|>analysis to=" * 60_000,
    "actions": "<|START_ACTION|>" * 80_000,
    "actions in lists": "<|START_ACTION|>" + '[{"tool_name": ' * 80_000,
}


@pytest.mark.parametrize("text", GIANTS.values(), ids=GIANTS)
def test_giant_replies_end(text: str) -> None:
    """In linear time: quadratic would be hours, and the limit of the test run would end it."""
    assert not isinstance(parse(text, None), Stop)
    arguments = parse(None, [{"id": "a", "name": "ls", "arguments": text}])
    assert isinstance(arguments, ToolCalls)
    assert arguments.calls[0].problem


def test_the_oracle_and_the_parser_agree_on_plain_signals() -> None:
    for text in ("STOP: x", "a\nSTOP: x", "**stop:** x", "<think>a</think>STOP: x", "a</think>STOP: x"):
        assert says_stop(text)
        assert isinstance(parse(text, None), Stop)
    for text in (
        "no STOP: x",
        "<think>\nSTOP: x",
        "STOP: x</think>a",
        "`STOP: x`",
        "> STOP: x",
        "stopped: x",
    ):
        assert not says_stop(text)
        assert isinstance(parse(text, None), Message)
