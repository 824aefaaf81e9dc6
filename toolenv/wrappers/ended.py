"""The last ``info`` of an episode that a wrapper on the inside cut short."""

from __future__ import annotations

from typing import Any

from toolenv.env import ToolEnv


def complete(info: dict[str, Any], env: ToolEnv) -> None:
    """Give a last ``info`` its verdict if it has none: a ``TimeLimit`` truncates what ``env`` still runs."""
    if "verdict" not in info:
        info.update(env.truncate())
