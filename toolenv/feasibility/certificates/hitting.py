"""Which tools to mask so that every known solution loses one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations


def hitting_sets(solutions: Iterable[frozenset[str]], prefer: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """The minimal sets that share a tool with each solution, the smallest first.

    Among sets of one size those come first that have most in common with ``prefer``, then in alphabetical
    order. Where all solutions share a tool, the first sets are such single tools.

    Args:
        solutions: the tools of each known solution; one without any tool cannot be hit.
        prefer: tools that are masked already.
    """
    kept = _least(solutions)
    if frozenset() in kept:
        return
    tools = sorted(frozenset().union(*kept), key=lambda tool: (tool not in prefer, tool))
    found: list[frozenset[str]] = []
    for size in range(1, len(kept) + 1):
        sized = sorted(combinations(tools, size), key=lambda chosen: (-len(prefer & set(chosen)), chosen))
        for chosen in sized:
            candidate = frozenset(chosen)
            if all(candidate & one for one in kept) and not any(other <= candidate for other in found):
                found.append(candidate)
                yield tuple(sorted(candidate))


def _least(solutions: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Without the solutions that use all the tools of another."""
    every = set(solutions)
    return sorted((one for one in every if not any(other < one for other in every)), key=sorted)
