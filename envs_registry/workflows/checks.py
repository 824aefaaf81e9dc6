"""Whether a generated task is what it claims to be; used by tests, benchmarks and ``toolenv validate``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from envs_registry.workflows.blueprint import Blueprint, ReferenceCall, Workflow, value_at
from envs_registry.workflows.leakage import leaks
from envs_registry.workflows.toolbox import get_toolbox
from envs_registry.workflows.world import WorkflowWorld
from toolenv.arguments import check_arguments
from toolenv.task import Task

_UNRESOLVED = re.compile(r"[{}|]|None|\(\)|  | [,.?!:;]|[,;:][.?!]|\bthe the\b|\bof of\b")
_WELL_FORMED = re.compile(r"[A-Z“].*[.?!]", re.DOTALL)


def problems(task: Task) -> tuple[str, ...]:
    """What is wrong with a task, a line each; none if it is sound."""
    blueprint: Blueprint = task.metadata["blueprint"]
    return (
        *_wording(task, blueprint),
        *_calls(task, blueprint),
        *_answer(task, blueprint),
        *_pool(task, blueprint),
    )


def workflow_of(calls: Sequence[ReferenceCall]) -> Workflow:
    """The workflow that calls form, by what feeds what alone.

    *Sequential*: every call but the first uses a result of the call before it. *Parallel*: all calls but the
        last
    need no result, and the last uses one of each. *Mixture*: anything else.
    """
    sources = [{feed.origin.call for feed in call.feeds} for call in calls]
    if all(at - 1 in found for at, found in enumerate(sources) if at):
        return "sequential"
    if not any(sources[:-1]) and sources[-1] == set(range(len(calls) - 1)):
        return "parallel"
    return "mixture"


def leftover_facts(blueprint: Blueprint) -> frozenset[str]:
    """The critical facts that tools outside the critical ones tell; none, or masking proves nothing."""
    rest = [
        contract.facts for name, contract in blueprint.contracts.items() if name not in blueprint.critical
    ]
    return blueprint.critical_facts & frozenset[str]().union(*rest)


def _wording(task: Task, blueprint: Blueprint) -> Iterator[str]:
    request = task.messages[-1].content
    if found := _UNRESOLVED.search(request):
        yield f"the request holds {found[0]!r}: {request}"
    if not _WELL_FORMED.fullmatch(request):
        yield f"the request does not begin and end as a sentence: {request}"
    for name in blueprint.contracts:
        if name in request:
            yield f"the request names the tool {name!r}"


def _calls(task: Task, blueprint: Blueprint) -> Iterator[str]:
    specs = {tool.name: tool for tool in task.tools}
    world = WorkflowWorld(task.metadata["facts"], get_toolbox(blueprint.subtopic).runners)
    for at, call in enumerate(blueprint.calls):
        if problem := check_arguments(specs[call.tool], call.arguments, "strict").problem:
            yield f"call {at}: {problem}"
        if world.call(call.tool, call.arguments) != call.result:
            yield f"call {at}, {call.tool}: another result than the blueprint's"
        for feed in call.feeds:
            told = value_at(blueprint.calls[feed.origin.call].result, feed.origin.path)
            if feed.origin.call >= at or value_at(call.arguments, feed.argument) != told:
                yield f"call {at}, {call.tool}: {feed} is not what it is fed"
    if world.digest() != blueprint.digest:
        yield "the reference calls end in another world"
    if workflow_of(blueprint.calls) != task.metadata["workflow"]:
        yield f"the calls are {workflow_of(blueprint.calls)}, not {task.metadata['workflow']}"


def _answer(task: Task, blueprint: Blueprint) -> Iterator[str]:
    if (
        value_at(blueprint.calls[blueprint.origin.call].result, blueprint.origin.path)
        != blueprint.answer.value
    ):
        yield "the answer is not where it should come from"
    if not blueprint.answer.is_in(f"It is {blueprint.answer.text}."):
        yield "the answer is not found in a message that gives it"
    said = " ".join(message.content for message in task.messages)
    if leaks(blueprint.answer, said, blueprint.subtopic, blueprint.contracts):
        yield "the answer stands in what the agent is given"


def _pool(task: Task, blueprint: Blueprint) -> Iterator[str]:
    names = {tool.name for tool in task.tools}
    if not blueprint.critical < names or names != set(blueprint.contracts):
        yield "the pool does not hold the critical tools and others"
    if left := leftover_facts(blueprint):
        yield f"without the critical tools, others still tell {sorted(left)}"
