"""Upstream's hints as one text for the Hint arm (paper 2, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BRIEF, DETAILED = "minimal_prompt_hint", "detailed_prompt_hint"
LONGEST_HINT = 4_000
"""Characters of a hint."""


def hint_text(hints: Mapping[str, Any] | None) -> str:
    """The brief hints of all failpoints, each once; the detailed ones where there are no brief ones.

    The paper's arm gives *a brief explanation of the anomaly*. ``""`` without any.
    """
    entries = [one for one in (hints or {}).values() if isinstance(one, Mapping)]
    for name in (BRIEF, DETAILED):
        texts = [" ".join(str(one[name]).split()) for one in entries if one.get(name)]
        if texts:
            return " ".join(dict.fromkeys(texts))[:LONGEST_HINT]
    return ""


def hinted_tools(hints: Mapping[str, Any] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """The tools that the keys name, ``TOOL::FAILPOINT``, in the order of ``known``; all of it if none is."""
    named = {key.partition("::")[0].strip() for key in hints or {}}
    return tuple(tool for tool in known if tool in named) or known
