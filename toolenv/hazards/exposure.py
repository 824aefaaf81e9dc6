"""Whether an episode met the hazard that was armed for it (FIELD-021): read from its trace alone."""

from __future__ import annotations

from typing import NamedTuple

from toolenv.trace import Trace
from toolenv.types import ToolCalls

UNARMED = frozenset({"clean", "infeasible", "mixed"})
"""The conditions without a hazard."""


class Exposure(NamedTuple):
    """What became of a hazard in one episode.

    An episode that never reached its hazard says nothing about recovering from it.

    Attributes:
        hazard, mode, tool: what was armed; empty if nothing was, or if no call was made that would tell.
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


def exposure(trace: Trace) -> Exposure:
    """The exposure of an episode."""
    found = Exposure(armed=trace.condition not in UNARMED)
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
