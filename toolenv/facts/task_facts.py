"""Facts of a task that tables are broken down by (paper 2: domain, workflow, number of tools)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from toolenv.errors import RAISED
from toolenv.pickling import quickly_pickled
from toolenv.task import Task
from toolenv.types import ToolCall, ToolCalls

MOST_SHARED = 4096
"""Different facts of which each is kept once, however many episodes have them."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What is known of a task; empty or ``None`` where its suite does not say.

    Attributes:
        domain: the topic, e.g. ``"travel"``.
        workflow: ``sequential``, ``parallel`` or ``mixture``.
        tools: how many different tools the reference solution calls.
        reference_calls: how many calls it makes, on the clean kernel.
    """

    domain: str = ""
    workflow: str = ""
    tools: int | None = None
    reference_calls: int | None = None


UNKNOWN_TASK = TaskFacts()
"""The facts of a task of which nothing is known."""


@lru_cache(MOST_SHARED)
def shared_task_facts(
    domain: str = "", workflow: str = "", tools: int | None = None, reference_calls: int | None = None
) -> TaskFacts:
    """The facts as one shared object: there are few different ones, and millions of episodes."""
    return TaskFacts(domain, workflow, tools, reference_calls)


def task_facts(task: Task) -> TaskFacts:
    """The facts of a task, from its metadata (``"domain"``, ``"workflow"``) and its reference solution."""
    domain, workflow = (_text(task.metadata.get(name)) for name in ("domain", "workflow"))
    try:
        calls = reference_calls(task)
    except RAISED:  # of the suite's own code; what an oracle has of it says so
        calls = ()
    if not calls:
        return shared_task_facts(domain, workflow)
    return shared_task_facts(domain, workflow, len({call.name for call in calls}), len(calls))


def reference_calls(task: Task) -> tuple[ToolCall, ...]:
    """The calls of a task's own solution; empty if none is known.

    In a hazard condition the solution is the recovery witness, and the own one is that of its ``truth``.
    """
    truth = getattr(task.reference, "truth", task.reference)
    return tuple(
        call for action in truth.solution() if isinstance(action, ToolCalls) for call in action.calls
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
