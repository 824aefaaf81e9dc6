"""How long a server asks its clients to wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_REQUESTED_DELAY = 600.0


def requested_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a ``Retry-After`` header in any form, at most ten minutes; ``None`` if absent.

    Args:
        headers: by name in lower case.
    """
    said = headers.get("retry-after")
    for delay in (_number(headers.get("retry-after-ms"), 1000), _number(said, 1)):
        if delay is not None:
            return delay
    return _delay_until(said, headers.get("date"))


def _number(text: str | None, per_second: int) -> float | None:
    """Seconds written as a number that can be waited for."""
    try:
        number = math.nan if text is None else float(text)
    except ValueError:
        return None
    return min(number / per_second, LONGEST_REQUESTED_DELAY) if 0 <= number < math.inf else None


def _delay_until(moment: str | None, now: str | None) -> float | None:
    """The seconds between two HTTP dates: the server's own clock is the one that counts, where it is told."""
    if moment is None:
        return None
    try:
        begun = datetime.now(UTC) if now is None else parsedate_to_datetime(now)
        delay = (parsedate_to_datetime(moment) - begun).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(delay, 0.0), LONGEST_REQUESTED_DELAY)
