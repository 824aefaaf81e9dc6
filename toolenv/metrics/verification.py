"""What human verification says of the labels: agreement and precision (paper 1, Tables 7 and 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from toolenv.feasibility.annotation.agreement import Coefficient, cohen_kappa, gwet_ac1
from toolenv.feasibility.annotation.verdict import Judged
from toolenv.metrics.stats import CONFIDENCE, Estimate, wilson


@dataclass(frozen=True, slots=True)
class Group:
    """One row of Tables 7 and 8.

    Attributes:
        name: a suite, ``single-tool masks``, ``multi-tool masks`` or ``total``.
        sampled: items drawn.
        agreement: the share of items, of those answered by both, that got the same answer twice.
        precision: the share of items whose label people confirmed; an ``unsure`` that stands is no
            confirmation. Withheld, between the worst and the best that they may become, while verdicts are
            open.
    """

    name: str
    sampled: int
    agreement: Estimate
    precision: Estimate


@dataclass(frozen=True, slots=True)
class Verification:
    """All that a verified sample says.

    Attributes:
        suites: a group each, names sorted.
        mask_sizes: single-tool and multi-tool masks.
        total: all items.
        kappa, ac1: Cohen's κ and Gwet's AC1 over all items answered by both; not rates, so that they may be
            negative.
        disagreements: items with two different answers.
        unsure: items with an ``unsure`` among the two answers.
        unanswered: items not answered by both.
        unsettled: items that wait for adjudication.
    """

    suites: tuple[Group, ...]
    mask_sizes: tuple[Group, ...]
    total: Group
    kappa: Estimate
    ac1: Estimate
    disagreements: int
    unsure: int
    unanswered: int
    unsettled: int

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every row, in the order of Table 8."""
        return (*self.suites, *self.mask_sizes, self.total)


def verify(judged: Sequence[Judged]) -> Verification:
    """Tables 7 and 8 from judged items."""
    pairs = [one.pair for one in judged if one.pair]
    names = sorted({one.item.suite for one in judged})
    return Verification(
        suites=tuple(_group(name, (one for one in judged if one.item.suite == name)) for name in names),
        mask_sizes=(
            _group("single-tool masks", (one for one in judged if len(one.item.masked) == 1)),
            _group("multi-tool masks", (one for one in judged if len(one.item.masked) > 1)),
        ),
        total=_group("total", judged),
        kappa=_coefficient(cohen_kappa(pairs)),
        ac1=_coefficient(gwet_ac1(pairs)),
        disagreements=sum(first != second for first, second in pairs),
        unsure=sum("unsure" in pair for pair in pairs),
        unanswered=len(judged) - len(pairs),
        unsettled=sum(one.pair is not None and one.verdict is None for one in judged),
    )


def _group(name: str, judged: Iterable[Judged]) -> Group:
    members = list(judged)
    pairs = [one.pair for one in members if one.pair]
    agreement = wilson(sum(first == second for first, second in pairs), len(pairs))
    return Group(
        name,
        len(members),
        replace(agreement, excluded=len(members) - len(pairs)),
        _precision([one.verdict for one in members]),
    )


def _precision(verdicts: Sequence[str | None]) -> Estimate:
    confirmed, n, still_open = verdicts.count("no"), len(verdicts), verdicts.count(None)
    if not still_open:
        return wilson(confirmed, n)
    low, high = wilson(confirmed, n).low, wilson(confirmed + still_open, n).high
    return Estimate(
        math.nan, low, high, n - still_open, "worst case", confirmed, excluded=still_open, withheld=True
    )


def _coefficient(one: Coefficient) -> Estimate:
    """With its normal interval, at most 1; where no answers differ, nothing tells its spread."""
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * (one.error or math.nan)
    return Estimate(one.value, one.value - half, min(one.value + half, 1.0), one.n, "delta method")
