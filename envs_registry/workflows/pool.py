"""Which tools a task offers: those of its plan, their alternatives, and distractors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envs_registry.workflows.blueprint import Origin, ReferenceCall
from envs_registry.workflows.streams import Stream
from envs_registry.workflows.toolbox import Toolbox

LEAST_DISTRACTORS, MOST_DISTRACTORS = 3, 10


def critical_tools(toolbox: Toolbox, used: Iterable[str]) -> frozenset[str]:
    """The tools of a plan, and those that could stand in for one of them."""
    names = set(used)
    return frozenset(names | {toolbox.contract(name).alternative for name in names} - {""})


def critical_facts(toolbox: Toolbox, calls: Sequence[ReferenceCall], origin: Origin) -> frozenset[str]:
    """The facts an answer depends on: those that calls are fed, identifiers left out, and the answer's own.

    An identifier counts only where it is the answer: knowing who a thing is does not tell anything about it.
    """
    fed = [feed for call in calls for feed in call.feeds]
    found = {_fact(toolbox, calls, feed.origin) for feed in fed}
    answers = {_fact(toolbox, calls, origin)}
    if toolbox.contract(calls[origin.call].tool).kind == "ranking":
        ranked = [feed for feed in calls[origin.call].feeds if feed.argument[0] == "ids"]
        answers = {_fact(toolbox, calls, feed.origin) for feed in ranked}
    return frozenset({fact for fact in found if not fact.endswith(".id")} | answers) - {""}


def _fact(toolbox: Toolbox, calls: Sequence[ReferenceCall], origin: Origin) -> str:
    contract = toolbox.contract(calls[origin.call].tool)
    return contract.field(str(origin.path[0])).fact


def draw_pool(
    toolbox: Toolbox, critical: frozenset[str], facts: frozenset[str], stream: Stream
) -> tuple[str, ...]:
    """The names of the tools offered, in random order.

    No distractor tells a critical fact, so a task without its critical tools cannot be solved. There are so
    many distractors, now and then, that the size of a pool says little about whether tools were taken away.
    """
    candidates = [
        name
        for name, tool in toolbox.tools.items()
        if name not in critical and facts.isdisjoint(tool.contract.facts)
    ]
    count = min(stream.between(LEAST_DISTRACTORS, MOST_DISTRACTORS), len(candidates))
    return tuple(stream.shuffled([*sorted(critical), *stream.sample(candidates, count)]))
