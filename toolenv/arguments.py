"""The arguments of a call, checked against the tool's schema before any tool runs.

Model output is hostile: sizes, depths and times are bounded. What an agent gets wrong comes back as text
for it to read, never as an exception. :func:`clean_json` comes first, :func:`check_arguments` second.
"""

from __future__ import annotations

import difflib
import json
import threading
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from toolenv.errors import SchemaError
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.read_only import thawed
from toolenv.types import ToolSpec

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

    from toolenv.kernel.protocol import ArgumentPolicy

__all__ = [
    "ArgumentChecker",
    "Checked",
    "UnusableValueError",
    "check_arguments",
    "checker_for",
    "clean_json",
    "fits",
]

MAX_SHOWN = 200
"""Characters of a bad value, or of what was expected instead, that an agent is shown."""

MAX_PROBLEMS = 5
"""Problems one answer lists."""

MAX_EXPLAINED = 10_000
"""Characters of JSON an argument may have for the answer to say which part of it is wrong."""

MAX_RECORDED = 100
"""Coerced places one record lists."""

MAX_CHECKERS = 8_192
"""Tools whose compiled checkers are kept, the oldest dropped first; about 10 kB each."""

_NOT_PLAIN = frozenset({float, list, dict})
_OPEN_KEYWORDS = frozenset({
    "additionalProperties", "unevaluatedProperties", "patternProperties",
    "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref",
})  # fmt: skip
_DATA_KEYWORDS = frozenset({"default", "enum", "const", "examples"})
_PART_KEYWORDS = ("properties", "patternProperties", "additionalProperties", "$defs", "definitions")


class Checked(NamedTuple):
    """What became of a call's arguments. A tuple and no dataclass: one is made in every step.

    Attributes:
        arguments: what the tool gets; the very object that was checked unless something was coerced.
        problem: what is wrong, for the agent to read; empty if the call may run.
        record: for traces: ``{"coerced": [paths]}`` or ``{"schema_error": text}``.
    """

    arguments: dict[str, Any]
    problem: str = ""
    record: dict[str, Any] | None = None


def check_arguments(tool: ToolSpec, arguments: Mapping[str, Any], policy: ArgumentPolicy) -> Checked:
    """Check the arguments of one call.

    A parameter that the schema does not declare is refused too, unless the schema says
    ``additionalProperties`` or leaves the names open in another way.

    Args:
        tool: its ``parameters`` are JSON Schema, as :func:`toolenv.schema.to_json_schema` makes it.
        arguments: JSON values (:func:`clean_json`); not changed.
        policy: ``coerce``, ``strict`` or ``record``.

    Raises:
        SchemaError: the tool's schema cannot be used.
    """
    if type(arguments) is not dict:
        arguments = dict(arguments)
    if fits(tool, arguments, policy):
        return Checked(arguments)
    return checker_for(tool).answer(arguments, policy)


def fits(tool: ToolSpec, arguments: dict[str, Any], policy: ArgumentPolicy) -> bool:
    """Whether arguments are beyond doubt: :func:`check_arguments` would give them back as they are.

    Raises:
        SchemaError: the tool's schema cannot be used.
    """
    checker = _checkers.get(id(tool))
    if checker is None or checker.tool is not tool:
        checker = checker_for(tool)
    return checker.is_valid(arguments) and (
        policy != "coerce" or not checker.has_integers or _NOT_PLAIN.isdisjoint(map(type, arguments.values()))
    )


def checker_for(tool: ToolSpec) -> ArgumentChecker:
    """The compiled checker of a tool, made once; call it early to meet a bad schema before any episode.

    Raises:
        SchemaError: the tool's schema cannot be used.
    """
    checker = _checkers.get(id(tool))
    if checker is None or checker.tool is not tool:
        checker = ArgumentChecker(tool)
        with _lock:
            while len(_checkers) >= MAX_CHECKERS:
                del _checkers[next(iter(_checkers))]
            _checkers[id(tool)] = checker
    return checker


_lock = threading.Lock()
_checkers: dict[int, ArgumentChecker] = {}
"""By identity: specs hold dicts and have no hash. Each checker keeps its tool alive, so that no other can
come to bear the same id."""


