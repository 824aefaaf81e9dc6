"""``vote(3,SPEC)``: several answers to the same question, and the majority's decision."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from toolenv.errors import UsageError
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.policy import Answer, Deliberation, Policy, PolicyFunction, as_policy
from toolenv.task import Task
from toolenv.types import Action, Malformed, Message, Observation, ToolCall, ToolCalls

from .bill import Bill
from .composed import Composed, beginning
from .specs import whole_number
from .stops import as_stop

VoteMemory: TypeAlias = tuple[Any, ...]
"""One memory a voter."""


class Vote(Composed):
    """Voters who see the same conversation; what most of them decide is done.

    First the kind of decision is voted on (stop, calls, message), so that one stop does not beat three calls
    that differ; then its content: calls are equal by name and arguments, messages by their words, all stops
    are one. In a tie the earlier voter's wins. Malformed output is an abstention, unless there is nothing
    else.

    Each voter keeps a memory of its own, as if its decisions were the ones taken. Voters who are one and the
    same model differ only if it samples: give it a temperature above 0 and no fixed seed.

    Args:
        voters: at least one.
        name: shown in tables.

    Raises:
        UsageError: there is no voter.
    """

    def __init__(self, voters: Sequence[Policy | PolicyFunction], *, name: str = "") -> None:
        if not voters:
            raise UsageError("vote: no voter is given")
        self.voters = tuple(map(as_policy, voters))
        alike = all(voter is self.voters[0] for voter in self.voters)
        names = f"{len(voters)},{self.voters[0].name}" if alike else ",".join(one.name for one in self.voters)
        parts = {"": self.voters[0]} if alike else _numbered(self.voters)
        super().__init__(name or f"vote({names})", parts)

    def begin(self, task: Task | None = None, seed: int | None = None) -> VoteMemory:
        """Every voter's own."""
        return tuple(beginning(voter, task, seed, number) for number, voter in enumerate(self.voters))

    def deliberate(self, observation: Observation, memory: VoteMemory | None) -> Deliberation:
        """The decision of the majority."""
        bill = Bill()
        memories = self.begin() if memory is None else memory
        answers: list[Answer] = []
        for voter, own in zip(self.voters, memories, strict=True):
            answers.append((yield from bill.ask(voter, observation, own)))
        actions = [action for action, _ in answers]
        votes = dict(Counter(map(kind_of, actions)))
        return bill.settle(majority(actions), {"votes": votes}), tuple(own for _, own in answers)


def compose(arguments: Sequence[str], inner: Policy) -> Vote:
    """``vote(K,SPEC)``."""
    return Vote([inner] * whole_number("vote", "K", arguments))


def majority(actions: Sequence[Action]) -> Action:
    """The first of the actions that most agree on: by kind, then by content."""
    usable = [action for action in actions if not isinstance(action, Malformed)] or actions
    kind = _favourite(map(kind_of, usable))
    alike = [action for action in usable if kind_of(action) == kind]
    content = _favourite(map(content_of, alike))
    return next(action for action in alike if content_of(action) == content)


def kind_of(action: Action) -> str:
    """``stop``, ``calls``, ``message`` or ``malformed``; a message that says STOP is a stop."""
    if as_stop(action) is not None:
        return "stop"
    if isinstance(action, ToolCalls):
        return "calls"
    return "message" if isinstance(action, Message) else "malformed"


def content_of(action: Action) -> str:
    """What two actions of one kind must have in common to be one vote."""
    if isinstance(action, ToolCalls):
        return json.dumps([_content_of_call(call) for call in action.calls])
    return action.text.strip() if isinstance(action, Message) and as_stop(action) is None else ""


def _content_of_call(call: ToolCall) -> list[str]:
    try:
        arguments = json.dumps(clean_json(call.arguments)[0], sort_keys=True)
    except UnusableValueError as why:
        arguments = str(why)
    return [call.name, arguments, call.problem]


def _favourite(ballots: Iterable[str]) -> str:
    """The most frequent; of equals the first."""
    return Counter(ballots).most_common(1)[0][0]


def _numbered(voters: Sequence[Policy]) -> dict[str, Policy]:
    return {f"voter{number}": voter for number, voter in enumerate(voters, 1)}
