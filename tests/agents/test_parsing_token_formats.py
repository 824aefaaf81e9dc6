"""Calls between tokens of a model family's own, in the shapes that vLLM's and SGLang's parsers read."""

from __future__ import annotations

import pytest

from tests.agents.written import check_cut_off, read
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, ToolSpec


def tool(name: str, **properties: str) -> ToolSpec:
    typed = {key: {"type": kind} for key, kind in properties.items()}
    return ToolSpec(name, parameters={"type": "object", "properties": typed})


TOOLS = [
    tool("search", q="string", limit="integer", tags="array", area="object", exact="boolean"),
    tool("fs.read", path="string"),
    tool("now"),
]
X = ToolCall("search", {"q": "x"})
NOW = ToolCall("now")
ZAP = ToolCall("zap", {"q": "x"})


def parse(content: str, finish_reason: str = "stop") -> Action:
    return read(content, TOOLS, finish_reason)


COHERE = '{"tool_call_id": "0", "tool_name": "search", "parameters": {"q": "x"}}'
COHERE_NOW = '{"tool_call_id": "1", "tool_name": "now", "parameters": {}}'

STEP = '<steptml:invoke name="search">\n<steptml:parameter name="q">x</steptml:parameter>\n</steptml:invoke>'
STEP_BEGIN, STEP_END = "<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_end｜>"

GEMMA = "<start_function_call>call:search{q:<escape>x<escape>}<end_function_call>"
GEMMA_NOW = "<start_function_call>call:now{}<end_function_call>"
GEMMA_4 = '<|tool_call>call:search{q:<|"|>x<|"|>}<tool_call|>'

