"""Successful traces: what critical tools are computed from (paper 1, §3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolenv.trace import Trace


@dataclass(frozen=True, slots=True)
class SuccessfulTrace:
    """A trace judged successful.

    Attributes:
        agent: whose it is.
        trial: which of the agent's repetitions.
        trace: the trace.
        origin: the run or file it comes from.
        is_witness: whether it was made without the masked tools. It then bears on which tools are critical,
            but its agent does not count towards the number of agents needed.
    """

    agent: str
    trial: int
    trace: Trace
    origin: str
    is_witness: bool = False

    @property
    def tools(self) -> frozenset[str]:
        """S (§3.2): the tools of the calls that succeeded."""
        return frozenset(call.name for call, _ in self.trace.calls("ok"))


@dataclass(frozen=True, slots=True)
class TraceSource:
    """A run directory or file that traces were read from, for a manifest's provenance.

    Attributes:
        kind: ``run``, ``refutation``, ``foreign`` or ``reference``.
        name: the folder's or file's own name.
        agent: the run's agent; empty where several share a file.
        config_hash: of the run's configuration; empty where there is none.
        episodes: valid episodes of the tasks asked for.
        successful: how many of them are judged successful.
        disputed: how many the run calls successful and this version's judge does not.
    """

    kind: str
    name: str
    agent: str
    config_hash: str
    episodes: int
    successful: int
    disputed: int = 0

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True)
class Traces:
    """All that is known of who solved which task.

    Attributes:
        successes: task id → its successful traces.
        attempts: task id → agent → valid episodes, whatever came of them.
        sources: where they come from.
    """

    successes: Mapping[str, Sequence[SuccessfulTrace]] = field(default_factory=dict)
    attempts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sources: tuple[TraceSource, ...] = ()

    @property
    def agents(self) -> frozenset[str]:
        """Every agent that was run on any of the tasks."""
        return frozenset(agent for counts in self.attempts.values() for agent in counts)

    def __add__(self, other: Traces) -> Traces:
        successes = {
            task: sorted(
                [*self.successes.get(task, ()), *other.successes.get(task, ())],
                key=lambda one: (one.is_witness, one.agent, one.origin, one.trial),
            )
            for task in {**self.successes, **other.successes}
        }
        attempts = {
            task: dict(Counter(self.attempts.get(task, {})) + Counter(other.attempts.get(task, {})))
            for task in {**self.attempts, **other.attempts}
        }
        return Traces(successes, attempts, self.sources + other.sources)
