"""One tool call as models write it: a name and arguments, as a JSON object or as a Python call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from toolenv.types import ToolCall, ToolSpec

from .values import (
    MAX_LITERAL,
    STRING_PATTERN,
    UnreadableError,
    literal_value,
    parse_expression,
    plain_value,
    read_arguments,
)

Offered: TypeAlias = Mapping[str, ToolSpec]
"""The tools offered, under their own and their wire names."""

MAX_CALLS = 128
MAX_NAME = 256

ARGUMENT_KEYS = ("arguments", "parameters")

_SELDOM_MEANT = ("functions.", "tools.", "default_api.")
_BESIDE_ARGUMENTS = frozenset({"name", "id", "type", "index"})
_COHERE_KEYS = {"tool_name": "name", "tool_call_id": "id"}
_TOKEN = re.compile(rf"{STRING_PATTERN}|[\[{{(\]}})]", re.DOTALL)


def tool_name(name: object, offered: Offered) -> str:
    """The tool a call names, without what servers and models put around it (``functions.NAME``).

    Raises:
        UnreadableError: it names none.
    """
    if not isinstance(name, str) or not name.strip():
        raise UnreadableError("a call names no tool")
    name = name.strip()
    if name in offered:
        return name
    name = name.partition("<|")[0].strip()  # left over from gpt-oss's channels
    bare = next((name.removeprefix(prefix) for prefix in _SELDOM_MEANT if name.startswith(prefix)), name)
    bare = bare.removesuffix(".call")
    if bare in offered:
        return bare
    if not name or len(name) > MAX_NAME:
        raise UnreadableError(
            "a call names no tool" if not name else f"a tool's name has {len(name)} characters"
        )
    return name


def calls_in(value: Any, offered: Offered) -> list[ToolCall]:
    """The calls in a decoded JSON value that must be nothing but calls: an object, or a list of them.

    Raises:
        UnreadableError: something in it is no call.
    """
    return [_call(item, offered) for item in call_objects(plain_value(value))]


def call_objects(value: Any) -> Iterator[Any]:
    """The objects in the places of calls, whatever they are; OpenAI's wrappers and Cohere's keys are gone."""
    if isinstance(value, list):
        for item in value:
            yield from call_objects(item)
    elif isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        yield from call_objects(value["tool_calls"])
    elif isinstance(value, dict) and isinstance(value.get("function"), dict):
        yield value["function"]
    elif isinstance(value, dict) and "tool_name" in value and "name" not in value:
        yield {_COHERE_KEYS.get(key, key): item for key, item in value.items()}
    else:
        yield value


def _call(item: Any, offered: Offered) -> ToolCall:
    if not isinstance(item, dict):
        raise UnreadableError("a call must be a JSON object with a name and arguments")
    name = tool_name(item.get("name"), offered)
    key = next((key for key in ARGUMENT_KEYS if key in item), "")
    if not key and item.keys() - _BESIDE_ARGUMENTS:
        raise UnreadableError(f"the call of {name!r} has no arguments object")
    return ToolCall(name, read_arguments(item.get(key)))


def python_calls(text: str, offered: Offered) -> list[ToolCall]:
    """The calls in ``f(x=1)`` or ``[f(x=1), g()]``.

    Raises:
        UnreadableError: the text is anything else, or an argument has no name.
    """
    tree = parse_expression(text)
    items = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    return [_python_call(item, offered) for item in items]


def _python_call(node: ast.expr | None, offered: Offered) -> ToolCall:
    if not isinstance(node, ast.Call):
        raise UnreadableError("this is neither JSON nor a call in Python's form")
    name = tool_name(ast.unparse(node.func), offered)
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise UnreadableError(f"the call of {name!r} has arguments without names")
    arguments = {str(keyword.arg): literal_value(keyword.value) for keyword in node.keywords}
    return ToolCall(name, read_arguments(arguments))


def balanced_end(text: str, start: int) -> int | None:
    """Where the bracket that opens at ``start`` is closed again, strings taken into account."""
    depth = 0
    for token in _TOKEN.finditer(text, start, start + MAX_LITERAL):
        if token[0] in "[{(":
            depth += 1
        elif token[0] in "]})":
            depth -= 1
        if depth <= 0:
            return token.end()
    return None
