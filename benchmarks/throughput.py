"""How much of a server's ideal throughput a run keeps: ``python -m benchmarks.throughput``.

A server in a process of its own answers each request after a fixed 50 ms. The ideal is ``concurrency / 0.05``
requests a second: what clients that take no time would get.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import resource
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

import envs_registry  # noqa: F401  (registers the ids)
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.settings import ChatSettings
from toolenv.policy import Policy
from toolenv.runner.plan import Job, RunConfig, plan
from toolenv.runner.ray import Cluster
from toolenv.runner.select import Workplace, run_at

LATENCY = 0.05
SECONDS = 5.0
ENV = "ToolFeas/Workflows-clean-v0"
MODEL = "fixed-latency"


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


def throughput(place: Workplace, base_url: str, seconds: float = SECONDS) -> Kept:
    """Run episodes of one request each for about so long, after a warm-up."""
    make_policy = partial(_make_policy, base_url)
    ideal = place.concurrency / LATENCY
    wanted = int(ideal * seconds)
    jobs = _jobs(4 * place.concurrency + wanted)
    episodes = run_at(place, jobs, make_policy(), make_policy, {})
    for _ in range(2 * place.concurrency):
        next(episodes)
    begun, cpu, count = time.perf_counter(), _cpu(), 0
    for one in episodes:
        assert one.episode.valid, one.episode.error
        count += 1
        if count == wanted:  # what is in flight at the end is no measure of anything
            break
    took, spent = time.perf_counter() - begun, _cpu() - cpu
    for _ in episodes:
        pass
    return Kept(count / took, ideal, 1e6 * spent / count)


def measure(concurrencies: Sequence[int] = (64, 256), rounds: int = 3, *, ray: bool = False) -> None:
    """Print the best of some rounds for each concurrency.

    Args:
        concurrencies: episodes at a time.
        rounds: for each.
        ray: whether to measure an actor for each processor, too.
    """
    processors = os.cpu_count() or 1
    with serving() as base_url:
        for concurrency in concurrencies:
            places = {"threads of one process": Workplace("local", concurrency)}
            if ray:
                actors = Cluster(actors=processors)
                places[f"{processors} Ray actors"] = Workplace("ray", concurrency, actors)
            for name, place in places.items():
                best = max((throughput(place, base_url) for _ in range(rounds)), key=lambda one: one.share)
                print(
                    f"{concurrency:4d} at a time, {name}: {best.rate:,.0f} of {best.ideal:,.0f} requests/s"
                    f" ({best.share:.1%}), {best.cpu:.0f} µs of processor time per request here"
                )


def _make_policy(base_url: str) -> Policy:
    return ChatPolicy(ChatSettings(model=MODEL, base_url=base_url))


def _jobs(number: int) -> list[Job]:
    jobs, _ = plan(RunConfig(envs=(ENV,), agent="x"))
    return [Job(job.env, job.task_id, number // len(jobs), job.seed) for number, job in _cycled(jobs, number)]


def _cycled(jobs: Sequence[Job], number: int) -> Iterator[tuple[int, Job]]:
    return ((at, jobs[at % len(jobs)]) for at in range(number))


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# -- the server ------------------------------------------------------------------------------------------


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server of fixed latency in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _serve(told: Connection) -> None:
    asyncio.run(_listen(told))


async def _listen(told: Connection) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Answering, "127.0.0.1", 0, backlog=1024)
    told.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


_BODY = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
).encode()
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY
)


class _Answering(asyncio.Protocol):
    """As little work as HTTP allows: the client is what is measured."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.received = transport, bytearray()

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.received[:end]).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        if len(self.received) >= end + 4 + length:
            self.received.clear()
            asyncio.get_running_loop().call_later(LATENCY, self.transport.write, _ANSWER)


def main() -> None:
    """Measure, at the concurrencies given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("concurrency", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ray", action="store_true")
    given = parser.parse_args()
    measure(given.concurrency, given.rounds, ray=given.ray)


if __name__ == "__main__":
    main()
