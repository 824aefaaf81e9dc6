from __future__ import annotations

import random
from itertools import combinations

from toolenv.feasibility.certificates.hitting import hitting_sets


def found(*solutions: str, prefer: str = "") -> list[str]:
    """Tools are single letters here."""
    return ["".join(one) for one in hitting_sets(map(frozenset, solutions), frozenset(prefer))]


def test_the_intersection_comes_first() -> None:
    assert found("abc", "bcd")[:2] == ["b", "c"]


def test_where_nothing_is_shared_sets_are_proposed() -> None:
    assert found("m", "cr") == ["cm", "mr"]


def test_tools_that_are_masked_already_are_preferred() -> None:
    assert found("ab", "cd", prefer="bd")[0] == "bd"


def test_what_uses_no_tool_cannot_be_hit() -> None:
    assert found("ab", "") == []


def test_against_trying_every_set() -> None:
    generator = random.Random(4)
    for _ in range(200):
        solutions = [
            frozenset(generator.sample("abcdef", generator.randint(1, 4)))
            for _ in range(generator.randint(1, 4))
        ]
        every = [
            frozenset(chosen)
            for size in range(7)
            for chosen in combinations("abcdef", size)
            if all(frozenset(chosen) & one for one in solutions)
        ]
        minimal = {one for one in every if not any(other < one for other in every)}
        proposed = list(hitting_sets(solutions, frozenset()))
        assert {frozenset(one) for one in proposed} == minimal
        assert [len(one) for one in proposed] == sorted(len(one) for one in proposed)
