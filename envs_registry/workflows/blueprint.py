"""A task's blueprint: the reference calls in order, what feeds what, and where the answer comes from.

``task.metadata["blueprint"]`` of every task of this suite is a :class:`Blueprint`. It is truth, values
included, and never reaches an agent. ``task.metadata["plan"]`` is its structure without the values that
tools tell, in the form that hazards and scripted policies of every suite share (:class:`toolenv.plan.Plan`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from envs_registry.workflows.answers import Answer
from envs_registry.workflows.contracts import ToolContract

Workflow: TypeAlias = Literal["sequential", "parallel", "mixture"]
Path: TypeAlias = tuple[str | int, ...]


class Origin(NamedTuple):
    """A value of a call's result.

    Attributes:
        call: which call, by its place in the blueprint.
        path: where in its result, a JSON object; ``("ids", 2)`` is the third item of ``ids``.
    """

    call: int
    path: Path


class Feed(NamedTuple):
    """An argument, or an item of one, that is a value of an earlier result.

    Attributes:
        argument: where in the arguments; ``("values", 0)`` is the first item of ``values``.
        origin: where the value comes from.
    """

    argument: Path
    origin: Origin


@dataclass(frozen=True, slots=True)
class ReferenceCall:
    """One reference call.

    Attributes:
        tool: the tool.
        arguments: all arguments, with the values that the clean world gives.
        feeds: those of them that earlier results give; the others stand in the request or follow from it.
        result: what the clean world returns.
        stage: calls of one stage need only results of earlier stages, and may be made together.
    """

    tool: str
    arguments: Mapping[str, Any]
    feeds: tuple[Feed, ...]
    result: Mapping[str, Any]
    stage: int


@dataclass(frozen=True, slots=True)
class Blueprint:
    """How a task is meant to be solved, and what is known about its tools.

    Attributes:
        domain, subtopic: the declared world.
        workflow: how the calls depend on each other.
        calls: the reference calls, stage by stage.
        answer: the one canonical answer.
        origin: the result it is a value of.
        contracts: of every tool in the pool.
        critical: the tools of the calls, and their alternatives: without them the task cannot be solved.
        critical_facts: the facts that the answer depends on, beyond what identifies things; no tool of the
            pool outside ``critical`` tells any of them.
        changes_state: whether the task asks for a change of the world.
        digest: of the world when the task is done.
    """

    domain: str
    subtopic: str
    workflow: Workflow
    calls: tuple[ReferenceCall, ...]
    answer: Answer
    origin: Origin
    contracts: Mapping[str, ToolContract]
    critical: frozenset[str]
    critical_facts: frozenset[str]
    changes_state: bool
    digest: str

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the reference calls, each once, in order of first use."""
        return tuple(dict.fromkeys(call.tool for call in self.calls))

    @property
    def stages(self) -> tuple[tuple[ReferenceCall, ...], ...]:
        """The calls by stage."""
        last = max(call.stage for call in self.calls)
        return tuple(tuple(call for call in self.calls if call.stage == at) for at in range(last + 1))

    def redundant(self) -> tuple[tuple[str, str], ...]:
        """Pairs of tools in the pool that read the same facts, the registry of record first."""
        return tuple(
            (name, contract.alternative)
            for name, contract in self.contracts.items()
            if contract.authority == "registry of record" and contract.alternative in self.contracts
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        plain["calls"] = [asdict(call) for call in self.calls]
        plain["answer"] = asdict(self.answer)
        plain["contracts"] = {name: asdict(contract) for name, contract in self.contracts.items()}
        plain["critical"], plain["critical_facts"] = sorted(self.critical), sorted(self.critical_facts)
        return plain


def value_at(value: Any, path: Path) -> Any:
    """The value at a path of a result or of arguments."""
    for step in path:
        value = value[step]
    return value
