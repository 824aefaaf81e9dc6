"""What an agent says, made safe to keep: valid Unicode, bounded, and JSON all through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from toolenv.actions import own_words
from toolenv.json_values import UnusableValueError, clean_json, mend_surrogates
from toolenv.quick import new_calls
from toolenv.rendering import cut
from toolenv.types import Action, Malformed, Message, Stop, ToolCalls

TEXT_LIMIT = 200_000
"""Characters of an agent's own text that are kept."""

NAME_LIMIT = 500
"""Characters of a tool's name, a call's id or a problem that are kept."""


def clean_text(text: str) -> str:
    """``text`` as valid Unicode, and cut where it is longer than anybody reads."""
    if type(text) is not str:  # a subclass may do anything
        text = str.__str__(text)
    if len(text) > TEXT_LIMIT:
        text = cut(text, TEXT_LIMIT)
    return text if text.isascii() else mend_surrogates(text)


def clean_name(text: str) -> str:
    """The name or id of a call, or what is wrong with it: short, and valid Unicode."""
    if type(text) is not str:
        text = str.__str__(text)
    if len(text) > NAME_LIMIT:
        text = cut(text, NAME_LIMIT)
    return text if text.isascii() else mend_surrogates(text)


def clean_raw(raw: Any) -> Any:
    """``raw`` as a JSON value, or as text where it is none."""
    if raw is None:
        return None
    try:
        return clean_json(raw)[0]
    except UnusableValueError:
        return clean_text(own_words(raw, TEXT_LIMIT))


def clean_action(action: Action) -> Action:
    """The action with its texts and ``raw`` cleaned; the same object where there was nothing to clean."""
    if isinstance(action, (ToolCalls, Message)) and action.raw is None:
        text = action.text
        if type(text) is str and text.isascii() and len(text) <= TEXT_LIMIT:
            return action
    if isinstance(action, Malformed):
        text, why, record = clean_text(action.raw), clean_text(action.why), clean_raw(action.record)
        unchanged = text is action.raw and why is action.why and record is action.record
        return action if unchanged else replace(action, raw=text, why=why, record=record)
    if isinstance(action, Stop):
        text, raw = clean_text(action.reason), clean_raw(action.raw)
        unchanged = text is action.reason and raw is action.raw
        return action if unchanged else replace(action, reason=text, raw=raw)
    text, raw = clean_text(action.text), clean_raw(action.raw)
    if text is action.text and raw is action.raw:
        return action
    if type(action) is ToolCalls:
        return new_calls(action.calls, text, action.usage, raw)
    return replace(action, text=text, raw=raw)
