"""Review logs of two people and their agreement (paper 2, appendix, Double review and agreement).

A log is a file of JSON lines, one a reviewed task; the last line about a task counts::

    {"version": 1, "task": "sequential/travel/fares/task_1", "decision": "accept",
     "hazard": "output-drift", "note": "…"}

``decision`` is ``accept``, ``revise`` or ``remove``; ``hazard`` the category that the reviewer sees in it,
``""`` if none of the five.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

from envs_registry.tool_bench_x.layout import HAZARDS
from toolenv.errors import StoreError, UnknownNameError, UsageError
from toolenv.feasibility.annotation.agreement import Coefficient, cohen_kappa, gwet_ac1
from toolenv.metrics.stats import CONFIDENCE, Estimate, wilson

REVIEW_VERSION = 1
DECISIONS = ("accept", "revise", "remove")


@dataclass(frozen=True, slots=True)
class Review:
    """What one person says of one task."""

    decision: str
    hazard: str
    note: str = ""


@dataclass(frozen=True)
class Agreement:
    """How far two people agree, over the tasks that both reviewed.

    Attributes:
        agreement: the share of tasks with the same decision and the same hazard: the paper's rate.
        decisions, hazards: the share with the same decision, and with the same hazard.
        kappa, ac1: Cohen's κ and Gwet's AC1 of the decisions.
        hazard_kappa, hazard_ac1: the same of the hazards.
        only_one: tasks that only one of them reviewed; they count for nothing here.
        disputed: the tasks on which they differ, sorted.
        outcome: by decision, what became of the tasks; a dispute that was not settled is a removal. ``None``
            without a log of what was settled.
    """

    agreement: Estimate
    decisions: Estimate
    hazards: Estimate
    kappa: Estimate
    ac1: Estimate
    hazard_kappa: Estimate
    hazard_ac1: Estimate
    only_one: int
    disputed: tuple[str, ...]
    outcome: Mapping[str, int] | None = None


def read_reviews(path: Path) -> dict[str, Review]:
    """The reviews of a log, by task.

    Raises:
        StoreError: a line that is none, by number.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                task, review = _parsed(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise StoreError(f"{path}, line {number}: {error or type(error).__name__}") from error
            found[task] = review
    return found


def _parsed(record: Any) -> tuple[str, Review]:
    if not isinstance(record, dict) or record.get("version") != REVIEW_VERSION:
        raise UsageError(f"no review of version {REVIEW_VERSION}: {record!r:.80}")
    task, decision, hazard, note = (record.get(name, "") for name in ("task", "decision", "hazard", "note"))
    if not isinstance(task, str) or not task or not isinstance(note, str):
        raise UsageError("'task' must be a task's id, and 'note' a text")
    if decision not in DECISIONS:
        raise UnknownNameError("decision", decision, DECISIONS)
    if hazard and hazard not in HAZARDS:
        raise UnknownNameError("hazard", hazard, HAZARDS)
    return task, Review(decision, hazard, note)


def agreement(
    first: Mapping[str, Review], second: Mapping[str, Review], settled: Mapping[str, Review] | None = None
) -> Agreement:
    """The agreement of two people, and with what was settled afterwards also what became of the tasks."""
    both = sorted(first.keys() & second.keys())
    decisions = [(first[task].decision, second[task].decision) for task in both]
    hazards = [(first[task].hazard, second[task].hazard) for task in both]
    disputed = tuple(task for task in both if not _agree(first[task], second[task]))
    return Agreement(
        agreement=wilson(len(both) - len(disputed), len(both)),
        decisions=_rate(decisions),
        hazards=_rate(hazards),
        kappa=_estimate(cohen_kappa(decisions)),
        ac1=_estimate(gwet_ac1(decisions)),
        hazard_kappa=_estimate(cohen_kappa(hazards)),
        hazard_ac1=_estimate(gwet_ac1(hazards)),
        only_one=len(first.keys() ^ second.keys()),
        disputed=disputed,
        outcome=None if settled is None else _outcome(both, first, disputed, settled),
    )


def agreement_to_json(found: Agreement) -> dict[str, Any]:
    """JSON values; NaN as ``null``."""
    rates = ("agreement", "decisions", "hazards", "kappa", "ac1", "hazard_kappa", "hazard_ac1")
    return {
        **{name: _plain(getattr(found, name)) for name in rates},
        "only_one": found.only_one,
        "disputed": list(found.disputed),
        "outcome": None if found.outcome is None else dict(found.outcome),
    }


def _agree(one: Review, other: Review) -> bool:
    return (one.decision, one.hazard) == (other.decision, other.hazard)


def _rate(pairs: Sequence[tuple[str, str]]) -> Estimate:
    return wilson(sum(one == other for one, other in pairs), len(pairs))


def _estimate(found: Coefficient) -> Estimate:
    """With its normal interval, at most 1; where no answers differ, nothing tells its spread."""
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * (found.error or math.nan)
    return Estimate(found.value, found.value - half, min(found.value + half, 1.0), found.n, "delta method")


def _outcome(
    both: Iterable[str], first: Mapping[str, Review], disputed: Sequence[str], settled: Mapping[str, Review]
) -> dict[str, int]:
    """Instances without consensus are removed (paper 2, appendix, Review process)."""
    open_ones = set(disputed)
    final = (settled[task].decision if task in settled else "remove" for task in open_ones)
    agreed = (first[task].decision for task in both if task not in open_ones)
    counts = Counter([*final, *agreed])
    return {decision: counts[decision] for decision in DECISIONS}


def _plain(one: Estimate) -> dict[str, Any]:
    numbers = {name: getattr(one, name) for name in ("value", "low", "high")}
    return {name: None if math.isnan(value) else value for name, value in numbers.items()} | {"n": one.n}
