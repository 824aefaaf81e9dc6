"""Tasks of τ-bench as a corrections file has them: upstream's ground truth is known to err (FIELD-063).

``gold`` is ``{"instruction": …, "actions": […], "outputs": […]}`` in upstream's own form; fields that are
left out stay upstream's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from envs_registry.tau_bench.domains import DOMAINS
from envs_registry.tau_bench.reference import EndStateReference
from toolenv.corrections import Action, Correction
from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolCall

ACTIONS: Final[tuple[Action, ...]] = ("replace", "exclude")
"""Not ``widen``: the answer is one end state."""

_FIELDS: Final[Mapping[str, type]] = {"instruction": str, "actions": list, "outputs": list}


def correct(task: Task, correction: Correction) -> Task:
    """The task with its corrected fields; ``task`` is of solo mode, where the user says the instruction.

    Raises:
        UnknownNameError: a field or tool that does not exist.
        DataCorruptError: ``gold`` is not of the form above.
    """
    gold, where, reference = correction.gold, correction.where, task.reference
    assert isinstance(reference, EndStateReference)
    _check(gold, where)
    policy, said = task.messages
    instruction = gold.get("instruction", said.content)
    if "actions" in gold:
        tools = DOMAINS[task.metadata["domain"]].tools
        reference = replace(reference, actions=tuple(_action(one, tools, where) for one in gold["actions"]))
    return replace(
        task,
        messages=(policy, ChatMessage("user", instruction)),
        reference=replace(reference, outputs=tuple(gold.get("outputs", reference.outputs))),
        metadata={**task.metadata, "instruction": instruction},
    )


def _check(gold: Any, where: str) -> None:
    if not isinstance(gold, dict) or not gold:
        raise DataCorruptError(f"{where}: gold is {gold!r:.80}, expected an object with {', '.join(_FIELDS)}")
    for field, value in gold.items():
        if field not in _FIELDS:
            raise UnknownNameError("field", field, _FIELDS, where=where)
        if not isinstance(value, _FIELDS[field]):
            raise DataCorruptError(f"{where}: {field} is {value!r:.80}, not a {_FIELDS[field].__name__}")
    if not all(isinstance(output, str) for output in gold.get("outputs", ())):
        raise DataCorruptError(f"{where}: outputs is {gold['outputs']!r:.80}, not a list of texts")


def _action(action: Any, tools: Mapping[str, Any], where: str) -> ToolCall:
    if not isinstance(action, dict) or not isinstance(action.get("kwargs"), dict) or len(action) != 2:
        raise DataCorruptError(f'{where}: action {action!r:.80}, expected {{"name": …, "kwargs": {{…}}}}')
    if action.get("name") not in tools:
        raise UnknownNameError("tool", action.get("name"), tools, where=where)
    return ToolCall(action["name"], action["kwargs"])
