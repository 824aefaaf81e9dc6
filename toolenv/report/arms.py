"""The arms of a study side by side (paper 2, §4, Fig. 4): accuracy, paired differences, the gap closed.

Every arm is told over all tasks of its baseline. ``tts`` and ``hint`` play only what failed there; what
succeeded counts as it did. So arms have a table of their own: the main one shows a run's own episodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolenv.episode import Episode
from toolenv.metrics.comparison import QUANTITIES, Comparison, Quantity, compare, match
from toolenv.metrics.coverage import is_enough, unresolved, with_coverage, withheld
from toolenv.metrics.gap import Outcomes, gap_closed
from toolenv.metrics.outcomes import invalid_counts
from toolenv.metrics.paired_coverage import Played, covered_comparison
from toolenv.metrics.registry import catalogue
from toolenv.metrics.stats import Estimate, no_data
from toolenv.report.collect import labels_of
from toolenv.report.serial import estimate_to_json
from toolenv.runner.arms import ARMS, BASELINE, CONTINUING
from toolenv.runner.baseline import fingerprint, has_failed

SUCCESS: Quantity = next(one for one in QUANTITIES if one.name == "sr")


@dataclass(frozen=True)
class ArmRun:
    """A run directory: its ``run.json`` and its episodes."""

    header: Mapping[str, Any]
    episodes: Sequence[Episode]

    @property
    def arm(self) -> str:
        """Which arm it is."""
        return arm_of(self.header)

    @property
    def study(self) -> str:
        """The hash of the baseline's configuration."""
        of = self.header if self.arm == BASELINE else self.header["baseline"]
        return str(of.get("config_hash"))


@dataclass(frozen=True)
class ArmRow:
    """One arm of a study.

    Attributes:
        env, agent: the baseline's.
        arm: one of :data:`toolenv.runner.arms.ARMS`.
        planned, valid, invalid: episodes, those that the baseline decided included.
        went_on: how many of them are failed episodes that went on, or were to.
        recovered: how many of those succeeded.
        success_rate: SR over all; withheld below 90% coverage.
        comparison: success in the arm against the baseline, paired; ``None`` of the baseline.
            Withheld below 90% of the pairs.
        closed: the share of the gap between baseline and oracle that the arm closes.
    """

    env: str
    agent: str
    arm: str
    planned: int
    valid: int
    invalid: int
    went_on: int
    recovered: int
    success_rate: Estimate
    comparison: Comparison | None
    closed: Estimate


@dataclass(frozen=True)
class ArmsReport:
    """The rows of every study with more arms than a baseline, and what keeps others from having one."""

    rows: Sequence[ArmRow] = ()
    notes: Sequence[str] = ()


def arm_of(header: Mapping[str, Any]) -> str:
    """The arm of a run; runs of earlier versions are baselines."""
    return str(header.get("arm", BASELINE))


def build_arms(runs: Iterable[ArmRun]) -> ArmsReport:
    """The studies among runs, in the order of their first run; arms in the order of ``ARMS``.

    Args:
        runs: of any kind; those that are part of no study are left out.
    """
    studies: dict[str, dict[str, ArmRun]] = {}
    notes: list[str] = []
    for run in runs:
        members = studies.setdefault(run.study, {})
        if run.arm in members:
            notes.append(f"{run.header['agent']}: two runs are the same arm of one study; the first counts")
        members.setdefault(run.arm, run)
    rows: list[ArmRow] = []
    for members in studies.values():
        fitting = dict(_fitting(members, notes))
        if BASELINE in fitting and len(fitting) > 1:
            rows += _rows(fitting)
            notes += _invalid(fitting)
    return ArmsReport(rows, notes)


def _fitting(members: Mapping[str, ArmRun], notes: list[str]) -> Iterator[tuple[str, ArmRun]]:
    """The arms that can be told beside their baseline; notes say of the others why not."""
    base = members.get(BASELINE)
    for arm in ARMS:
        run = members.get(arm)
        if run is None:
            continue
        name, there = run.header["agent"], run.header.get("baseline", {}).get("failed")
        if base is None:
            notes.append(f"{name}: its baseline, the run with configuration {run.study}, is not among these")
        elif there is not None and there != fingerprint(base.episodes):
            notes.append(f"{name} went on from another run with the same configuration as this baseline")
        else:
            yield arm, run


