"""BFCL's AST rules: whether a list of calls is what a Python single-turn entry asks for.

The rules, and every quirk of theirs, are those of ``bfcl-eval`` 2026.3.23 (``ast_checker``, language
Python, a model whose tool names keep their dots); ``tests/envs_registry/bfcl/test_ast_differential.py``
holds the two against each other. Each rule here answers with the problem it found, ``""`` if none.

What upstream cannot compare (it raises, e.g. on a string where its ground truth holds a dictionary)
is a failure here. Options are read by index where upstream does so: an option that is a bare string then
counts as the list of its characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, TypeAlias

from toolenv.errors import UnknownNameError
from toolenv.task import Score

Call: TypeAlias = tuple[str, Mapping[str, Any]]
Calls: TypeAlias = Sequence[Call]
Documents: TypeAlias = Sequence[Mapping[str, Any]]
GroundTruth: TypeAlias = Sequence[Mapping[str, Any]]

PYTHON_CATEGORIES: Final = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
"""The single-turn categories whose values are Python's."""

_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_WORDS: Final[Mapping[type, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    NoneType: "null",
}
_IGNORED_IN_STRINGS: Final = re.compile(r"[ ,./\-_*^]")
_INCOMPARABLE: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_LONGEST_SHOWN: Final = 200


def check_calls(category: str, documents: Documents, calls: Calls, ground_truth: GroundTruth) -> Score:
    """Whether ``calls`` satisfy the ground truth under the rules of ``category``.

    Args:
        category: one of :data:`PYTHON_CATEGORIES`.
        documents: the entry's function documents as the data has them (Gorilla types), in order.
        calls: ``(name, arguments)`` in the order made; names are the documents' own, arguments hold
            plain JSON values (``dict``, ``list``, ``str``, ``int``, ``float``, ``bool``, ``None``).
        ground_truth: the entry's expected calls, ``{name: {parameter: [options]}}`` each; ``""`` among
            the options means that the parameter may be left out.

    Returns:
        A score that is never ``None``; ``why`` is the first problem met, without the expected values.

    Raises:
        UnknownNameError: for any other category.
    """
    if category not in PYTHON_CATEGORIES:
        raise UnknownNameError("category", category, PYTHON_CATEGORIES, "BFCL's Python single-turn sets")
    try:
        problem = _problem(category, documents, calls, ground_truth)
    except _INCOMPARABLE as error:
        problem = _cut(f"not comparable with the ground truth ({type(error).__name__}: {error})")
    return Score(success=not problem, why=problem)


def value_passes(value: Any, schema: Mapping[str, Any], options: Sequence[Any]) -> bool:
    """Whether ``value`` is right for one parameter.

    Args:
        value: a plain JSON value.
        schema: the parameter's document (Gorilla types).
        options: the ground truth's options for it.
    """
    try:
        return not _value_problem(value, schema, options)
    except _INCOMPARABLE:
        return False


# ---- which call is held against which expected one ----


def _problem(category: str, documents: Documents, calls: Calls, truth: GroundTruth) -> str:
    parallel, multiple = "parallel" in category, "multiple" in category
    wanted = len(truth) if parallel or multiple else 1
    if len(calls) != wanted:
        return f"number of calls: {len(calls)}, expected {wanted}"
    if parallel:
        return _in_any_order(documents, calls, truth)
    document = _document(documents, _name(truth[0])) if multiple else documents[0]
    return _call_problem(document, calls[0], truth[0])


def _in_any_order(documents: Documents, calls: Calls, truth: GroundTruth) -> str:
    """Each expected call in turn takes the first remaining call that passes: greedy, no backtracking."""
    remaining = list(calls)
    for position, expected in enumerate(truth, start=1):
        document = _document(documents, _name(expected))
        reasons = []
        for index, call in enumerate(remaining):
            if not (reason := _call_problem(document, call, expected)):
                del remaining[index]
                break
            reasons.append(reason)
        else:
            return f"no call matches expected call {position} of {len(truth)}: {'; '.join(reasons[:3])}"
    return ""


def _name(expected: Mapping[str, Any]) -> str:
    name, *_ = expected
    return name


def _document(documents: Documents, name: str) -> Mapping[str, Any]:
    for document in documents:
        if document["name"] == name:
            return document
    raise LookupError(f"no document for {name!r}")


# ---- one call ----


def _call_problem(document: Mapping[str, Any], call: Call, expected: Mapping[str, Any]) -> str:
    name, arguments = call
    options = expected[_name(expected)]
    properties, required = document["parameters"]["properties"], document["parameters"]["required"]
    if name != document["name"]:
        return f"call of {_shown(name)}, expected {document['name']!r}"
    for parameter in required:
        if parameter not in arguments:
            return f"{name}: required parameter {parameter!r} is missing"
    for parameter, value in arguments.items():
        if parameter not in properties or parameter not in options:
            return f"{name}: unexpected parameter {_shown(parameter)}"
        if reason := _value_problem(value, properties[parameter], options[parameter]):
            return f"{name}: parameter {parameter!r}: {reason}"
    for parameter in options:
        if parameter not in arguments and "" not in options[parameter]:
            return f"{name}: parameter {parameter!r} is missing and may not be left out"
    return ""


# ---- one value ----


def _value_problem(value: Any, schema: Mapping[str, Any], options: Sequence[Any]) -> str:
    kind = schema["type"]
    outer = _TYPES[kind]
    inner = _TYPES[schema["items"]["type"]] if kind in ("array", "tuple") else None
    value = _converted(value, kind)
    if reason := _type_problem(value, options, outer, inner):
        return reason
    if _type_of_first(options) not in (None, outer):
        # The truth names a variable or a constant of another type: compared as it stands.
        return "" if value in options else _wrong(value)
    if outer is dict:
        return _dict_problem(value, options)
    if inner is dict:
        return _dicts_problem(value, options)
    return "" if _is_among(value, options, outer) else _wrong(value)


def _converted(value: Any, kind: str) -> Any:
    """Upstream's only two conversions, both for the outermost value alone."""
    if kind == "tuple" and type(value) is tuple:
        return list(value)
    return float(value) if kind == "float" and type(value) is int else value


def _type_of_first(options: Iterable[Any]) -> type | None:
    """The type of the first option that is not ``""``; ``None`` if there is none."""
    return next((type(option) for option in options if option != ""), None)


def _type_problem(value: Any, options: Sequence[Any], outer: type, inner: type | None) -> str:
    if (actual := type(value)) is not outer:
        return "" if actual is _type_of_first(options) else _wrong_type(value, outer)
    if inner is None:
        return ""
    reason = "there is no option"
    for option in options:
        if not (reason := _elements_problem(value, option, inner)):
            return ""
    return f"{reason}, in {_shown(value)}"


def _elements_problem(value: list[Any], option: Any, inner: type) -> str:
    if type(option) is not list:
        return ""  # even "" lets every element through
    allowed = (inner, _type_of_first(option))
    return next((_wrong_type(element, inner) for element in value if type(element) not in allowed), "")


def _is_among(value: Any, options: Sequence[Any], outer: type) -> bool:
    if outer is str:
        return _standard(value) in [_standard(option) for option in _each(options) if type(option) is str]
    if outer is list:
        return _standards(value) in [_standards(option) for option in _each(options)]
    return value in options


def _dict_problem(value: Mapping[str, Any], options: Sequence[Any]) -> str:
    reason = "object that may only be left out"
    for option in _each(options):
        if option == "":
            continue
        unfit, absent = _unfit_entry(value, option), _absent_entry(value, option)
        if not (reason := unfit or absent):
            return ""
    return reason


def _unfit_entry(value: Mapping[str, Any], option: Mapping[str, Any]) -> str:
    for key, entry in value.items():
        if key not in option:
            return f"unexpected key {_shown(key)}"
        if _standard(entry) not in _standards(option[key]):
            return f"key {key!r}: {_wrong(entry)}"
    return ""


def _absent_entry(value: Mapping[str, Any], option: Mapping[str, Any]) -> str:
    absent = (key for key, choices in option.items() if key not in value and "" not in choices)
    return next((f"key {key!r} is missing" for key in absent), "")


def _dicts_problem(value: list[Any], options: Sequence[Any]) -> str:
    """Lists of dictionaries: same length, position by position."""
    reason = "there is no option"
    for option in _each(options):
        if not (reason := _dicts_problem_under(value, option)):
            return ""
    return reason


def _dicts_problem_under(value: list[Any], option: Sequence[Any]) -> str:
    if len(value) != len(option):
        return f"number of objects: {len(value)}, expected {len(option)}"
    reasons = (_dict_problem(element, [option[index]]) for index, element in enumerate(value))
    return next(filter(None, reasons), "")


# ---- small parts ----


def _each(options: Sequence[Any]) -> list[Any]:
    return [options[index] for index in range(len(options))]


def _standard(value: Any) -> Any:
    """Strings without spaces, ``,./-_*^`` and case, with double quotes; anything else as it is."""
    if type(value) is not str:
        return value
    return _IGNORED_IN_STRINGS.sub("", value).lower().replace("'", '"')


def _standards(values: Sequence[Any]) -> list[Any]:
    return [_standard(value) for value in _each(values)]


def _wrong(value: Any) -> str:
    return f"wrong value {_shown(value)}"


def _wrong_type(value: Any, expected: type) -> str:
    return f"{_WORDS.get(type(value), type(value).__name__)} for {_WORDS[expected]}: {_shown(value)}"


def _shown(value: Any) -> str:
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
