"""What requests share that are made within one episode: those of agents, users, simulators and judges alike.

It is found where it is needed, not handed through: a policy, and a suite's simulated user, know nothing of
the run they are part of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from toolenv.model_server.backoff import Backoff
from toolenv.model_server.cache import ResponseCache, key_of
from toolenv.model_server.clock import CLOCK, Clock
from toolenv.model_server.failures import Failures
from toolenv.model_server.limits import Gates


@dataclass(slots=True)
class Circumstances:
    """Those of one episode; of a preflight, where there is none.

    Attributes:
        gates: of the servers, shared by all episodes of the run.
        cache: replies kept from before, if any.
        backoff: waits between attempts; ``None`` leaves each server its own.
        deadline: the moment of ``clock`` by which the episode must be over.
        clock: what deadlines are measured by.
        seed: the episode's.
        failed: attempts that failed, by trouble.
        recalled: replies that came out of the cache.
        asked: how often each request was made.
        failures: those of all episodes, for whoever watches the run.
    """

    gates: Gates
    cache: ResponseCache | None = None
    backoff: Backoff | None = None
    deadline: float | None = None
    clock: Clock = CLOCK
    seed: int | None = None
    failed: Counter[str] = field(default_factory=Counter)
    recalled: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    failures: Failures | None = None

    def has_failed(self, trouble: str, message: str) -> None:
        """Count an attempt at a request that failed."""
        self.failed[trouble] += 1
        if self.failures is not None:
            self.failures.add(trouble, message)

    def key(self, url: str, body: Any, *, counted: bool = True) -> str:
        """The key in the response cache of a request made now.

        Args:
            url: the server's.
            body: all that is sent.
            counted: whether it is made, so that the next one like it is another.
        """
        request = key_of(url, body, self.seed, 0)
        position = self.asked[request]
        self.asked[request] += counted
        return key_of(url, body, self.seed, position) if position else request


_HERE: ContextVar[Circumstances | None] = ContextVar("circumstances", default=None)


def here() -> Circumstances | None:
    """The circumstances of this thread's episode; ``None`` outside a run."""
    return _HERE.get()


@contextmanager
def for_all_episodes() -> Iterator[None]:
    """Requests made inside are the same for every episode: the response cache knows them by no seed."""
    around = _HERE.get()
    if around is None:
        yield
        return
    with under(replace(around, seed=None, asked=Counter())) as shared:
        try:
            yield
        finally:
            around.recalled = shared.recalled


def out_of_time() -> bool:
    """Whether this thread's episode is past its deadline."""
    around = _HERE.get()
    return around is not None and around.deadline is not None and around.clock.now() >= around.deadline


class under:
    """Requests made inside, by this thread, are made under these circumstances; a generator takes longer."""

    __slots__ = ("_circumstances", "_token")

    def __init__(self, circumstances: Circumstances) -> None:
        self._circumstances = circumstances

    def __enter__(self) -> Circumstances:
        self._token = _HERE.set(self._circumstances)
        return self._circumstances

    def __exit__(self, *raised: object) -> None:
        _HERE.reset(self._token)
