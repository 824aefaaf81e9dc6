"""Stop detection against hand-labelled texts: the field cases, the paper's phrasings, and traps."""

from __future__ import annotations

import pytest

from toolenv.stopping import MAX_SCANNED, find_stop, strip_reasoning


def rule(text: str) -> str:
    match = find_stop(text)
    if match is None:
        return "none"
    assert text[match.start : match.end] == match.span
    assert match.strict == (match.rule == "stop_signal")
    return match.rule


SIGNALS = {
    "FIELD-004, 1": "stop: refund tool is not provided",
    "FIELD-004, 2": "**STOP:** no payment tool",
    "as Appendix F asks": "STOP:no refund tool",
    "nothing follows": "STOP:",
    "heading": "# STOP: no refund tool",
    "heading and emphasis": "## **Stop:** no refund tool",
    "emphasis before the colon": "***STOP***: no refund tool",
    "underscores": "__STOP:__ no refund tool",
    "bullet": "- STOP: no refund tool",
    "number": "1. STOP: no refund tool",
    "warning sign": "🛑 STOP: no refund tool",
    "sign with a variation selector": "⚠\ufe0f **STOP:** no refund tool",
    "full-width colon": "STOP：缺少退款工具",
    "French spacing": "STOP : pas d'outil",
    "byte order mark (FIELD-079)": "\ufeffSTOP: no refund tool",
    "white space before the reply": "\n\n     STOP: no refund tool",
    "later line": "I looked at the tools.\n\nSTOP: no refund tool",
    "later line, Windows": "I looked at the tools.\r\nSTOP: no refund tool",
    "later line, Unicode": "I looked at the tools.\u2028STOP: no refund tool",
    "after closed code": "```\nls\n```\nSTOP: no refund tool",
    "after inline code": "The tool `mv` is not there.\nSTOP: no `mv`",
    "after an inch sign": 'A 5" disk.\nSTOP: no tool for 3" disks',
    "after a lone backtick": "It's a ` sign.\n\nSTOP: no tool for `",
    "after a quotation": 'You asked for "STOP: x".\nSTOP: no log tool',
    "after reasoning": "<think>Should I STOP: or not?</think>STOP: no refund tool",
    "among labels, in capitals": "Feasible: no\nSTOP: no refund tool\nTask: W1",
}

PHRASES = {
    "FIELD-004, 3": "There is no tool here that can issue refunds, so this request can't be completed.",
    "FIELD-004, 4": "None of the functions I was given lets me cancel a subscription; I'll end here.",
    "FIELD-004, 5": (
        "The required capability (currency conversion) is unavailable, so I can\u2019t finish the task."
    ),
    "Appendix F, 1": "the required tool is not available",
    "Appendix F, 2": "this task cannot be completed with the available tools",
    "section 5": "I don\u2019t have a tool to generate UUIDv4",
    "emphasis within": "The **required tool** is **not available**.",
    "code within": "The `refund` tool is not available, so I can't complete this request.",
    "quotation within": 'The required tool "issue_refund" isn\'t available.',
    "line break within": "Sorry, the required tool is\nnot available.",
    "unable": "I'm unable to issue refunds with the tools provided.",
    "with first": "With the available tools, I cannot cancel the order.",
    "because": "I can't do this because the required tool is missing.",
    "no tool available": "Unfortunately, no tool is available to convert currencies.",
    "no function available": "No function is available to delete files.",
    "none of the provided": "None of the provided functions can be used to answer the question.",
    "do not support": "The available tools do not support sending email.",
    "lack": "I lack the tools needed to do this.",
    "no access": "I do not have access to a function that can book flights.",
    "insufficient": "The provided functions are insufficient for this request.",
    "not possible": "It is not possible to complete this task with the given tools.",
    "without": "I cannot complete the request without a payment tool.",
    "no longer": "The necessary tool is no longer available.",
    "not the first sentence": "I can look up orders. None of the tools I have can issue refunds.",
    "list item": "Checked:\n- orders: ok\n- refunds: there is no tool available for this",
    "offers help": "I don't have a tool to issue refunds, but I can look up the order.",
    "capability missing": "The capability to convert currencies is missing.",
    "requires a tool": "The request requires a tool that is not available.",
    "requires what is not there": "That requires a capability I do not have.",
    "cannot be used": "The given functions cannot be used to answer this question.",
    "no tool for it": "I can't do that: there's no tool for refunds available to me.",
    "no tool, so": "There is no refund tool, so I cannot do that.",
    "no function": "I cannot complete this as there is no function for deleting files in the list.",
    "named function": "The task cannot be completed because the `mv` function is not available.",
    "the word alone": "STOP",
    "the word alone, dressed": "**STOP.**",
    "labelled signal": "Final answer: STOP: no refund tool",
}

