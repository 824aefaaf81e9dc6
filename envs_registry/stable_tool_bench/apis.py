"""Upstream's API documents as tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envs_registry.stable_tool_bench.examples import example_value, sample_value
from envs_registry.stable_tool_bench.naming import ApiId, function_names, parameter_name
from toolenv.names import with_wire_names
from toolenv.schema import to_json_schema
from toolenv.types import ToolSpec

MAX_DESCRIPTION = 256
"""Characters of a description, as upstream."""

TYPES: Mapping[str, str] = {"NUMBER": "number", "BOOLEAN": "boolean"}
"""Upstream's types that are no text. It shows NUMBER as ``integer`` and checks nothing; here arguments are
checked, and 32 of the documents' own example numbers are fractions, such as latitudes."""


@dataclass(frozen=True, eq=False)
class Api:
    """One API, shared by all tasks that offer it.

    Attributes:
        identity: upstream's name of it.
        spec: the tool; its name stands for this API in every pool.
        template: upstream's ``template_response``; ``None`` where there is none.
        required: the required parameters, each with a value that meets its schema.
    """

    identity: ApiId
    spec: ToolSpec
    template: Any
    required: Mapping[str, Any]


def identity_of(document: Mapping[str, Any]) -> ApiId:
    """Which API a document describes."""
    return ApiId(document["category_name"], document["tool_name"], document["api_name"])


def build_apis(documents: Iterable[Mapping[str, Any]]) -> dict[ApiId, Api]:
    """Every API by identity, named so that no two share a name or a wire name."""
    by_identity = {identity_of(document): document for document in documents}
    names = function_names(by_identity)
    parameters = {one: list(_parameters(document)) for one, document in by_identity.items()}
    specs = with_wire_names([_spec(names[one], by_identity[one], parameters[one]) for one in by_identity])
    return {
        one: Api(
            identity=one,
            spec=spec,
            template=by_identity[one].get("template_response"),
            required={item.name: item.value for item in parameters[one] if item.required},
        )
        for one, spec in zip(by_identity, specs, strict=True)
    }


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    schema: Mapping[str, Any]
    required: bool
    value: Any


def _parameters(document: Mapping[str, Any]) -> Iterator[_Parameter]:
    """All parameters; of one that stands twice, the first, and required ones come first."""
    names: dict[str, str] = {}
    for required in (True, False):
        for raw in document["required_parameters" if required else "optional_parameters"]:
            if raw["name"] not in names:
                names[raw["name"]] = parameter_name(raw["name"], names.values())
                yield _parameter(names[raw["name"]], raw, required)


def _parameter(name: str, raw: Mapping[str, Any], required: bool) -> _Parameter:
    kind = TYPES.get(raw["type"], "string")
    example = example_value(raw["default"], kind)
    schema = {"type": kind, "description": _described(raw["description"], example)}
    value = sample_value(name, raw["type"], kind) if example is None else example
    return _Parameter(name, schema, required, value)


def _described(description: str, example: Any) -> str:
    """The description with the example, for which not every server and template has a keyword."""
    text = description.strip()[:MAX_DESCRIPTION]
    if example is None:
        return text
    return f"{text} (example: {json.dumps(example, ensure_ascii=False)})".lstrip()


def _spec(name: str, document: Mapping[str, Any], parameters: Iterable[_Parameter]) -> ToolSpec:
    listed = list(parameters)
    schema, _ = to_json_schema(
        {
            "type": "object",
            "properties": {item.name: item.schema for item in listed},
            "required": [item.name for item in listed if item.required],
        },
        where=name,
    )
    said = document["api_description"].strip() or document["api_name"].strip()
    return ToolSpec(name, f"{document['tool_name'].strip()}: {said}"[:MAX_DESCRIPTION], schema)
