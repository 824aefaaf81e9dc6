"""Many functions of one stream: it is read once, and never held whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from queue import Queue
from typing import Any, TypeVar

T = TypeVar("T")

HELD = 50_000
"""A stream of no more items is simply made a list."""

BLOCK = 1_000


def read_together(
    items: Iterable[T], functions: Mapping[str, Callable[[Iterable[T]], Any]]
) -> dict[str, Any]:
    """What each function makes of the items, by its name.

    Beyond :data:`HELD` items each function reads in a thread of its own, and all of them block by block, so
    that two blocks are in memory and not the stream. It buys memory, no speed.

    Args:
        items: read once.
        functions: each reads its argument once, from the beginning.

    Raises:
        Exception: that of the first function that raised one.
    """
    stream = iter(items)
    held = list(islice(stream, HELD + 1))
    if len(held) <= HELD:
        return {name: function(held) for name, function in functions.items()}
    queues = [Queue[list[T]](1) for _ in functions]
    with ThreadPoolExecutor(len(queues)) as pool:
        pairs = zip(functions.values(), queues, strict=True)
        reading = [pool.submit(_read, function, queue) for function, queue in pairs]
        try:
            while held:
                for block in _blocks(held):
                    for queue in queues:
                        queue.put(block)
                held = list(islice(stream, BLOCK))
        finally:
            for queue in queues:
                queue.put([])
    return {name: future.result() for name, future in zip(functions, reading, strict=True)}


def _blocks(held: list[T]) -> Iterator[list[T]]:
    """The items in blocks; nothing else holds those that were given out."""
    held.reverse()
    while held:
        block = held[: -BLOCK - 1 : -1]
        del held[-BLOCK:]
        yield block


def _read(function: Callable[[Iterable[T]], Any], queue: Queue[list[T]]) -> Any:
    items = _items(queue)
    try:
        return function(items)
    finally:
        for _ in items:  # whoever fills the queue must not wait for a function that has read enough
            pass


def _items(queue: Queue[list[T]]) -> Iterator[T]:
    while block := queue.get():
        yield from block