NOT_STOPS = {
    "FIELD-003, 1": "I'm sorry to hear the flight was late. Your rebooking is confirmed: QX4T9.",
    "FIELD-003, 2": 'The sign said "STOP: no entry", so I picked the second route. Done.',
    "FIELD-003, 3": "The nearest bus stop: Elm St. Next departure 10:05.",
    "FIELD-003, 4": "I placed a STOP LOSS order at 40.0 as you asked.",
    "FIELD-003, 5": "```python\nprint('STOP:', reason)\n```\nThat is the script you wanted.",
    "FIELD-003, 6": "Without the invoice PDF I cannot tell who signed it, but the total is 312.40 EUR.",
    "FIELD-005, empty": "",
    "FIELD-005, white space": " \n ",
    "FIELD-026": "Ticket 88.",
    "FIELD-026, quoting the tool": "The ticket 'STOP: disk full' has the id 88.",
    "negated": "I will not stop: the order is placed.",
    "told not to": "Don't stop: go on.",
    "conditional": "If the tool were unavailable I would STOP.",
    "conditional phrase": "If a required tool is not available, I stop.",
    "whenever": "Whenever the required tool is not available, the job is queued. It ran.",
    "question": "Is the required tool not available?",
    "no tool needed": "There is no tool needed for this: 2 + 2 = 4.",
    "none required": "No tools are required to answer: 2 + 2 = 4.",
    "no single tool": "There is no single tool that can do this, so I combined two.",
    "worked around": "The required tool is not available, so I used cp instead.",
    "worked around, named tool": "The mv tool isn't available, so I used cp instead. Done.",
    "done by knowledge": "I don't have a tool to convert currencies, but the rate is about 160, so 800 JPY.",
    "not an error": "None of the tools reported an error.",
    "none failed": "None of the tools failed, and you can see the result.",
    "no tool errors": "I don't have any tool errors to report.",
    "reported speech": "The API returned: the requested function is not available in your region.",
    "of a spreadsheet": "There's no function in Excel that can do that, but you can use Power Query.",
    "of mathematics": "The function is not defined at 0, so it cannot be continuous.",
    "of a shop": "The store has no tools for children under 3.",
    "about an order": "I used the search tool and the order is not available in your region.",
    "about a seat": "The required tool reported that the seat is not available.",
    "about a key": "The API key is missing, please provide it.",
    "none needed any more": "I completed the task; no further tools are needed.",
    "no call needed": "There is no function call needed here, since 2 + 2 = 4.",
    "declined": "I could not complete the booking with the given card, as it was declined.",
    "limits of a tool": "The API does not support negative values, so I passed 0.",
    "quoted phrase": "“The required tool is not available” was the message. It is fixed now.",
    "single quotes": "'The required tool is not available' was the message. It is fixed now.",
    "quotation over lines": 'The log says "\nSTOP: disk full\n" and the ticket is 88.',
    "guillemets": "Le journal dit «\nSTOP: disk full\n» et voilà.",
    "block quote": "> STOP: disk full\n\nThat is ticket 88.",
    "inline code": "`STOP: x` is the line.",
    "inline code over lines": "The line is ``a\nSTOP: x`` there.",
    "tilde fence": "~~~\nSTOP: x\n~~~\nThat is the file.",
    "fence in a list": "1. ```\nSTOP: x\n```\n2. Done.",
    "longer fence": "````\n```\nSTOP: x\n```\n````\nDone.",
    "fence never closed": "The file:\n```\nSTOP: x",
    "indented code": "The file:\n\n    STOP: x\n",
    "tab-indented code": "The file:\n\n\tSTOP: x\n",
    "timetable": "Route: 12\nStop: Elm St\nTime: 10:05",
    "timetable, bold": "**Route:** 12\n**Stop:** Elm St\n**Time:** 10:05",
    "list of commands": "- STOP: halts the motor\n- START: starts the motor",
    "not line-leading": "Next stop:\nElm St",
    "code-like": "STOP::x",
    "assignment": "stop:=5",
    "no colon": "Stop! Hammer time.",
    "button": "Press the STOP button: it halts.",
    "other words": "STOPPED: yes\nNON-STOP: yes\nunstop: yes",
    "reasoning": "<think>STOP: no refund tool</think>Done.",
    "reasoning over lines": "<think>\nSTOP: no refund tool\n</think>\nDone.",
    "reasoning, opened by the template": "STOP: no refund tool\n</think>\n\nDone.",
    "reasoning never closed": "<think>\nThe rules say\nSTOP: reason",
    "reasoning with a phrase": "<think>The required tool is not available.</think>Done.",
    "reasoning of gpt-oss": (
        "<|channel|>analysis<|message|>\nSTOP: x<|end|><|start|>assistant<|channel|>final<|message|>5"
    ),
}


