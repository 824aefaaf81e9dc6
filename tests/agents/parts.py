"""Parts for tests of composed policies: scripts told apart by task, and a policy that shows what it saw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolenv.agents.scripted import next_action
from toolenv.ledger import kept_of
from toolenv.task import Task
from toolenv.types import Action, Message, Observation, Stop, ToolCall, ToolCalls, Usage


class ByTask:
    """Plays the script of ``"label id"``; told the task, as an oracle is."""

    def __init__(self, name: str, scripts: Mapping[str, Sequence[Action]]) -> None:
        self.name, self.scripts = name, {key: tuple(actions) for key, actions in scripts.items()}

    def brief(self, task: Task) -> tuple[Action, ...]:
        return self.scripts[f"{task.label} {task.id}"]

    def act(self, observation: Observation, memory: tuple[Action, ...]) -> tuple[Action, Any]:
        return next_action(memory)


class Watched:
    """Plays one action after another and keeps every observation and memory it was given."""

    def __init__(self, *actions: Action | Callable[[], Action], name: str = "watched") -> None:
        self.name, self.actions = name, list(actions)
        self.seen: list[Observation] = []
        self.memories: list[Any] = []

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        number = len(self.seen)
        self.seen.append(observation)
        self.memories.append(memory)
        action = self.actions[min(number, len(self.actions) - 1)]
        return (action if isinstance(action, ToolCalls | Message | Stop) else _made(action)), number


def _made(action: Any) -> Action:
    made: Action = action() if callable(action) else action
    return made


def pay(amount: Any, tokens_in: int | None = None, tokens_out: int | None = None) -> ToolCalls:
    """A call of the toy bank's ``pay``."""
    call = ToolCall("pay", {"account": "A1", "amount": amount})
    return ToolCalls((call,), usage=Usage(tokens_in, tokens_out))


def balance(tokens_in: int | None = None, tokens_out: int | None = None) -> ToolCalls:
    """A call of the toy bank's ``accounts.balance``."""
    return ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),), usage=Usage(tokens_in, tokens_out))


def say(text: str, tokens_in: int | None = None, tokens_out: int | None = None) -> Message:
    return Message(text, usage=Usage(tokens_in, tokens_out))


def stop(reason: str, tokens_in: int | None = None, tokens_out: int | None = None) -> Stop:
    return Stop(reason, usage=Usage(tokens_in, tokens_out))


def notes(action: Action) -> dict[str, Any]:
    """What an action keeps for readers of the trace."""
    kept: dict[str, Any] = kept_of(action)
    return kept
