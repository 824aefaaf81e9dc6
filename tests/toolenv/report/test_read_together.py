"""Functions that read one stream together find what each finds alone."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest

from toolenv.report import read_together as module
from toolenv.report.read_together import BLOCK, HELD, read_together


def first_three(items: Iterable[int]) -> list[int]:
    return list(islice(items, 3))


def no_item(items: Iterable[int]) -> str:
    return "nothing read"


FUNCTIONS = {
    "sum": sum,
    "largest": lambda items: max(items, default=None),
    "three": first_three,
    "no": no_item,
}


@pytest.mark.parametrize("number", [0, 1, HELD, HELD + 1, HELD + BLOCK, HELD + 2 * BLOCK + 1, 3 * HELD])
def test_each_reads_all_of_it(number: int) -> None:
    found = read_together(iter(range(number)), FUNCTIONS)
    expected = {"sum": number * (number - 1) // 2, "largest": number - 1 if number else None}
    assert found == {**expected, "three": list(range(min(3, number))), "no": "nothing read"}
    assert list(found) == list(FUNCTIONS)


@pytest.mark.parametrize("number", [10, 2 * HELD])
def test_an_exception_in_one_is_raised_and_nothing_hangs(number: int) -> None:
    def fails(items: Iterable[int]) -> int:
        for item in items:
            if item == 7:
                raise ZeroDivisionError("a bug")
        return 0

    with pytest.raises(ZeroDivisionError, match="a bug"):
        read_together(range(number), {**FUNCTIONS, "fails": fails})


def test_an_exception_in_the_stream_is_raised_and_nothing_hangs() -> None:
    def torn() -> Iterator[int]:
        yield from range(2 * HELD)
        raise ZeroDivisionError("torn")

    with pytest.raises(ZeroDivisionError, match="torn"):
        read_together(torn(), FUNCTIONS)


def test_the_stream_is_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """200,000 items of more than 100 bytes, of which a few blocks are there at a time."""
    monkeypatch.setattr(module, "HELD", 2 * BLOCK)
    tracemalloc.start()
    found = read_together(
        (f"{number:064}" for number in range(200_000)), {"a": lambda items: sum(map(len, items))}
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == {"a": 64 * 200_000}
    assert peak < 2e6
