"""What is made once for an object, as long as it is the same object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ByIdentity(Generic[Key, Value]):
    """Values by the identity of what they are made of; may be shared by threads.

    Each keeps its key alive, so that no other object can come to bear the same id.

    Args:
        size: how many are kept; once there are more, all are forgotten.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: dict[int, tuple[Key, Value]] = {}

    def of(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value made of ``key`` before, or else now."""
        known = self._known.get(id(key))
        return self.keep(key, make()) if known is None else known[1]

    def find(self, key: Key) -> Value | None:
        """The value kept for ``key``, if there is one."""
        known = self._known.get(id(key))
        return None if known is None else known[1]

    def keep(self, key: Key, value: Value) -> Value:
        """Keep another value for ``key``, and return it."""
        if len(self._known) >= self._size:
            self._known.clear()
        self._known[id(key)] = key, value
        return value
