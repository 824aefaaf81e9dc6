"""What a tool returned, as the text an agent reads.

The text is never empty, the same on every run, and strict JSON unless it is plain text: no bare
``NaN``, no memory addresses, no order taken from hashing.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Set
from typing import Any

from toolenv.errors import RAISED, ToolFault, UsageError, words_of
from toolenv.json_values import MAX_DEPTH, mend_surrogates

EMPTY_RESULT = "(the tool returned an empty text)"
"""What an agent reads where a tool returned ``""``: many chat servers refuse empty tool messages."""

CYCLE = "(a cycle, cut here)"
TOO_DEEP = "(nested too deeply, cut here)"

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_make_encoder: Any = getattr(json.encoder, "c_make_encoder", None)
_JSON_TYPES = frozenset({str, int, float, bool, type(None), list, dict})
_SHORT_LIMIT = 100
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MISSING_VALUES = frozenset({"NAType", "NaTType"})  # pandas
_SIMPLER_METHODS = ("model_dump", "to_dicts", "to_dict", "tolist")  # pydantic, polars, pandas, numpy
_NUMPY_TIMES = frozenset({"m", "M"})


def _encoder() -> Callable[[Any], str]:
    """``_JSON.encode``, with the encoder in C that it makes anew for each value made once.

    That one looks for no cycles; they run into the recursion limit instead.
    """
    if _make_encoder is None:
        return _JSON.encode
    quote = json.encoder.encode_basestring
    parts = _make_encoder(None, _JSON.default, quote, None, ": ", ", ", False, False, False)
    return lambda value: "".join(parts(value, 0))


_encode = _encoder()


def render(value: Any) -> str:
    """The text for what a tool returned; never empty.

    Text stays as it is; ``""`` becomes :data:`EMPTY_RESULT`. Other JSON values become JSON with all
    characters kept readable. Beyond JSON: NaN, infinities and pandas' missing values become ``null``;
    dates ISO 8601; ``Decimal("1.10")`` keeps its digits; bytes become their UTF-8 text, else hexadecimal
    digits; sets are sorted; dataclasses, pydantic models, numpy values, data frames, and any other
    mapping or collection become objects and arrays; keys that are not text become their JSON text; cycles
    are cut with a mark, and so is nesting beyond 64 in values that are not plain JSON; lone surrogates
    become U+FFFD.

    Raises:
        ToolFault: the value has no repeatable text: a generator, coroutine or function, an object that
            shows only its address, or one whose conversion fails.
    """
    if type(value) is int:
        try:
            return str(value)
        except ValueError:
            return str(_integer(value))
    if isinstance(value, str):
        return mend_surrogates(str.__str__(value)) or EMPTY_RESULT
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError):
        text = _json_or_text(_plain_or_fault(value))
    return mend_surrogates(text) or EMPTY_RESULT


def cut(text: str, limit: int | None) -> str:
    """``text`` in at most ``limit`` characters, a marker with the original size included.

    Args:
        text: any text; it is cut between code points.
        limit: characters, at least 1; ``None`` for no cut.

    Raises:
        UsageError: the limit is below 1.
    """
    if limit is None or len(text) <= limit:
        return text
    if limit < 1:
        raise UsageError(f"a limit of {limit} characters leaves nothing to read; give at least 1, or None")
    marker = f"… [cut: {len(text)} characters in all]" if limit >= _SHORT_LIMIT else f"…[{len(text)}]"
    return text[: max(0, limit - len(marker))] + marker[:limit]


def foreign_type(value: Any) -> str:
    """The qualified type name of a value that JSON has no type for, for traces; ``""`` for JSON's own."""
    kind = type(value)
    return "" if kind in _JSON_TYPES else f"{kind.__module__}.{kind.__qualname__}"


def _json_or_text(plain: Any) -> str:
    return plain if isinstance(plain, str) else _encode(plain)


