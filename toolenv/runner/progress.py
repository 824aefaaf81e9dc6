"""How a run is getting on, in constant memory: what is shown while it runs."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from toolenv.model_server.failures import Failures
from toolenv.rollout import Rollout
from toolenv.runner.costs import Money, Tariff, amount_text

QUIET_SECONDS = 30.0
"""After so long without an episode that ended, the line says so, and what is in flight."""


class Tally:
    """Counts of the episodes that have ended since the run was begun or resumed; may be shared by threads.

    Args:
        total: episodes of the whole run.
        done: those that had ended before.
        now: seconds since some moment.
        tariff: what tokens cost, if that is to be shown.
        at_once: how many episodes are played at a time.
        failures: attempts at requests that failed, those of episodes in flight included; ``None`` where
            only those of ended episodes are known.

    Attributes:
        ended: episodes that have ended here.
        feasible, solved: valid feasible ones that could be assessed, and how many of them were done.
        infeasible, continued: valid infeasible ones, and how many of them were not stopped on.
        input_tokens, output_tokens: those spent here that are known: none of the response cache, and none of
            a recorded episode that one went on from.
        unknown: episodes that spent tokens that are not known.
        invalid: invalid episodes by trouble.
        failed_requests: failed attempts at requests by trouble.
        recalled: replies that came out of the response cache.
    """

    def __init__(
        self,
        total: int,
        done: int,
        now: Callable[[], float],
        tariff: Tariff | None = None,
        *,
        at_once: int = 1,
        failures: Failures | None = None,
    ) -> None:
        self.total, self.done, self._now, self._tariff = total, done, now, tariff
        self._at_once, self._failures = at_once, failures
        self._begun = self._last = now()
        self._lock = threading.Lock()
        self.ended = self.feasible = self.solved = self.infeasible = self.continued = 0
        self.input_tokens = self.output_tokens = self.unknown = self.recalled = 0
        self.invalid: Counter[str] = Counter()
        self.failed_requests: Counter[str] = Counter()
        self.money = Money()

    def add(self, one: Rollout) -> None:
        """Count an episode that has ended."""
        with self._lock:
            self._add(one)
            self._last = self._now()

    def _add(self, one: Rollout) -> None:
        episode = one.episode
        self.ended += 1
        self.recalled += episode.trouble.recalled
        self.failed_requests.update(dict(episode.trouble.failed_requests))
        spent = one.trace.own.usage
        if spent.input_tokens is None or spent.output_tokens is None:
            self.unknown += 1
        else:
            self.input_tokens += spent.input_tokens - spent.recalled_input_tokens
            self.output_tokens += spent.output_tokens - spent.recalled_output_tokens
        if self._tariff is not None:
            self.money = self.money.plus(self._tariff.of(one.trace))
        if not episode.valid:
            self.invalid[episode.trouble.name or episode.decided_by] += 1
        elif episode.label == "infeasible":
            self.infeasible += 1
            self.continued += episode.decision == "feasible"
        elif episode.success is not None:
            self.feasible += 1
            self.solved += episode.success

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at the pace so far; ``None`` before the first episode has ended."""
        left = self.total - self.done - self.ended
        return None if self.ended == 0 else left * (self._now() - self._begun) / self.ended

    def line(self) -> str:
        """All of it in one line."""
        with self._lock:
            told = " · ".join(filter(None, self._parts()))
            ended = f"{self.done + self.ended:,}/{self.total:,}"
        since = "since it was resumed: " if self.done else ""
        return f"{ended} · {since}{told}" if told else ended

    def _parts(self) -> list[str]:
        return [
            _rate("SR", self.solved, self.feasible),
            _rate("FCR", self.continued, self.infeasible),
            self._tokens(),
            self._cost(),
            f"{self.recalled:,} replies recalled" if self.recalled else "",
            _counts("invalid", self.invalid),
            self._failed_requests(),
            self._quiet(),
            "" if self.seconds_left is None else f"{duration(self.seconds_left)} left",
        ]

    def _failed_requests(self) -> str:
        return _counts("failed requests", self._failures.counts() if self._failures else self.failed_requests)

    def _quiet(self) -> str:
        """Where no episode has ended of late: for how long, how many are in flight, what failed last."""
        seconds = self._now() - self._last
        if seconds < QUIET_SECONDS:
            return ""
        in_flight = min(self._at_once, self.total - self.done - self.ended)
        said = self._failures.latest if self._failures else ""
        latest = f", latest failure: {said:.120}" if said else ""
        return f"{in_flight:,} in flight, none ended for {duration(seconds)}{latest}"

    def _tokens(self) -> str:
        known = f"{_short(self.input_tokens)} in + {_short(self.output_tokens)} out"
        if not (self.input_tokens or self.output_tokens or self.unknown):
            return ""
        return f"{known} ({self.unknown:,} unknown)" if self.unknown else known

    def _cost(self) -> str:
        if self._tariff is None:
            return ""
        unknown = f" ({self.money.unknown:,} unknown)" if self.money.unknown else ""
        return f"cost {amount_text(self.money.amount, 2)}{unknown}"


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def _rate(name: str, count: int, n: int) -> str:
    return f"{name} {100 * count / n:.1f}% of {n:,}" if n else ""


def _counts(name: str, counts: Counter[str]) -> str:
    told = ", ".join(f"{trouble} {number:,}" for trouble, number in counts.most_common(3))
    more = ", …" if len(counts) > 3 else ""
    return f"{counts.total():,} {name} ({told}{more})" if counts else ""


def _short(number: int) -> str:
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "K")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return str(number)
