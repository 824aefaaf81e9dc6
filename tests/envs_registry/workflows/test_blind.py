"""What the pool of tools alone tells of the label in training episodes: docs/workflows.md says how much."""

from __future__ import annotations

from collections.abc import Sequence

import gymnasium
import pytest

from toolenv import ToolSpec

EPISODES = 600


def twins(tools: Sequence[ToolSpec]) -> int:
    """Tools of which there is another source beside them."""
    names = {tool.name for tool in tools}
    return sum(one != other and one.endswith(f"_{other}") for one in names for other in names)


@pytest.mark.parametrize(
    ("decoys", "rule", "least", "documented"),
    [(False, len, 11, 0.92), (True, len, 7, 0.69), (False, twins, 2, 0.94), (True, twins, 2, 0.93)],
)
def test_what_a_policy_gets_right_that_does_not_read_the_task(
    decoys: bool, rule: object, least: int, documented: float
) -> None:
    """The rule "feasible if there are at least so many" is as often right as the page says."""
    assert callable(rule)
    env = gymnasium.make("ToolFeas/Workflows-mixed-v0", subset="train", decoys=decoys)
    right = 0
    for number in range(EPISODES):
        observation, _ = env.reset(seed=7 if number == 0 else None)
        says = rule(observation.tools) >= least
        right += says == (env.unwrapped.task.label == "feasible")  # type: ignore[attr-defined]
    assert right / EPISODES == pytest.approx(documented, abs=0.04)
