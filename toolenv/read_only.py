"""JSON values that cannot be changed in place, and are dicts and lists all the same.

``json.dumps``, ``==`` and ``isinstance`` take them for what they are; :func:`thawed` and ``copy.deepcopy``
give plain copies. For what many share: an agent that edits the tools it sees would change them for all.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn

_SCALARS = frozenset({str, int, float, bool, type(None)})

_UNPACKED = 4096
"""Values out of pickles that are kept, since workers are sent the same ones with every observation."""


class ReadOnlyDict(dict[str, Any]):
    """A dict that refuses to be changed; make it with :func:`frozen`."""

    __slots__ = ("_packed",)

    def _refuse(self, *given: Any, **named: Any) -> NoReturn:
        raise TypeError("this dict is shared and read-only; copy.deepcopy() gives one to change")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: Any) -> dict[str, Any]:
        return {key: thawed(item) for key, item in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        if not hasattr(self, "_packed"):
            self._packed = pickle.dumps(thawed(self), pickle.HIGHEST_PROTOCOL)
        return _unpacked, (self._packed,)


class ReadOnlyList(list[Any]):
    """A list that refuses to be changed; make it with :func:`frozen`."""

    __slots__ = ()

    def _refuse(self, *given: Any, **named: Any) -> NoReturn:
        raise TypeError("this list is shared and read-only; copy.deepcopy() gives one to change")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: Any) -> list[Any]:
        return [thawed(item) for item in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return frozen, (list(map(thawed, self)),)


def frozen(value: Any) -> Any:
    """``value`` with all dicts and lists in it read-only: copies, or itself where they are already."""
    kind = type(value)
    if kind is str or kind is ReadOnlyDict or kind is ReadOnlyList:
        return value
    if kind is dict and _SCALARS.issuperset(map(type, value.values())):  # as nearly all calls have
        return ReadOnlyDict(value)
    if kind is dict or isinstance(value, Mapping):
        return ReadOnlyDict([(key, frozen(item)) for key, item in value.items()])
    return ReadOnlyList(map(frozen, value)) if isinstance(value, list) else value


def thawed(value: Any) -> Any:
    """An independent copy of ``value`` in plain dicts and lists."""
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    return [thawed(item) for item in value] if isinstance(value, list) else value


@lru_cache(maxsize=_UNPACKED)
def _unpacked(packed: bytes) -> Any:
    return frozen(pickle.loads(packed))
