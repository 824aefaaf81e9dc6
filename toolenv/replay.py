"""Playing a recorded episode again, decision by decision, and making sure that it is the same one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from toolenv.errors import ReplayError
from toolenv.live import LiveEpisode
from toolenv.trace import Continuation, Ending, Step, Trace
from toolenv.trouble import NO_TROUBLE
from toolenv.user import RecordedUser

DECIDED: frozenset[Ending] = frozenset({"stop", "message", "terminal_tool", "truncated"})
"""Endings that decisions lead to; the others come from outside."""

SHOWN = 200
"""Characters of a result that an error shows."""


def replay(live: LiveEpisode, trace: Trace) -> None:
    """Bring a fresh episode to where a recorded one ended, world and conversation alike; it may go on.

    A simulated user says what it said there, and speaks for itself from then on.

    Args:
        live: an episode of the same task and seed, with no decision taken.
        trace: what was recorded; where it went on is played again, too.

    Raises:
        ReplayError: a result, the world or the ending is another than was recorded.
    """
    user, further = live.user, trace.continuation
    begun = trace if further is None else _before(trace, further)
    if user is not None:
        live.user = RecordedUser.of(begun)
        live.open(live.user)
    _take(live, begun.steps, begun)
    if further is not None:
        live.user = None if user is None else RecordedUser.of(trace)
        live.go_on(further.arm, further.message, further.decisions)
        _take(live, trace.steps[further.steps :], trace)
    _check(live.trace, trace)
    live.recall(trace.steps)
    live.user = user


def _before(trace: Trace, further: Continuation) -> Trace:
    """The part before the episode went on."""
    return replace(
        trace,
        steps=trace.steps[: further.steps],
        ending=further.ending,
        error="",
        lost_usage=further.lost_usage,
        continuation=None,
        trouble=NO_TROUBLE,
    )


def _take(live: LiveEpisode, steps: Iterable[Step], recorded: Trace) -> None:
    """Take recorded decisions, and end as it was recorded if none of them did."""
    for step in steps:
        if live.ending != "running":
            raise ReplayError(f"{_name(live.trace)} ends by {live.ending}, earlier than was recorded")
        live.take(step.action)
    if live.ending != "running" or recorded.ending == "running":
        return
    if recorded.ending in DECIDED and not recorded.error:  # which only an end from outside has
        raise ReplayError(f"{_name(recorded)} still runs where it was recorded to end by {recorded.ending}")
    live.end(recorded.ending, recorded.error, recorded.lost_usage, recorded.trouble)


def _check(found: Trace, recorded: Trace) -> None:
    problem = next(_differences(found, recorded), None)
    if problem is not None:
        raise ReplayError(f"{_name(recorded)} does not repeat: {problem}")


def _differences(found: Trace, recorded: Trace) -> Iterator[str]:
    for number, (new, old) in enumerate(zip_longest(found.steps, recorded.steps)):
        if new is None or old is None:
            yield f"{len(found.steps)} decisions instead of {len(recorded.steps)}"
        elif (new.turn, new.action, new.reply) != (old.turn, old.action, old.reply):
            yield f"decision {number} is taken otherwise"
        else:
            for got, was in zip(new.results, old.results, strict=True):
                if (got.text, got.content, got.kind) != (was.text, was.content, was.kind):
                    yield f"decision {number} meets {got.content[:SHOWN]!r}, not {was.content[:SHOWN]!r}"
    for name in ("opening", "checkpoints", "ending"):
        is_now, was_then = getattr(found, name), getattr(recorded, name)
        if is_now != was_then:
            yield f"{name} {is_now!r}, not {was_then!r}"


def _name(trace: Trace) -> str:
    return f"task {trace.task_id!r}, seed {trace.seed}"
