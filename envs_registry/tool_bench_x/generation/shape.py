"""The workflow that calls form, by what feeds what: told by values, since a model's calls say no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs_registry.tool_bench_x.generation.values import values_in, values_of
from envs_registry.tool_bench_x.layout import Call


def shape_of(calls: Sequence[Call], results: Sequence[Any], request: str) -> str:
    """``sequential``, ``parallel``, ``mixture``, or ``unconnected`` if no call needs another's result.

    A call needs an earlier result if one of its arguments is a value in it that the request does not hold.
    *Sequential*: every call but the first needs the one before it. *Parallel*: none but the last needs any,
    and the last needs two or more, or all. *Mixture*: anything else.
    """
    known = values_in(request)
    told = [values_of(result) - known for result in results]
    given = [values_of(dict(call.arguments)) for call in calls]
    sources = [{at for at in range(number) if told[at] & given[number]} for number in range(len(calls))]
    if len(calls) > 1 and all(number - 1 in found for number, found in enumerate(sources) if number):
        return "sequential"
    if not any(sources):
        return "unconnected"
    if not any(sources[:-1]) and len(sources[-1]) >= min(2, len(calls) - 1):
        return "parallel"
    return "mixture"
