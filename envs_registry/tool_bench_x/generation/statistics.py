"""Counts of a generation, in the order in which paper 2's appendix gives its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envs_registry.tool_bench_x.generation.candidate import Candidate
from envs_registry.tool_bench_x.generation.reasons import SCREENING
from toolenv.metrics.stats import Estimate, wilson
from toolenv.types import Usage, total_usage


@dataclass(frozen=True)
class Statistics:
    """What became of the candidates.

    Attributes:
        raw: candidates made.
        screened: those that passed the preliminary screening: readable, no duplicates, tools that run, a
        clean
            path that gives the answer, the same each time, in the workflow asked for.
        recoverable, leakless: of those that got to the automatic checks, how many passed each.
        retained: of the screened, how many passed everything.
        reasons: how many were rejected, by reason, the most frequent first.
        retained_by: counts of the retained by ``workflow``, ``hazard``, ``domain`` and ``tools``.
        answers, unreadable: answers of the model, and how many of them could not be used.
        usage: tokens, all attempts included.
    """

    raw: int
    screened: int
    recoverable: Estimate
    leakless: Estimate
    retained: Estimate
    reasons: Mapping[str, int]
    retained_by: Mapping[str, Mapping[str, int]]
    answers: int
    unreadable: int
    usage: Usage

    def to_json(self) -> dict[str, Any]:
        """JSON values; rates as their count and n."""
        rates = {name: getattr(self, name) for name in ("recoverable", "leakless", "retained")}
        tokens = {"input_tokens": self.usage.input_tokens, "output_tokens": self.usage.output_tokens}
        return {
            "raw": self.raw,
            "screened": self.screened,
            **{name: {"count": rate.count or 0, "n": rate.n} for name, rate in rates.items()},
            "rejected": dict(self.reasons),
            "retained_by": {name: dict(counts) for name, counts in self.retained_by.items()},
            "answers": self.answers,
            "unreadable_answers": self.unreadable,
            **tokens,
        }


def statistics(candidates: Sequence[Candidate]) -> Statistics:
    """Count candidates."""
    screened = [one for one in candidates if one.reason not in SCREENING and not _stopped_early(one)]
    checked = [one for one in screened if one.recoverable is not None]
    retained = [one for one in candidates if one.is_retained]
    return Statistics(
        raw=len(candidates),
        screened=len(screened),
        recoverable=wilson(sum(bool(one.recoverable) for one in checked), len(checked)),
        leakless=wilson(sum(bool(one.leakless) for one in checked), len(checked)),
        retained=wilson(len(retained), len(screened)),
        reasons=dict(Counter(one.reason for one in candidates if one.reason).most_common()),
        retained_by={
            "workflow": _counted(one.key.workflow for one in retained),
            "hazard": _counted(one.hazard for one in retained),
            "domain": _counted(one.key.topic for one in retained),
            "tools": _counted(str(len(one.tools)) for one in retained),
        },
        answers=sum(one.answers for one in candidates),
        unreadable=sum(one.unreadable for one in candidates),
        usage=total_usage(one.usage for one in candidates),
    )


def _stopped_early(candidate: Candidate) -> bool:
    """Whether the sandbox stopped the clean tools: then it never had a hazard."""
    return candidate.reason.startswith("stopped-") and not candidate.hazard


def _counted(names: Any) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))
