"""Example values of parameters, in the type of their schema."""

from __future__ import annotations

import json
import re
from typing import Any

from toolenv.seeding import mix

LONGEST = 256
"""Characters of an example; a longer one is left out, since a part of it would be no example."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,19})?")
_TRUTH = {"true": True, "false": False}
_WORDS = ("sample", "london", "blue", "alpha", "music", "2021", "garden", "summer")


def example_value(default: Any, kind: str) -> Any:
    """Upstream's ``default``, which is an example, in the type ``kind``; ``None`` if it gives none.

    Upstream writes most of them as text. One that is not of its parameter's type is none.

    Args:
        default: as upstream has it.
        kind: ``string``, ``number`` or ``boolean``.
    """
    text = default.strip() if isinstance(default, str) else json.dumps(default)
    if not text or len(text) > LONGEST:
        return None
    if kind == "number":
        return json.loads(text) if _NUMBER.fullmatch(text) else None
    if kind == "boolean":
        return _TRUTH.get(text.lower())
    return text


def sample_value(name: str, upstream_type: str, kind: str) -> Any:
    """A value for a parameter without example; the same for the same parameter."""
    draw = mix("sample value", name)
    if kind == "number":
        return 1 + draw % 20
    if kind == "boolean":
        return bool(draw % 2)
    if upstream_type.startswith("DATE"):
        return f"2021-{1 + draw % 12:02d}-15"
    if upstream_type.startswith("TIME"):
        return f"{draw % 24:02d}:30"
    return _WORDS[draw % len(_WORDS)]
