"""From BFCL's ground truth: the calls that satisfy it, and its join with the questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final, TypeAlias

from envs_registry.bfcl.ast_rules import Documents, GroundTruth, value_passes
from toolenv.errors import DataCorruptError
from toolenv.types import ToolCall

Fits: TypeAlias = Callable[[str, str, Any], bool]
"""``fits(tool, parameter, value)``: whether a value is valid under the tool's converted JSON Schema."""

_MOST_CANDIDATES: Final = 256
_MOST_IDS_SHOWN: Final = 20


def solution_calls(
    documents: Documents, ground_truth: GroundTruth, fits: Fits | None = None
) -> tuple[ToolCall, ...]:
    """Calls that satisfy the ground truth, one for each expected call, in its order.

    A parameter that may be left out is left out, unless its document requires it. Any other gets the
    first option that passes the rules and ``fits``; failing that, a value of the document's ``enum``
    that passes both (the rules ignore case, a schema does not); failing that, the first option that
    passes the rules alone. A parameter without any such value, or without a document, is left out:
    such an entry can never pass, which :func:`envs_registry.bfcl.ast_rules.check_calls` then says.

    Args:
        documents: the entry's function documents, Gorilla types.
        ground_truth: ``{name: {parameter: [options]}}`` for each expected call.
        fits: a further check of each value; ``None`` asks for nothing more than the rules.

    Raises:
        DataCorruptError: an expected call's tool has no document.
    """
    return tuple(_solution(documents, expected, fits) for expected in ground_truth)


def join_by_id(
    questions: Iterable[Mapping[str, Any]], answers: Iterable[Mapping[str, Any]], where: str
) -> dict[str, Mapping[str, Any]]:
    """The answer to each question, by id and in the questions' order; never by position.

    Args:
        questions: records with an ``id``.
        answers: records with an ``id`` and a ``ground_truth``, in any order.
        where: what is being joined, e.g. ``"BFCL multiple"``; stands in the errors.

    Raises:
        DataCorruptError: an id is repeated or has no partner (both lists are named), or an answer's
            ground truth is absent or empty: absent truth is not the same as "no call expected".
    """
    asked, answered = _by_id(questions, f"{where}, questions"), _by_id(answers, f"{where}, answers")
    if asked.keys() != answered.keys():
        raise DataCorruptError(
            f"{where}: ids do not match; questions without an answer: {_ids(asked, answered)}; "
            f"answers without a question: {_ids(answered, asked)}"
        )
    if empty := [name for name, answer in answered.items() if not answer.get("ground_truth")]:
        raise DataCorruptError(f"{where}: no ground truth in the answers {_listed(empty)}")
    return {name: answered[name] for name in asked}


def values_of(option: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The first values that an option stands for; ``schema`` is the document of its parameter."""
    return islice(_values(option, schema), _MOST_CANDIDATES)


# ---- solutions ----


class _Nothing:
    """The absence of any value that passes; ``None`` is a value."""


def _solution(documents: Documents, expected: Mapping[str, Any], fits: Fits | None) -> ToolCall:
    (name, options), *_ = expected.items()
    parameters = _parameters(documents, name)
    properties, required = parameters["properties"], parameters["required"]
    arguments = {}
    for parameter in _given(options, required):
        if parameter in properties:
            accepts = _bound(fits, name, parameter)
            value = _choice(properties[parameter], options[parameter], accepts)
            if value is not _Nothing:
                arguments[parameter] = value
    return ToolCall(name, arguments)


def _parameters(documents: Documents, name: str) -> Mapping[str, Any]:
    for document in documents:
        if document["name"] == name:
            parameters: Mapping[str, Any] = document["parameters"]
            return parameters
    known = [document["name"] for document in documents]
    raise DataCorruptError(f"the ground truth calls {name!r}, which has no document; documents: {known}")


def _given(options: Mapping[str, Sequence[Any]], required: Sequence[str]) -> list[str]:
    """The names that must be given: those that may not be left out, and those a document requires."""
    return [name for name, choices in options.items() if "" not in choices or name in required]


def _bound(fits: Fits | None, name: str, parameter: str) -> Callable[[Any], bool]:
    return (lambda value: fits(name, parameter, value)) if fits else (lambda _: True)


def _choice(schema: Mapping[str, Any], options: Sequence[Any], accepts: Callable[[Any], bool]) -> Any:
    passing = [value for value in _candidates(schema, options) if value_passes(value, schema, options)]
    return next((value for value in passing if accepts(value)), passing[0] if passing else _Nothing)


def _candidates(schema: Mapping[str, Any], options: Sequence[Any]) -> Iterator[Any]:
    for option in _preferred(options):
        yield from values_of(option, schema)
    yield from schema.get("enum", ())


def _preferred(choices: Sequence[Any]) -> list[Any]:
    """The choices in order, ``""`` last: it means "left out", and is a value only as a last resort."""
    return sorted(choices, key=lambda choice: choice == "")


def _values(option: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The values an option stands for. Upstream reads options one level deep; below, they are literal."""
    if isinstance(option, dict):
        return _dicts(option, schema)
    if isinstance(option, list) and schema.get("items", {}).get("type") == "dict":
        elements = [list(islice(_values(one, schema["items"]), _MOST_CANDIDATES)) for one in option]
        return (list(values) for values in product(*elements))
    return iter((option,))


def _dicts(option: Mapping[str, Sequence[Any]], schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    keys = _given(option, schema.get("required", ()))
    choices = [_preferred(option[key]) for key in keys]
    return (dict(zip(keys, values, strict=True)) for values in product(*choices))


# ---- joins ----


def _by_id(records: Iterable[Mapping[str, Any]], where: str) -> dict[str, Mapping[str, Any]]:
    kept = list(records)
    repeated = [name for name, times in Counter(record["id"] for record in kept).items() if times > 1]
    if repeated:
        raise DataCorruptError(f"{where}: repeated ids {_listed(repeated)}")
    return {record["id"]: record for record in kept}


def _ids(left: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    return _listed([name for name in left if name not in right])


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_IDS_SHOWN} more" if len(ids) > _MOST_IDS_SHOWN else ""
    return f"{list(ids[:_MOST_IDS_SHOWN])}{more}"
