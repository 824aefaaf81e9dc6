"""Answers of BFCL tasks as a corrections file has them (FIELD-094); ``docs/bfcl.md`` shows the forms.

``gold`` is either ``{"calls": …}``, a whole answer as upstream writes it, or ``{"arguments": …}``, which is
written so too, but gives of each expected call only the parameters that are corrected.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from envs_registry.bfcl.ground_truth import values_of
from envs_registry.bfcl.load import data_folder
from envs_registry.bfcl.single_turn import CallReference
from toolenv.corrections import Correction
from toolenv.errors import DataCorruptError, UnknownNameError, UsageError
from toolenv.task import Task
from toolenv.types import ToolCall

Options: TypeAlias = Mapping[str, Sequence[Any]]
"""Acceptable values by parameter; ``""`` among them means that it may be left out."""

Expected: TypeAlias = Mapping[str, Options]
"""``{tool: options}``, one expected call; ``{}`` among corrected arguments for a call that stays."""


def correct(task: Task, correction: Correction) -> Task:
    """The task with its corrected answer.

    Raises:
        UsageError: a task without an answer of its own, or an action that its kind of answer does not have.
        UnknownNameError: a tool or parameter that the task does not have.
        DataCorruptError: ``gold`` is not of its form.
    """
    if task.metadata["kind"] == "multi_turn":
        return _multi_turn(task, correction)
    if not isinstance(task.reference, CallReference):
        raise UsageError(
            f"{correction.where}: the task has no answer but whether to call; it can only be excluded"
        )
    reference, given = _single_turn(task.reference, correction)
    flags = {"reference_breaks_schema"} if _breaks_schema(reference, given) else set()
    return replace(task, reference=reference, flags=task.flags | flags)


def _gold(correction: Correction, *forms: str) -> tuple[str, Any]:
    """The form of ``gold``, and what it holds."""
    gold = correction.gold
    if not isinstance(gold, dict) or len(gold) != 1:
        shown = " or ".join(f'{{"{form}": …}}' for form in forms)
        raise DataCorruptError(f"{correction.where}: gold is {gold!r:.80}, expected {shown}")
    ((form, content),) = gold.items()
    if form not in forms:
        raise UnknownNameError("form of gold", form, forms, where=correction.where)
    return form, content


# ---- single-turn: acceptable values by parameter ----


def _single_turn(
    reference: CallReference, correction: Correction
) -> tuple[CallReference, Sequence[Expected]]:
    """The corrected answer, and what was given for it."""
    where = correction.where
    form, content = _gold(correction, "calls", "arguments")
    if not isinstance(content, list):
        raise DataCorruptError(f"{where}: gold.{form} is {content!r:.80}, not a list")
    given = [_expected(entry, reference.documents, where) for entry in content]
    if form == "arguments":
        return replace(reference, ground_truth=list(_amended(reference, given, correction))), given
    if correction.action == "widen":
        raise UsageError(f'{where}: whole calls cannot be added; widen with {{"arguments": …}}')
    several = "parallel" in reference.category
    if not given or not all(given) or (len(given) > 1 and not several):
        raise DataCorruptError(
            f"{where}: gold.calls is {content!r:.80}, expected {'some calls' if several else 'one call'}"
        )
    return replace(reference, ground_truth=given), given


def _expected(entry: Any, documents: Sequence[Mapping[str, Any]], where: str) -> Expected:
    """A call as upstream writes it, its names those of the documents."""
    if entry == {}:
        return {}
    if not isinstance(entry, dict) or len(entry) > 1 or not isinstance(next(iter(entry.values())), dict):
        raise DataCorruptError(f"{where}: {entry!r:.80} is no call, {{TOOL: {{PARAMETER: [VALUE, …]}}}}")
    ((tool, options),) = entry.items()
    known = {document["name"]: document["parameters"]["properties"] for document in documents}
    if tool not in known:
        raise UnknownNameError("tool", tool, known, where=where)
    for parameter, values in options.items():
        if parameter not in known[tool]:
            raise UnknownNameError("parameter", parameter, known[tool], where=f"{where}, {tool}")
        if not isinstance(values, list) or not values:
            raise DataCorruptError(f"{where}, {tool}: {parameter} is {values!r:.80}, not a list of values")
    return {tool: options}


def _amended(
    reference: CallReference, given: Sequence[Expected], correction: Correction
) -> Iterator[Expected]:
    """The expected calls, each with the parameters that are given for it in place of its own or added."""
    truth = reference.ground_truth
    tools, named = ([next(iter(call), "") for call in calls] for calls in (truth, given))
    if len(named) != len(tools) or any(one not in ("", tool) for one, tool in zip(named, tools, strict=True)):
        raise DataCorruptError(
            f"{correction.where}: gold.arguments is of {named}, and the task's calls are {tools}; "
            "give an entry for each, {} for one that stays"
        )
    for tool, expected, corrections in zip(tools, truth, given, strict=True):
        options: dict[str, Sequence[Any]] = dict(expected[tool])
        for parameter, values in corrections.get(tool, {}).items():
            # A parameter that upstream does not expect may be left out; widened, it still may.
            old = options.get(parameter, ("",)) if correction.action == "widen" else ()
            options[parameter] = _joined(old, values)
        yield {tool: options}


def _breaks_schema(reference: CallReference, given: Sequence[Expected]) -> bool:
    """Whether a given value is kept out by the schema that agents see, which then cannot be enforced."""
    documents = {one["name"]: one["parameters"]["properties"] for one in reference.documents}
    return any(
        option != ""
        and not any(reference.fits(tool, name, one) for one in values_of(option, documents[tool][name]))
        for expected in given
        for tool, options in expected.items()
        for name, values in options.items()
        for option in values
    )


def _joined(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """The values of both, each once; told apart as JSON tells them, since Python's 1 is True."""
    return list({json.dumps(value, sort_keys=True): value for value in (*old, *new)}.values())


# ---- multi-turn: calls by user turn ----


def _multi_turn(task: Task, correction: Correction) -> Task:
    from envs_registry.bfcl.multi_turn import tool_parameters
    from envs_registry.bfcl.multi_turn_rules import MultiTurnReference, parse_call

    where, reference = correction.where, task.reference
    assert isinstance(reference, MultiTurnReference)
    if correction.action == "widen":
        raise UsageError(f"{where}: a multi-turn answer is one course of states; replace or exclude it")
    _, turns = _gold(correction, "calls")
    texts = isinstance(turns, list) and all(
        isinstance(turn, list) and all(isinstance(call, str) for call in turn) for turn in turns
    )
    if not texts or len(turns) != len(reference.ground_truth):
        raise DataCorruptError(
            f"{where}: gold.calls is {turns!r:.80}, expected a list of call texts for each of the "
            f"{len(reference.ground_truth)} user turns"
        )
    parameters, pool = tool_parameters(data_folder("data", "code")), {tool.name for tool in task.tools}

    def read(text: str) -> ToolCall:
        try:
            call = parse_call(text, parameters)
        except DataCorruptError as error:
            raise DataCorruptError(f"{where}: {error}") from error
        if call.name not in pool:
            raise UnknownNameError("tool", call.name, pool, where=where)
        return call

    truth = tuple(tuple(map(read, turn)) for turn in turns)
    return replace(task, reference=replace(reference, ground_truth=truth))
