"""How much of a server's ideal throughput a run keeps: ``python -m benchmarks.throughput``.

A server in a process of its own answers each request after a fixed 50 ms: with a call of a tool that is
offered, and in the last request of an episode with a final message. The ideal is ``concurrency / 0.05``
requests a second: what clients that take no time would get. What libcurl gets that sends the same request
again and again, and looks at no reply, is said beside: the most that this machine could give to a run in one
process.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import gymnasium

import envs_registry  # noqa: F401  (registers the ids)
from benchmarks.fixed_latency import LATENCY, Server, serving
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.settings import ChatSettings
from toolenv.model_server.reactor import Reactor
from toolenv.model_server.transport import Exchange, Response, Transport, TransportError
from toolenv.policy import Policy
from toolenv.runner.garbage import collect_seldom
from toolenv.runner.plan import Job, RunConfig, plan
from toolenv.runner.ray import Cluster
from toolenv.runner.select import Workplace, run_at

SECONDS = 5.0
LENGTHS = (8, 1)
"""Requests an episode: about as many as agents need for a task, and the most expensive there is."""
ENV = "ToolFeas/Workflows-clean-v0"
MODEL = "fixed"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run kept of the ideal.

    Attributes:
        rate: requests a second.
        ideal: the server's.
        cpu: microseconds of this process's processor time per request; its part of two or more where episodes
            are played elsewhere.
    """

    rate: float
    ideal: float
    cpu: float

    @property
    def share(self) -> float:
        """Of the ideal."""
        return self.rate / self.ideal


class Measurement:
    """What a server answers from now on, and what that takes here."""

    def __init__(self, server: Server, concurrency: int) -> None:
        self._server, self._ideal = server, concurrency / LATENCY
        self._begun, self._cpu, self._answered = time.perf_counter(), _cpu(), server.answered()

    @property
    def seconds(self) -> float:
        """How long it has been."""
        return time.perf_counter() - self._begun

    def kept(self) -> Kept:
        """What came of it up to now."""
        count = self._server.answered() - self._answered
        return Kept(count / self.seconds, self._ideal, 1e6 * (_cpu() - self._cpu) / count)


def throughput(place: Workplace, server: Server, length: int, seconds: float = SECONDS) -> Kept:
    """Run episodes of so many requests each for about so long, after a warm-up."""
    make_policy = partial(_make_policy, server.base_url, length)
    at_best = int(place.concurrency / LATENCY * seconds) // length
    episodes = run_at(place, _jobs(4 * place.concurrency + at_best), make_policy(), make_policy, {})
    for _ in range(2 * place.concurrency):
        next(episodes)
    measurement = Measurement(server, place.concurrency)
    for one in episodes:
        assert one.episode.valid, one.episode.error
        assert one.episode.turns == length
        if measurement.seconds > seconds:
            break
    kept = measurement.kept()
    for _ in episodes:
        pass
    return kept


def without_episodes(server: Server, concurrency: int, seconds: float = SECONDS) -> Kept:
    """Send an episode's first request as often as that goes, and do nothing else."""
    policy = ChatPolicy(ChatSettings(model=f"{MODEL}-1", base_url=server.base_url))
    observation, _ = gymnasium.make(ENV).reset(seed=0)
    body = json.dumps(policy.request(observation), separators=(",", ":")).encode()
    headers = ["Content-Type: application/json", "Authorization: Bearer none"]
    exchange = Exchange(Transport(), f"{server.base_url}/chat/completions", headers, body, seconds=60.0)
    reactor, count = Reactor(), 0

    def again(came: Response | TransportError) -> None:
        nonlocal count
        assert isinstance(came, Response), came
        count += 1
        reactor.send(exchange, again)

    for _ in range(concurrency):
        reactor.send(exchange, again)
    while count < 2 * concurrency:
        reactor.run()
    measurement = Measurement(server, concurrency)
    while measurement.seconds < seconds:
        reactor.run()
    kept = measurement.kept()
    reactor.close()
    return kept


def measure(
    concurrencies: Sequence[int] = (64, 256),
    lengths: Sequence[int] = LENGTHS,
    rounds: int = 3,
    *,
    ray: bool = False,
) -> None:
    """Print the best of some rounds for each concurrency.

    Args:
        concurrencies: episodes at a time.
        lengths: requests an episode.
        rounds: for each.
        ray: whether to measure an actor for each processor, too.
    """
    processors = os.cpu_count() or 1
    with serving() as server:
        for length, concurrency in product(lengths, concurrencies):
            places = {
                "one process": Workplace("local", concurrency),
                f"{processors} processes": Workplace("processes", concurrency),
            }
            if ray:
                places[f"{processors} Ray actors"] = Workplace("ray", concurrency, Cluster(actors=processors))
            for name, place in places.items():
                tried = (throughput(place, server, length) for _ in range(rounds))
                _show(f"{length} requests an episode, {concurrency:3d} at a time, {name}", tried)
        for concurrency in concurrencies:
            tried = (without_episodes(server, concurrency) for _ in range(rounds))
            _show(f"requests without episodes, {concurrency:3d} at a time, one process", tried)


def _show(what: str, tried: Iterable[Kept]) -> None:
    best = max(tried, key=lambda one: one.share)
    print(
        f"{what}: {best.rate:,.0f} of {best.ideal:,.0f} requests/s ({best.share:.1%}),"
        f" {best.cpu:.0f} µs of processor time per request here",
        flush=True,
    )


def _make_policy(base_url: str, length: int) -> Policy:
    return ChatPolicy(ChatSettings(model=f"{MODEL}-{length}", base_url=base_url))


def _jobs(number: int) -> list[Job]:
    jobs, _ = plan(RunConfig(envs=(ENV,), agent="x"))
    return [Job(job.env, job.task_id, number // len(jobs), job.seed) for number, job in _cycled(jobs, number)]


def _cycled(jobs: Sequence[Job], number: int) -> Iterator[tuple[int, Job]]:
    return ((at, jobs[at % len(jobs)]) for at in range(number))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, at the concurrencies given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("concurrency", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--lengths", type=int, nargs="*", default=LENGTHS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ray", action="store_true")
    given = parser.parse_args()
    collect_seldom()  # as the command line does
    measure(given.concurrency, given.lengths, given.rounds, ray=given.ray)


if __name__ == "__main__":
    main()