def _plain_or_fault(value: Any) -> Any:
    """The value in JSON types; whatever fails on the way is the tool's fault."""
    try:
        return _plain(value, ())
    except ToolFault:
        raise
    except RAISED as error:
        told = words_of(error)
        raise ToolFault(f"a tool returned a {foreign_type(value)} that cannot be shown: {told}") from error


def _plain(value: Any, trail: tuple[int, ...]) -> Any:
    """``value`` in JSON types. ``trail`` holds the identities of the containers around it."""
    if type(value).__name__ in _MISSING_VALUES:
        return None
    for types, convert in _SCALARS:
        if isinstance(value, types):
            return convert(value)
    if isinstance(value, (Iterator, AsyncIterator, Awaitable)):
        raise ToolFault(
            f"a tool returned a {foreign_type(value)}, which can be read only once; return a list instead"
        )
    if id(value) in trail:
        return CYCLE
    if len(trail) >= MAX_DEPTH:
        return TOO_DEEP
    return _plain_container(value, (*trail, id(value)))


def _plain_container(value: Any, trail: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping):
        return _plain_mapping(value, trail)
    if not isinstance(value, (list, tuple)):
        simpler = _simpler(value)
        if simpler is not None:
            return _plain(simpler(), trail)
    if isinstance(value, Set):
        return _sorted([_plain(item, trail) for item in value])
    if isinstance(value, Collection):
        return [_plain(item, trail) for item in value]
    return _own_text(value)


def _plain_mapping(value: Mapping[Any, Any], trail: tuple[int, ...]) -> Any:
    """An object; a list of pairs where two keys would become the same text."""
    pairs = [(_json_or_text(_plain(key, ())), _plain(item, trail)) for key, item in value.items()]
    merged = dict(pairs)
    return merged if len(merged) == len(pairs) else [list(pair) for pair in pairs]


def _simpler(value: Any) -> Callable[[], Any] | None:
    """How to get a simpler value out of a foreign object, known by its shape, its library not imported."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return lambda: {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    kind = type(value)
    methods = [name for name in _SIMPLER_METHODS if callable(getattr(kind, name, None))]
    if not methods:
        return None
    method: Callable[..., Any] = getattr(value, methods[0])
    if methods[0] == "tolist" and getattr(getattr(value, "dtype", None), "kind", None) in _NUMPY_TIMES:
        return lambda: value.astype("str").tolist()  # as numbers they would lose their unit
    return _frame(value) if methods[0] == "to_dict" and hasattr(kind, "columns") else method


def _frame(frame: Any) -> Callable[[], Any]:
    """The rows of a pandas data frame, its index left out."""
    if frame.columns.is_unique:
        return lambda: frame.to_dict(orient="records")
    return lambda: {"columns": frame.columns, "rows": list(frame.itertuples(index=False, name=None))}


def _own_text(value: Any) -> str:
    """What ``str()`` says, unless that is only where the object lies in memory."""
    text = str(value)
    if _ADDRESS.search(text):
        raise ToolFault(f"a tool returned a {foreign_type(value)}, which has no text of its own")
    return text


def _sorted(plain: list[Any]) -> list[Any]:
    try:
        return sorted(plain)
    except TypeError:
        return sorted(plain, key=lambda item: json.dumps(item, sort_keys=True))


def _integer(value: int) -> int | str:
    """Python refuses to write integers beyond 4,300 decimal digits, so those are hexadecimal text."""
    try:
        str(int(value))
    except ValueError:
        return hex(value)
    return int(value)


def _bytes(value: bytes | bytearray | memoryview) -> str:
    raw = bytes(value)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.hex()


def _decimal(value: decimal.Decimal) -> str | None:
    return str(value) if value.is_finite() else None


def _moment(value: datetime.date | datetime.time) -> str:
    return value.isoformat()


_SCALARS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((type(None), bool), lambda value: value),
    (enum.Enum, lambda value: _plain(value.value, ())),
    (str, str.__str__),
    (int, _integer),
    (float, lambda value: float(value) if math.isfinite(value) else None),
    (decimal.Decimal, _decimal),
    ((datetime.date, datetime.time), _moment),
    ((bytes, bytearray, memoryview), _bytes),
)
