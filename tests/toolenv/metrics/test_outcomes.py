from __future__ import annotations

from functools import partial

from tests.support.episodes import plain_episode
from toolenv.metrics.outcomes import (
    FlagCount,
    TokenKnowledge,
    decided_by_counts,
    flag_counts,
    invalid_counts,
    outcome_counts,
    token_knowledge,
)

episode = partial(
    plain_episode,
    env="ToolFeas/BFCL-infeasible-v0",
    label="infeasible",
    success=False,
    input_tokens=1,
    output_tokens=1,
)


def test_field_001_050_outcomes_are_stored_separately() -> None:
    episodes = [
        episode(task_id="1", decision="infeasible", decided_by="stop_signal"),
        episode(task_id="2", decided_by="malformed", calls=0),
        episode(task_id="3", decided_by="truncated"),
        episode(task_id="4", decided_by="truncated_by_length", calls=0),
        episode(task_id="5", calls=0),
        episode(task_id="6"),
        episode(task_id="7", decided_by="terminal_tool"),
        episode(task_id="8", decided_by="stop_phrase", lenient_decision="infeasible"),
        episode(task_id="9", decided_by="context_window"),
        episode(task_id="10", decided_by="server_error", valid=False),
    ]
    assert outcome_counts(episodes) == {
        "stop": 1,
        "continued": 3,
        "unparsable": 1,
        "truncated": 2,
        "truncated_by_length": 1,
        "no_call": 1,
    }
    assert sum(outcome_counts(episodes).values()) == 9
    assert decided_by_counts(episodes)["stop_phrase"] == 1
    assert decided_by_counts(episodes)["message"] == 2
    assert "server_error" not in decided_by_counts(episodes)
    assert invalid_counts(episodes) == {"server_error": 1}


def test_no_episodes_have_every_count_at_0() -> None:
    assert set(outcome_counts([]).values()) == {0}
    assert len(outcome_counts([])) == 6


def test_field_012_how_many_token_counts_are_known() -> None:
    episodes = [
        episode(task_id="1"),
        episode(task_id="2"),
        episode(task_id="3", estimated_tokens=True),
        episode(task_id="4", output_tokens=None, estimated_tokens=True),
        episode(task_id="5", valid=False),
    ]
    assert token_knowledge(episodes) == TokenKnowledge(exact=2, estimated=1, unknown=1)


def test_flagged_tasks_are_counted_apart() -> None:
    feasible = partial(episode, label="feasible")
    episodes = [
        feasible(task_id="1", flags=("can_never_pass",), trial=0),
        feasible(task_id="1", flags=("can_never_pass",), trial=1),
        feasible(task_id="2", flags=("can_never_pass", "do_nothing_passes"), success=True),
        feasible(task_id="3", flags=("can_never_pass",), valid=False),
        feasible(task_id="4", success=True),
    ]
    assert flag_counts(episodes) == {
        "can_never_pass": FlagCount(tasks=2, episodes=3, succeeded=1),
        "do_nothing_passes": FlagCount(tasks=1, episodes=1, succeeded=1),
    }
