"""The record of one finished episode: what stores keep, metrics read and reports show."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from toolenv.episode_types import check_record
from toolenv.errors import DataCorruptError
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import Reaction, shared_reaction
from toolenv.facts.task_facts import UNKNOWN_TASK, TaskFacts, shared_task_facts
from toolenv.pickling import quickly_pickled
from toolenv.trouble import NO_TROUBLE, Trouble
from toolenv.types import Label

EPISODE_VERSION = 2
READABLE_VERSIONS = (1, 2)
"""Episodes of version 1 have no facts: what tables would take from those is unknown."""


class RoleTokens(NamedTuple):
    """What one role of a composed policy spent in an episode; ``None`` where unknown."""

    input_tokens: int | None
    output_tokens: int | None
    estimated: bool = False

    @property
    def total(self) -> int | None:
        """All tokens, or ``None`` if unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


@quickly_pickled
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
        accurate: paper 2's accuracy, see :class:`toolenv.judge.Verdict`; ``None`` where it has no meaning.
        task: facts of the task.
        exposure: what became of the hazard; ``None`` if not recorded.
        reaction: what followed the first failed call; ``None`` if not recorded.
        roles: tokens by role, where the policy is made of several.
        trouble: what went wrong around it, and how often.
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
    accurate: bool | None = None
    task: TaskFacts = UNKNOWN_TASK
    exposure: Exposure | None = None
    reaction: Reaction | None = None
    roles: Mapping[str, RoleTokens] = field(default_factory=dict)
    trouble: Trouble = NO_TROUBLE

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

    @property
    def achieved(self) -> bool | None:
        """What V counts (paper 2, §3): accuracy where the suite tells it apart, success elsewhere."""
        return self.success if self.accurate is None else self.accurate

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; :meth:`from_json` reads it back to an equal episode."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {
            "version": EPISODE_VERSION,
            **plain,
            "flags": list(self.flags),
            "task": asdict(self.task),
            "exposure": self.exposure and self.exposure._asdict(),
            "reaction": self.reaction and asdict(self.reaction),
            "roles": {role: tokens._asdict() for role, tokens in self.roles.items()},
            "trouble": None if self.trouble == NO_TROUBLE else self.trouble.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Episode:
        """Read an episode back, of this version or an earlier one.

        Raises:
            DataCorruptError: another version, or not an episode.
        """
        version = data.get("version")
        if version not in READABLE_VERSIONS or isinstance(version, bool):
            raise DataCorruptError(
                f"episode version {version!r} cannot be read; this toolenv reads "
                f"{' and '.join(map(str, READABLE_VERSIONS))}"
            )
        plain = {name: data[name] for name in cls.__slots__ if version > 1 or name not in FACTS}
        check_record(plain)
        shared = {name: sys.intern(plain[name]) for name in _REPEATED}
        return cls(**{**plain, **shared, "flags": tuple(plain["flags"]), **_facts(plain)})


FACTS = ("accurate", "task", "exposure", "reaction", "roles", "trouble")
"""The fields that episodes of version 1 lack."""

_REPEATED = ("env", "agent", "task_id", "label", "decision", "lenient_decision", "decided_by")


def _facts(plain: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a record; none of one that has none."""
    if "task" not in plain:
        return {}
    exposed, reacted = plain["exposure"], plain["reaction"]
    return {
        "task": shared_task_facts(**plain["task"]),
        "exposure": None if exposed is None else Exposure(**exposed),
        "reaction": None if reacted is None else shared_reaction(**reacted),
        "roles": {sys.intern(role): RoleTokens(**tokens) for role, tokens in plain["roles"].items()},
        "trouble": Trouble.from_json(plain["trouble"]),
    }
