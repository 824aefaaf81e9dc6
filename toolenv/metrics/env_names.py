"""What the names of environments say: whose tasks they have, under which condition."""

from __future__ import annotations

import re
from functools import lru_cache

_ID = re.compile(r"(?P<suite>[^-]+)-(?P<condition>.+)-v(?P<version>\d+)")


@lru_cache(maxsize=1000)
def parts_of(env: str) -> tuple[str, str, int]:
    """(suite with its namespace, condition, version) of an id; other names are a suite of their own."""
    match = _ID.fullmatch(env)
    return (match["suite"], match["condition"], int(match["version"])) if match else (env, "", 0)
