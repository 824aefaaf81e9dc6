"""Calls in blocks that are fenced as tool code, as Gemma 3 and Gemini write them."""

from __future__ import annotations

import pytest

from tests.agents.written import check_cut_off, read
from toolenv.types import Action, Malformed, Message, ToolCall, ToolCalls, ToolSpec

TOOLS = [ToolSpec("search"), ToolSpec("fs.read"), ToolSpec("now")]
X = ToolCall("search", {"q": "x"})
NOW = ToolCall("now")


def parse(content: str, finish_reason: str = "stop") -> Action:
    return read(content, TOOLS, finish_reason)


def block(code: str) -> str:
    return f"```tool_code\n{code}\n```"


CALLS: list[tuple[str, tuple[ToolCall, ...], str]] = [
    (block('search(q="x")'), (X,), ""),
    (block('print(search(q="x"))'), (X,), ""),
    (block('print(default_api.search(q="x"))'), (X,), ""),
    (f"I look.\n\n{block('search(q=' + chr(39) + 'x' + chr(39) + ')')}\nThen I answer.", (X,), "I look."),
    (block('print(search(q="x"))\nprint(now())'), (X, NOW), ""),
    (block('search(q="x"); now()'), (X, NOW), ""),
    (f"{block('now()')}\n{block('search(q=' + chr(34) + 'x' + chr(34) + ')')}", (NOW, X), ""),
    (block('# First look.\n\nsearch(\n    q="x",\n)  # and then\nnow()'), (X, NOW), ""),
    (block("[search(q='x'), now()]"), (X, NOW), ""),
    (f"[now()]\n{block('search(q=' + chr(34) + 'x' + chr(34) + ')')}\n[now()]", (NOW, X, NOW), ""),
    (block('fs.read(path="a/b")'), (ToolCall("fs.read", {"path": "a/b"}),), ""),
    (block('print(search(q="``` x)) # \\" "))'), (ToolCall("search", {"q": '``` x)) # " '}),), ""),
    # Beside a call of an offered tool, one of an unknown tool is an attempt as well.
    (block('search(q="x")\nzap(q=1)'), (X, ToolCall("zap", {"q": 1})), ""),
    ('```tool_code\nprint(search(q="x"))', (X,), ""),
]


@pytest.mark.parametrize(("content", "calls", "text"), CALLS)
def test_calls_in_tool_code_are_read(content: str, calls: tuple[ToolCall, ...], text: str) -> None:
    assert parse(content) == ToolCalls(calls, text)


@pytest.mark.parametrize(("content", "calls", "text"), CALLS)
def test_a_block_cut_off_gives_whole_calls_or_none(
    content: str, calls: tuple[ToolCall, ...], text: str
) -> None:
    check_cut_off(content, TOOLS, calls)


@pytest.mark.parametrize(
    "code",
    [
        'search("x")',
        'search(q="x"',
        'print(search(q="x")',
        'print(search(q="x"), now())',
        'search(q="x").title()',
        "search(q=other(x=1))",
        "search(q=1 + 1)",
        "search(q=__import__('os').system('true'))",
        'search(q="x")\nif True:\n    now()',
        "search(q=" + "[" * 5000 + "]" * 5000 + ")",
        "search(" + "q=1, " * 20_000 + ")",
        "search()\n" * 129,
    ],
)
def test_a_block_that_begins_with_a_call_and_cannot_be_read_is_malformed(code: str) -> None:
    assert isinstance(parse(block(code)), Malformed)


@pytest.mark.parametrize(
    "text",
    [
        block('zap(q="x")'),
        block('print("x")'),
        block("import os\nsearch(q='x')"),
        block("x = 1"),
        block(""),
        'You could write\n```python\nprint(search(q="x"))\n```\nto search.',
        f"````markdown\n{block('search()')}\n````",
        f"~~~\n{block('search()')}\n~~~",
        "> ```tool_code\n> search()\n> ```",
        "Calls stand in ```tool_code search() ``` blocks.",
        "Say `print(search(q='x'))` to search.",
    ],
)
def test_other_code_is_text(text: str) -> None:
    assert parse(text) == Message(text)


@pytest.mark.parametrize(
    "text",
    [
        "```tool_code\n" * 100_000,
        "```tool_code\nsearch()\n```\n" * 60_000,
        "```tool_code\nzap()\n```\n" * 60_000,
        "```tool_code\n" + "#" * 1_000_000,
        "```tool_code\n" + "# x\n" * 400_000,
        "```tool_code\n" + "print(" * 300_000,
        "```tool_code\n" + "a" * 1_000_000 + "(",
        "~" * 1_000_000 + "`",
        "```" + " " * 1_000_000 + "`",
        "```tool_code\nsearch(q='" + "\\'" * 500_000,
    ],
    ids=range(10),
)
def test_giant_blocks_end(text: str) -> None:
    """In linear time: quadratic would be hours."""
    assert isinstance(parse(text), Malformed | Message)
