"""A whole generation: every order made once, several at a time, each kept as soon as it is finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from typing import Any

from envs_registry.tool_bench_x.generation import prompts
from envs_registry.tool_bench_x.generation.asking import Asker, AskingSettings
from envs_registry.tool_bench_x.generation.candidate import Candidate
from envs_registry.tool_bench_x.generation.log import CandidateLog
from envs_registry.tool_bench_x.generation.making import make
from envs_registry.tool_bench_x.generation.topics import Order
from envs_registry.tool_bench_x.generation.writing import write_tree
from envs_registry.workflows.leakage import squeeze
from toolenv.canonical import digest
from toolenv.model_server import ChatServer

GENERATION_VERSION = 1


def header(orders: Sequence[Order], settings: AskingSettings, seed: int) -> dict[str, Any]:
    """What a generation is; two with the same header may be one that was interrupted."""
    return {
        "version": GENERATION_VERSION,
        "prompts": prompts.VERSION,
        "model": settings.model,
        "attempts": settings.attempts,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": seed,
        "orders": f"sha256:{digest([[str(one.key), one.topic, one.subtopic] for one in orders])}",
    }


def generate(
    orders: Sequence[Order],
    server: ChatServer,
    settings: AskingSettings,
    log: CandidateLog,
    concurrency: int = 1,
) -> Iterator[Candidate]:
    """Make the candidates that a log lacks, append each to it, and keep the tree beside it up to date.

    Yields:
        Each candidate once it is on disk.

    Raises:
        ServerError: the server failed; what is finished is kept.
        SandboxUnavailableError: this machine cannot wall code in.
        StoreError: the folder cannot be written.
    """
    seen = {squeeze(one.prompt) for one in log.candidates if one.is_retained}
    write_tree(log.folder, log.candidates)
    waiting = (order for order in orders if order.key not in log)
    for made in _made(waiting, server, settings, concurrency):
        candidate = _without_duplicates(made, seen)
        log.append(candidate)
        if candidate.is_retained:
            write_tree(log.folder, log.candidates)
        yield candidate


def _made(
    orders: Iterator[Order], server: ChatServer, settings: AskingSettings, concurrency: int
) -> Iterator[Candidate]:
    """Candidates as they are finished. After an error none is started; those begun are awaited."""

    def work(order: Order) -> Candidate:
        return make(order, Asker(server, settings, order.seed))

    pool, failed = ThreadPoolExecutor(concurrency), None
    try:
        running: set[Future[Candidate]] = {pool.submit(work, order) for order in islice(orders, concurrency)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                failed = failed or future.exception()
                if future.exception() is None:
                    yield future.result()
            if failed is None:
                running |= {pool.submit(work, order) for order in islice(orders, len(done))}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failed is not None:
        raise failed


def _without_duplicates(candidate: Candidate, seen: set[str]) -> Candidate:
    squeezed = squeeze(candidate.prompt)
    if not candidate.is_retained:
        return candidate
    if squeezed in seen:
        return replace(candidate, reason="duplicate", detail="the request is that of a task retained before")
    seen.add(squeezed)
    return candidate
