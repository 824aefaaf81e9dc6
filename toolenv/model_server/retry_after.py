"""How long a server asks its clients to wait."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_REQUESTED_DELAY = 600.0


def requested_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a ``Retry-After`` header in any form, at most ten minutes; ``None`` if absent.

    Args:
        headers: by name in lower case.
    """
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            delay = float(milliseconds) / 1000
        elif seconds is not None:
            delay = float(seconds)
        else:
            return None
    except ValueError:
        return _delay_until(seconds, headers.get("date"))
    return min(delay, LONGEST_REQUESTED_DELAY) if math.isfinite(delay) and delay >= 0 else None


def _delay_until(moment: str | None, now: str | None) -> float | None:
    """The seconds between two HTTP dates: the server's own clock is the one that counts."""
    if moment is None or now is None:
        return None
    try:
        delay = (parsedate_to_datetime(moment) - parsedate_to_datetime(now)).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(delay, 0.0), LONGEST_REQUESTED_DELAY)
