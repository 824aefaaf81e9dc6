"""Policies that say what they wait for: one thread waits for all, and the episodes are the same."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.toy import Bank, Toy
from tests.toolenv.runner.test_batched import COMPOSED, EVERYTHING, TOKENS, Chancy, Failing
from tests.toolenv.runner.toy_runs import Payer, plain, play, ten_episodes
from toolenv import Action, Message, Observation, Policy, ToolCall, ToolCalls
from toolenv.errors import ServerError, UsageError
from toolenv.model_server.clock import Pause
from toolenv.model_server.reactor import Reactor
from toolenv.policy import Answer, Waitable
from toolenv.runner.batched import decides_together, holds_a_model
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import plan
from toolenv.waiting import Done, Waiting, block


class Elsewhere:
    """What another thread brings about."""

    def block(self) -> str:
        return "done"

    def begin(self, reactor: Reactor, done: Done) -> None:
        threading.Thread(target=reactor.say, args=(lambda: done("done"),)).start()


class ThatWaits(Chancy):
    """Waits for a moment, and for another thread."""

    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        yield Pause(0.0005)
        assert (yield Elsewhere()) == "done"
        return self.act(observation, memory)


@pytest.fixture(params=[True, False], ids=["computes", "may wait"])
def suite(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The toy suite, which says that it only computes, or says nothing."""
    monkeypatch.setattr(Toy, "only_computes", request.param, raising=False)
    return bool(request.param)


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("form", COMPOSED)
def test_the_episodes_are_those_of_decisions_one_by_one(form: str) -> None:
    compose = COMPOSED[form]
    one = plain(play(EVERYTHING, compose(Chancy()), concurrency=1))
    for concurrency in (2, 64):
        policy = compose(ThatWaits())
        assert isinstance(ThatWaits(), Waitable)
        assert decides_together(policy)
        assert not holds_a_model(policy)
        assert plain(play(EVERYTHING, policy, concurrency)) == one


def test_one_thread_does_it_all_where_nothing_else_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "only_computes", True, raising=False)
    threads: set[int] = set()

    class Noting(Payer):
        def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
            yield Pause(0.001)
            threads.add(threading.get_ident())
            return self.act(observation, memory)

    rollouts = play(ten_episodes(trials=20), Noting(), concurrency=40)
    assert len(rollouts) == 40
    assert threads == {threading.get_ident()}


def test_environments_that_wait_do_so_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten steps that go on only together, of a suite that does not say that it only computes."""
    together = threading.Barrier(10, timeout=30)
    call = Bank.call

    def waiting(self: Bank, *arguments: Any) -> Any:
        together.wait()
        return call(self, *arguments)

    monkeypatch.setattr(Bank, "call", waiting)
    rollouts = play(ten_episodes(), ThatPays(), concurrency=10)
    assert Counter(one.episode.decided_by for one in rollouts) == {"message": 10}


class ThatPays(Payer):
    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        yield Pause(0.001)
        return self.act(observation, memory)


class FailsBefore(Failing):
    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        answer = self.act(observation, memory)
        yield Pause(0.001)
        return answer


class FailsAfter(Failing):
    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        yield Pause(0.001)
        return self.act(observation, memory)


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("policy", [FailsBefore, FailsAfter])
def test_one_failure_costs_its_own_episodes_alone(policy: Callable[[Exception], Policy]) -> None:
    rollouts = play(ten_episodes(), policy(ServerError("no reply")), concurrency=4)
    assert Counter(one.episode.decided_by for one in rollouts) == {"message": 5, "server_error": 5}
    assert {one.episode.task_id for one in rollouts if not one.episode.valid} == {"pay-30"}


@pytest.mark.usefixtures("suite")
@pytest.mark.parametrize("policy", [FailsBefore, FailsAfter])
def test_a_programmers_mistake_ends_the_run(policy: Callable[[Exception], Policy]) -> None:
    jobs, _ = plan(ten_episodes())
    with pytest.raises(UsageError, match="temperature=-1"):
        list(run_jobs(jobs, policy(UsageError("temperature=-1")), {}, concurrency=4))


def test_thousands_of_decisions_that_need_no_wait_are_no_recursion(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where all replies are in the response cache."""
    monkeypatch.setattr(Toy, "only_computes", True, raising=False)

    class Tireless:
        name = "tireless"

        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            if len(observation.messages) > 4000:
                return Message("Done.", usage=TOKENS), memory
            return ToolCalls((ToolCall("pay", {"account": "A1", "amount": 0}),), usage=TOKENS), memory

        def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
            yield from ()
            return self.act(observation, memory)

    config = ten_episodes(tasks=("pay-7",), trials=2)
    jobs, _ = plan(config)
    rollouts = list(run_jobs(jobs, Tireless(), {"max_turns": 3000}, concurrency=2))
    assert [one.episode.decided_by for one in rollouts] == ["message"] * 2
    assert min(one.episode.turns for one in rollouts) > 1900


def test_a_run_that_is_given_up_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "only_computes", True, raising=False)

    class Slow(Payer):
        def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
            yield Pause(0.001 if "7" in observation.messages[0].content else 3600.0)
            return self.act(observation, memory)

    jobs, _ = plan(ten_episodes())
    episodes = run_jobs(jobs, Slow(), {}, concurrency=10)
    assert next(episodes).episode.task_id == "pay-7"
    episodes.close()  # type: ignore[attr-defined]


def test_a_run_that_is_never_begun_leaves_nothing_open() -> None:
    """What it holds open would be a ResourceWarning, which is an error here."""
    jobs, _ = plan(ten_episodes())
    episodes = run_jobs(jobs, ThatPays(), {}, concurrency=2)
    del episodes
    gc.collect()


def test_a_wait_is_over_in_time_though_others_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where most replies are in the response cache: the few that are not must not outlast a timeout."""
    monkeypatch.setattr(Toy, "only_computes", True, raising=False)

    class Mostly(Payer):
        def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
            if "30" in observation.messages[0].content:
                yield Pause(0.0)
            return self.act(observation, memory)

    jobs, _ = plan(ten_episodes(trials=100))
    tasks = [one.episode.task_id for one in run_jobs(jobs, Mostly(), {}, concurrency=102)]
    assert tasks.index("pay-30") < 100, "by a hundred episodes that wait for nothing it was kept waiting"


def test_a_decision_that_cannot_be_begun_is_its_episodes_failure(suite: bool) -> None:
    class Refuses(ThatPays):
        def act(self, observation: Observation, memory: Any) -> Answer:
            raise ServerError("refused")

        def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
            raise ServerError("refused")

    for concurrency in (1, 4):
        rollouts = play(ten_episodes(), Refuses(), concurrency)
        assert Counter(one.episode.decided_by for one in rollouts) == {"server_error": 10}


def test_blocking_is_the_same_work() -> None:
    def work() -> Waiting[list[Any]]:
        seen: list[Any] = []
        seen.append((yield Elsewhere()))
        try:
            yield Fails()
        except ServerError as error:
            seen.append(str(error))
        return seen

    class Fails:
        def block(self) -> ServerError:
            return ServerError("thrown where it was yielded")

        def begin(self, reactor: Reactor, done: Done) -> None:
            done(self.block())

    came: list[Any] = []
    reactor = Reactor()
    reactor.drive(work(), came.append)
    while not came:
        reactor.run()
    reactor.close()
    assert came == [block(work())] == [["done", "thrown where it was yielded"]]
