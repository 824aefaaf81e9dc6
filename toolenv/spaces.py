"""The action and observation spaces, the same for every task and suite.

Tool pools differ per task and stand in the observation; ``ActionSpace.sample(mask=observation.tools)``
draws calls of the tools offered, with arguments that fit their schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from gymnasium import Space

from toolenv.actions import problem_of
from toolenv.sampling import sample_action, sample_text
from toolenv.types import (
    Action,
    ChatMessage,
    Observation,
    ToolSpec,
)


class ActionSpace(Space[Action]):
    """Every :data:`toolenv.types.Action`."""

    def __init__(self, seed: int | numpy.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Actions do not flatten to an array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an action, all its parts included."""
        return not problem_of(x)

    def sample(self, mask: Sequence[ToolSpec] | None = None, probability: None = None) -> Action:
        """A random action.

        Args:
            mask: the tools offered; calls are then of these, with arguments that fit their schemas.
            probability: not supported.
        """
        if probability is not None:
            raise ValueError("ActionSpace.sample takes no probability")
        return sample_action(self.np_random, mask)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "ActionSpace()"


class ObservationSpace(Space[Observation]):
    """Every :class:`toolenv.types.Observation`; texts of any length in any script."""

    def __init__(self, seed: int | numpy.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Observations do not flatten to an array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an observation."""
        return (
            isinstance(x, Observation)
            and isinstance(x.turns_left, int)
            and all(
                isinstance(message, ChatMessage) and isinstance(message.content, str)
                for message in x.messages
            )
            and all(isinstance(tool, ToolSpec) for tool in x.tools)
        )

    def sample(self, mask: None = None, probability: None = None) -> Observation:
        """A random observation: one user message and one or two tools."""
        if mask is not None or probability is not None:
            raise ValueError("ObservationSpace.sample takes neither mask nor probability")
        rng = self.np_random
        parameters = {"type": "object", "properties": {"value": {"type": "string"}}, "required": []}
        tools = tuple(
            ToolSpec(f"tool_{index}", sample_text(rng), parameters, f"tool_{index}")
            for index in range(int(rng.integers(1, 3)))
        )
        return Observation((ChatMessage("user", sample_text(rng)),), tools, int(rng.integers(1, 11)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObservationSpace)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "ObservationSpace()"
