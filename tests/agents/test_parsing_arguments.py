"""Arguments, names and ids of native calls, in every shape that servers and models give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolenv.agents.calls import MAX_CALLS
from toolenv.agents.parsing import parse_reply
from toolenv.names import with_wire_names
from toolenv.types import Action, Malformed, ToolCall, ToolCalls, ToolSpec

TOOLS = with_wire_names([ToolSpec("ls"), ToolSpec("math.factorial")])


def parse(content: str | None, tool_calls: Any) -> Action:
    return parse_reply(
        content=content, tool_calls=tool_calls, reasoning=None, finish_reason="stop", tools=TOOLS
    )


def native(name: object, arguments: object = "{}", id: object = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def arguments_of(arguments: object) -> tuple[Mapping[str, Any], str]:
    action = parse(None, [native("ls", arguments)])
    assert isinstance(action, ToolCalls)
    (call,) = action.calls
    assert not (call.arguments and call.problem)
    return call.arguments, call.problem


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
