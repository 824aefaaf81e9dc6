"""Two agents over clean and infeasible together, counted by hand."""

from __future__ import annotations

import math
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.paired import PairCounts, paired_difference
from toolenv.report.collect import Run
from toolenv.report.compare import ComparisonRow, compare_runs, comparisons_to_json

CLEAN, INFEASIBLE = "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0"
POOLED = "ToolFeas/BFCL (pooled)"

clean = partial(plain_episode, env=CLEAN)
infeasible = partial(plain_episode, env=INFEASIBLE, label="infeasible", success=False)


def played(agent: str, solved: str, stopped: str) -> list[Episode]:
    """Four tasks in both conditions; 1 where it is solved, or stopped on."""
    return [
        *(clean(agent=agent, task_id=str(at), success=one == "1") for at, one in enumerate(solved)),
        *(
            infeasible(agent=agent, task_id=str(at), decision="infeasible" if one == "1" else "feasible")
            for at, one in enumerate(stopped)
        ),
    ]


FIRST, SECOND = played("one", "1110", "1100"), played("other", "0110", "0000")


def rows(first: Run, second: Run) -> dict[str, ComparisonRow]:
    return {row.first.env: row for row in compare_runs([first], [second])}


def test_fass_has_a_paired_difference_over_both_conditions() -> None:
    """Of 8 pairs both are right in 2, the first alone in 3; of 4 tasks it is ahead in 2 and never behind."""
    found = rows(Run(FIRST), Run(SECOND))
    assert list(found) == [CLEAN, INFEASIBLE, POOLED]
    row = found[POOLED]
    assert (row.first.agent, row.second.env, row.pooled) == ("one", POOLED, (CLEAN, INFEASIBLE))
    assert (row.first.planned, row.first.valid, row.matching.pairs) == (8, 8, 8)
    fass = row.quantities["fass"]
    assert fass.pairs == PairCounts(2, 3, 0, 3)
    assert (fass.first.value, fass.second.value, fass.difference.value) == (5 / 8, 2 / 8, 3 / 8)
    of_tasks = paired_difference(PairCounts(1, 1.5, 0, 1.5))
    assert (fass.difference.low, fass.difference.high) == pytest.approx((of_tasks.low, of_tasks.high))
    assert fass.p == 2 / 2**2, "the sign test of the two tasks in which they differ"
    assert row.quantities["sr"].difference.value == found[CLEAN].quantities["sr"].difference.value
    (*_, last) = comparisons_to_json([row])["comparisons"]
    assert (last["first"]["env"], last["pooled"]) == (POOLED, [CLEAN, INFEASIBLE])
    assert "8 pairs of episodes, by environment, task and trial" in last["notes"][0]


def test_a_missing_condition_withholds_what_rests_on_it() -> None:
    """One agent's infeasible episodes were planned and never ended: SR stands, FASS does not."""
    planned = {(CLEAN, "one"): 4, (INFEASIBLE, "one"): 4}
    row = rows(Run(FIRST[:4], planned), Run(SECOND))[POOLED]
    assert row.quantities["fass"].difference.withheld
    assert math.isnan(row.quantities["fass"].difference.value)
    assert not row.quantities["sr"].difference.withheld


def test_twins_are_never_partners_of_each_other() -> None:
    """One agent ended clean episodes alone, the other infeasible ones alone: there is no pair."""
    plans = ({(env, agent): 4 for env in (CLEAN, INFEASIBLE)} for agent in ("one", "other"))
    with pytest.raises(UsageError, match="nothing to compare"):
        compare_runs([Run(FIRST[:4], next(plans))], [Run(SECOND[4:], next(plans))])


def test_only_what_a_report_pools_is_pooled() -> None:
    assert POOLED not in rows(Run(FIRST[:4]), Run(SECOND))
    apart = compare_runs([Run(FIRST[:4], settings={"max_turns": 1}), Run(FIRST[4:])], [Run(SECOND)])
    assert [row.first.env for row in apart] == [CLEAN, INFEASIBLE]