class ArgumentChecker:
    """A tool's schema, compiled.

    Attributes:
        tool: the tool.
        is_valid: whether arguments meet the schema, unknown parameters refused.
        has_integers: whether any argument may have to be an integer, so that 3.0 means 3.

    Raises:
        SchemaError: the tool's schema cannot be used.
    """

    __slots__ = ("_parts", "_schema", "_validator", "has_integers", "is_valid", "tool")

    def __init__(self, tool: ToolSpec) -> None:
        self.tool = tool
        self._schema = _closed(thawed(tool.parameters))
        self._validator = _compile(self._schema, tool)
        self._parts: Draft202012Validator | None = None
        self.is_valid = self._validator.is_valid
        self.has_integers = "'integer'" in repr(self._schema)

    def answer(self, arguments: dict[str, Any], policy: ArgumentPolicy) -> Checked:
        """The answer for arguments that break the schema, or that may hold 3.0 for an integer."""
        if policy == "coerce":
            from toolenv.coercion import coerce, path_text

            coerced, paths = coerce(arguments, self._schema)
            if self.is_valid(coerced):
                places = [path_text(path) for path in paths[:MAX_RECORDED]]
                return Checked(coerced, "", {"coerced": places} if places else None)
            return Checked(arguments, self.describe(coerced))
        if self.is_valid(arguments):
            return Checked(arguments)
        problem = self.describe(arguments)
        if policy == "record":
            return Checked(arguments, "", {"schema_error": problem})
        return Checked(arguments, problem)

    def describe(self, arguments: Mapping[str, Any]) -> str:
        """What is wrong with arguments that break the schema, for the agent to read."""
        sources = chain(self._missing(arguments), self._unknown(arguments), self._bad_values(arguments))
        problems = list(islice(sources, MAX_PROBLEMS + 1)) or [_problem(self._validator, arguments)]
        if len(problems) > MAX_PROBLEMS:
            problems[MAX_PROBLEMS] = "and more"
        return f"invalid arguments for {self.tool.wire_name or self.tool.name}: {'; '.join(problems)}"

    def _missing(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        missing = [name for name in self._schema.get("required", ()) if name not in arguments]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            yield f"missing required parameter{plural} {', '.join(map(repr, missing))}"

    def _unknown(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        if self._schema.get("additionalProperties") is not False:
            return
        known = self._schema.get("properties", {})
        for name in arguments:
            if name not in known:
                yield f"unknown parameter {_cut(name)!r}{_advice(name, known)}"

    def _bad_values(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        if self._parts is None:
            self._parts = _compile(_parts_of(self._schema), self.tool)
        for name, value in arguments.items():
            if problem := _problem(self._parts, {name: value}):
                yield problem


def _closed(parameters: dict[str, Any]) -> dict[str, Any]:
    """The schema calls are checked against.

    Unknown parameters are refused where it declares some and leaves the names closed; null is accepted
    where it is the default, as upstream's ground truth does.
    """
    schema: dict[str, Any] = _with_null_defaults(parameters)
    if "properties" in schema and _OPEN_KEYWORDS.isdisjoint(schema):
        schema["additionalProperties"] = False
    return schema


def _with_null_defaults(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_null_defaults(item) for item in node]
    if not isinstance(node, dict):
        return node
    from toolenv.schema import type_names

    copy = {key: item if key in _DATA_KEYWORDS else _with_null_defaults(item) for key, item in node.items()}
    if "type" in node and node.get("default", "") is None and "null" not in type_names(node):
        copy["type"] = [*type_names(node), "null"]
        if "enum" in node:
            copy["enum"] = [*node["enum"], None]
    return copy


def _compile(schema: dict[str, Any], tool: ToolSpec) -> Draft202012Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(schema, retriever=_refuse_retrieval, mask="the value")
    except (ValueError, TypeError) as error:
        place = "/".join(map(str, getattr(error, "instance_path", ()))) or "the top"
        message = getattr(error, "message", str(error))
        raise SchemaError(
            f"the parameters of tool {tool.name!r} are no valid JSON Schema, at {place}: {message:.300}"
        ) from error


def _refuse_retrieval(uri: str) -> NoReturn:
    raise ValueError(f"it refers to {uri}, and nothing is fetched")


def _parts_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of each argument alone, whatever else is missing or unknown."""
    parts = {keyword: schema[keyword] for keyword in _PART_KEYWORDS if keyword in schema}
    return {**parts, "additionalProperties": schema.get("additionalProperties") or True}


def _problem(validator: Draft202012Validator, instance: Any) -> str:
    """The first thing wrong with ``instance``; empty if it is valid.

    Not all that is wrong: one value can hold a million errors, and collecting them takes seconds. For the
    same reason a very large one gets no explanation: alternatives collect all their errors.
    """
    from jsonschema_rs import ValidationError

    if validator.is_valid(instance):
        return ""
    shown = json.dumps(instance, ensure_ascii=False)
    if len(shown) > MAX_EXPLAINED:
        return f"does not match the schema: {_cut(shown)}"
    try:
        validator.validate(instance)
    except ValidationError as error:
        from toolenv.coercion import path_text

        place = path_text(error.instance_path)
        got = f"{_wrong(error)}, got {_cut(json.dumps(error.instance, ensure_ascii=False))}"
        return f"{place}: {got}" if place else got
    return ""


def _wrong(error: ValidationError) -> str:
    expected = _expected(error)
    return f"expected {expected}" if expected else _cut(error.message)


def _expected(error: ValidationError) -> str:
    """What was expected in place of a value; empty where only the validator's message tells."""
    kind, facts = error.kind.name, error.kind.as_dict()
    if kind == "type":
        return " or ".join(sorted(facts["types"], key="null".__eq__))
    if kind == "enum":
        return "one of " + _cut(", ".join(json.dumps(one, ensure_ascii=False) for one in facts["options"]))
    if kind in ("anyOf", "oneOf"):
        each = [_expected(errors[0]) for errors in facts["context"] if errors]
        return " or ".join(dict.fromkeys(each)) if all(each) else ""
    return ""


def _advice(name: str, known: Collection[str]) -> str:
    if not known:
        return ", it takes no parameters"
    near = difflib.get_close_matches(name[:MAX_SHOWN], known, n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}?" if near else f", known are {_cut(', '.join(known))}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
