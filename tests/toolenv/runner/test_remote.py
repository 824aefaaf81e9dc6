"""Workers that die: a scripted crew, on which every death is planned."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, Payer, plain, play, ten_episodes
from toolenv import Observation, Rollout
from toolenv.errors import PreflightError, ToolEnvError, UsageError
from toolenv.runner.given_up import given_up
from toolenv.runner.plan import Job, RunConfig, plan
from toolenv.runner.remote import CALLS, MOST_AHEAD, WorkersLost, run_remote
from toolenv.runner.worker import Orders, Played, Worker

EVERYTHING = RunConfig(envs=(CLEAN, INFEASIBLE), agent="payer", trials=20)


class Died(Exception):
    """A worker is no more."""


class ScriptedCrew:
    """Plays calls one after the other in a thread; ``dies`` says whether what a worker holds kills it."""

    lost = (Died,)

    def __init__(
        self,
        dies: Callable[[Sequence[Job]], bool],
        *,
        size: int = 2,
        places: int = 1,
        make: Callable[[], Any] = Payer,
    ) -> None:
        self.dies, self.size, self.places = dies, size, places
        self.orders = Orders(make, {}, places=places)
        self.thread = ThreadPoolExecutor(1)
        self.workers = [Worker(self.orders) for _ in range(size)]
        self.alive = [True] * size
        self.held: list[list[Job]] = [[] for _ in range(size)]
        self.most_held, self.replaced, self.closed = 0, 0, False
        self.taken: list[Sequence[Job]] = []

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        if not self.alive[worker]:
            raise Died("it had died before")
        return self.thread.submit(self._work, worker, self.workers[worker], jobs)

    def _work(self, worker: int, whose: Worker, jobs: Sequence[Job]) -> Played:
        if whose is not self.workers[worker] or not self.alive[worker]:
            raise Died("it died of an earlier call")
        self.held[worker] += jobs
        self.most_held = max(self.most_held, len(self.held[worker]))
        self.taken.append(tuple(self.held[worker]))
        if self.dies(self.held[worker]):
            self.alive[worker] = False
            raise Died("killed")
        played = whose.play(jobs)
        done = {one.episode.key for one in played.rollouts()}
        self.held[worker] = [job for job in self.held[worker] if job.key not in done]
        return played

    def replace(self, worker: int) -> None:
        self.alive[worker], self.held[worker] = True, []
        self.workers[worker] = Worker(self.orders)
        self.replaced += 1

    def has_room(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True
        self.thread.shutdown()


def give_up(job: Job, why: str) -> Rollout:
    return given_up(job, why, "payer", {})


def ordered(rollouts: Iterable[Rollout]) -> list[Any]:
    return plain(sorted(rollouts, key=lambda one: one.episode.key))


def never(jobs: Sequence[Job]) -> bool:
    return False


@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_episodes_are_those_of_one_process(size: int, places: int) -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(never, size=size, places=places)
    assert ordered(run_remote(jobs, crew, give_up)) == ordered(play(EVERYTHING))
    assert crew.closed


def dying_at_random(seed: int) -> Callable[[Sequence[Job]], bool]:
    """Two calls of five, but none of a job that is played alone because it lost three workers already."""
    chance = random.Random(seed)
    return lambda jobs: len(jobs) > 1 and chance.random() < 0.4


@pytest.mark.parametrize("seed", range(8))
def test_what_dying_workers_lose_is_played_again_and_nothing_counts_twice(seed: int) -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(dying_at_random(seed), size=1 + seed % 3, places=1 + seed % 2)
    assert ordered(run_remote(jobs, crew, give_up)) == ordered(play(EVERYTHING))
    assert crew.replaced > 0


@pytest.mark.parametrize("places", [1, 4])
def test_a_job_that_kills_its_workers_is_given_up_and_no_other_is(places: int) -> None:
    jobs, _ = plan(EVERYTHING)
    bad = jobs[17]
    crew = ScriptedCrew(lambda taken: bad in taken, places=places)
    rollouts = list(run_remote(jobs, crew, give_up))
    assert len({one.episode.key for one in rollouts}) == len(rollouts) == len(jobs)
    (given,) = [one for one in rollouts if not one.episode.valid]
    assert given.episode.key == bad.key
    assert (given.episode.decided_by, given.episode.label) == ("environment_error", "feasible")
    assert given.episode.error == "6 workers died playing it, 3 with nothing else to play"
    assert (given.episode.seed, given.episode.agent, given.trace.steps) == (bad.seed, "payer", ())
    assert (given.episode.tokens, given.trace.usage.known) == (None, False), "nobody can say what it spent"
    assert crew.replaced == sum(bad in taken for taken in crew.taken) == 6
    assert ordered(one for one in rollouts if one.episode.valid) == [
        one for one in ordered(play(EVERYTHING)) if one[0]["seed"] != bad.seed or one[0]["env"] != bad.env
    ]


def test_workers_that_always_die_end_the_run() -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(lambda taken: True)
    with pytest.raises(WorkersLost, match=r"20 workers in a row died before .* \(Died: killed\)"):
        list(run_remote(jobs, crew, give_up))
    assert crew.closed


def test_workers_that_come_up_and_die_of_any_job_end_the_run() -> None:
    """That they say they are up is no progress."""
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(bool)
    with pytest.raises(WorkersLost, match=r"20 workers in a row died before .* \(Died: killed\)"):
        list(run_remote(jobs, crew, give_up))


class ShrinkingCrew(ScriptedCrew):
    """As on a cluster that has lost a node: workers that are put in the place of others find no room."""

    def __init__(self, dies: Callable[[Sequence[Job]], bool], **options: Any) -> None:
        super().__init__(dies, **options)
        self.without_room: set[int] = set()

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        return Future() if worker in self.without_room else super().submit(worker, jobs)

    def replace(self, worker: int) -> None:
        super().replace(worker)
        self.without_room.add(worker)

    def has_room(self) -> bool:
        return len(self.without_room) < self.size


def test_a_worker_that_finds_no_room_is_given_nothing_and_not_waited_for() -> None:
    jobs, _ = plan(EVERYTHING)
    died: list[Sequence[Job]] = []

    def once(taken: Sequence[Job]) -> bool:
        if not taken or died:
            return False
        died.append(taken)
        return True

    crew = ShrinkingCrew(once, size=3)
    assert ordered(run_remote(jobs, crew, give_up)) == ordered(play(EVERYTHING))
    assert (len(crew.without_room), crew.closed) == (1, True)


def test_a_run_ends_when_no_worker_has_room_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolenv.runner.remote.LOOK_SECONDS", 0.01)
    jobs, _ = plan(EVERYTHING)
    crew = ShrinkingCrew(bool)
    with pytest.raises(WorkersLost, match=r"all workers are lost, and for .* minutes there was no room"):
        list(run_remote(jobs, crew, give_up))
    assert (len(crew.without_room), crew.closed) == (2, True)


def test_a_worker_that_died_between_calls_is_replaced() -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(never)
    crew.alive = [False, True]
    assert ordered(run_remote(jobs, crew, give_up)) == ordered(play(EVERYTHING))
    assert crew.replaced == 1


class Confused(Payer):
    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if "30" in observation.messages[0].content:
            return {"tool": "pay"}, memory
        return super().act(observation, memory)


def test_what_is_no_action_ends_the_run_after_what_was_in_flight() -> None:
    jobs, _ = plan(ten_episodes())
    crew = ScriptedCrew(never, make=Confused)
    kept: list[Rollout] = []
    with pytest.raises(UsageError, match=r"policy 'payer' gave no action: dict") as raised:
        kept.extend(run_remote(jobs, crew, give_up))
    assert {one.episode.task_id for one in kept} == {"pay-7"}
    assert "in a worker:" in raised.value.__notes__[0]
    assert crew.closed


def test_a_run_that_is_given_up_closes_its_crew() -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(never)
    episodes = run_remote(jobs, crew, give_up)
    next(episodes)
    episodes.close()  # type: ignore[attr-defined]
    assert crew.closed


def test_jobs_are_taken_as_workers_take_them() -> None:
    """Memory does not grow with the run: what is in flight is what workers hold."""
    jobs, _ = plan(RunConfig(envs=(CLEAN,), agent="payer", trials=200))
    taken = 0

    def watched() -> Iterator[Job]:
        nonlocal taken
        for job in jobs:
            taken += 1
            yield job

    crew = ScriptedCrew(never, size=2)
    for done, _ in enumerate(run_remote(watched(), crew, give_up), 1):
        assert taken <= done + 2 * (1 + MOST_AHEAD)
    assert 2 < crew.most_held <= 1 + MOST_AHEAD


def test_the_last_jobs_are_shared_out() -> None:
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(never, size=4, places=len(jobs))
    assert len(list(run_remote(jobs[:8], crew, give_up))) == 8
    assert [len(taken) for taken in crew.taken[:8]] == [
        0,
        0,
        0,
        0,
        2,
        2,
        2,
        2,
    ]  # each says first that it is up


def test_a_run_of_nothing_yields_nothing() -> None:
    crew = ScriptedCrew(never)
    assert list(run_remote([], crew, give_up)) == []
    assert crew.closed


def test_a_worker_hands_in_what_it_has_before_a_long_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no patience at all, each call hands in one episode; the others stay where they are."""
    monkeypatch.setattr("toolenv.runner.worker.PATIENCE", -1.0)
    jobs, _ = plan(EVERYTHING)
    crew = ScriptedCrew(never)
    assert ordered(run_remote(jobs, crew, give_up)) == ordered(play(EVERYTHING))
    assert len(jobs) <= len(crew.taken) <= len(jobs) + CALLS * crew.size


