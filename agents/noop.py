"""Does nothing: shows which tasks pass without any work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolenv.errors import UsageError

from .constant import Constant, say_nothing


def make(argument: str, options: Mapping[str, Any]) -> Constant:
    """``noop`` takes no argument."""
    if argument:
        raise UsageError(f"noop:{argument}: this agent takes no argument")
    return say_nothing("noop")
