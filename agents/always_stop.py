"""Stops at once: FCR 0, SR 0, false-stop rate 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolenv.errors import UsageError
from toolenv.types import NO_TOKENS, Stop

from .constant import Constant


def make(argument: str, options: Mapping[str, Any]) -> Constant:
    """``always-stop`` takes no argument."""
    if argument:
        raise UsageError(f"always-stop:{argument}: this agent takes no argument")
    return Constant(Stop("always stops", usage=NO_TOKENS), "always-stop")
