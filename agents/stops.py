"""Stops in whatever form a part gives them."""

from __future__ import annotations

import re

from toolenv.stopping import find_stop
from toolenv.types import Action, Message, Stop

_STATED = re.compile(
    r"\bconfiden(?:ce|t)\b[\s:=(*_]*(?:of\s+|is\s+)?(?P<number>\d{1,3}(?:\.\d{1,6})?|\.\d{1,6})\s*(?P<percent>%?)",
    re.IGNORECASE | re.ASCII,
)


def as_stop(action: Action) -> Stop | None:
    """The stop that an action is: a ``Stop``, or a message that says STOP by the strict rule."""
    if isinstance(action, Stop):
        return action
    signal = find_stop(action.text) if isinstance(action, Message) else None
    if not isinstance(action, Message) or signal is None or not signal.strict:
        return None
    reason = action.text[signal.end :].strip().strip("*").strip()
    return Stop(reason, usage=action.usage, raw=action.raw)


def confidence_of(stop: Stop) -> float | None:
    """How sure a stop is: its own number, else the first its reason states (``confidence: 0.8``, ``80%``)."""
    if stop.confidence is not None:
        return stop.confidence
    for stated in _STATED.finditer(stop.reason):
        number = float(stated["number"]) / (100 if stated["percent"] else 1)
        if 0 <= number <= 1:
            return number
    return None
