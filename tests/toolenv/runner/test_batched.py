"""Episodes decided in batches are the episodes decided one by one, whatever is batched and how."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, MIXED, Payer, plain, play, ten_episodes
from toolenv import Action, Message, Observation, Policy, Rollout, Stop, ToolCall, ToolCalls, Usage
from toolenv.agents.budget import Budget
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.retry import Retry
from toolenv.agents.stop_gate import StopGate
from toolenv.agents.vote import Vote
from toolenv.errors import ContextWindowError, ServerError, UsageError
from toolenv.model_server.clock import Pause
from toolenv.policy import Batched, Continuous
from toolenv.runner.batched import decides_together
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import RunConfig, plan
from toolenv.seeding import mix

EVERYTHING = RunConfig(envs=(CLEAN, INFEASIBLE, MIXED), agent="x", trials=5)
TOKENS = Usage(10, 3)


class Chancy:
    """Pays, talks or stops by the episode's seed and the conversation; decides one at a time."""

    name = "chancy"

    def start(self, seed: int) -> int:
        return seed

    def act(self, observation: Observation, memory: int) -> tuple[Action, int]:
        drawn = mix(memory, *(message.content for message in observation.messages)) % 8
        if drawn == 0:
            return Stop("nothing pays (confidence: 0.4)", usage=TOKENS), memory
        if drawn == 1:
            return Message("Done.", usage=TOKENS), memory
        name, amount = ("pay", drawn) if drawn < 7 else ("refund", "all")
        return ToolCalls((ToolCall(name, {"account": "A1", "amount": amount}),), usage=TOKENS), mix(memory)


