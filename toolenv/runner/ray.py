"""Runs many episodes on a Ray cluster: actors hold environments and the policy, this process the store.

An existing cluster is used where one is named, by address or by ``RAY_ADDRESS``; otherwise one is started on
this machine and stopped at the end. Ray is imported when it is needed; it is the extra ``ray``.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolenv.errors import ServerError, UsageError
from toolenv.runner.garbage import collect_seldom
from toolenv.runner.plan import Job
from toolenv.runner.worker import Orders, Played, Worker

CONNECT_SECONDS = 10.0
"""How long a cluster may take to accept a connection."""

OBJECT_STORE_BYTES = 200 * 2**20
"""Shared memory of a cluster that is started here. Calls and episodes are small and soon taken out of it."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where actors run.

    Attributes:
        address: of an existing cluster; by default what ``RAY_ADDRESS`` names, or else one of this machine.
        actors: how many share the episodes; by default one per processor of the cluster.
        gpus: of each actor, for policies that hold a model.
    """

    address: str | None = None
    actors: int | None = None
    gpus: float = 0.0


def import_ray() -> Any:
    """The library.

    Raises:
        UsageError: it is not installed; names the extra.
    """
    # It would tell its makers of this run.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if "RAY_AUTH_MODE" not in os.environ and _has_token():
        # Ray does so by itself, but not where a cluster's address is given; one without tokens minds none.
        os.environ["RAY_AUTH_MODE"] = "token"
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            f"--runner ray needs ray ({error}): pip install -e '.[ray]' in a checkout"
        ) from error
    return ray


def _has_token() -> bool:
    """Whether there is a token that a cluster of this user's takes."""
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    return "RAY_AUTH_TOKEN" in os.environ or path.is_file()


class RayCrew:
    """Actors on a Ray cluster.

    Args:
        orders: what each actor must know.
        cluster: where.
        concurrency: episodes at a time, of all actors together.

    Raises:
        UsageError: ray is not installed, or the cluster has no room for the actors.
        ServerError: the cluster cannot be reached.
    """

    def __init__(self, orders: Orders, cluster: Cluster, concurrency: int) -> None:
        self._ray, self._cluster = import_ray(), cluster
        errors = self._ray.exceptions
        self.lost: tuple[type[BaseException], ...] = (
            errors.RayActorError,
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
        )
        self._actors: list[Any] = []
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._connect(concurrency)
        try:
            self.size = min(concurrency, cluster.actors or self._room())
            self._check_room()
            self.places = -(-concurrency // self.size)
            shared = orders.conduct.shared_by(self.size)
            self._orders = replace(orders, places=self.places, conduct=shared)
            self._actors = [self._start() for _ in range(self.size)]
            self._asked = [actor.pid.remote() for actor in self._actors]
        except BaseException:
            self.close()
            raise

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        """See :class:`toolenv.runner.remote.Crew`."""
        future: Future[Played] = self._actors[worker].play.remote(jobs).future()
        return future

    def replace(self, worker: int) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        self._actors[worker] = actor = self._start()
        self._asked[worker] = actor.pid.remote()

    def has_room(self) -> bool:
        """See :class:`toolenv.runner.remote.Crew`."""
        return self._room() > 0

    def close(self) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        actors, self._actors = self._actors, []
        if not self._ray.is_initialized():  # the program is ending
            return
        for actor in actors:
            self._ray.kill(actor)
        if self._ours:
            self._ray.shutdown()

    def pids(self) -> list[int]:
        """The processes of the actors that are up."""
        pids = []
        up, _ = self._ray.wait(self._asked, num_returns=len(self._asked), timeout=0)
        for answer in up:
            with suppress(*self.lost):
                pids.append(int(self._ray.get(answer)))
        return pids

    def _connect(self, concurrency: int) -> None:
        address = self._cluster.address or os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if not address:
            actors = min(concurrency, self._cluster.actors or os.cpu_count() or 1)
            options |= {"num_cpus": actors, "object_store_memory": OBJECT_STORE_BYTES}
            options |= {"include_dashboard": False}
        _check_reachable(address)
        try:
            with _keeping_sigterm():
                self._ray.init(address or "local", **options)
        except (ConnectionError, ValueError, RuntimeError, self._ray.exceptions.RayError) as error:
            token = "; one that wants a token takes the ~/.ray/auth_token of its head node" if address else ""
            raise ServerError(f"no Ray cluster at {address or 'this machine'}: {error}{token}") from error

    def _room(self) -> int:
        """How many actors fit, if nothing else runs there."""
        there = self._ray.cluster_resources()
        fitting = [there.get("CPU", 0.0)]
        if self._cluster.gpus:
            fitting.append(there.get("GPU", 0.0) / self._cluster.gpus)
        return int(min(fitting))

    def _check_room(self) -> None:
        """Refuse actors that would wait for ever for a place."""
        room = self._room()
        if not 0 < self.size <= room:
            wanted, gpus = self.size or 1, self._cluster.gpus
            each = f"a processor{f' and {gpus:g} GPUs' if gpus else ''} each"
            raise UsageError(f"{wanted} Ray actors with {each} do not fit: the cluster has room for {room}")

    def _start(self) -> Any:
        options = {"max_restarts": 0, "max_task_retries": 0}
        remote = self._ray.remote(num_cpus=1, num_gpus=self._cluster.gpus, **options)
        return remote(_Actor).remote(self._orders)


@contextmanager
def _keeping_sigterm() -> Iterator[None]:
    """``ray.init`` takes SIGTERM for itself; whoever handled it before goes on to."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if callable(handler) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def _check_reachable(address: str | None) -> None:
    """Refuse an address at which nobody listens; Ray itself tries for two minutes.

    Raises:
        ServerError: nobody does.
    """
    host, colon, port = (address or "").rpartition(":")
    if not colon or "/" in host or not port.isdecimal():  # "auto", or of Ray's client: not ours to read
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ServerError(f"no Ray cluster at {address}: {error}") from error


class _Actor(Worker):
    """A worker that says which process it is."""

    def __init__(self, orders: Orders) -> None:
        collect_seldom()
        super().__init__(orders)

    def pid(self) -> int:
        return os.getpid()
