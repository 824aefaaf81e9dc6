"""Tokens by role of many episodes, in columns: 8 bytes an episode, and 16 for each of its roles."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import TypeAlias

from toolenv.episode import RoleTokens

_UNKNOWN = -1
_MOST = 2**63
_NONE = -1

_Shape: TypeAlias = tuple[tuple[str, bool], ...]
"""The roles of an episode in order, each with whether its counts are estimates."""


class RoleColumns:
    """The roles of episodes in the order they were added; reading one makes it anew."""

    def __init__(self) -> None:
        self._shapes: dict[_Shape, int] = {}
        self._shape_of: list[_Shape] = []
        # Where each episode's begin; there, the number of its shape, and the counts of each role.
        self._begin, self._numbers = array("q"), array("q")

    def append(self, roles: Mapping[str, RoleTokens]) -> bool:
        """Add an episode's; whether they fit. Of those that do not, nothing is kept."""
        counts = [count for tokens in roles.values() for count in tokens[:2]]
        fit = all(count is None or (type(count) is int and 0 <= count < _MOST) for count in counts)
        fit = fit and all(type(tokens.estimated) is bool for tokens in roles.values())
        self._begin.append(len(self._numbers) if roles and fit else _NONE)
        if roles and fit:
            self._numbers.append(self._number_of(tuple((role, of.estimated) for role, of in roles.items())))
            self._numbers.extend(_UNKNOWN if count is None else count for count in counts)
        return fit

    def __getitem__(self, at: int) -> dict[str, RoleTokens]:
        begin = self._begin[at]
        if begin == _NONE:
            return {}
        shape = self._shape_of[self._numbers[begin]]
        counts = self._numbers[begin + 1 : begin + 1 + 2 * len(shape)]
        told = [None if count == _UNKNOWN else count for count in counts]
        pairs = zip(shape, told[::2], told[1::2], strict=True)
        return {role: RoleTokens(given, written, estimated) for (role, estimated), given, written in pairs}

    def _number_of(self, shape: _Shape) -> int:
        number = self._shapes.setdefault(shape, len(self._shapes))
        if number == len(self._shape_of):
            self._shape_of.append(shape)
        return number
