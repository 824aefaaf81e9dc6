"""Whether an episode met the hazard that was armed for it (FIELD-021)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolenv.trace import Trace
from toolenv.types import ToolCalls

UNARMED = frozenset({"clean", "infeasible", "mixed"})
"""The conditions without a hazard."""


class Exposure(NamedTuple):
    """What became of a hazard in one episode.

    An episode that never reached its hazard says nothing about recovering from it.

    Attributes:
        hazard, mode, tool: what was armed; empty if nothing was, or if neither task nor trace tells.
        armed: whether a hazard was armed.
        fired: on how many calls it fired.
        seen: on how many of those the agent made another decision afterwards, so that it could react.
    """

    hazard: str = ""
    mode: str = ""
    tool: str = ""
    armed: bool = False
    fired: int = 0
    seen: int = 0


def exposure(trace: Trace, armed: Mapping[str, Any] | None = None) -> Exposure:
    """The exposure of an episode.

    Args:
        trace: what happened.
        armed: what was armed (``Instance.facts``), for an episode without a call that would tell.
    """
    known = armed or {}
    found = Exposure(
        known.get("name", ""),
        known.get("mode", ""),
        known.get("tool", ""),
        armed=trace.condition not in UNARMED,
    )
    last = len(trace.steps) - 1
    for number, step in enumerate(trace.steps):
        if not isinstance(step.action, ToolCalls):
            continue
        for result in step.results:
            facts = (result.record or {}).get("hazard")
            if facts is None:
                continue
            fired = int(bool(facts["fired"]))
            seen = found.seen + (fired if number < last else 0)
            found = Exposure(facts["name"], facts["mode"], facts["tool"], True, found.fired + fired, seen)
    return found
