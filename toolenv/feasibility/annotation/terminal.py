"""Answering in the terminal."""

from __future__ import annotations

from collections.abc import Callable

from toolenv.errors import UsageError
from toolenv.feasibility.annotation.answers import CHOICES
from toolenv.feasibility.annotation.session import Session
from toolenv.feasibility.annotation.shown import item_text, schemas_text

HELP = (
    "y, n or u answers yes, no or unsure; a note may follow, e.g.: y cp and rm do what mv does. "
    "b: back, s: skip, p: parameters of the tools, q: quit."
)

_SHORT = {choice[0]: choice for choice in CHOICES}


def answer_in_terminal(session: Session, ask: Callable[[], str], say: Callable[[str], None]) -> None:
    """Ask until every item is answered or the person quits. Every answer is kept at once.

    Args:
        session: what is asked and where answers go.
        ask: reads one line.
        say: prints safe text.
    """
    say(HELP)
    index = session.next_open()
    while index is not None:
        item = session.items[index]
        place = f"item {index + 1} of {len(session.items)}, {session.answered} answered"
        say(item_text(item, place, session.said_before.get(item.id, {})))
        index = _step(session, index, ask, say)


def _step(session: Session, index: int, ask: Callable[[], str], say: Callable[[str], None]) -> int | None:
    """Read lines until one moves on; the next item's index, or ``None`` to quit."""
    while True:
        word, _, note = ask().strip().partition(" ")
        word = word.lower()
        if word in ("q", "quit"):
            return None
        if word in ("b", "back"):
            return max(0, index - 1)
        if word in ("s", "skip"):
            return (index + 1) % len(session.items)
        if word in ("p", "parameters"):
            item = session.items[index]
            say(schemas_text([*item.masked, *item.remaining]))
            continue
        try:
            session.record(index, _SHORT.get(word, word), note)
        except UsageError as error:
            say(f"{error}. {HELP}")
            continue
        return session.next_open(index + 1)
