"""Tool calls as text, one table a model family, in the shapes their chat templates and servers show."""

from __future__ import annotations

import pytest

from toolenv.agents.parsing import parse_reply
from toolenv.names import with_wire_names
from toolenv.types import Action, ToolCall, ToolCalls, ToolSpec


def tool(name: str, **properties: object) -> ToolSpec:
    return ToolSpec(name, parameters={"type": "object", "properties": properties})


TOOLS = with_wire_names(
    [
        tool(
            "get_weather",
            city={"type": "string"},
            days={"type": "integer"},
            note={"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        tool("geo.search", tags={"type": "array"}, area={"type": "object"}, exact={"type": "boolean"}),
        tool("now"),
    ]
)

PARIS = ToolCall("get_weather", {"city": "Paris"})
PARIS_2 = ToolCall("get_weather", {"city": "Paris", "days": 2})
NOW = ToolCall("now")


def parse(content: str, finish_reason: str = "stop") -> Action:
    return parse_reply(
        content=content, tool_calls=None, reasoning=None, finish_reason=finish_reason, tools=TOOLS
    )


FAMILIES: dict[str, list[tuple[str, tuple[ToolCall, ...], str]]] = {
    "hermes and qwen": [
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>', (PARIS,), ""),
        (
            'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
            (PARIS, NOW),
            "I look.",
        ),
        ('<tool_call>{"arguments": {"city": "Paris"}, "name": "get_weather"}</tool_call>', (PARIS,), ""),
        ('<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}', (PARIS,), ""),
        (
            '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}</tool_call>',
            (PARIS,),
            "",
        ),
        ('<tool_call>{"name": "now"}</tool_call>', (NOW,), ""),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}}</tool_call>', (PARIS,), ""),
        (
            '<tool_call>{"name": "now", "arguments": {}}\n{"name": "now", "arguments": {}}</tool_call>',
            (NOW, NOW),
            "",
        ),
        ("<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>", (PARIS,), ""),
        ('<tool_call>\n```json\n{"name": "now", "arguments": {}}\n```\n</tool_call>', (NOW,), ""),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "</tool_call>}"}}</tool_call>',
            (ToolCall("get_weather", {"city": "</tool_call>}"}),),
            "",
        ),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "<think>x</think>"}}</tool_call>',
            (ToolCall("get_weather", {"city": "<think>x</think>"}),),
            "",
        ),
        (
            "<think>STOP: or not?</think>\n"
            '<tool_call>{"name": "issue_refund", "arguments": {"order": 1}}</tool_call>',
            (ToolCall("issue_refund", {"order": 1}),),
            "",
        ),
    ],
    "qwen3-coder and qwen3.5": [
        (
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
            "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
            (PARIS_2,),
            "",
        ),
        (
            "Ok.\n<tool_call>\n<function=now>\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
            (NOW, PARIS),
            "Ok.",
        ),
        ("<function=get_weather><parameter=city>Paris</parameter></function>", (PARIS,), ""),
        ("<tool_call><function=get_weather><parameter=city>Paris</parameter></tool_call>", (PARIS,), ""),
        (
            '<function=geo.search>\n<parameter=tags>\n["a", "b"]\n</parameter>\n'
            '<parameter=area>\n{"r": 1.5}\n</parameter>\n'
            "<parameter=exact>\nTrue\n</parameter>\n</function>",
            (ToolCall("geo.search", {"tags": ["a", "b"], "area": {"r": 1.5}, "exact": True}),),
            "",
        ),
        (
            "<function=get_weather><parameter=city>75001</parameter><parameter=days>two</parameter>"
            "<parameter=note>null</parameter><parameter=extra>[1]</parameter></function>",
            (ToolCall("get_weather", {"city": "75001", "days": "two", "note": None, "extra": [1]}),),
            "",
        ),
        (
            "<function=get_weather>\n<parameter=city>\n<b>\nB\n</parameter>\n</function>",
            (ToolCall("get_weather", {"city": "<b>\nB"}),),
            "",
        ),
    ],
    "llama 3 json": [
        ('{"name": "get_weather", "parameters": {"city": "Paris"}}', (PARIS,), ""),
        ('{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}', (PARIS,), ""),
        ('```json\n{"name": "get_weather", "parameters": {"city": "Paris"}}\n```', (PARIS,), ""),
        ('Let me see.\n{"name": "get_weather", "parameters": {"city": "Paris"}}', (PARIS,), "Let me see."),
        (
            '{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "now", "parameters": {}}',
            (PARIS, NOW),
            "",
        ),
        (
            '[{"name": "get_weather", "parameters": {"city": "Paris"}}, {"name": "now", "parameters": {}}]',
            (PARIS, NOW),
            "",
        ),
        ("{'name': 'get_weather', 'parameters': {'city': 'Paris'}}", (PARIS,), ""),
        (
            '{"type": "function", "function": '
            '{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}',
            (PARIS,),
            "",
        ),
        (
            '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "now", "arguments": {}}}]}',
            (NOW,),
            "",
        ),
        (
            '{"name": "get_weather", "parameters": {"city": "}A <tool_call>"}}',
            (ToolCall("get_weather", {"city": "}A <tool_call>"}),),
            "",
        ),
        ('{"name": "geo_search", "parameters": {}}', (ToolCall("geo_search"),), ""),
        # A whole reply of a call's exact form is an attempt, though the tool is not offered (any more).
        (
            '{"name": "issue_refund", "parameters": {"order": "W1"}}',
            (ToolCall("issue_refund", {"order": "W1"}),),
            "",
        ),
        (
            '{"name": "now", "parameters": {}}\n{"name": "issue_refund", "parameters": {}}',
            (NOW, ToolCall("issue_refund")),
            "",
        ),
        (
            '{"name": "now", "parameters": {}}\n'
            '<tool_call>{"name": "issue_refund", "arguments": {}}</tool_call>',
            (NOW, ToolCall("issue_refund")),
            "",
        ),
    ],
    "llama 3.1 tags": [
        ('<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}<|eom_id|>', (PARIS,), ""),
        (
            '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}; '
            '{"name": "now", "parameters": {}}',
            (PARIS, NOW),
            "",
        ),
        ('<|python_tag|>get_weather.call(city="Paris")<|eom_id|>', (PARIS,), ""),
        ('<function=get_weather>{"city": "Paris"}</function>', (PARIS,), ""),
    ],
    "llama pythonic": [
        ("[get_weather(city='Paris')]", (PARIS,), ""),
        ('[get_weather(city="Paris", days=2), now()]', (PARIS_2, NOW), ""),
        ("<|python_start|>[get_weather(city='Paris')]<|python_end|>", (PARIS,), ""),
        ("Sure:\n[get_weather(city='Paris')]\n[now()]", (PARIS, NOW), "Sure:"),
        ("```python\n[get_weather(city='Paris')]\n```", (PARIS,), ""),
        ("```tool_code\nget_weather(city='Paris')\n```", (PARIS,), ""),
        ("get_weather(city='Paris')", (PARIS,), ""),
        (
            "[geo.search(tags=['a', 'b'], area={'r': -1.5}, exact=true)]",
            (ToolCall("geo.search", {"tags": ["a", "b"], "area": {"r": -1.5}, "exact": True}),),
            "",
        ),
        ("[get_weather(city=')] <x> \\'')]", (ToolCall("get_weather", {"city": ")] <x> '"}),), ""),
        ("[issue_refund(order='W1')]", (ToolCall("issue_refund", {"order": "W1"}),), ""),
    ],
    "mistral": [
        ('[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}}]', (PARIS,), ""),
        (
            'Ok. [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "VvvODy9mT"}, '
            '{"name": "now", "arguments": {}, "id": "abc123def"}]</s>',
            (PARIS, NOW),
            "Ok.",
        ),
        (
            '[TOOL_CALLS]get_weather[CALL_ID]abcDEF123[ARGS]{"city": "Paris"}'
            "[TOOL_CALLS]now[CALL_ID]xyzXYZ789[ARGS]{}",
            (ToolCall("get_weather", {"city": "Paris"}, "abcDEF123"), ToolCall("now", {}, "xyzXYZ789")),
            "",
        ),
        ('[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}</s>', (PARIS,), ""),
        ('[TOOL_CALLS]get_weather{"city": "Paris"}', (PARIS,), ""),
        ("[THINK]STOP: or not?[/THINK][TOOL_CALLS]now[ARGS]{}", (NOW,), ""),
    ],
    "deepseek": [
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
            '{"city": "Paris"}\n```<｜tool▁call▁end｜>\n'
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n"
            "```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            (PARIS, NOW),
            "",
        ),
        (
            'Ok.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}'
            "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            (PARIS,),
            "Ok.",
        ),
        (
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
            '<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
            (PARIS_2,),
            "",
        ),
    ],
    "gpt-oss": [
        (
            "<|channel|>analysis<|message|>STOP: no, I can.<|end|><|start|>assistant<|channel|>commentary "
            'to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}<|call|>',
            (PARIS,),
            "",
        ),
        (
            "<|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>"
            'commentary to=functions.get_weather<|constrain|>json<|message|>{"city":"Paris"}<|call|>',
            (PARIS,),
            "I look.",
        ),
        ('analysisI need it.assistantcommentary to=functions.get_weather json{"city":"Paris"}', (PARIS,), ""),
    ],
    "others": [
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
            '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
            (PARIS,),
            "",
        ),
        (
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n"
            "<arg_value>2</arg_value>\n</tool_call>",
            (PARIS_2,),
            "",
        ),
        ("<tool_call>now\n</tool_call>", (NOW,), ""),
        (
            '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
            "</invoke>\n</function_calls>",
            (PARIS,),
            "",
        ),
        ("<|tool_call_start|>[get_weather(city='Paris')]<|tool_call_end|>", (PARIS,), ""),
        ('<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris"}}]', (PARIS,), ""),
    ],
}


CASES = [
    pytest.param(*case, id=f"{family} {number}")
    for family, table in FAMILIES.items()
    for number, case in enumerate(table)
]


@pytest.mark.parametrize(("content", "calls", "text"), CASES)
def test_calls_written_as_text_are_read(content: str, calls: tuple[ToolCall, ...], text: str) -> None:
    assert parse(content) == ToolCalls(calls, text)


@pytest.mark.parametrize(("content", "calls", "text"), CASES)
def test_a_truncated_call_is_never_run_with_fewer_arguments(
    content: str, calls: tuple[ToolCall, ...], text: str
) -> None:
    """Cut anywhere, what is read are whole calls of the original, from the first on (FIELD-001)."""
    for end in range(len(content)):
        action = parse(content[:end])
        if isinstance(action, ToolCalls):
            assert action.calls == calls[: len(action.calls)]
