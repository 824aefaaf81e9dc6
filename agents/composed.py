"""What policies made of other policies have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolenv.deliberation import conclude, opening, part_seed
from toolenv.policy import Answer, Deliberation, Policy, Privileged
from toolenv.task import Task
from toolenv.types import Observation, Usage, total_usage


@dataclass(frozen=True, slots=True)
class ComposedSettings:
    """All settings behind a composed policy that may move a score, by name: ``planner.max_tokens``."""

    values: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """For a run's record."""
        return dict(self.values)


class Composed(ABC):
    """A policy made of others: stateless, shared by threads, picklable if they are.

    A part that is told the truth (a script, the oracle) is told it; the others are not, and if there is no
    such part, the whole has no ``brief``. Parts that choose by chance get a seed each. Preflight and closing
    reach every part once.

    Args:
        name: shown in tables.
        parts: the policies by role; ``""`` for one that plays no role of its own.
        settings: what of its own may move a score.

    Attributes:
        brief: see :class:`toolenv.policy.Privileged`; absent if no part is told the truth.
    """

    brief: Callable[[Task], Any]

    def __init__(self, name: str, parts: Mapping[str, Policy], **settings: Any) -> None:
        self.name, self.parts, self._own_settings = name, dict(parts), settings
        if any(isinstance(part, Privileged) for part in parts.values()):
            self.brief = self.begin

    @abstractmethod
    def begin(self, task: Task | None = None, seed: int | None = None) -> Any:
        """The memory an episode starts with: ``task`` for parts told the truth, ``seed`` for chance."""

    @abstractmethod
    def deliberate(self, observation: Observation, memory: Any) -> Deliberation:
        """Decide, and say whom to ask; memory ``None`` is :meth:`begin`'s."""

    def act(self, observation: Observation, memory: Any) -> Answer:
        """Decide."""
        return conclude(self.deliberate(observation, memory))

    @property
    def settings(self) -> ComposedSettings:
        """The parts' settings, each under its role, and its own."""
        values: dict[str, Any] = {}
        for role, part in self.parts.items():
            told: dict[str, Any] = getattr(getattr(part, "settings", None), "to_json", dict)()
            values |= {f"{role}.{name}" if role else name: value for name, value in told.items()}
        return ComposedSettings({**values, **self._own_settings})

    def preflight(self) -> Usage:
        """Every part's own check before a run; what they cost together.

        Raises:
            PreflightError: one of them failed.
        """
        costs = [check() for check in self._methods("preflight")]
        return total_usage(cost if isinstance(cost, Usage) else Usage() for cost in costs)

    def close(self) -> None:
        """Close every part that can be closed."""
        for close in self._methods("close"):
            close()

    def _methods(self, name: str) -> Iterator[Callable[[], Any]]:
        """The parts' methods of that name, each part once."""
        for part in {id(part): part for part in self.parts.values()}.values():
            method = getattr(part, name, None)
            if callable(method):
                yield method


def beginning(policy: Policy, task: Task | None, seed: int | None, part: int | str = "") -> Any:
    """The memory a part starts an episode with; ``part`` tells parts apart that may be the same policy."""
    return opening(policy, task, part_seed(seed, part))