class InBatches(Chancy):
    """The same, many at a time; it notes how many."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def act_batch(
        self, observations: Sequence[Observation], memories: Sequence[Any]
    ) -> list[tuple[Action, Any] | Exception]:
        self.sizes.append(len(observations))
        return [self.act(*pair) for pair in zip(observations, memories, strict=True)]


class AtAnyTime(Chancy):
    """The same, begun at any time; it notes how many are in its hands."""

    def __init__(self) -> None:
        self.pool, self.lock = ThreadPoolExecutor(4), threading.Lock()
        self.inside = self.most = 0

    def submit(self, observation: Observation, memory: Any) -> Future[tuple[Action, Any]]:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        return self.pool.submit(self._work, observation, memory)

    def _work(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        with self.lock:
            self.inside -= 1
        return self.act(observation, memory)


COMPOSED: dict[str, Callable[[Policy], Policy]] = {
    "alone": lambda inner: inner,
    "pair": lambda inner: PlannerExecutor(inner, inner),
    "pair with a part that decides alone": lambda inner: PlannerExecutor(Chancy(), Retry(inner, times=2)),
    "vote": lambda inner: Vote([inner, Chancy(), inner]),
    "gate and budget": lambda inner: Budget(60, StopGate(0.5, inner)),
}


@pytest.mark.parametrize("how", [InBatches, AtAnyTime])
@pytest.mark.parametrize("form", COMPOSED)
def test_the_episodes_are_those_of_decisions_one_by_one(form: str, how: type[Chancy]) -> None:
    compose = COMPOSED[form]
    one = plain(play(EVERYTHING, compose(Chancy()), concurrency=1))
    assert len(one) == 50
    assert len({record["decided_by"] for record, _ in one}) >= 2, "episodes of several kinds"
    for concurrency in (1, 2, 7, 64):
        policy = compose(how())
        assert decides_together(policy)
        assert plain(play(EVERYTHING, policy, concurrency)) == one


def test_a_batch_holds_all_episodes_in_flight_and_is_the_same_in_every_run() -> None:
    sizes = []
    for _ in range(3):
        policy = InBatches()
        play(ten_episodes(), policy, concurrency=4)
        sizes.append(policy.sizes)
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[0][0] == 4
    assert max(sizes[0]) == 4


def test_both_parts_of_a_pair_are_asked_in_batches() -> None:
    planner, executor = InBatches(), InBatches()
    play(ten_episodes(), PlannerExecutor(planner, executor), concurrency=10)
    assert planner.sizes[0] == 10
    assert max(executor.sizes) > 1


class Meeting(AtAnyTime):
    """Answers nobody until so many have asked; an episode answered at once asks again at once."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self.together = threading.Barrier(together, timeout=30)
        self.pool = ThreadPoolExecutor(together)

    def _work(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        self.together.wait()
        return Payer().act(observation, memory)


def test_a_policy_that_takes_work_at_any_time_is_never_short_of_it() -> None:
    """Eight at a time to the end: it could not go on with fewer."""
    rollouts = play(ten_episodes(tasks=("pay-7",), trials=32), Meeting(8), concurrency=8)
    assert [one.episode.success for one in rollouts] == [True] * 32


class Failing(Payer):
    """Fails where the task is to pay 30; counted in batches or begun one by one."""

    def __init__(self, error: Exception | SystemExit) -> None:
        self.error = error

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if "30" in observation.messages[0].content:
            raise self.error
        return super().act(observation, memory)


class FailingInBatches(Failing):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return [
            self.error if "30" in seen.messages[0].content else Payer.act(self, seen, memory)
            for seen, memory in zip(observations, memories, strict=True)
        ]


class FailingAtAnyTime(Failing):
    def submit(self, observation: Observation, memory: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(self.act(observation, memory))
        except (Exception, SystemExit) as error:
            future.set_exception(error)
        return future


class FailingAtOnce(Failing):
    def submit(self, observation: Observation, memory: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(self.act(observation, memory))
        return future


class FailingWhileItWaits(Failing):
    def deciding(self, observation: Observation, memory: Any) -> Any:
        yield Pause(0.0005)
        return self.act(observation, memory)


class GivingUp(Payer):
    """An engine that gives some work up."""

    def submit(self, observation: Observation, memory: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if "30" in observation.messages[0].content:
            future.cancel()
        else:
            future.set_result(self.act(observation, memory))
        return future


def test_work_that_an_engine_gives_up_costs_its_own_episodes_alone() -> None:
    rollouts = play(ten_episodes(), GivingUp(), concurrency=4)
    assert Counter(one.episode.decided_by for one in rollouts) == {"message": 5, "agent_error": 5}


KINDS = (Failing, FailingInBatches, FailingAtAnyTime, FailingAtOnce, FailingWhileItWaits)


@pytest.mark.parametrize("policy", KINDS)
@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ServerError("no memory left", Usage(5, 1)), "server_error"),
        (ContextWindowError("too long"), "context_window"),
        (ZeroDivisionError("a bug"), "agent_error"),
        (SystemExit(3), "agent_error"),
    ],
)
def test_field_105_one_failure_costs_its_own_episodes_alone(
    policy: type[Failing], error: Exception | SystemExit, ending: str, concurrency: int
) -> None:
    rollouts = play(ten_episodes(), policy(error), concurrency=concurrency)
    assert Counter(one.episode.decided_by for one in rollouts) == {"message": 5, ending: 5}
    failed = [one.episode for one in rollouts if one.episode.decided_by == ending]
    assert {one.task_id for one in failed} == {"pay-30"}
    assert all(str(error) in one.error for one in failed)


class AllFail(Payer):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        raise ServerError("the engine is gone", Usage(2, 0))


def test_field_011_what_a_lost_batch_cost_is_booked_in_each_episode_apart() -> None:
    """By hand: a pair's planner fails at once, three times 2 tokens in each episode and no more."""
    rollouts = play(ten_episodes(), PlannerExecutor(AllFail(), Payer()), concurrency=10)
    thrice = Usage(6, 0, retried_input_tokens=4, generations=3)
    assert [one.trace.lost_usage for one in rollouts] == [thrice] * 10
    assert {one.episode.trouble.plays for one in rollouts} == {3}
    assert {one.episode.error for one in rollouts} == {"the engine is gone"}


class TooFew(Payer):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return [self.act(observations[0], memories[0])]


class NoAnswers(Payer):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> Any:
        return None


class NoFuture(Payer):
    def submit(self, observation: Observation, memory: Any) -> Any:
        return self.act(observation, memory)


class NoAction(Payer):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return [({"tool": "pay"}, memory) for memory in memories]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (TooFew(), r"policy 'payer': act_batch gave 1 answers for 4"),
        (NoAnswers(), r"policy 'payer': act_batch gave NoneType None for 4"),
        (NoFuture(), r"policy 'payer': submit gave tuple \(ToolCalls\(.*, no concurrent.futures.Future"),
        (NoAction(), r"policy 'payer' gave no action: dict \{'tool': 'pay'\} is none of"),
        (Failing(UsageError("temperature=-1")), "temperature=-1"),
        (FailingInBatches(UsageError("temperature=-1")), "temperature=-1"),
        (FailingAtOnce(UsageError("temperature=-1")), "temperature=-1"),
    ],
)
def test_a_programmers_mistake_ends_the_run(policy: Policy, words: str) -> None:
    jobs, _ = plan(ten_episodes())
    with pytest.raises(UsageError, match=words):
        list(run_jobs(jobs, policy, {}, concurrency=4))


