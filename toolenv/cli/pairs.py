"""Settings given as ``NAME=VALUE``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from toolenv.cli.text import is_text
from toolenv.errors import UsageError


def pairs(option: str, given: Iterable[str]) -> dict[str, Any]:
    """The settings by name; a value is JSON, or else text.

    Args:
        option: what they were given by, for errors.
        given: each ``NAME=VALUE``.

    Raises:
        UsageError: one without ``=``, or whose JSON holds half of a character (a lone surrogate).
    """
    settings: dict[str, Any] = {}
    for pair in given:
        name, separator, value = pair.partition("=")
        if not separator:
            raise UsageError(f"{option} {pair!r}: give NAME=VALUE")
        try:
            settings[name] = json.loads(value, parse_constant=str)
        except ValueError:
            settings[name] = value
        if not is_text(json.dumps(settings[name], ensure_ascii=False)):
            raise UsageError(f"{option} {pair!r} holds half of a character, which is no text")
    return settings
