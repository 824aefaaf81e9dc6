"""How long to wait before a failed request is sent again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential waits with jitter: many clients that failed together do not come back together.

    Attributes:
        first: seconds behind the first failure; doubled with each further one.
        longest: the most that is ever waited.
    """

    first: float = 1.0
    longest: float = 60.0

    def delay(self, failures: int, key: str) -> float:
        """Seconds to wait behind so many failures: between half of the full wait and all of it.

        Args:
            failures: how often the request has failed, from 1.
            key: names the request; the jitter is a function of it and of ``failures``.
        """
        doublings = min(failures - 1, 62)  # beyond any wait, and no float overflows
        full: float = min(self.first * 2**doublings, self.longest)
        return full * (0.5 + 0.5 * share(key, failures))


def share(key: str, number: int) -> float:
    """A number in [0, 1) that is a function of both."""
    digest = hashlib.blake2b(f"{number}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64
