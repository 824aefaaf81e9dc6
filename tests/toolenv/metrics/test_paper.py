"""Paper 1's Table 9 (FASS) from its Table 2 (SR, FCR) through the metrics themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.metrics.rates import false_stop_rate, fass, fcr_strict, sr

SUITES = ("BFCL", "StableToolBench", "APIBank", "TauBench")
ORIGINAL = (1453, 765, 209, 165)
INFEASIBLE = (445, 300, 184, 107)

TABLES = """
GPT-OSS-120B      | 79.8 57.8 50.7 12.1 | 25.8 31.0 15.2 25.2 | 78.5 60.9 66.7 36.8
GPT-5.5           | 83.3 55.9 45.9 19.4 | 23.8 13.0 21.7 35.5 | 81.7 64.8 61.1 37.1
DeepSeek-V4-Flash | 86.5 72.0 50.7 17.0 | 29.4 44.3 48.9 99.1 | 82.8 67.4 50.9 10.7
DeepSeek-V4-Pro   | 86.2 75.9 59.8 16.4 | 28.8 40.7 55.4 93.5 | 82.7 71.2 52.7 12.5
Qwen3.5-9B        | 85.5 69.3 57.4 19.4 | 49.7 68.7 79.9 97.2 | 77.3 58.6 39.9 12.9
Qwen3.5-27B       | 86.0 66.5 61.2 23.0 | 27.0 45.0 45.1 78.5 | 82.9 63.3 58.3 22.4
Qwen3.5-35B-A3B   | 85.6 67.6 57.4 23.0 | 37.8 61.7 53.3 91.6 | 80.1 59.3 52.4 17.3
Qwen3.5-122B-A10B | 85.3 66.1 59.8 20.6 | 38.4 47.7 59.2 86.0 | 79.7 62.3 50.9 16.2
Qwen3.5-397B-A17B | 86.2 65.8 58.4 25.5 | 25.8 42.0 43.5 67.3 | 83.4 63.6 57.5 28.3
"""
"""Model | SR of Table 2(a) | FCR of Table 2(b) | FASS of Table 9; columns as in ``SUITES``."""

Cell = tuple[str, str]

episode = partial(plain_episode, env="", agent="model")


def run(original: int, successes: int, infeasible: int, continues: int) -> Iterator[Episode]:
    for number in range(original):
        yield episode(
            task_id=f"original-{number}",
            label="feasible",
            decision="feasible",
            lenient_decision="feasible",
            success=number < successes,
        )
    for number in range(infeasible):
        decision = "feasible" if number < continues else "infeasible"
        yield episode(
            task_id=f"infeasible-{number}",
            label="infeasible",
            decision=decision,
            lenient_decision=decision,
            success=False,
        )


def nearest(percent: float, n: int) -> int:
    return round(percent * n / 100)


def printing_as(percent: float, n: int) -> list[int]:
    """Every count whose percentage prints as ``percent``: near the nearest there may be a second."""
    near = nearest(percent, n)
    return [count for count in range(near - 1, near + 2) if abs(100 * count / n - percent) <= 0.05 + 1e-9]


def cells() -> Iterator[tuple[Cell, float, float, float, int, int]]:
    for line in TABLES.strip().splitlines():
        model, *groups = (part.strip() for part in line.split("|"))
        columns = zip(*([float(number) for number in group.split()] for group in groups), strict=True)
        for suite, original, infeasible, printed in zip(SUITES, ORIGINAL, INFEASIBLE, columns, strict=True):
            yield (model, suite), *printed, original, infeasible


@cache
def measured(
    original: int, successes: int, infeasible: int, continues: int
) -> tuple[float, float, float, float]:
    episodes = list(run(original, successes, infeasible, continues))
    metrics = (sr, fcr_strict, fass, false_stop_rate)
    success, continued, both, stopped = (100 * metric(episodes).value for metric in metrics)
    return success, continued, both, stopped


def prints_as(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.05 + 1e-9


def test_all_36_cells_follow_from_whole_counts_but_three() -> None:
    """Table 9's cells that no counts behind Table 2's printed SR and FCR can give."""
    unmet = set()
    for cell, success, continued, both, original, infeasible in cells():
        pairs = [(a, b) for a in printing_as(success, original) for b in printing_as(continued, infeasible)]
        assert pairs, cell
        results = [measured(original, a, infeasible, b) for a, b in pairs]
        assert all(prints_as(one[0], success) and prints_as(one[1], continued) for one in results)
        if not any(prints_as(one[2], both) for one in results):
            unmet.add(cell)
    assert unmet == {
        ("GPT-5.5", "StableToolBench"),
        ("DeepSeek-V4-Pro", "StableToolBench"),
        ("Qwen3.5-122B-A10B", "TauBench"),
    }


def test_30_of_the_36_cells_follow_from_the_nearest_counts() -> None:
    """On BFCL two counts print as one SR, and the nearest is not always the paper's."""
    unmet = {
        cell
        for cell, success, continued, both, original, infeasible in cells()
        if not prints_as(
            measured(original, nearest(success, original), infeasible, nearest(continued, infeasible))[2],
            both,
        )
    }
    assert unmet == {
        ("GPT-5.5", "BFCL"),
        ("GPT-5.5", "StableToolBench"),
        ("DeepSeek-V4-Pro", "StableToolBench"),
        ("Qwen3.5-9B", "BFCL"),
        ("Qwen3.5-27B", "BFCL"),
        ("Qwen3.5-122B-A10B", "TauBench"),
    }


def test_the_cells_that_cannot_be_met() -> None:
    """34 of 165 and 15 of 107 stopped: 49 / 272 = 18.0, printed 16.2. The other two miss by 0.1."""
    assert round(measured(165, 34, 107, 92)[2], 1) == 18.0
    assert round(measured(765, 428, 300, 39)[2], 1) == 64.7  # printed 64.8
    assert round(measured(765, 581, 300, 122)[2], 1) == 71.3  # printed 71.2


def test_agents_that_never_stop_a_feasible_task_have_a_false_stop_rate_of_0() -> None:
    assert measured(165, 34, 107, 92)[3] == 0
