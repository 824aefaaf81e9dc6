"""Sets of keys are sets, and small."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from toolenv.runner.keys import KeySet

KEYS = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), st.integers(-3, 5) | st.just(2**40))
)


@given(KEYS, KEYS)
def test_it_is_a_set(keys: list[tuple[str, str, int]], others: list[tuple[str, str, int]]) -> None:
    found, plain = KeySet(keys), set(keys)
    assert (found, len(found), sorted(found)) == (plain, len(plain), sorted(plain))
    assert [key in found for key in others] == [key in plain for key in others]
    for key in others:
        found.add(key)
    assert found == plain | set(others)


def test_what_is_no_key_is_in_none() -> None:
    keys = KeySet([("a", "x", 0)])
    assert ("a", "x") not in keys
    assert None not in keys
    assert ("a", "x", "0") not in keys


def test_a_million_trials_cost_a_few_megabytes() -> None:
    tracemalloc.start()
    keys = KeySet(("env", f"task {task}", trial) for task in range(10_000) for trial in range(100))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(keys) == 1_000_000
    assert size < 5e6
