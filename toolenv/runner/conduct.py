"""How a run is conducted: what moves no score, and may change from one resumption to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolenv.errors import UsageError
from toolenv.model_server.backoff import Backoff
from toolenv.model_server.cache import ResponseCache
from toolenv.model_server.circumstances import Circumstances
from toolenv.model_server.clock import CLOCK, Clock
from toolenv.model_server.failures import Failures
from toolenv.model_server.limits import NO_LIMITS, Gates, Limits
from toolenv.runner.costs import Price

RETRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How episodes are played.

    Attributes:
        retries: how often an episode is played again that met infrastructure which failed, and might not
            fail again.
        deadline: seconds that one episode may take; ``None`` for no limit. Looked at between decisions and
            while a server is waited for: a policy that computes is not interrupted.
        cache: the folder of the response cache; ``None`` for none.
        limits: how fast requests go to each server.
        backoff: waits between attempts at a request; ``None`` for one second, doubled up to a minute.
        prices: what the tokens of models cost, to show what is spent; empty shows nothing.
        failures: told of each attempt at a request that fails in this process.

    Raises:
        UsageError: a value that cannot work.
    """

    retries: int = RETRIES
    deadline: float | None = None
    cache: Path | None = None
    limits: Limits = NO_LIMITS
    backoff: Backoff | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    failures: Failures | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise UsageError(f"retries={self.retries!r}: give a whole number of at least 0")
        if self.deadline is not None and not (self.deadline > 0 and math.isfinite(self.deadline)):
            raise UsageError(f"deadline={self.deadline!r}: give seconds above 0")

    def shared_by(self, workers: int) -> Conduct:
        """The same for each of several processes: together they keep to the limits."""
        return replace(self, limits=self.limits.shared_by(workers))


CONDUCT = Conduct()


class Services:
    """What the episodes of a run share in one process: gates to servers, the response cache.

    Args:
        conduct: the run's.
        clock: what is waited by.

    Raises:
        UsageError: a cache that cannot be written.
    """

    def __init__(self, conduct: Conduct = CONDUCT, clock: Clock = CLOCK) -> None:
        self._conduct, self._clock = conduct, clock
        self._gates = Gates(conduct.limits, clock)
        self._cache = None if conduct.cache is None else ResponseCache(conduct.cache)

    def episode(self, seed: int) -> Circumstances:
        """The circumstances of an episode that begins now."""
        limit = self._conduct.deadline
        deadline = None if limit is None else self._clock.now() + limit
        around = self.outside()
        around.deadline, around.seed = deadline, seed
        return around

    def outside(self) -> Circumstances:
        """The circumstances of requests that belong to no episode, such as a preflight."""
        conduct = self._conduct
        return Circumstances(
            self._gates, self._cache, conduct.backoff, clock=self._clock, failures=conduct.failures
        )
