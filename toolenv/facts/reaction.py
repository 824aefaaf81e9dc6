"""What an agent does after the first call that failed (paper 2, §4, Post-Failure Recovery Behavior).

A call *failed* if its result was an error, of the tool, of the request or of a hazard, or if a hazard changed
the result: both are what a hazard does to a call. The first decision that holds such a call is where the
failure shows; calls made in the same decision were made without knowing of it and are no reaction.

The *first action* is the next decision:

- ``retry``: it calls a tool again that failed in that decision, with whatever arguments;
- ``stop``: it ends the episode: a final message, a stop, a call of a terminal tool;
- ``switch``: it calls other tools only;
- ``other``: neither: output that could not be read, or words that do not end the episode;
- ``none``: there is no next decision: the episode was cut off. Nothing can be said of such an episode.

An episode that went on after it had ended (arms Hint and TTS) counts as ended there: what it did next was
not its own idea.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from toolenv.facts.task_facts import MOST_SHARED
from toolenv.pickling import quickly_pickled
from toolenv.trace import Step, Trace
from toolenv.types import Message, ToolCalls, ToolResult

Failure: TypeAlias = Literal["", "error", "perturbed"]
"""What the first failure looked like: an error, or a result that a hazard changed and that looks fine."""

FirstAction: TypeAlias = Literal["none", "retry", "switch", "other", "stop"]

_DELIBERATE = frozenset({"stop", "message", "terminal_tool"})


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Reaction:
    """What followed the first failed call.

    Attributes:
        failure: what it looked like; empty if no call failed.
        first_action: the next decision; see the module.
        calls_after: A_t, the calls made in the decisions after the failure; 0 if no call failed.
        answered: whether the episode ended in an answer: a final message that is not blank, or the call of a
            terminal tool.
    """

    failure: Failure = ""
    first_action: FirstAction = "none"
    calls_after: int = 0
    answered: bool = False


@lru_cache(MOST_SHARED)
def shared_reaction(
    failure: Failure, first_action: FirstAction, calls_after: int, answered: bool
) -> Reaction:
    """The reaction as one shared object: there are few different ones, and millions of episodes."""
    return Reaction(failure, first_action, calls_after, answered)


def reaction(trace: Trace) -> Reaction:
    """The reaction in a finished episode."""
    for number, step in enumerate(trace.steps):
        failed = _failed(step)
        if failed:
            later = trace.steps[number + 1 :]
            calls = sum(len(one.action.calls) for one in later if isinstance(one.action, ToolCalls))
            failure: Failure = "perturbed" if next(iter(failed.values())).kind == "ok" else "error"
            first = _first_action(trace, number + 1, set(failed))
            return shared_reaction(failure, first, calls, answered(trace))
    return shared_reaction("", "none", 0, answered(trace))


def answered(trace: Trace) -> bool:
    """Whether an episode ended in an answer, right or wrong."""
    if trace.ending == "terminal_tool":
        return True
    last = trace.steps[-1].action if trace.steps else None
    return trace.ending == "message" and isinstance(last, Message) and bool(last.text.strip())


def _failed(step: Step) -> dict[str, ToolResult]:
    """The tools that failed in a decision, each with its first failure."""
    failed: dict[str, ToolResult] = {}
    if isinstance(step.action, ToolCalls):
        for call, result in zip(step.action.calls, step.results, strict=True):
            if result.kind != "ok" or ((result.record or {}).get("hazard") or {}).get("fired"):
                failed.setdefault(call.name, result)
    return failed


def _first_action(trace: Trace, at: int, failed: set[str]) -> FirstAction:
    """What the decision number ``at`` is to a failure in the one before."""
    endings = {len(trace.steps) - 1: trace.ending}
    if trace.continuation is not None:
        endings[trace.continuation.steps - 1] = trace.continuation.ending
    if at - 1 in endings:
        return "none"
    action = trace.steps[at].action
    if isinstance(action, ToolCalls) and any(call.name in failed for call in action.calls):
        return "retry"
    if endings.get(at) in _DELIBERATE:
        return "stop"
    return "switch" if isinstance(action, ToolCalls) else "other"
