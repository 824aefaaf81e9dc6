"""Policies: whatever makes the decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from toolenv.errors import UsageError
from toolenv.task import Task
from toolenv.types import Action, Observation

PolicyFunction: TypeAlias = Callable[[Observation], Action]


@runtime_checkable
class Policy(Protocol):
    """Makes decisions; stateless between episodes.

    What must persist inside one episode (a plan, a random stream) is ``memory``: ``None`` at the first
    decision, then whatever the last one returned. A policy may be shared by many threads.

    Attributes:
        name: shown in tables and stored with every episode.
    """

    name: str

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        """Decide."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """A policy that is told the truth (oracles, scripts). For reference rows only."""

    def brief(self, task: Task) -> Any:
        """The memory to start an episode of ``task`` with."""
        ...


@runtime_checkable
class Seeded(Protocol):
    """A policy that makes choices by chance: it is told the episode's seed."""

    def start(self, seed: int) -> Any:
        """The memory to start an episode with; its choices are a function of ``seed``."""
        ...


class FunctionPolicy:
    """A plain function ``observation -> Action`` as a policy."""

    def __init__(self, function: PolicyFunction, name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        """Call the function; memory is passed through."""
        return self.function(observation), memory


def as_policy(policy: Policy | PolicyFunction) -> Policy:
    """Any policy or callable as a :class:`Policy`.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(policy, Policy) and not isinstance(policy, type):
        return policy
    if callable(policy) and not isinstance(policy, type):
        return FunctionPolicy(policy)
    raise UsageError(
        f"{policy!r} is no policy: give an object with `name` and `act(observation, memory) -> "
        "(action, memory)`, or a function `observation -> action`"
    )
