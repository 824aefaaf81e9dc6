"""Loaded models, each once: both parts of a pair, and policies that differ in what they ask, share one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

Model = TypeVar("Model")

_LOADING = threading.Lock()
_LOADED: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()


def shared(key: Hashable, load: Callable[[], Model]) -> Model:
    """The model of that key: one that somebody holds, or else a new one.

    Args:
        key: all that decides how it is loaded.
        load: loads it; called by one thread at a time.
    """
    with _LOADING:
        held = _LOADED.get(key)
        if held is None:
            held = _LOADED[key] = load()
        return cast(Model, held)
