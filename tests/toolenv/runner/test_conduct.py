"""Deadlines, and episodes played again: what ends them, what they cost, whose the trouble was."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import HANG, MODEL, Answer, FakeServer, call, completion, error, in_order
from tests.toolenv.runner.toy_runs import Payer, plain, play, ten_episodes
from toolenv import Observation, Usage
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.settings import ChatSettings
from toolenv.errors import ContextWindowError, DeadlineError, ServerError, UsageError
from toolenv.facts.roles import role_usage
from toolenv.model_server import Backoff
from toolenv.model_server.circumstances import here
from toolenv.model_server.limits import Limits
from toolenv.rollout import Rollout
from toolenv.runner.conduct import Conduct, Services
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import plan
from toolenv.runner.select import Workplace
from toolenv.trace import Trace
from toolenv.trouble import LASTING, TROUBLES, kind_of, may_pass, trouble_of


@dataclass
class Failing(Payer):
    """Fails in the first plays of each episode, at its second decision."""

    plays: int
    trouble: str = "server/timeout"
    begun: Counter[Any] = field(default_factory=Counter)

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        around = here()
        assert around is not None
        if observation.messages[-1].role == "user":
            self.begun[around.seed] += 1
        elif self.begun[around.seed] <= self.plays:
            raise ServerError("gone", Usage(100, 20), trouble=self.trouble)
        return super().act(observation, memory)


def played(policy: Any, conduct: Conduct, concurrency: int = 1, **changes: Any) -> list[Rollout]:
    config = ten_episodes(**changes)
    jobs, _ = plan(config)
    return list(run_jobs(jobs, policy, config.make_options, concurrency, conduct))


@pytest.mark.parametrize("concurrency", [1, 4])
def test_what_may_pass_is_played_again_up_to_the_limit(concurrency: int) -> None:
    rollouts = played(Failing(2), Conduct(retries=2), concurrency)
    assert [one.episode.valid for one in rollouts] == [True] * 10
    assert {one.episode.trouble.plays for one in rollouts} == {3}
    lost = played(Failing(2), Conduct(retries=1), concurrency)
    assert [one.episode.valid for one in lost] == [False] * 10
    assert {(one.episode.trouble.name, one.episode.trouble.plays) for one in lost} == {("server/timeout", 2)}


def test_field_011_plays_that_were_thrown_away_count() -> None:
    """By hand: two lost plays of 10 + 3 and 100 + 20 tokens, and a good one of 20 + 6."""
    (one,) = played(Failing(2), Conduct(), tasks=("pay-7",), trials=1)
    assert (one.episode.input_tokens, one.episode.output_tokens) == (2 * 110 + 20, 2 * 23 + 6)
    assert one.trace.usage.retried_input_tokens == 220
    assert one.trace.usage.retried_output_tokens == 46
    assert Trace.from_json(one.trace.to_json()).usage == one.trace.usage
    assert type(one.episode).from_json(one.episode.to_json()) == one.episode


@pytest.mark.parametrize("trouble", sorted(LASTING))
def test_what_lasts_is_not_played_again(trouble: str) -> None:
    rollouts = played(Failing(1, trouble), Conduct(retries=5), trials=1)
    assert [(one.episode.trouble.name, one.episode.trouble.plays) for one in rollouts] == [(trouble, 1)] * 2


def test_bugs_and_outgrown_contexts_are_not_played_again() -> None:
    class Broken(Payer):
        def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
            if "30" in observation.messages[0].content:
                raise ZeroDivisionError("a bug")
            raise ContextWindowError("too long", Usage(5, 0))

    seven, thirty = played(Broken(), Conduct(retries=5), trials=1)
    assert (seven.episode.valid, seven.episode.trouble.name) == (True, "budget/context_window")
    assert (thirty.episode.valid, thirty.episode.trouble.name) == (False, "agent/exception")
    assert seven.episode.trouble.plays == thirty.episode.trouble.plays == 1


def test_without_trouble_a_conduct_changes_nothing() -> None:
    config = ten_episodes()
    assert plain(played(Payer(), Conduct(retries=9, deadline=1000.0))) == plain(play(config, Payer()))


# -- deadlines -------------------------------------------------------------------------------------------


class Slow(Payer):
    """Takes 10 seconds a decision, by a clock of its own."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        self.clock.sleep(10)
        return super().act(observation, memory)


def test_an_episode_past_its_deadline_is_an_outcome_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    monkeypatch.setattr("toolenv.runner.local.Services", lambda conduct: Services(conduct, clock.clock))
    (late,) = played(Slow(clock), Conduct(deadline=9), tasks=("pay-7",), trials=1)
    assert (late.episode.valid, late.episode.decided_by) == (False, "deadline")
    assert (late.episode.trouble.name, late.episode.trouble.plays) == ("budget/deadline", 1)
    assert (late.episode.turns, late.episode.tokens) == (1, 13), "what it had done and cost is kept"
    (in_time,) = played(Slow(clock), Conduct(deadline=11), tasks=("pay-7",), trials=1)
    assert in_time.episode.valid


