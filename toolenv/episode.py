"""The record of one finished episode: what stores keep, metrics read and reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolenv.errors import DataCorruptError
from toolenv.types import Label

EPISODE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode, without its trace; small enough to hold millions.

    Attributes:
        env: the env id, e.g. ``"ToolFeas/BFCL-clean-v0"``.
        agent: the policy's name.
        task_id, trial, seed: which episode.
        label: y, the truth (§4.3).
        decision: ŷ under the strict rule. ``"infeasible"`` is a stop.
        lenient_decision: ŷ when the equivalent phrasings of Appendix F count as a stop too.
        decided_by: ``stop_signal``, ``stop_phrase``, ``message``, ``malformed``, ``truncated``,
            ``truncated_by_length``, ``terminal_tool``, or the kind of error of an invalid episode.
        success: s; ``None`` where the task has no criterion that could be assessed.
        reward: what the environment paid; ``None`` for an invalid episode.
        valid: whether it is an outcome at all; an infrastructure failure is not.
        turns, calls: decisions and tool calls made.
        input_tokens, output_tokens: ``None`` where unknown.
        estimated_tokens: whether any count is a local estimate.
        flags: the task's flags (:data:`toolenv.feasibility.manifest.FLAGS`).
        error: what made it invalid.
    """

    env: str
    agent: str
    task_id: str
    trial: int
    seed: int
    label: Label
    decision: Label
    lenient_decision: Label
    decided_by: str
    success: bool | None
    reward: float | None
    valid: bool
    turns: int
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    estimated_tokens: bool = False
    flags: tuple[str, ...] = ()
    error: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """What makes an episode unique within a run: env, task, trial."""
        return (self.env, self.task_id, self.trial)

    @property
    def tokens(self) -> int | None:
        """tok(i) (§4.3): all tokens up to and including the terminating decision."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; :meth:`from_json` reads it back to an equal episode."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {"version": EPISODE_VERSION, **plain, "flags": list(self.flags)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Episode:
        """Read an episode back.

        Raises:
            DataCorruptError: another version, or not an episode.
        """
        if data.get("version") != EPISODE_VERSION:
            raise DataCorruptError(
                f"episode version {data.get('version')!r} cannot be read; this toolenv reads "
                f"{EPISODE_VERSION}"
            )
        plain = {name: data[name] for name in cls.__slots__}
        return cls(**{**plain, "flags": tuple(plain["flags"])})
