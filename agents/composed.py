"""What policies made of other policies have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolenv.deliberation import conclude, opening, part_seed
from toolenv.ledger import Ledger
from toolenv.policy import Answer, Deliberation, Policy, Privileged, preflight_parts
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
        return total_usage(self.preflight_by_role().values())

    def preflight_by_role(self) -> Ledger:
        """:meth:`preflight`, by role; a part that plays several is tried once, under the first of them."""
        return preflight_parts(self._each_once())

    def close(self) -> None:
        """Close every part that can be closed."""
        for _, part in self._each_once():
            close = getattr(part, "close", None)
            if callable(close):
                close()

    def _each_once(self) -> Iterator[tuple[str, Policy]]:
        """Every part with the first role that it plays."""
        seen: set[int] = set()
        for role, part in self.parts.items():
            if id(part) not in seen:
                seen.add(id(part))
                yield role, part


def beginning(policy: Policy, task: Task | None, seed: int | None, part: int | str = "") -> Any:
    """The memory a part starts an episode with; ``part`` tells parts apart that may be the same policy."""
    return opening(policy, task, part_seed(seed, part))