def test_a_bad_keyword_of_the_environment_ends_the_run() -> None:
    jobs, _ = plan(ten_episodes())
    with pytest.raises(UsageError, match="condition='clean' cannot be set"):
        list(run_jobs(jobs, InBatches(), {"condition": "clean"}, concurrency=4))


def test_a_run_that_is_given_up_begins_no_more() -> None:
    jobs, _ = plan(ten_episodes(trials=50))
    policy = InBatches()
    episodes = run_jobs(jobs, policy, {}, concurrency=2)
    next(episodes)
    made = sum(policy.sizes)
    episodes.close()  # type: ignore[attr-defined]
    assert sum(policy.sizes) == made <= 16


def test_jobs_are_taken_as_they_are_needed() -> None:
    jobs, _ = plan(ten_episodes(trials=200))
    waiting = iter(jobs)
    episodes = run_jobs(waiting, InBatches(), {}, concurrency=3)  # type: ignore[arg-type]
    for _ in range(20):
        next(episodes)
    assert len(list(waiting)) >= 400 - 20 - 3


def test_one_at_a_time_needs_no_batches() -> None:
    policy = InBatches()
    play(ten_episodes(), policy, concurrency=1)
    assert policy.sizes == []


def test_a_run_of_nothing_yields_nothing() -> None:
    assert list(run_jobs([], InBatches(), {}, concurrency=4)) == []


def test_what_decides_together_is_known_by_its_methods() -> None:
    assert isinstance(InBatches(), Batched)
    assert isinstance(AtAnyTime(), Continuous)
    assert not decides_together(PlannerExecutor(Chancy(), Retry(Payer())))
    assert decides_together(PlannerExecutor(Chancy(), Retry(InBatches())))


class Tagging:
    """Says its seed."""

    name = "tagging"

    def start(self, seed: int) -> int:
        return seed

    def act(self, observation: Observation, memory: int) -> tuple[Action, int]:
        return Message(str(memory), usage=TOKENS), memory


def test_parts_that_choose_by_chance_get_a_seed_each_and_the_same_in_every_run() -> None:
    def said(policy: Policy) -> list[str]:
        return [_said(one) for one in play(ten_episodes(), policy)]

    voters = [Tagging(), Tagging(), Tagging()]
    single = said(Vote(voters[:1]))
    assert single == said(Vote([Tagging()]))
    assert len(set(single)) == 10, "one for each episode"
    ballots = [one.begin(None, 7) for one in (Vote(voters), Vote([voters[0]] * 3))]
    assert ballots[0] == ballots[1]
    assert len(set(ballots[0])) == 3
    pair = PlannerExecutor(Tagging(), Tagging()).begin(None, 7)
    assert pair.planner != pair.executor


def _said(rollout: Rollout) -> str:
    action = rollout.trace.steps[-1].action
    assert isinstance(action, Message)
    return action.text
