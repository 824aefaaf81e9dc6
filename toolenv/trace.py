"""What happened in one episode, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from toolenv.errors import DataCorruptError
from toolenv.pickling import quickly_pickled
from toolenv.seeding import mix
from toolenv.trouble import NO_TROUBLE, Trouble
from toolenv.types import (
    NO_TOKENS,
    Action,
    Malformed,
    Message,
    Stop,
    ToolCall,
    ToolCalls,
    ToolResult,
    Usage,
    total_usage,
)

TRACE_VERSION = 1

Ending: TypeAlias = Literal[
    "running",
    "stop",
    "message",
    "terminal_tool",
    "truncated",
    "context_window",
    "environment_error",
    "server_error",
    "deadline",
    "agent_error",
]
"""How an episode ended. The last four make it invalid: an infrastructure failure is no outcome."""

_UNKNOWN = Usage()
_NOT_REPEATED = "environment/replay"
"""The trouble of an episode that never went on: all there is of it is what was played again."""

INVALID_ENDINGS: frozenset[str] = frozenset({"environment_error", "server_error", "deadline", "agent_error"})


class Step(NamedTuple):
    """One decision and its replies.

    Attributes:
        turn: the user turn it was made in, from 0.
        action: the decision as the environment took it: the tools' own names, an id on every call.
        results: one per call, in order.
        reply: what a simulated user answered; ``None`` where none did.
    """

    turn: int
    action: Action
    results: tuple[ToolResult, ...] = ()
    reply: str | None = None


class Continuation(NamedTuple):
    """Where an episode that had ended went on, and what it was told there (paper 2, §4: Hint and TTS).

    Attributes:
        arm: the arm of a study that it went on in.
        steps: how many decisions it had made.
        ending: how it had ended.
        message: what it was told, as a further message of the user.
        decisions: how many further decisions were allowed.
        lost_usage: tokens that had led to no decision until then.
    """

    arm: str
    steps: int
    ending: Ending
    message: str
    decisions: int
    lost_usage: Usage | None = None


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Trace:
    """One episode.

    Attributes:
        suite, condition, task_id, seed: which episode this is.
        max_turns: the cap on decisions per user turn (Appendix C).
        steps: the decisions.
        checkpoints: digest of the world at the end of each user turn, finished or not.
        ending: how it ended.
        error: the traceback or message behind an ending that was no decision.
        lost_usage: tokens of generations whose action never arrived; since it went on, if it did.
        opening: what a simulated user said first; empty without one.
        continuation: where it went on after it had ended; ``None`` if it did not.
        trouble: what went wrong around it.
    """

    suite: str
    condition: str
    task_id: str
    seed: int
    max_turns: int
    steps: tuple[Step, ...] = ()
    checkpoints: tuple[str, ...] = ()
    ending: Ending = "running"
    error: str = ""
    lost_usage: Usage | None = None
    opening: str = ""
    continuation: Continuation | None = None
    trouble: Trouble = NO_TROUBLE

    @property
    def policy_seed(self) -> int:
        """What an agent's own chance follows from; where an episode goes on, not what it chose by before."""
        return self.seed if self.continuation is None else mix("further", self.seed)

    @property
    def usage(self) -> Usage:
        """Tokens of the whole episode; unknown if those of any decision are."""
        made = [step.action.usage or _UNKNOWN for step in self.steps]
        before = None if self.continuation is None else self.continuation.lost_usage
        return total_usage([*made, *(lost for lost in (before, self.lost_usage) if lost is not None)])

    @property
    def own(self) -> Trace:
        """The part that was played here: without what a recorded episode had done before this one went on.

        Its tokens are those that this episode spent; the others were paid for in the other run.
        """
        if self.continuation is not None:
            return replace(self, steps=self.steps[self.continuation.steps :], continuation=None)
        if self.trouble.name == _NOT_REPEATED:
            return replace(self, steps=(), lost_usage=None)
        return self

    @property
    def usage_before(self) -> Usage:
        """Tokens of the recorded episode that this one went on from; ``usage`` is these and ``own.usage``."""
        if self.continuation is not None:
            lost, steps = self.continuation.lost_usage, self.steps[: self.continuation.steps]
            return replace(self, steps=steps, lost_usage=lost, continuation=None).usage
        return self.usage if self.trouble.name == _NOT_REPEATED else NO_TOKENS

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; :meth:`from_json` reads it back to an equal trace."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        plain["steps"] = [_step_to_json(step) for step in self.steps]
        plain["checkpoints"] = list(self.checkpoints)
        plain["lost_usage"] = None if self.lost_usage is None else _fields(self.lost_usage)
        if self.continuation is None:
            del plain["continuation"]
        else:
            plain["continuation"] = _continuation_to_json(self.continuation)
        if self.trouble == NO_TROUBLE:
            del plain["trouble"]
        else:
            plain["trouble"] = self.trouble.to_json()
        return {"version": TRACE_VERSION, **plain}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trace:
        """Read a trace back.

        Raises:
            DataCorruptError: another version, or not a trace.
        """
        if data.get("version") != TRACE_VERSION:
            raise DataCorruptError(
                f"trace version {data.get('version')!r} cannot be read; this toolenv reads {TRACE_VERSION}"
            )
        try:
            # Neither is in every trace.
            given = {"opening": "", "continuation": None, "trouble": None, **data}
            plain = {name: given[name] for name in cls.__slots__}
            trace = cls(**plain)
            return replace(
                trace,
                steps=tuple(_step_from_json(step) for step in plain["steps"]),
                checkpoints=tuple(plain["checkpoints"]),
                lost_usage=None if plain["lost_usage"] is None else _usage(plain["lost_usage"]),
                continuation=plain["continuation"] and _continuation(plain["continuation"]),
                trouble=Trouble.from_json(plain["trouble"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataCorruptError(f"not a trace: {type(error).__name__}: {error}") from error

    def calls(self, *kinds: str) -> tuple[tuple[ToolCall, ToolResult], ...]:
        """Every call with its result, in order; only those whose result is of ``kinds``, if given."""
        return tuple(
            [
                pair
                for step in self.steps
                if isinstance(step.action, ToolCalls)
                for pair in zip(step.action.calls, step.results, strict=True)
                if not kinds or pair[1].kind in kinds
            ]
        )


_ACTIONS: Mapping[str, type[Action]] = {
    "tool_calls": ToolCalls,
    "message": Message,
    "stop": Stop,
    "malformed": Malformed,
}
_ACTION_NAMES = {kind: name for name, kind in _ACTIONS.items()}


def _fields(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__slots__}


def _continuation_to_json(further: Continuation) -> dict[str, Any]:
    plain = further._asdict()
    lost = plain.pop("lost_usage")
    return plain if lost is None else {**plain, "lost_usage": _fields(lost)}


def _continuation(data: Mapping[str, Any]) -> Continuation:
    lost, steps = data.get("lost_usage"), data["steps"]
    if not isinstance(steps, int) or steps < 0:
        raise TypeError(f"continuation: steps is {steps!r:.80}")
    return Continuation(**{**data, "lost_usage": None if lost is None else _usage(lost)})


def _step_to_json(step: Step) -> dict[str, Any]:
    action = _fields(step.action)
    if action["usage"] is not None:
        action["usage"] = _fields(action["usage"])
    if isinstance(step.action, ToolCalls):
        action["calls"] = [_fields(call) for call in step.action.calls]
    return {
        "turn": step.turn,
        "action": {"type": _ACTION_NAMES[type(step.action)], **action},
        "results": [result._asdict() for result in step.results],
        "reply": step.reply,
    }


def _usage(data: Mapping[str, Any]) -> Usage:
    for name, value in data.items():
        may_be_unknown = name in ("input_tokens", "output_tokens")
        if not isinstance(value, int) and not (value is None and may_be_unknown):
            raise TypeError(f"usage: {name} is {value!r:.80}")
    return Usage(**data)


def _step_from_json(data: Mapping[str, Any]) -> Step:
    fields = dict(data["action"])
    kind = _ACTIONS[fields.pop("type")]
    if fields["usage"] is not None:
        fields["usage"] = _usage(fields["usage"])
    if kind is ToolCalls:
        fields["calls"] = tuple(ToolCall(**call) for call in fields["calls"])
    results = tuple(ToolResult(**result) for result in data["results"])
    return Step(turn=data["turn"], action=kind(**fields), results=results, reply=data.get("reply"))
