"""Finding a documented value in a result that no longer looks as documented.

Two skills, which scripted policies have or lack: *normalising* undoes surface forms (envelopes, nesting,
other spellings of keys, units in text, quoted texts); *remapping* undoes a changed contract (other names,
types and shapes, other units). Without either, a value is found exactly where it is documented, or not at
all.
"""

from __future__ import annotations

import json
import re
from calendar import month_name
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from toolenv.plan import EACH, Contract, OutputField, Path
from toolenv.units import convert

MISSING: Final = object()
"""There is no such value."""

DEEPEST_ENVELOPE = 3

_SIGNED = re.compile(r"\+[\d,]*\.?\d+|\([\d,]*\.?\d+\)")
_NUMBER_WITHIN = re.compile(r"(\()?([+-]?(?:\d[\d,]*)?\.?\d+(?:[eE][+-]?\d+)?)")
_LONG_DATE = re.compile(r"(\d{1,2}) ([A-Z][a-z]+) (\d{4})")
_MONTHS = dict(zip(month_name, range(13), strict=True))


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads values by their documented path.

    Args:
        contract: what is documented.
        normalises, remaps: the skills, see the module.
    """

    contract: Contract
    normalises: bool = False
    remaps: bool = False

    def read(self, value: Any, path: Path) -> Any:
        """The part of a result that is documented to stand at ``path``, or :data:`MISSING`."""
        return self._canonical(self._descend(value, path), self._field_at(path))

    def _field_at(self, path: Path) -> OutputField | None:
        name = path[-1] if path else ""
        return next((one for one in self.contract.fields if one.name == name), None)

    def _descend(self, value: Any, path: Path) -> Any:
        if not path:
            return self._whole(value) if self.normalises else value
        step, rest = path[0], path[1:]
        if isinstance(step, int) or step == EACH:
            items = self._items(value)
            if items is None:
                return MISSING
            if step == EACH:
                found = [self._inner(item, rest) for item in items]
                return MISSING if any(one is MISSING for one in found) else found
            assert isinstance(step, int)
            return self._inner(items[step], rest) if -len(items) <= step < len(items) else MISSING
        owner, inner = self._member(value, step)
        return inner if inner is MISSING else self._inner(self._converted(owner, step, inner), rest)

    def _inner(self, value: Any, rest: Path) -> Any:
        return self._descend(value, rest) if rest else value

    # ---- objects ----

    def _member(self, value: Any, name: str) -> tuple[Any, Any]:
        """The object that has a field, and the field's value."""
        if isinstance(value, dict) and name in value:
            return value, value[name]
        if self.remaps:
            value = from_pairs(value)
            if isinstance(value, dict) and name in value:
                return value, value[name]
        if self.normalises:
            for inner in _with_envelopes(value, DEEPEST_ENVELOPE):
                for key, item in inner.items():
                    if _folded(key) == _folded(name):
                        return inner, item
        if self.remaps and isinstance(value, dict):
            return value, self._by_elimination(value, name)
        return value, MISSING

    def _by_elimination(self, value: dict[str, Any], name: str) -> Any:
        """The one field that is not documented, for the one documented field that is not there."""
        documented = {one.name for one in self.contract.fields}
        strangers = [key for key in value if key not in documented]
        missing = [key for key in documented if key not in value]
        return value[strangers[0]] if len(strangers) == 1 and missing == [name] else MISSING

    def _converted(self, owner: Any, name: str, value: Any) -> Any:
        """A number in its documented unit, where the result names another one."""
        unit = self.contract.unit_of(name)
        if not (self.remaps and unit and isinstance(owner, dict)):
            return value
        named = next((owner[key] for key in (f"{name}_unit", "unit", "currency") if key in owner), unit)
        if named == unit:
            return value
        if isinstance(value, list):
            return [_in_unit(item, named, unit) for item in value]
        return _in_unit(value, named, unit)

    # ---- arrays ----

    def _items(self, value: Any) -> list[Any] | None:
        if isinstance(value, list):
            return value
        if self.remaps and isinstance(value, dict):
            if set(value) == {"columns", "rows"}:
                return [dict(zip(value["columns"], row, strict=False)) for row in value["rows"]]
            if value and list(value) == [str(number) for number in range(len(value))]:
                return list(value.values())
        if self.normalises and isinstance(value, dict):
            arrays = [item for item in value.values() if isinstance(item, list)]
            return arrays[0] if len(arrays) == 1 else None
        return None

    def _whole(self, value: Any) -> Any:
        """A result that is documented to be one value, out of its envelope."""
        if isinstance(value, dict) and not self.contract.fields:
            inner = [item for key, item in value.items() if key not in ("status", "meta")]
            return inner[0] if len(inner) == 1 else value
        return value

    # ---- single values ----

    def _canonical(self, value: Any, field: OutputField | None) -> Any:
        if value is MISSING:
            return value
        kind = field.type if field is not None else ""
        if self.remaps:
            if isinstance(value, list) and len(value) == 1 and kind not in ("array", ""):
                value = value[0]
            if kind == "array" and isinstance(value, dict):
                value = self._items(value) or value
        if not self.normalises:
            return value
        if isinstance(value, list):
            return [_plain(item, "") for item in value]
        if isinstance(value, dict) and set(value) == {"value"}:
            value = value["value"]
        return _plain(value, kind)


def from_pairs(value: Any) -> Any:
    """An object that comes as an array of ``{"field": …, "value": …}``; anything else as it is."""
    if (
        isinstance(value, list)
        and value
        and all(isinstance(item, dict) and set(item) == {"field", "value"} for item in value)
    ):
        return {str(item["field"]): item["value"] for item in value}
    return value


def _with_envelopes(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """An object and those inside it, outer ones first."""
    level = [value] if isinstance(value, dict) else []
    for _ in range(depth + 1):
        yield from level
        level = [item for one in level for item in one.values() if isinstance(item, dict)]


def _in_unit(value: Any, named: Any, unit: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(named, str):
        return value
    found = convert(value, named, unit)
    return value if found is None else found


def _plain(value: Any, kind: str) -> Any:
    """A value in the form that is asked for."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if kind == "boolean":
        return {"yes": True, "no": False, "true": True, "false": False}.get(text.casefold(), value)
    if kind in ("number", "integer") or (not kind and _SIGNED.fullmatch(text)):
        return _number(text, value)
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1]
    day = _LONG_DATE.fullmatch(text)
    if day is not None and day[2] in _MONTHS:
        return f"{day[3]}-{_MONTHS[day[2]]:02d}-{int(day[1]):02d}"
    return value


def _number(text: str, otherwise: Any) -> Any:
    """The number that a text holds, its unit and its separators left out."""
    found = _NUMBER_WITHIN.search(text)
    if found is None:
        return otherwise
    digits = found[2].replace(",", "").removeprefix("+")
    try:
        number = json.loads(digits)
    except ValueError:
        return otherwise
    return -number if found[1] else number


def _folded(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def loaded(text: str) -> Any:
    """The JSON value of a result; its text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def is_failure(value: Any) -> bool:
    """Whether a result says itself that the call failed."""
    if isinstance(value, str):
        return value[:5].casefold() == "error"
    return isinstance(value, Mapping) and bool(value.get("error"))
