"""What in an assistant's text is its own visible words, and not reasoning, code or quotation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

BLANK, GAP = "\0", "\f"
"""Stand for every character that is blanked out: a word that says nothing, and space between paragraphs."""

# One character for one, so that spans hold in the text as it came.
_SAME_SIGN = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ′", "'"),
        **dict.fromkeys("“”„‟«»「」『』＂", '"'),
        **dict.fromkeys("：﹕", ":"),
        **dict.fromkeys("\r\x0b\x0c\x85\u2028\u2029", "\n"),
        **dict.fromkeys("\xa0\u200b\u2060\ufeff\u202f\u3000\u200e\u200f\ufe0f", " "),
    }
)

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>think|thinking|thoughts?|reasoning|seed:think)>"
    r"|\[(?P<close_bracket>/?)(?P<bracket>think)\]"
    r"|<\|(?:START|(?P<close_turn>END))_(?P<turn>THINKING)\|>"
    r"|<(?:\|(?P<thought>channel)|(?P<close_thought>channel)\|)>"
    r"|(?P<sign><\|(?:(?:START|END)_(?:RESPONSE|TEXT|OF_TURN_TOKEN)|CHATBOT_TOKEN)\|>)"
    r"|(?P<call><tool_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|START_ACTION\|>"
    r"|<start_function_call>|<\|tool_call>|<[|｜]tool[_▁]call[_▁]begin[|｜]>"
    r"|<(?:[|｜]+DSML[|｜]+ ?|(?:steptml|atem):)?invoke\s)",
    re.IGNORECASE | re.ASCII,
)
# Special tokens of calls, which end a thought that is not closed before; words of a call in a thought do not.
_ACTION = {"[thinking": "<|START_ACTION|>", "[channel": "<|tool_call>"}
_CHANNEL = re.compile(
    r"<\|channel\|>analysis<\|message\|>.*?(?=<\|(?:end|return|call|start|channel)\|>|\Z)"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:final|commentary)<\|message\|>"
    r"|<\|(?:end|return)\|>|<\|start\|>assistant",
    re.DOTALL,
)
# What is left of the channels where a server drops special tokens.
_CHANNEL_WORD = re.compile(r"assistant(?:final|(?=(?:commentary|analysis) to=))")
_EDGES = re.compile(
    r"\A(?:[<\[]/?[\w:]+[>\]]|(?:<\|start\|>assistant)?<\|channel\|>\w+<\|message\|>"
    r"|<\|\w+\|>(?:assistant)?|<\|channel>(?:thought\b)?|analysis)"
    r"|(?:[<\[]/[\w:]+[>\]]|<\|END_THINKING\|>|<channel\|>|assistant(?:final)?)\Z",
    re.ASCII,
)

_FENCE = re.compile(
    r"^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)?(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})[ \t]*(?P<info>\S?)",
    re.MULTILINE,
)
_BLOCK_QUOTE = re.compile(r"^[ \t]{0,3}>[^\n]*", re.MULTILINE)
_TICKS = re.compile(r"`+|\n\s*\n")
# An inch sign (5") or an apostrophe follows a letter or digit; an opening quotation mark does not.
_QUOTE = re.compile(
    r'(?<![\w"])"[^"\n]*(?:\n(?![ \t]*\n)[^"\n]*)*"'
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|'(?=\w)){1,300}(?<=\S)'(?!\w)"
)


def strip_reasoning(text: str) -> tuple[str, str]:
    """Tell what a user sees from inline reasoning.

    Reasoning is what stands in ``<think>…</think>`` and its like, before a closing tag that was never
    opened, and after an opening tag that is never closed; also gpt-oss's analysis channel. The signs that
    Cohere's models put around an answer are dropped. Tags in backticks or in a call's arguments are text.

    Returns:
        The visible text and the reasoning, both without the tags. Text without tags comes back unchanged.
    """
    hidden = _hidden_spans(text) if text else []
    if not hidden:
        return text, ""
    edges = [0, *(edge for span in hidden for edge in span), len(text)]
    visible = (text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    reasoning = (_EDGES.sub("", text[start:end]).strip() for start, end in hidden)
    return _joined(visible).strip(), _joined(reasoning)


def own_words(text: str) -> str:
    """``text`` with the rest blanked out, every character in its place, and look-alike signs made one."""
    words = text.translate(_SAME_SIGN)
    words = _without(words, _hidden_spans(words, spare_calls=False), GAP)
    words = _without(words, _fences(words), GAP)
    words = _without(words, (found.span() for found in _BLOCK_QUOTE.finditer(words)), GAP)
    words = _without(words, _code_spans(words), BLANK)
    return _without(words, (found.span() for found in _QUOTE.finditer(words)), BLANK)


def _hidden_spans(text: str, spare_calls: bool = True) -> list[Span]:
    """Reasoning, tags included, and the signs around answers; in order, not overlapping.

    Args:
        text: an assistant's text.
        spare_calls: whether tags after the beginning of a call are taken as part of its arguments.
    """
    spans = _tagged_spans(text, spare_calls)
    if "<|channel|>" in text:
        spans += [found.span() for found in _CHANNEL.finditer(text)]
    elif text.startswith("analysis") and (word := _CHANNEL_WORD.search(text)):
        spans += [(0, word.end())]
    return _merged(spans)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _tagged_spans(text: str, spare_calls: bool) -> list[Span]:
    spans: list[Span] = []
    opened: re.Match[str] | None = None
    in_call, in_arguments, acts_at = False, 0, 0
    for tag in _TAG.finditer(text):
        if text[tag.start() - 1 : tag.start()] == text[tag.end() : tag.end() + 1] == "`":
            continue  # talk about tags
        if opened:
            if _closes(tag) and _name(tag) == _name(opened):
                spans.append((opened.start(), tag.end()))
                opened = None
            elif tag["call"] and not acts_at and tag["call"] == _ACTION.get(_name(opened)):
                acts_at = tag.start()
        elif tag["call"]:
            in_call = spare_calls
        elif tag["sign"]:
            spans += [] if in_call else [tag.span()]
        elif _closes(tag) and in_arguments:
            in_arguments -= 1
        elif _closes(tag):  # opened by the chat template, out of sight
            spans, in_call = [(0, tag.end())], False
        elif in_call:
            in_arguments += 1
        else:
            opened, acts_at = tag, 0
    return [*spans, (opened.start(), acts_at or len(text))] if opened else spans


def _closes(tag: re.Match[str]) -> bool:
    return any(tag[f"close{what}"] for what in ("", "_bracket", "_turn", "_thought"))


def _name(tag: re.Match[str]) -> str:
    return (tag["name"] or f"[{tag['bracket'] or tag['turn'] or 'channel'}").lower()


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part.strip())


def _without(text: str, spans: Iterable[Span], filler: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], _filling(filler, end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _filling(filler: str, length: int) -> str:
    if filler == GAP:
        return "\n" * length if length < 4 else f"\n\n{GAP * (length - 4)}\n\n"
    return filler * length


def _fences(text: str) -> Iterator[Span]:
    """Fenced code blocks; one that is never closed reaches to the end, as in Markdown."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence["mark"].startswith(opened["mark"]) and not fence["info"]:
            yield opened.start(), fence.end()
            opened = None
    if opened:
        yield opened.start(), len(text)


def _code_spans(text: str) -> Iterator[Span]:
    """Inline code: from a run of backticks to the next run as long, within a paragraph."""
    runs = list(_TICKS.finditer(text))
    ends: dict[int, int] = {}
    nearest: dict[str, int] = {}
    for index in reversed(range(len(runs))):
        run = runs[index][0]
        if run.startswith("\n"):
            nearest.clear()
            continue
        if run in nearest:
            ends[index] = nearest[run]
        nearest[run] = index
    index = 0
    while index < len(runs):
        if index in ends:
            yield runs[index].start(), runs[ends[index]].end()
        index = ends.get(index, index) + 1