CALLS: dict[str, list[tuple[str, tuple[ToolCall, ...], str]]] = {
    "cohere": [
        (f"<|START_ACTION|>[{COHERE}]<|END_ACTION|>", (X,), ""),
        (
            "<|START_THINKING|>STOP: or not?<|END_THINKING|><|START_ACTION|>[\n    "
            f"{COHERE},\n    {COHERE_NOW}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>",
            (X, NOW),
            "",
        ),
        (f"I search.<|END_THINKING|>Wait.<|START_ACTION|>[{COHERE}]<|END_ACTION|>", (X,), "Wait."),
        (f"<|START_ACTION|>{COHERE}<|END_ACTION|>", (X,), ""),
        (f"<|START_THINKING|>I search.<|START_ACTION|>[{COHERE}]<|END_ACTION|>", (X,), ""),
        (f"<|START_ACTION|>[{COHERE.replace('search', 'zap')}]<|END_ACTION|>", (ZAP,), ""),
        (
            '<|START_ACTION|>[{"tool_name": "search", "parameters": {"q": "<|END_ACTION|> <|START_TEXT|>"}}]',
            (ToolCall("search", {"q": "<|END_ACTION|> <|START_TEXT|>"}),),
            "",
        ),
        # A server that drops special tokens leaves this.
        (f"I should search.\n[{COHERE}]", (X,), "I should search."),
        (f"[{COHERE.replace('search', 'zap')}]", (ZAP,), ""),
    ],
    "functiongemma": [
        (GEMMA, (X,), ""),
        (f"I search.\n{GEMMA}{GEMMA_NOW}<start_function_response>", (X, NOW), "I search."),
        (f"<think>Search.</think>{GEMMA}\n{GEMMA}", (X, X), ""),
        (GEMMA.replace("search", "zap"), (ZAP,), ""),
        (
            GEMMA.replace("search", "fs.read").replace("q:", "path:"),
            (ToolCall("fs.read", {"path": "x"}),),
            "",
        ),
        (
            GEMMA.replace(">x<", '>a}, "b": {\'<end_function_call>\n<think>[<'),
            (ToolCall("search", {"q": 'a}, "b": {\'<end_function_call>\n<think>['}),),
            "",
        ),
        (
            "<start_function_call>call:search{limit:2,q:<escape>42<escape>,exact:true,tags:[<escape>a<escape>,"
            "<escape>b, c<escape>],area:{r:1.5,name:<escape>Köln<escape>,none:null,deep:{a:[]}}}"
            "<end_function_call>",
            (
                ToolCall(
                    "search",
                    {
                        "limit": 2,
                        "q": "42",
                        "exact": True,
                        "tags": ["a", "b, c"],
                        "area": {"r": 1.5, "name": "Köln", "none": None, "deep": {"a": []}},
                    },
                ),
            ),
            "",
        ),
        (
            "<start_function_call>call:search{limit:<escape>2<escape>,other:<escape>2<escape>,q:two words}",
            (ToolCall("search", {"limit": 2, "other": "2", "q": "two words"}),),
            "",
        ),
        ("<start_function_call>call:search{}<end_function_call>", (ToolCall("search"),), ""),
    ],
    "gemma 4": [
        (GEMMA_4, (X,), ""),
        (f"<|channel>thought\nSTOP: or not?<channel|>Ok.{GEMMA_4}{GEMMA_4}", (X, X), "Ok."),
        (f"<|channel>thought\nI search.{GEMMA_4}", (X,), ""),
        (
            '<|tool_call>:search{limit:-3, <|"|>tags<|"|>:[1,<|"|>a]<|"|>]}<tool_call|>',
            (ToolCall("search", {"limit": -3, "tags": [1, "a]"]}),),
            "",
        ),
        ('<|tool_call>call:search{"q":"x, y"}<tool_call|>', (ToolCall("search", {"q": "x, y"}),), ""),
    ],
    "step-3": [
        (
            f"Ok.<｜tool_calls_begin｜>\n{STEP_BEGIN}{STEP}{STEP_END}\n"
            f'{STEP_BEGIN}<steptml:invoke name="now"></steptml:invoke>{STEP_END}\n<｜tool_calls_end｜>',
            (X, NOW),
            "Ok.",
        ),
        (f"{STEP}\n{STEP}", (X, X), ""),
        (f"{STEP_BEGIN}{STEP.replace('search', 'zap')}{STEP_END}", (ZAP,), ""),
        (
            STEP_BEGIN + STEP.replace(">x<", ">if a < b: <think> </steptml:invoke>\"'<") + STEP_END,
            (ToolCall("search", {"q": "if a < b: <think> </steptml:invoke>\"'"}),),
            "",
        ),
        (
            '<steptml:invoke name="search"><steptml:parameter name="limit">2</steptml:parameter>'
            '<steptml:parameter name="tags">["a"]</steptml:parameter>'
            '<steptml:parameter name="exact">true</steptml:parameter></steptml:invoke>',
            (ToolCall("search", {"limit": 2, "tags": ["a"], "exact": True}),),
            "",
        ),
    ],
    "words before JSON and elements": [
        ('<|action_start|><|plugin|>\n{"name": "search", "parameters": {"q": "x"}}<|action_end|>', (X,), ""),
        ('Ok.<|function_call|>{"name": "search", "arguments": {"q": "x"}}', (X,), "Ok."),
        (
            '<dots_function_call>\n<invoke name="search"><parameter name="q">x</parameter></invoke>\n'
            "</dots_function_call>",
            (X,),
            "",
        ),
    ],
    "elements with other prefixes": [
        (
            '<minimax:tool_call>\n<invoke name="search">\n<parameter name="q">x</parameter>\n</invoke>\n'
            "</minimax:tool_call>",
            (X,),
            "",
        ),
        ("<seed:tool_call>\n<function=search>\n<parameter=q>x</parameter>\n</function>", (X,), ""),
        ('<longcat_tool_call>{"name": "search", "arguments": {"q": "x"}}</longcat_tool_call>', (X,), ""),
        (
            '<atem:function_calls>\n<atem:invoke name="search">\n<atem:parameter name="q">x'
            "</atem:parameter>\n</atem:invoke>\n</atem:function_calls>",
            (X,),
            "",
        ),
        (
            '<｜DSML｜ calls>\n<｜DSML｜ invoke name="search">\n<｜DSML｜ parameter name="q" string="true">x'
            "</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>",
            (X,),
            "",
        ),
    ],
    "glm": [
        ("<tool_call>zap</tool_call>", (ToolCall("zap"),), ""),
        # Quotation marks around all of a reply are no sentence about calls.
        ('"<tool_call>zap</tool_call>"', (ToolCall("zap"),), '"'),
        ("<tool_call>zap\n</tool_call>\n<tool_call>now</tool_call>", (ToolCall("zap"), NOW), ""),
        ("<tool_call>fs.write-all</tool_call>", (ToolCall("fs.write-all"),), ""),
    ],
    "gpt-oss": [
        ('<|channel|>analysis to=functions.search code<|message|>{"q":"x"}<|call|>', (X,), ""),
        (
            "<|channel|>analysis<|message|>STOP: no.<|end|><|start|>assistant<|channel|>analysis "
            'to=functions.search code<|message|>{"q":"x"}<|call|>',
            (X,),
            "",
        ),
        (
            "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis "
            'to=functions.search<|constrain|>json<|message|>{"q":"x"}<|call|>',
            (X,),
            "I look.",
        ),
        (
            '<|start|>assistant to=functions.search<|channel|>analysis code<|message|>{"q":"x"}<|call|>',
            (X,),
            "",
        ),
        ('<|channel|>commentary to=zap <|constrain|>json<|message|>{"q":"x"}<|call|>', (ZAP,), ""),
        ('<|channel|>analysis code to=functions.search<|message|>{"q":"x"}<|call|>', (X,), ""),
        (
            '<|channel|>analysis to=functions.search code<|message|>{"q":"x"}<|call|><|start|>assistant'
            "<|channel|>commentary to=functions.now<|message|>{}<|call|>",
            (X, NOW),
            "",
        ),
        ('analysisI need it.assistantanalysis to=functions.search code{"q":"x"}', (X,), ""),
        ('analysis to=functions.search code{"q":"x"}', (X,), ""),
    ],
}

