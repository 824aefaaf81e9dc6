"""Sending a call again in another form, after a reply that says what became of its arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_IN_ERROR = re.compile(r"\[request received: (\{.*\}); ([^\]]*)\]\s*$", re.DOTALL)
_QUOTED = re.compile(r"'([A-Za-z_][\w.-]{0,99})'")


class Remark(NamedTuple):
    """What a reply says about the request: the arguments that arrived, and words about them."""

    received: Mapping[str, Any]
    note: str


def remark_in(value: Any) -> Remark | None:
    """The remark of a reply, if it makes one."""
    if isinstance(value, dict):
        request = value.get("request")
        if isinstance(request, dict) and isinstance(request.get("received"), dict):
            return Remark(request["received"], str(request.get("note", "")))
    found = _IN_ERROR.search(value) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        return Remark(json.loads(found[1]), found[2])
    except ValueError:
        return None


def reconstructed(remark: Remark, sent: Mapping[str, Any], meant: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments that should arrive as they are meant; ``None`` if no other form is known.

    Args:
        remark: what the reply said.
        sent: the arguments as they were sent.
        meant: the arguments under their documented names.
    """
    renamed = under_other_name(remark.note, meant)
    if renamed is not None:
        return renamed
    differing = [name for name in meant if remark.received.get(name) != meant[name]]
    if len(differing) == 2:
        one, other = differing
        if remark.received.get(one) == sent.get(other) and remark.received.get(other) == sent.get(one):
            return {**meant, one: meant[other], other: meant[one]}
    if "JSON text" in remark.note and differing:
        return {name: json.dumps(item) if name in differing else item for name, item in meant.items()}
    return None


def under_other_name(text: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with one renamed: of two quoted names in a text, the known one becomes the other."""
    quoted = list(dict.fromkeys(_QUOTED.findall(text)))
    known = [name for name in quoted if name in arguments]
    others = [name for name in quoted if name not in arguments]
    if len(known) != 1 or len(others) != 1:
        return None
    return {others[0] if name == known[0] else name: value for name, value in arguments.items()}
