"""What failed plays cost goes with the play that follows when a run is resumed (FIELD-011, FIELD-076)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, Payer, open_store, play, ten_episodes
from toolenv import Episode, Observation, Rollout, Usage
from toolenv.errors import ServerError, StoreError
from toolenv.facts.roles import role_usage
from toolenv.judge import judge
from toolenv.metrics.troubles import troubles
from toolenv.rollout import record
from toolenv.runner.plan import RunConfig, source_of
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes, read_rollouts
from toolenv.runner.retrying import with_troubles
from toolenv.runner.set_aside import SET_ASIDE_FILE

ONE = ten_episodes(tasks=("pay-7",), trials=1)


class Failing(Payer):
    """Its server spends 100 + 20 tokens on a reply that nobody can use."""

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        raise ServerError("no message", usage=Usage(100, 20))


class Silent(Payer):
    """Its server breaks off, so that nobody knows what was spent."""

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        raise ServerError("broken off", usage=Usage(None, None))


def failing(policy: Payer) -> Rollout:
    (one,) = play(ONE, policy)
    return with_troubles(one, {"server/no_message": 2}, 0)


def resume_with(folder: Path, rollout: Rollout, config: RunConfig = ONE) -> Episode:
    with open_store(folder, config, resume=(folder / RUN_FILE).exists()) as store:
        store.append(rollout)
    (episode,) = read_episodes(folder)
    return episode


def good() -> Rollout:
    (one,) = play(ONE)
    return one


def test_field_011_tokens_of_plays_before_a_resumption_count(tmp_path: Path) -> None:
    # Each play of `Failing` spends 100 + 20 tokens and is played three times in all (two retries); a good
    # one asks twice at 10 + 3.
    first = resume_with(tmp_path, failing(Failing()))
    assert (first.valid, first.input_tokens, first.output_tokens) == (False, 300, 60)
    second = resume_with(tmp_path, failing(Failing()))
    assert (second.valid, second.input_tokens, second.output_tokens) == (False, 600, 120)
    last = resume_with(tmp_path, good())
    assert (last.valid, last.input_tokens, last.output_tokens) == (True, 620, 126)
    (rollout,) = read_rollouts(tmp_path)
    assert rollout.trace.usage.total_tokens == 746
    assert role_usage(rollout.trace)["agent"].total_tokens == 746
    assert rollout.episode.trouble.plays == 7
    met = troubles(read_episodes(tmp_path))
    assert (met.played_again, met.counts["server/no_message"].requests) == (6, 4)
    assert met.counts["server/no_message"].invalid == 0


class FailingOnce(Payer):
    """Its server spends 100 + 20 tokens on its first reply, which nobody can use."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        self.asked += 1
        if self.asked == 1:
            raise ServerError("no message", usage=Usage(100, 20))
        return super().act(observation, memory)


@pytest.mark.parametrize("resumed", [False, True])
def test_judged_again_an_episode_with_failed_plays_is_the_same(tmp_path: Path, resumed: bool) -> None:
    if resumed:
        resume_with(tmp_path, failing(Failing()))
    resume_with(tmp_path, good() if resumed else play(ONE, FailingOnce())[0])
    ((stored, trace),) = ((one.episode, one.trace) for one in read_rollouts(tmp_path))
    assert (stored.input_tokens, stored.trouble.plays) == ((320, 4) if resumed else (120, 2))
    task = source_of(CLEAN, {}).get(trace.task_id, trace.seed)
    assert stored == record(trace, judge(task, trace), task, agent=stored.agent, env_id=CLEAN, trial=0)


def test_what_nobody_said_stays_unknown(tmp_path: Path) -> None:
    resume_with(tmp_path, failing(Silent()))
    last = resume_with(tmp_path, good())
    assert (last.valid, last.tokens) == (True, None)


def test_a_resumption_that_plays_nothing_forgets_nothing(tmp_path: Path) -> None:
    resume_with(tmp_path, failing(Failing()))
    for _ in range(2):
        open_store(tmp_path, ONE, resume=True).close()
        assert list(read_episodes(tmp_path)) == []
    assert resume_with(tmp_path, good()).input_tokens == 320


@pytest.mark.parametrize("keep", [-1, 40, 0])
def test_killed_while_it_sets_aside_loses_and_doubles_nothing(tmp_path: Path, keep: int) -> None:
    resume_with(tmp_path, failing(Failing()))
    line = (tmp_path / EPISODES_FILE).read_bytes()
    # The record is copied, whole (-1) or in part, and still stands among the episodes.
    (tmp_path / SET_ASIDE_FILE).write_bytes(line if keep < 0 else line[:keep])
    assert resume_with(tmp_path, good()).input_tokens == 320


def test_other_episodes_cost_what_they_cost(tmp_path: Path) -> None:
    config = ten_episodes(tasks=("pay-7",), trials=3)
    fine = play(config)
    with open_store(tmp_path, config) as store:
        for one in play(config, Failing())[:2]:
            store.append(one)
    with open_store(tmp_path, config, resume=True) as store:
        for one in fine:
            store.append(one)
    assert [one.input_tokens for one in read_episodes(tmp_path)] == [320, 320, 20]
    assert [replace(one, trouble=fine[2].episode.trouble) for one in read_episodes(tmp_path)][2] == (
        fine[2].episode
    )


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    resume_with(tmp_path, failing(Failing()))
    open_store(tmp_path, ONE, resume=True).close()
    (tmp_path / SET_ASIDE_FILE).write_bytes(b"{}\n")
    with pytest.raises(StoreError, match=rf"{SET_ASIDE_FILE}, line 1: not a record"):
        open_store(tmp_path, ONE, resume=True)


def test_records_set_aside_without_their_run_are_no_empty_folder(tmp_path: Path) -> None:
    resume_with(tmp_path, failing(Failing()))
    open_store(tmp_path, ONE, resume=True).close()
    (tmp_path / RUN_FILE).unlink()
    (tmp_path / EPISODES_FILE).unlink()
    with pytest.raises(StoreError, match=r"holds episodes but no run\.json"):
        open_store(tmp_path, ONE)