CASES = [
    pytest.param(*case, id=f"{family} {number}")
    for family, table in CALLS.items()
    for number, case in enumerate(table)
]


@pytest.mark.parametrize(("content", "calls", "text"), CASES)
def test_calls_are_read(content: str, calls: tuple[ToolCall, ...], text: str) -> None:
    assert parse(content) == ToolCalls(calls, text)


@pytest.mark.parametrize(("content", "calls", "text"), CASES)
def test_a_reply_cut_off_is_no_answer_and_no_other_call(
    content: str, calls: tuple[ToolCall, ...], text: str
) -> None:
    check_cut_off(content, TOOLS, calls)


UNREADABLE = [
    "<|START_ACTION|>",
    "<|START_ACTION|>[]<|END_ACTION|>",
    "<|START_ACTION|>I search for x.<|END_ACTION|>",
    '<|START_ACTION|>[{"tool_call_id": "0", "parameters": {"q": "x"}}]<|END_ACTION|>',
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search", "parameters": {"q": "x"}',
    '<|START_ACTION|>[{"tool_name": "search", "parameters": ' + '{"q": ' * 5000 + "1" + "}" * 5001 + "]",
    '{"tool_call_id": "0", "tool_name": "search", "parameters": {"q": "x"',
    "<start_function_call>",
    "<start_function_call>I search.<end_function_call>",
    "<start_function_call>call:search<end_function_call>",
    "<start_function_call>call:search{q:<escape>x<end_function_call>",
    "<start_function_call>call:search{q:<escape>x<escape><end_function_call>",
    "<start_function_call>call:search{q:}<end_function_call>",
    "<start_function_call>call:search{q:<escape>x<escape>y<escape>}<end_function_call>",
    "<start_function_call>call:search{q:a}b}<end_function_call>",
    "<start_function_call>call:search{x}<end_function_call>",
    "<start_function_call>call:search{" + "q:{" * 5000 + "}" * 5001 + "<end_function_call>",
    "<start_function_call>call:search{tags:" + "[" * 5000 + "]" * 5000 + "}<end_function_call>",
    f"{GEMMA}<start_function_call>call:search{{q:",
    '<|tool_call>{"name": "search", "arguments": {"q": "x"}}',
    STEP_BEGIN,
    f"{STEP_BEGIN}I search.{STEP_END}",
    f"{STEP_BEGIN}<steptml:invoke{STEP_END}",
    STEP.replace("</steptml:parameter>", ""),
    STEP.removesuffix("</steptml:invoke>"),
    '<steptml:invoke name="sea',
    f"{STEP_BEGIN}{STEP}{STEP_END}{STEP_BEGIN}",
    "<tool_call>zap",
    "<tool_call>zap now</tool_call>",
    "<tool_call>...</tool_call>",
    "<tool_call>None</tool_call>",
    "<|channel|>analysis to=python code<|message|>print(1)<|call|>",
    "<|channel|>analysis to=functions.search code<|message|>",
]


