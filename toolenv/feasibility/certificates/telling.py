"""Whether results that an agent obtained tell what another result would have told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from toolenv.feasibility.certificates.grounding import strings
from toolenv.types import ToolCall

LONG_TEXT: Final = 20
"""From this length on a text is found inside another one for no other reason than that it is there."""


def is_told(text: str, obtained: Iterable[tuple[ToolCall, str]]) -> bool:
    """Whether results hold all that another one does.

    They do if one is the same; if one holds all its entries, at any depth; or if it is one long text, such as
    the content of a file, that one of them contains and that the agent had not given itself.
    """
    pairs = list(obtained)
    if any(other == text for _, other in pairs):
        return True
    wanted = _read(text)
    if not isinstance(wanted, dict) or not wanted:
        return False
    read = [(call, _read(other)) for call, other in pairs]
    if any(_holds_entries(other, wanted) for _, other in read):
        return True
    alone = next(iter(wanted.values()))
    if len(wanted) != 1 or not isinstance(alone, str) or len(alone) < LONG_TEXT:
        return False
    return any(
        alone in one and alone not in strings(dict(call.arguments))
        for call, other in read
        for one in strings(other)
    )


@lru_cache(maxsize=4096)
def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _holds_entries(value: Any, wanted: Mapping[str, Any]) -> bool:
    if isinstance(value, dict):
        if all(key in value and value[key] == item for key, item in wanted.items()):
            return True
        return any(_holds_entries(item, wanted) for item in value.values())
    return isinstance(value, list) and any(_holds_entries(item, wanted) for item in value)
