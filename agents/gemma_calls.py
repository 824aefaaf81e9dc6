"""What follows the opening token of a call of FunctionGemma or Gemma 4: ``call:f{key:<escape>text<escape>}``.

Text stands between two equal signs, ``<escape>`` or ``<|"|>``, which it cannot hold itself; keys and other
values are bare.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from toolenv.json_values import MAX_DEPTH
from toolenv.types import ToolCall

from .calls import Offered, tool_name
from .values import UnreadableError, decode_json, read_arguments, skip_space
from .written_arguments import inner_schema, parameter_schemas, quoted_value, typed_value

_SIGNS = ("<escape>", '<|"|>')
_HEAD = re.compile(r"\s*(?:(?:call)?:\s*)?(?P<name>[\w./-]{1,256})\s*\{")
_KEY = re.compile(r"(?P<sign><escape>|<\|\"\|>|[\"']|)(?P<key>[^\s:{}\[\],<>\"']{1,256})(?P=sign)\s*:\s*")
_BARE = re.compile(r"[^,{}\[\]<\"]*")
_AFTER = re.compile(r"\s*(?:,\s*|(?=[}\]]))")
_END = re.compile(r"\s*(?:<end_function_call>|<tool_call\|>|(?=<)|\Z)")


def read_gemma_call(text: str, at: int, offered: Offered) -> tuple[ToolCall, int]:
    """The call after the opening token that ends at ``at``, and the place after the call.

    Raises:
        UnreadableError: it has not the form of a call, is not finished, or is nested too deeply.
    """
    head = _HEAD.match(text, at)
    if not head:
        raise UnreadableError("a tool call was begun, but its name cannot be read")
    name = tool_name(head["name"], offered)
    arguments, at = _object(text, head.end(), parameter_schemas(name, offered), 1)
    end = _END.match(text, at)
    if not end:
        raise UnreadableError(f"the call of {name!r} is followed by {text[at : at + 20]!r}")
    return ToolCall(name, read_arguments(arguments)), end.end()


def _object(text: str, at: int, schemas: Mapping[str, Any], depth: int) -> tuple[dict[str, Any], int]:
    items: dict[str, Any] = {}
    at = skip_space(text, at)
    while not text.startswith("}", at):
        key = _KEY.match(text, at)
        if not key:
            raise UnreadableError(f"{text[at : at + 20]!r} in a call is no argument's name")
        value, end = _value(text, key.end(), inner_schema(schemas, key["key"]), depth)
        items[key["key"]], at = value, _after(text, end)
    return items, at + 1


def _list(text: str, at: int, schema: Mapping[str, Any], depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = skip_space(text, at)
    while not text.startswith("]", at):
        value, end = _value(text, at, schema, depth)
        items.append(value)
        at = _after(text, end)
    return items, at + 1


def _value(text: str, at: int, schema: Mapping[str, Any], depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise UnreadableError(f"nested more than {MAX_DEPTH} levels deep")
    sign = next((sign for sign in _SIGNS if text.startswith(sign, at)), "")
    if sign:
        start = at + len(sign)
        end = text.find(sign, start)
        if end < 0:
            raise UnreadableError(f"a text in a call has no closing {sign}")
        return quoted_value(text[start:end], schema), end + len(sign)
    match text[at : at + 1]:
        case "{":
            return _object(text, at + 1, inner_schema(schema, "properties"), depth + 1)
        case "[":
            return _list(text, at + 1, inner_schema(schema, "items"), depth + 1)
        case '"':
            return decode_json(text, at)
    return _bare(text, at, schema)


def _bare(text: str, at: int, schema: Mapping[str, Any]) -> tuple[Any, int]:
    bare = _BARE.match(text, at)
    written = bare[0].strip() if bare else ""
    if not bare or not written:
        raise UnreadableError(f"{text[at : at + 20]!r} in a call is no value")
    return typed_value(written, schema), bare.end()


def _after(text: str, at: int) -> int:
    after = _AFTER.match(text, at)
    if not after:
        raise UnreadableError(f"a value in a call is followed by {text[at : at + 20]!r}")
    return after.end()
