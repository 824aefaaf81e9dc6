"""Whether a text says STOP. The only place where that is decided.

The paper's prompt asks for ``STOP:<which capability is missing>`` (Appendix F). Two rules read the answer:

- *strict* (``stop_signal``): a line that begins with ``STOP:``, in any case and in Markdown dress
  (``**STOP:**``, ``# Stop:``, ``- STOP:``).
- *lenient* (``stop_phrase``): a sentence that says the same, such as the paper's "the required tool is not
  available" or "this task cannot be completed with the available tools".

Only an assistant's own words count: neither rule looks into reasoning, code, quotation marks or block
quotes. Time is linear in the text's length, whatever the text is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from toolenv.stopping.own_words import own_words, strip_reasoning
from toolenv.stopping.phrases import find_phrase

__all__ = ["MAX_SCANNED", "StopMatch", "find_stop", "strip_reasoning"]

MAX_SCANNED = 2_000_000
"""Characters looked at; nobody who means to stop says so after a longer preface."""

_MAX_SIGNALS = 100
_NEIGHBOURHOOD = 200
_NEEDED_WORDS = ("stop", "tool", "function", "capabilit", "api")

_ITEM = r"(?:[-*+•]|\d{1,3}[.)])[ \t]+"
_SIGNAL = re.compile(
    r"(?:\A\s*|^\ {0,3})"  # deeper indentation is code
    rf"(?P<item>{_ITEM})?"
    r"(?:\#{1,6}[ \t]*)?(?:[🛑⛔🚫❌⚠✋❗][ \t]*){0,3}"
    r"(?P<signal>(?:[*_~]{1,3}[ \t]*)?(?P<word>STOP)[ \t]*[*_~]{0,3}[ \t]*:(?![:=/])[*_~]{0,3})",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
_PLACEHOLDER = re.compile(r"[ \t]*<[^>\n]{1,200}>[ \t]*(?:\n|\Z)")
_LABEL = re.compile(rf"[ \t]*(?P<item>{_ITEM})?[*_]{{0,3}}[A-Za-z][\w /-]{{0,30}}[*_]{{0,3}}:", re.ASCII)


@dataclass(frozen=True, slots=True)
class StopMatch:
    """Where a text says STOP.

    Attributes:
        rule: ``stop_signal`` (strict) or ``stop_phrase`` (lenient).
        span: the words that matched, as they stand in the text.
        start, end: where they stand: ``text[start:end] == span``.
    """

    rule: Literal["stop_signal", "stop_phrase"]
    span: str
    start: int
    end: int

    @property
    def strict(self) -> bool:
        """Whether this is the signal itself and no mere phrase."""
        return self.rule == "stop_signal"


def find_stop(text: str) -> StopMatch | None:
    """The first signal in an assistant's text, else the first phrase that says the same, else ``None``.

    Args:
        text: the assistant's own message, never a prompt or a tool's result. What follows the first
            ``MAX_SCANNED`` characters is not read.
    """
    text = text[:MAX_SCANNED]
    lower = text.lower()
    for word in _NEEDED_WORDS:  # a generator would take twice as long, once an episode
        if word in lower:
            break
    else:
        return None
    words = own_words(text)
    if signal := _find_signal(words):
        start, end = signal
        return StopMatch("stop_signal", text[start:end], start, end)
    if phrase := find_phrase(words):
        start, end = phrase
        return StopMatch("stop_phrase", text[start:end], start, end)
    return None


def _find_signal(words: str) -> tuple[int, int] | None:
    signals = islice(_SIGNAL.finditer(words), _MAX_SIGNALS)
    return next((signal.span("signal") for signal in signals if _is_signal(words, signal)), None)


def _is_signal(words: str, signal: re.Match[str]) -> bool:
    """Whether a match is meant: no placeholder of the protocol's, and no label.

    In capitals it may begin any line. Written otherwise it is the signal only where the text begins with
    it: answers are full of lines such as ``Stop: Denver``.
    """
    if _PLACEHOLDER.match(words, signal.end("signal")):
        return False
    if signal["word"] != "STOP" and words[: signal.start()].strip():
        return False
    return not _is_label(words, signal)


def _is_label(words: str, signal: re.Match[str]) -> bool:
    """Whether ``Stop:`` is one label among others (a timetable, a list of commands) and not the signal.

    A plain ``STOP:`` in capitals is always the signal.
    """
    if signal["word"] == "STOP" and not signal["item"]:
        return False
    start = words.rfind("\n", 0, signal.start("word")) + 1
    near = [
        *words[max(0, start - _NEIGHBOURHOOD) : start].split("\n")[-3:-1],
        *words[signal.end() : signal.end() + _NEIGHBOURHOOD].split("\n")[1:3],
    ]
    labels = [label for line in near if (label := _LABEL.match(line))]
    alike = sum(bool(label["item"]) == bool(signal["item"]) for label in labels)
    return alike >= (1 if signal["item"] else 2)
