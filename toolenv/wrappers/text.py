"""Observations as one text, for policies that read text."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium import Space
from gymnasium.utils import RecordConstructorArgs

from toolenv.sampling import sample_text
from toolenv.transcript import render_conversation
from toolenv.types import Action, Observation


class UnicodeText(Space[str]):
    """Every text. ``gymnasium.spaces.Text`` needs a character set and a bound that tool output breaks."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Texts do not flatten to an array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a text."""
        return isinstance(x, str)

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A few random words."""
        return sample_text(self.np_random)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "UnicodeText()"


class TextObservation(gymnasium.ObservationWrapper[str, Action, Observation], RecordConstructorArgs):
    """The conversation as one text, as ``render_mode="ansi"`` prints it.

    Args:
        env: the environment.
        schemas: whether each tool on offer has a line of its own with its description and the JSON Schema of
            its arguments, so that calls can be made from the text alone; otherwise tools are names.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action], *, schemas: bool = False) -> None:
        RecordConstructorArgs.__init__(self, schemas=schemas)
        gymnasium.ObservationWrapper.__init__(self, env)
        self._schemas = schemas
        self.observation_space = UnicodeText()

    def observation(self, observation: Observation) -> str:
        """The text."""
        return render_conversation(observation, schemas=self._schemas)
