"""Reading values that a model wrote: JSON as loosely as is safe, or Python literals. Nothing is ever run."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolenv.json_values import MAX_DEPTH, UnusableValueError, clean_json

MAX_CHARACTERS = 2_000_000
MAX_LITERAL = 50_000

_JSON_NAMES = {"true": True, "false": False, "null": None}
_LITERAL_STARTS = frozenset("{[(TFN'")

# A string that is never closed reaches to the end: looking for its end once keeps this linear.
STRING_PATTERN = r"(?:'(?:[^'\\]|\\.)*+\\?(?:'|\Z)|\"(?:[^\"\\]|\\.)*+\\?(?:\"|\Z))"

_STRING = re.compile(STRING_PATTERN, re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.)\]}\"])[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])", re.ASCII)
# Python itself must never see what could make its parser deep or slow: operators, chains, comprehensions.
_PLAIN_CODE = re.compile(r"[\w\s\[\](){},:.=\"]*")
_NOT_PLAIN = re.compile(
    r"[\w\")\]}]\s+[\w\"({\[]|\"\"\s*\"|\"\w|\w\"|[\w\")\]}]\[|[\")\]}][({]|\w\{|(?:\.\w+){6}|==|:=|\b\d\w"
)
_KNOWN_ESCAPE = re.compile(r"\\([\\'\"abfnrtvxuUN0\n])|\\")
_BRACKET = re.compile(r"[\[\](){}]")


class UnreadableError(ValueError):
    """What a model wrote cannot be read; the text says why, in words for the model."""


def read_arguments(value: object) -> dict[str, Any]:
    """A call's arguments as a plain dict of JSON values.

    Args:
        value: a mapping; or text that holds one, as JSON (raw line breaks allowed, encoded twice if need
            be) or as a Python literal; or ``None`` or empty text, which mean no arguments.

    Raises:
        UnreadableError: it is none of these, is not finite, is too large or nested more than 64 deep.
    """
    for _ in range(2):  # some servers encode the text once more
        if isinstance(value, str):
            value = read_value(value) if value.strip() else None
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UnreadableError(f"the arguments must be a JSON object, not {_json_type(value)}")
    plain: dict[str, Any] = plain_value(value)
    return plain


def read_value(text: str) -> Any:
    """The one value that ``text`` holds, JSON or a Python literal, in JSON types.

    Raises:
        UnreadableError: it holds none, or more than one.
    """
    try:
        value, end = decode_json(text)
        if text[end:].strip():
            raise UnreadableError(f"there is more after the JSON value, at character {end}")
    except UnreadableError as why:
        value = _literal_instead(text, why)
    return plain_value(value)


def decode_json(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value at ``start``, and where it ends.

    Control characters within strings are allowed; ``NaN`` and ``Infinity`` are not.

    Raises:
        UnreadableError: there is no valid JSON value.
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableError(f"{len(text)} characters are more than the limit of {MAX_CHARACTERS}")
    try:
        return _DECODER.raw_decode(text, skip_space(text, start))
    except UnreadableError:
        raise
    except RecursionError:
        raise UnreadableError(f"nested more than {MAX_DEPTH} levels deep") from None
    except ValueError as error:
        raise UnreadableError(f"not valid JSON: {str(error).partition(';')[0]}") from None


def skip_space(text: str, start: int) -> int:
    """Where the white space at ``start`` ends."""
    space = _SPACE.match(text, start)
    return space.end() if space else start


def plain_value(value: Any) -> Any:
    """A copy of ``value`` in JSON types, bounded and fit for UTF-8 (:func:`toolenv.json_values.clean_json`).

    Raises:
        UnreadableError: it is no JSON value, or too large or too deep.
    """
    try:
        return clean_json(value)[0]
    except UnusableValueError as why:
        raise UnreadableError(str(why)) from None


def parse_expression(text: str) -> ast.expr | None:
    """``text`` as the syntax tree of a plain Python expression: literals, names, and calls with keywords.

    ``None`` if it is anything else, too long, or nested too deeply. The text is parsed, never run.
    """
    text = text.strip()
    if len(text) > MAX_LITERAL:
        return None
    bones = _NUMBER.sub("0", _STRING.sub('""', text))
    if not _PLAIN_CODE.fullmatch(bones) or _NOT_PLAIN.search(bones) or _depth(bones) > MAX_DEPTH:
        return None
    # Unknown escapes such as "\d" would make Python warn.
    source = _KNOWN_ESCAPE.sub(lambda escape: escape[0] if escape[1] else r"\\", text)
    try:
        return ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def literal_value(node: ast.expr) -> Any:
    """The value of a literal's syntax tree; ``true``, ``false`` and ``null`` are taken as JSON means them.

    Raises:
        UnreadableError: it is no literal, or of a type JSON lacks.
    """
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.UnaryOp(op=ast.UAdd(), operand=ast.Constant(value=int() | float() as number)):
            return number
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal_value(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return dict(_pairs(keys, values))
    raise UnreadableError(f"a {type(node).__name__} is no literal that JSON has")


def _literal_instead(text: str, why: UnreadableError) -> Any:
    literal = parse_expression(text) if text.lstrip()[:1] in _LITERAL_STARTS else None
    if literal is None:
        raise why
    try:
        return literal_value(literal)
    except UnreadableError:
        raise why from None


def _pairs(keys: list[ast.expr | None], values: list[ast.expr]) -> Iterator[tuple[Any, Any]]:
    for key, value in zip(keys, values, strict=True):
        if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
            raise UnreadableError("a key is not text")
        yield key.value, literal_value(value)


def _depth(bones: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.findall(bones):
        depth += 1 if bracket in "[({" else -1
        deepest = max(deepest, depth)
    return deepest


def _json_type(value: object) -> str:
    names = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")


def _refuse_constant(name: str) -> Any:
    raise UnreadableError(f"{name} is not a number in JSON")


_SPACE = re.compile(r"[\s\ufeff]*")
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