def chat_episode(answer: Answer, conduct: Conduct, **settings: Any) -> tuple[Rollout, int]:
    with FakeServer(answer) as server:
        given = ChatSettings(**{"model": MODEL, "base_url": server.base_url, **settings})
        policy = ChatPolicy(given)
        assert policy._server.url == server.base_url  # imports openai, which would count against the deadline
        (one,) = played(policy, conduct, tasks=("pay-7",), trials=1)
        policy.close()
        return one, len(server.requests)


def test_a_server_that_hangs_is_left_at_the_deadline() -> None:
    one, requests = chat_episode(HANG, Conduct(deadline=1.0))
    assert (one.episode.decided_by, one.episode.trouble.name) == ("deadline", "budget/deadline")
    assert requests == 1
    assert one.episode.tokens is None, "it may have worked on it"


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    busy = error(429, "slow down", headers={"Retry-After": "60"})
    one, requests = chat_episode(busy, Conduct(deadline=20))
    assert (one.episode.trouble.name, requests) == ("budget/deadline", 1)
    assert dict(one.episode.trouble.failed_requests) == {"server/rate_limit": 1}
    assert one.episode.tokens == 0, "a refusal costs nothing"


@pytest.mark.parametrize("wrong", [{"retries": -1}, {"deadline": 0}, {"deadline": float("inf")}])
def test_what_cannot_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(wrong))}="):
        Conduct(**wrong)


# -- whose it was ----------------------------------------------------------------------------------------


def test_the_role_is_told_and_its_tokens_are_booked_to_it() -> None:
    """By hand: the planner's two rounds cost 11 + 7 each; the executor's server answers 400."""
    with FakeServer(completion("A plan.")) as planning, FakeServer(error(400, "no such thing")) as acting:
        planner, executor = (
            ChatPolicy(ChatSettings(model=MODEL, base_url=one.base_url)) for one in (planning, acting)
        )
        (one,) = played(PlannerExecutor(planner, executor), Conduct(), tasks=("pay-7",), trials=1)
        planner.close()
        executor.close()
    trouble = one.episode.trouble
    assert (trouble.name, trouble.role) == ("server/bad_request", "executor")
    assert {role: usage.total_tokens for role, usage in role_usage(one.trace).items()} == {
        "planner": 36,
        "executor": 0,
    }
    assert one.episode.roles["planner"].total == 36
    assert one.episode.tokens == 36


def test_requests_that_failed_on_the_way_are_counted_in_a_good_episode() -> None:
    pay = completion(None, tool_calls=[call("pay", '{"account": "A1", "amount": 7}')])
    script = in_order(error(500, "boom"), pay, error(503, "busy"), completion("Paid."))
    with FakeServer(script) as server:
        policy = ChatPolicy(ChatSettings(model=MODEL, base_url=server.base_url))
        (one,) = played(policy, Conduct(backoff=Backoff(0.001)), tasks=("pay-7",), trials=1)
        policy.close()
    assert one.episode.success
    assert one.episode.trouble.name == ""
    assert one.episode.trouble.failed_requests == (("server/internal_error", 1), ("server/overloaded", 1))
    assert Trace.from_json(one.trace.to_json()).trouble == one.trace.trouble


# -- the vocabulary --------------------------------------------------------------------------------------


def test_every_trouble_has_a_kind_and_a_meaning() -> None:
    assert {kind_of(name) for name in TROUBLES} == {"agent", "environment", "server", "budget"}
    assert all(TROUBLES.values())
    assert set(TROUBLES) >= LASTING
    assert not any(may_pass(name) for name in (*LASTING, "budget/deadline", "agent/exception"))
    assert may_pass("server/timeout")
    for ending in ("agent_error", "environment_error", "server_error", "deadline", "truncated"):
        assert trouble_of(ending) in TROUBLES
    assert trouble_of("message") == ""


def test_a_deadline_is_a_servers_error_to_those_who_catch_one() -> None:
    late = DeadlineError("late", Usage(1, 2))
    assert isinstance(late, ServerError)
    assert (late.trouble, late.usage) == ("budget/deadline", Usage(1, 2))


@pytest.mark.parametrize(
    ("concurrency", "per_minute", "deadline"), [(5, 120, 2), (1, 6, 1), (256, 60, None), (256, None, 1)]
)
def test_turns_that_come_before_the_deadline_are_waited_for(
    concurrency: int, per_minute: float | None, deadline: float | None
) -> None:
    """By hand: at 120 a minute, five requests go at 0, 0.5, 1, 1.5 and 2 s."""
    conduct = Conduct(limits=Limits(per_minute), deadline=deadline)
    assert Workplace(concurrency=concurrency, conduct=conduct).concurrency == concurrency


def test_a_queue_longer_than_the_deadline_is_refused_and_the_nearest_good_ones_named() -> None:
    """By hand: the twentieth of requests half a second apart goes after 9.5 s."""
    conduct = Conduct(limits=Limits(per_minute=120), deadline=2)
    words = (
        r"^20 episodes at a time and 120 requests a minute: the last one has its turn after 9\.5 s, and its"
        r" deadline after 2 s; give a concurrency of at most 5, or a deadline of at least 10 s$"
    )
    with pytest.raises(UsageError, match=words):
        Workplace(concurrency=20, conduct=conduct)