def _invalid(members: Mapping[str, ArmRun]) -> Iterator[str]:
    """What made episodes of the arms invalid; the main table says it of the baseline."""
    for arm, run in members.items():
        for kind, count in invalid_counts(run.episodes).items():
            if arm != BASELINE:
                yield f"{run.header['agent']}: {count:,} of its episodes invalid by {kind}"


def _rows(members: Mapping[str, ArmRun]) -> Iterator[ArmRow]:
    told = {arm: _all_episodes(run, members[BASELINE]) for arm, run in members.items()}
    for run in members.values():
        yield _row(run, members[BASELINE], told)


def _all_episodes(run: ArmRun, base: ArmRun) -> list[Episode]:
    """An arm's episodes over all tasks: of one that goes on, with those that did not have to."""
    if run.arm not in CONTINUING:
        return list(run.episodes)
    return [one for one in base.episodes if not has_failed(one)] + list(run.episodes)


def _row(run: ArmRun, base: ArmRun, told: Mapping[str, Sequence[Episode]]) -> ArmRow:
    planned = sum(base.header["planned"].values())
    episodes, goes_on = told[run.arm], run.arm in CONTINUING
    sr, env = catalogue()["sr"], next(iter(base.header["planned"]))
    valid = sum(one.valid for one in episodes)
    return ArmRow(
        env=env,
        agent=str(base.header["agent"]),
        arm=run.arm,
        planned=planned,
        valid=valid,
        invalid=len(episodes) - valid,
        went_on=sum(run.header["planned"].values()) if goes_on else 0,
        recovered=sum(one.success is True for one in run.episodes) if goes_on else 0,
        success_rate=with_coverage(sr(episodes), sr, episodes, unresolved(episodes, planned, labels_of(env))),
        comparison=None if run.arm == BASELINE else _less_baseline(episodes, told[BASELINE], planned),
        closed=_closed(run.arm, told, planned),
    )


def _less_baseline(episodes: Sequence[Episode], base: Sequence[Episode], planned: int) -> Comparison:
    found = compare(match(episodes, base)[0], SUCCESS)
    sides = (Played(episodes, planned, SUCCESS.over), Played(base, planned, SUCCESS.over))
    return covered_comparison(found, SUCCESS, sides)


def _closed(arm: str, told: Mapping[str, Sequence[Episode]], planned: int) -> Estimate:
    """Over the episodes that all three arms tell of; without a point where these are fewer than 90%."""
    if arm not in CONTINUING or "oracle" not in told:
        return no_data()
    known = [_known(told[one]) for one in (BASELINE, arm, "oracle")]
    common = [key for key in known[0] if key in known[1] and key in known[2]]
    base, part, whole = ([one[key] for key in common] for one in known)
    by_task: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for key, *three in zip(common, base, part, whole, strict=True):
        by_task[key[0]].append(tuple(float(one.success is True) for one in three))
    found = gap_closed(
        compare(list(zip(part, base, strict=True)), SUCCESS).difference,
        compare(list(zip(whole, base, strict=True)), SUCCESS).difference,
        [
            Outcomes(*(sum(arm) / len(arm) for arm in zip(*trials, strict=True)))
            for trials in by_task.values()
        ],
    )
    lost = planned - len(common)
    return found if is_enough(len(common), lost) else withheld(found, "ratio", lost)


def _known(episodes: Iterable[Episode]) -> dict[tuple[str, int], Episode]:
    return {(one.task_id, one.trial): one for one in episodes if one.valid and one.success is not None}


def arms_to_json(report: ArmsReport) -> list[dict[str, Any]]:
    """``[{"env", "agent", "arm", "planned", …, "sr": {…}, "difference": {…}, "closed": {…}}, …]``."""
    return [
        {
            **{name: getattr(row, name) for name in _PLAIN},
            "sr": estimate_to_json(row.success_rate),
            "difference": None if row.comparison is None else estimate_to_json(row.comparison.difference),
            "p": None if row.comparison is None else row.comparison.p,
            "closed": estimate_to_json(row.closed),
        }
        for row in report.rows
    ]


_PLAIN = ("env", "agent", "arm", "planned", "valid", "invalid", "went_on", "recovered")
