"""Attempts at requests that failed, as they fail: what a run shows before an episode has ended."""

from __future__ import annotations

import threading
from collections import Counter


class Failures:
    """Counts the failed attempts of this process; may be shared by threads. A copy elsewhere begins anew.

    Attributes:
        latest: what the last one met, in the server's or libcurl's words; empty before the first.
    """

    def __init__(self) -> None:
        self.latest = ""
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Failures], tuple[()]]:
        return Failures, ()

    def add(self, trouble: str, message: str) -> None:
        """One attempt has failed.

        Args:
            trouble: its name in :data:`toolenv.trouble.TROUBLES`.
            message: what was said of it.
        """
        with self._lock:
            self._counts[trouble] += 1
            self.latest = message

    def counts(self) -> Counter[str]:
        """How many failed so far, by trouble."""
        with self._lock:
            return Counter(self._counts)
