"""Episodes under a hazard as they are recorded: the depot's first task, counted by hand.

The reference makes three calls: find_item, weigh, freight. ``weigh`` fails once, or drifts.
"""

from __future__ import annotations

import pytest

from tests.toolenv.hazards.depot_cases import FREIGHT, NAIVE, RECOVER, SUITE, TASK, WEIGH, armed
from toolenv.agents.scripted import Scripted
from toolenv.episode import Episode
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import Reaction
from toolenv.facts.task_facts import TaskFacts
from toolenv.hazards import Instance
from toolenv.metrics.failures import failure_behaviour
from toolenv.metrics.recovery import expansion
from toolenv.recoverability.proving import play
from toolenv.types import Action, Message, Stop, ToolCall, ToolCalls

FAILING = armed("execution-failure", "transient-timeout", "weigh", failures=1)
FIND = ToolCalls((ToolCall("find_item", {"item_name": "lamp"}),))
REGISTER = ToolCalls((ToolCall("register_entry", {"item_code": "LMP-104"}),))
WEIGHS, ASKS = ToolCalls((WEIGH,)), ToolCalls((FREIGHT,))
RIGHT, WRONG = Message("The freight is 5002.0 EUR."), Message("The freight is 12 EUR.")


def recorded(*actions: Action, instance: Instance | None = FAILING) -> Episode:
    return play(SUITE, TASK, Scripted(actions), instance).episode


@pytest.mark.parametrize(
    ("actions", "reacted", "calls", "behaviour"),
    [
        ((FIND, WEIGHS, WEIGHS, ASKS, RIGHT), Reaction("error", "retry", 2, True), 4, None),
        ((FIND, WEIGHS, REGISTER, ASKS, RIGHT), Reaction("error", "switch", 2, True), 4, None),
        ((FIND, WEIGHS, WRONG), Reaction("error", "stop", 0, True), 2, "early_abandonment"),
        ((FIND, WEIGHS, Stop("down")), Reaction("error", "stop", 0, False), 2, "early_abandonment"),
        (
            (FIND, WEIGHS, WEIGHS, WEIGHS, WEIGHS, WRONG),
            Reaction("error", "retry", 3, True),
            5,
            "ineffective_continuation",
        ),
        ((WEIGHS, WEIGHS, WRONG), Reaction("error", "retry", 1, True), 2, "under_utilization"),
        ((FIND, WEIGHS, WEIGHS, WRONG), Reaction("error", "retry", 1, True), 3, "answer_synthesis_failure"),
    ],
)
def test_a_scripted_episode(
    actions: tuple[Action, ...], reacted: Reaction, calls: int, behaviour: str | None
) -> None:
    episode = recorded(*actions)
    assert episode.success is (behaviour is None)
    assert (episode.reaction, episode.calls) == (reacted, calls)
    assert episode.task == TaskFacts(tools=3, reference_calls=3)
    assert expansion(episode) == calls / 3
    assert episode.exposure == Exposure("execution-failure", "transient-timeout", "weigh", True, 1, 1)
    assert episode.accurate is None, "the depot does not tell accuracy apart"
    if behaviour is not None:
        assert failure_behaviour(episode) == behaviour


def test_a_result_that_looks_fine_and_is_not_is_a_failure_too() -> None:
    """Output drift: no error anywhere. The naive script goes on, the recovering one reads it right."""
    drift = armed("output-drift", "wrapping", "weigh")
    naive, recovering = (play(SUITE, TASK, policy, drift).episode for policy in (NAIVE, RECOVER))
    assert (naive.success, recovering.success) == (False, True)
    for episode in (naive, recovering):
        assert episode.reaction is not None
        assert episode.reaction.failure == "perturbed"
        assert episode.exposure is not None
        assert (episode.exposure.fired, episode.exposure.seen) == (1, 1)


def test_a_clean_episode_has_no_failure_and_no_hazard() -> None:
    episode = recorded(FIND, WEIGHS, ASKS, RIGHT, instance=None)
    assert episode.reaction == Reaction("", "none", 0, True)
    assert episode.exposure == Exposure()
    assert expansion(episode) == 1
