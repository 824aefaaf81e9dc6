"""Query-grounded entities: the query already holds what a masked tool would fetch (Appendix B.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from toolenv.feasibility.dependence import Dependence, MadeCall
from toolenv.feasibility.slicing import Study
from toolenv.feasibility.values import values_in


def query_grounded(study: Study, masked: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """The masked tools that only fetched what the query holds, with the values.

    A tool is one if the trace succeeds without its calls, with every value still told by somebody, and the
    user had said, before these calls, a value that they returned: one that later calls consumed and that was
    no argument of theirs; or, if there is none, all that each of them returned.

    Args:
        study: a successful trace.
        masked: the masked tools.
    """
    found = {tool: _values(study, tool) for tool in sorted(masked)}
    return {tool: values for tool, values in found.items() if values}


def _values(study: Study, tool: str) -> tuple[str, ...]:
    dependence = study.dependence
    calls = [one for one in dependence.calls if one.call.name == tool and one.result.kind == "ok"]
    consumed = tuple(dict.fromkeys(value for one in calls for value in _consumed(dependence, one)))
    values = consumed or _whole(dependence, calls)
    return values if values and study.solves_without(frozenset({tool})) else ()


def _consumed(dependence: Dependence, source: MadeCall) -> Iterator[str]:
    """Values of later calls that this call's result holds and the user had said before it."""
    asked, result = dependence.asked_before(source.step), dependence.results[source.number]
    own = {value.text for value in values_in(source.call.arguments)}
    for later in dependence.calls[source.number + 1 :]:
        for value in values_in(later.call.arguments):
            text = value.text
            if text and text not in own and result.mentions(text) and asked.mentions(text):
                yield text


def _whole(dependence: Dependence, calls: Collection[MadeCall]) -> tuple[str, ...]:
    """The calls' results, if the user had said each whole result before."""
    found = [one.result.text.strip() for one in calls]
    asked = (dependence.asked_before(one.step) for one in calls)
    known = (bool(text) and said.mentions(text.lower()) for text, said in zip(found, asked, strict=True))
    return tuple(dict.fromkeys(found)) if all(known) else ()