NOT_READ = [
    '<|tools_prefix|>[{"search": {"q": "x"}}]<|tools_suffix|>',
    '<function name="search"><param name="q">x</param></function>',
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="search">]<]minimax[>[<q>x]<]minimax[>[</q>',
    "<tool_calls:opensource><tool_call:opensource>search<tool_sep:opensource>",
    '<|open|>tools<|sep|><|open|>call tool="search" index="1"<|sep|>',
    '<|message_model|><|content_invoke_tool_json|>{"name":"search","args":{"q":"x"}}<|end_message|>',
    "<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|>",
    "<ifm|tool_calls><ifm|tool_call>search<ifm|arg_key>q</ifm|arg_key>",
]
"""Forms that servers of single models read, and we do not."""


@pytest.mark.parametrize("text", [*UNREADABLE, *NOT_READ])
def test_an_attempt_that_cannot_be_read_is_malformed(text: str) -> None:
    action = parse(text)
    assert isinstance(action, Malformed)
    assert (action.raw, action.kind) == (text, "unparsable")


@pytest.mark.parametrize(
    "text",
    [
        "Command models write `<|START_ACTION|>` before calls.",
        'The token is "<|START_ACTION|>".',
        'The log says `{"tool_name": "search", "parameters": {"q": "x"}}` twice.',
        'The hammer is {"tool_name": "hammer", "parameters": {"kg": 2}} in the list.',
        '{"tool_name": "hammer", "weight": 2}',
        'Step-3 writes `<steptml:invoke name="search">` before parameters.',
        "The channel is `<|channel|>analysis to=functions.search`.",
        "An analysis to=do list.",
        'They write "<tool_call>zap</tool_call>" in prompts.',
        f'They write "{GEMMA}" in prompts.',
        "They write '<|START_ACTION|>[]<|END_ACTION|>' in prompts.",
        f"They write `{GEMMA}` and `{STEP_BEGIN}` in prompts.",
        "In JavaScript XML <function name='x'> may stand, says the manual.",
        "Apertus writes `<|tools_prefix|>` before calls.",
        "FunctionGemma writes `<start_function_call>` before calls.",
        'Its token is "<start_function_call>", and call:search{q:x} follows.',
    ],
)
def test_talk_and_code_are_no_calls(text: str) -> None:
    assert parse(text) == Message(text)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        (
            "<|START_THINKING|>STOP: no?<|END_THINKING|><|START_RESPONSE|>It is 5.<|END_RESPONSE|>",
            "It is 5.",
            "STOP: no?",
        ),
        (
            "<|START_THINKING|>Is <|START_ACTION|>[]<|END_ACTION|> right?<|END_THINKING|>No.",
            "No.",
            "Is <|START_ACTION|>[]<|END_ACTION|> right?",
        ),
        ("<|channel>thought\nHm.<channel|>It is 5.", "It is 5.", "Hm."),
        ("Hm.<|END_THINKING|><|START_TEXT|>It is 5.<|END_TEXT|><|END_OF_TURN_TOKEN|>", "It is 5.", "Hm."),
    ],
)
def test_an_answer_is_without_its_tokens(text: str, answer: str, reasoning: str) -> None:
    action = parse(text)
    assert isinstance(action, Message)
    assert (action.text, action.raw) == (answer, {"reasoning": reasoning})


def test_a_stop_in_an_answer_is_one() -> None:
    action = parse("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>STOP: no tool<|END_RESPONSE|>")
    assert isinstance(action, Stop)
    assert action.reason == "no tool"