class Unpicklable(UsageError):
    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def test_an_exception_that_cannot_travel_is_told_in_words() -> None:
    def make() -> Any:
        raise Unpicklable("this", "that")

    played = Worker(Orders(make, {})).play(plan(ten_episodes())[0])
    assert played.rollouts() == ()
    failure = played.failure
    assert type(failure) is ToolEnvError
    assert str(failure) == "Unpicklable: this and that"


class Loaded(Payer):
    """Holds a model, which is tried before the first decision."""

    def __init__(self, tried: list[str], fault: str = "") -> None:
        self.tried, self.fault = tried, fault

    def preflight(self) -> None:
        self.tried.append("tried")
        if self.fault:
            raise PreflightError(self.fault)

    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        assert self.tried, "no decision before"
        return [self.act(*pair) for pair in zip(observations, memories, strict=True)]


def test_a_model_is_tried_once_by_each_worker_that_loads_it() -> None:
    tried: list[str] = []
    crew = ScriptedCrew(never, places=4, make=lambda: Loaded(tried))
    assert ordered(run_remote(plan(EVERYTHING)[0], crew, give_up)) == ordered(play(EVERYTHING))
    assert tried == ["tried"] * crew.size


def test_a_model_that_cannot_be_used_ends_the_run_before_an_episode() -> None:
    crew = ScriptedCrew(never, make=lambda: Loaded([], "the chat template is broken"))
    with pytest.raises(PreflightError, match="the chat template is broken"):
        list(run_remote(plan(EVERYTHING)[0], crew, give_up))
