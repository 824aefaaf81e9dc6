"""What a module of tools says of itself, read from its text without running it.

This file is itself run in the sandbox, as the text of a module (:mod:`envs_registry.tool_bench_x.reading`): a
text made for the purpose can crash Python's parser. So it uses the standard library alone.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

LONGEST_SOURCE = 400_000
"""Characters of a module that is read."""

_PLAIN = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "NoneType": {"type": "null"},
    "dict": {"type": "object"},
    "Dict": {"type": "object"},
    "Mapping": {"type": "object"},
    "list": {"type": "array"},
    "List": {"type": "array"},
    "Sequence": {"type": "array"},
    "tuple": {"type": "array"},
    "Tuple": {"type": "array"},
    "set": {"type": "array"},
    "Set": {"type": "array"},
}
_ARRAYS = ("list", "List", "Sequence", "set", "Set", "Iterable")
_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns|Raises|Yields|Example|Examples|Notes?):\s*")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


def outline(source: str) -> dict[str, Any]:
    """The functions and hints of a module.

    Returns:
        ``{"functions": {NAME: {"description", "parameters"}}, "hints": {…} or None}``, the parameters as JSON
        Schema; or ``{"problem": …}`` if the text is no Python.
    """
    if len(source) > LONGEST_SOURCE:
        return {"problem": f"longer than {LONGEST_SOURCE} characters"}
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"problem": f"{type(error).__name__}: {error}"}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {"functions": {one.name: _function(one) for one in functions}, "hints": _hints(tree)}


def _function(node: ast.FunctionDef) -> dict[str, Any]:
    summary, described = _documentation(ast.get_docstring(node) or "")
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    properties, required = {}, []
    defaults = _defaults(node.args)
    for argument in arguments:
        name = argument.arg
        properties[name] = _schema(argument.annotation)
        if name in described:
            properties[name] = {**properties[name], "description": described[name]}
        if name not in defaults:
            required.append(name)
        elif _is_json(defaults[name]):
            properties[name] = {**properties[name], "default": defaults[name]}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if node.args.kwarg is not None:
        schema["additionalProperties"] = True
    return {"description": summary, "parameters": schema}


def _defaults(arguments: ast.arguments) -> dict[str, Any]:
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    pairs = [
        *zip(with_default, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {argument.arg: _literal(value) for argument, value in pairs if value is not None}


class _NoLiteral:
    pass


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return _NoLiteral


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return value is not _NoLiteral


def _schema(annotation: ast.expr | None) -> dict[str, Any]:
    """The JSON Schema of an annotation; anything goes where it is absent or says more than JSON can."""
    if isinstance(annotation, ast.Constant):
        return _named(annotation.value)
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        return dict(_PLAIN.get(_last_name(annotation), {}))
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _union([annotation.left, annotation.right])
    if isinstance(annotation, ast.Subscript):
        return _generic(_last_name(annotation.value), annotation.slice)
    return {}


def _named(value: Any) -> dict[str, Any]:
    """Of ``None``, or of an annotation in quotation marks."""
    if value is None:
        return {"type": "null"}
    try:
        return _schema(ast.parse(value, mode="eval").body) if isinstance(value, str) else {}
    except (SyntaxError, ValueError, RecursionError):
        return {}


def _generic(name: str, inner: ast.expr) -> dict[str, Any]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Optional":
        return _union([inner, ast.Constant(None)])
    if name == "Union":
        return _union(parts)
    if name == "Literal":
        values = [_literal(part) for part in parts]
        return {"enum": values} if all(map(_is_json, values)) else {}
    if name == "Annotated":
        return _schema(parts[0])
    if name in _ARRAYS and len(parts) == 1:
        return {"type": "array", "items": _schema(parts[0])}
    return dict(_PLAIN.get(name, {}))


def _union(parts: list[ast.expr]) -> dict[str, Any]:
    schemas = [_schema(part) for part in parts]
    return {"anyOf": schemas} if all(schemas) else {}


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _documentation(text: str) -> tuple[str, dict[str, str]]:
    """A docstring's words and its ``Returns:``, which an agent needs, and what its ``Args:`` say.

    Examples and exceptions are left out.
    """
    summary: list[str] = []
    returns: list[str] = []
    described: dict[str, str] = {}
    section, last = "", ""
    for line in text.splitlines():
        heading = _SECTION.fullmatch(line.strip())
        if heading:
            section, last = heading[1], ""
        elif not section:
            summary.append(line.strip())
        elif section == "Returns":
            returns.append(line.strip())
        elif section in ("Args", "Arguments", "Parameters") and line.strip():
            entry = _ENTRY.fullmatch(line.strip())
            if entry:
                last = entry[1]
                described[last] = entry[2]
            elif last:
                described[last] += f" {line.strip()}"
    told = " ".join(filter(None, returns))
    return "\n".join(summary).strip() + (f"\n\nReturns: {told}" if told else ""), described


def _hints(tree: ast.Module) -> Any:
    """The value of ``EXCEPTION_HINTS``, if the module has one that is a literal."""
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        if any(isinstance(one, ast.Name) and one.id == "EXCEPTION_HINTS" for one in targets):
            value = (
                _literal(node.value) if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value else None
            )
            return value if isinstance(value, dict) and _is_json(value) else None
    return None