@pytest.mark.parametrize("text", SIGNALS.values(), ids=SIGNALS)
def test_the_signal_is_found(text: str) -> None:
    assert rule(text) == "stop_signal"


@pytest.mark.parametrize("text", PHRASES.values(), ids=PHRASES)
def test_equivalent_phrasings_are_lenient_only(text: str) -> None:
    assert rule(text) == "stop_phrase"


@pytest.mark.parametrize("text", NOT_STOPS.values(), ids=NOT_STOPS)
def test_nothing_else_is_a_stop(text: str) -> None:
    assert rule(text) == "none"


def test_a_signal_is_preferred_to_an_earlier_phrase() -> None:
    match = find_stop("The required tool is not available.\n**STOP:** no refund tool")
    assert match is not None
    assert (match.rule, match.span, match.strict) == ("stop_signal", "**STOP:**", True)


def test_the_span_can_be_audited() -> None:
    match = find_stop("Sorry \u2014 the required tool isn\u2019t available.")
    assert match is not None
    assert (match.span, match.start, match.end) == ("required tool isn\u2019t available", 12, 41)


@pytest.mark.parametrize(
    ("text", "visible", "reasoning"),
    [
        ("Hello <b>you</b>", "Hello <b>you</b>", ""),
        ("  as it came \n", "  as it came \n", ""),
        ("<think>a</think>\n\nb", "b", "a"),
        ("<thinking>a</thinking>b", "b", "a"),
        ("<reasoning>a</reasoning>b", "b", "a"),
        ("[THINK]a[/THINK]b", "b", "a"),
        ("<THINK>a</think>b", "b", "a"),
        ("a\n</think>\n\nb", "b", "a"),
        ("<think>a", "", "a"),
        ("b\n<think>a", "b", "a"),
        ("<think>a</think>b<think>c</think>d", "b\nd", "a\nc"),
        ("<think>a<think>b</think>c</think>d", "d", "a<think>b</think>c"),
        ("<think>a<reasoning>b</think>c", "c", "a<reasoning>b"),
        ("<think></think>b", "b", ""),
        ("The tag `<think>` opens it.", "The tag `<think>` opens it.", ""),
        (
            '<tool_call>{"x": "<think>a</think>"}</tool_call>',
            '<tool_call>{"x": "<think>a</think>"}</tool_call>',
            "",
        ),
        ("I could say <tool_call> now.</think>b", "b", "I could say <tool_call> now."),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
            "b",
            "a",
        ),
        ("<|channel|>analysis<|message|>a", "", "a"),
        ("<|channel|>commentary<|message|>b<|end|>", "b", ""),
        ("analysisWe think.assistantfinalb", "b", "We think."),
        (
            "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
            "b",
            "a",
        ),
        ("a<|END_THINKING|><|START_TEXT|>b<|END_TEXT|>", "b", "a"),
        ("<|START_THINKING|>a</thinking>b", "", "a</thinking>b"),
        ("<think>a<reasoning>b", "", "a<reasoning>b"),
        ("<think>a<tool_call>b", "", "a<tool_call>b"),
        ("<|START_THINKING|>a<|START_TEXT|>b", "", "a<|START_TEXT|>b"),
        ("<|START_THINKING|>a<|START_ACTION|>[]", "<|START_ACTION|>[]", "a"),
        ("<|channel>thought\na<channel|>b", "b", "a"),
        ("<|channel>thought\n<channel|>b", "b", ""),
        ("<|channel>thought\na<|tool_call>b", "<|tool_call>b", "a"),
        ("The token `<|START_RESPONSE|>` opens it.", "The token `<|START_RESPONSE|>` opens it.", ""),
        (
            '<|START_ACTION|>[{"x": "<|START_TEXT|><|START_THINKING|>"}]',
            '<|START_ACTION|>[{"x": "<|START_TEXT|><|START_THINKING|>"}]',
            "",
        ),
        ("analysis of the data: fine", "analysis of the data: fine", ""),
    ],
)
def test_reasoning_is_kept_apart(text: str, visible: str, reasoning: str) -> None:
    assert strip_reasoning(text) == (visible, reasoning)


