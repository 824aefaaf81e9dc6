"""Plans for suites that come without: the data dependences of a solved clean episode.

A value in an argument that only an earlier result can have told (:mod:`toolenv.feasibility.dependence`) is
taken from there; all others are given by the conversation. A solution that holds a value which results tell
only in other words, or which was worked out from them, has no such plan: a script that played it would not
read, but know.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from toolenv.feasibility.dependence import Dependence, MadeCall, Use
from toolenv.hazards.forms import value_of
from toolenv.plan import (
    Contract,
    FieldType,
    Given,
    OutputField,
    Part,
    Path,
    Plan,
    PlannedCall,
    PlannedMessage,
    PlannedStep,
    Taken,
    taken_in,
)
from toolenv.recoverability.proving import Unsuitable
from toolenv.schema import type_names
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Message, ToolCalls

CLOSING = "Done."
"""What is said in place of a solution's own words: no judge of a plan that passes depends on them."""

_TYPES: Mapping[str, FieldType] = {
    "number": "number", "integer": "integer", "string": "string", "boolean": "boolean", "array": "array",
}  # fmt: skip


def derived_plan(task: Task, solved: Trace) -> Plan:
    """The plan behind a successful clean episode.

    Raises:
        Unsuitable: a value in it cannot be read off any result.
    """
    return _Derivation(task, solved).plan()


class _Derivation:
    """One pass over one trace."""

    def __init__(self, task: Task, solved: Trace) -> None:
        self._task, self._trace = task, solved
        self._dependence = Dependence(task, solved)
        self._uses: dict[tuple[int, str], list[Use]] = defaultdict(list)
        for use in self._dependence.uses:
            if use.consumer is not None:
                self._uses[use.consumer, use.place].append(use)
        self._fields: dict[str, dict[str, OutputField]] = defaultdict(dict)

    def plan(self) -> Plan:
        """The plan."""
        steps = tuple(self._steps())
        contracts = {
            tool: Contract(tuple(fields.values()), complete=False) for tool, fields in self._fields.items()
        }
        return Plan(steps, contracts)

    def _steps(self) -> Iterator[PlannedStep]:
        made = iter(self._dependence.calls)
        for step in self._trace.steps:
            if isinstance(step.action, ToolCalls):
                yield from _batches([next(made) for _ in step.action.calls], self._planned)
            elif isinstance(step.action, Message):
                yield PlannedMessage((CLOSING,))
            else:
                raise Unsuitable(f"the solution holds a {type(step.action).__name__}")

    def _planned(self, one: MadeCall) -> PlannedCall:
        spec = next((tool for tool in self._task.tools if tool.name == one.call.name), None)
        properties = spec.parameters.get("properties", {}) if spec is not None else {}
        return PlannedCall(
            one.call.name,
            {
                name: self._part(one.number, item, str(name), properties.get(name, {}))
                for name, item in one.call.arguments.items()
            },
        )

    def _part(self, number: int, value: Any, place: str, schema: Any) -> Part:
        """Where a value of an argument comes from; ``schema`` is what its parameter declares."""
        if isinstance(value, dict):
            return {key: self._part(number, item, f"{place}.{key}", {}) for key, item in value.items()}
        if isinstance(value, list):
            inner = schema.get("items", {}) if isinstance(schema, Mapping) else {}
            return [self._part(number, item, f"{place}[{at}]", inner) for at, item in enumerate(value)]
        uses = self._uses.get((number, place), [])
        if not uses:
            return Given(value)
        producers = sorted({producer for use in uses for producer in use.producers}, reverse=True)
        for producer in producers:
            path = _find(value_of(self._dependence.calls[producer].result), value)
            if path is not None:
                self._expect(producer, path, schema)
                return Taken(producer, path)
        raise Unsuitable(
            f"{self._dependence.calls[number].call.name}: what {place} holds is told in other words"
        )

    def _expect(self, producer: int, path: Path, schema: Any) -> None:
        """Note the type that the consumer's parameter declares: it tells a reader which form is meant."""
        declared = type_names(schema) if isinstance(schema, Mapping) else ()
        kind = next((_TYPES[name] for name in declared if name in _TYPES), None)
        if kind is not None and path and isinstance(path[-1], str):
            tool = self._dependence.calls[producer].call.name
            self._fields[tool].setdefault(path[-1], OutputField(path[-1], kind))


def _batches(
    made: Sequence[MadeCall], planned: Callable[[MadeCall], PlannedCall]
) -> Iterator[tuple[PlannedCall, ...]]:
    """Calls made together, apart where one reads what another tells: a solution knows it beforehand."""
    batch: list[PlannedCall] = []
    for one in made:
        call = planned(one)
        first = one.number - len(batch)
        if any(taken.call >= first for part in call.arguments.values() for taken in taken_in(part)):
            yield tuple(batch)
            batch = []
        batch.append(call)
    yield tuple(batch)


def _find(value: Any, wanted: Any) -> Path | None:
    """Where in a result a value stands, the first place in reading order; texts may differ in case."""
    if isinstance(value, Mapping):
        items: Iterator[tuple[str | int, Any]] = iter(value.items())
    elif isinstance(value, list):
        items = iter(enumerate(value))
    else:
        return () if type(value) is type(wanted) and value == wanted else None
    for key, item in items:
        inner = _find(item, wanted)
        if inner is not None:
            return (key, *inner)
    return None