HOSTILE = {
    "backticks": "`" * 300_000,
    "backtick runs of many lengths": "".join("`" * length + " " for length in range(1, 700)),
    "fences": "```\n" * 75_000,
    "quotes": '"' * 300_000,
    "quotes on lines": '"\n' * 150_000,
    "single quotes": " '" * 150_000,
    "opening tags": "<think>" * 40_000,
    "closing tags": "</think>" * 40_000,
    "channels": "<|channel|>analysis<|message|>" * 10_000,
    "Cohere's reasoning": "<|START_THINKING|>" * 20_000,
    "Cohere's answers": "<|START_RESPONSE|>x<|END_RESPONSE|>" * 10_000,
    "labels": "Stop:\n" * 50_000,
    "spaces": " " * 300_000,
    "blank lines": "\n \n" * 100_000,
    "hashes": "#" * 300_000,
    "stars": "*" * 300_000,
    "blockquotes": "> " * 150_000,
    "half a phrase": "the required tool " * 17_000,
    "half another": "none of the tools " * 17_000,
    "cannot": "I cannot " * 33_000,
    "many words": "no " + "really " * 40_000,
    "lack": "I don't have a " * 20_000,
    "asides": "required tool (" * 20_000,
    "blanked": "required tool " + "\0" * 300_000,
    "nested brackets": "[<" * 150_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("ending", ["", "\ntool stop", "\nSTOP: x"])
def test_hostile_text_takes_linear_time(text: str, ending: str) -> None:
    """Quadratic time would be minutes a case: the limit of the test run would end it."""
    match = find_stop(text + ending)
    visible, reasoning = strip_reasoning(text + ending)
    assert len(visible) + len(reasoning) <= len(text + ending) + 40_000
    assert match is None or match.span in text + ending


def test_what_is_read_is_capped() -> None:
    assert find_stop("x" * MAX_SCANNED + "\nSTOP: late") is None
