"""Reading the declared worlds; ``docs/workflows.md`` describes the form of the files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from envs_registry.workflows.declaration import Deed, Field, Formula, Kind, Relation, Subtopic, plural_of
from envs_registry.workflows.formulas import FORMULAS
from envs_registry.workflows.names import PARTS, check_pattern
from envs_registry.workflows.units import get_unit
from toolenv.errors import DataCorruptError, UnknownNameError

WORLDS = Path(__file__).parent / "worlds"

DOMAINS: tuple[str, ...] = ("travel", "commerce", "finance", "health", "nature", "public", "industry")
"""The domains, in the order in which tasks are numbered."""

LEVELS: tuple[str, ...] = ("item", "parent", "group")

_RANGE = re.compile(r"(-?[\d.]+)-(-?[\d.]+)")
_DATES: Mapping[str, tuple[int, int]] = {"past": (-700, -8), "future": (12, 240)}
"""Days from today that a date may lie in."""


@cache
def subtopic_names() -> Mapping[str, str]:
    """Every subtopic with its domain, in the order in which tasks are numbered."""
    return {name: domain for domain in DOMAINS for name in _read(domain)}


@cache
def get_subtopic(name: str) -> Subtopic:
    """A declared world.

    Raises:
        UnknownNameError: no such subtopic.
        DataCorruptError: its declaration cannot be read; the message names the place.
    """
    names = subtopic_names()
    if name not in names:
        raise UnknownNameError("subtopic", name, names)
    return _Reader(name, names[name], _read(names[name])[name]).subtopic()


@cache
def _read(domain: str) -> Mapping[str, Any]:
    return tomllib.loads((WORLDS / f"{domain}.toml").read_text(encoding="utf-8"))


class _Reader:
    """Reads one declaration."""

    def __init__(self, name: str, domain: str, data: Mapping[str, Any]) -> None:
        self.name, self.domain, self.data = name, domain, data
        self.where = f"worlds/{domain}.toml, [{name}]"
        self.kinds: list[Kind] = []

    def subtopic(self) -> Subtopic:
        self.kinds = [self._kind(level) for level in range(3)]
        formulas = tuple(self._formula(key) for key in ("full", "half", "date"))
        self._check(formulas[0].levels == (0, 1, 2), "full", "takes facts of every level")
        self._check(len(formulas[1].levels) == 2, "half", "takes facts of two levels")
        self._check(formulas[2].kind.is_date, "date", "gives a date")
        item, parent, group = self.kinds
        return Subtopic(
            name=self.name,
            domain=self.domain,
            about=self._text("about"),
            motives=tuple(self._value("motives")),
            register=self._text("register"),
            mirror=self._text("mirror"),
            kinds=(item, parent, group),
            relations=(self._relation(0), self._relation(1)),
            formulas=formulas,
            dated=self._deed("on_date", "{date}"),
            amounted=self._deed("with_amount", "{amount}"),
        )

    def _kind(self, level: int) -> Kind:
        label, prefix, known_by, pattern, phrase, *plural = self._parts(LEVELS[level], 5)
        fields = [self._field(level, line) for line in self._value(f"{LEVELS[level]}_facts")]
        return Kind(
            level=level,
            label=label,
            plural=plural[0] if plural else plural_of(label),
            prefix=prefix,
            known_by=known_by,
            pattern=self._pattern(pattern),
            phrase=phrase,
            fields={field.key: field for field in fields},
        )

    def _field(self, level: int, line: str) -> Field:
        key, _, rest = line.partition(": ")
        label, kind, *limits = (part.strip() for part in rest.split(" | "))
        if kind == "date":
            self._check(limits[:1] in ([one] for one in _DATES), key, "says if its dates are past or future")
            low, high = _DATES[limits[0]]
            return Field(key, level, label, "date", low=low, high=high)
        if "{" in kind or kind in PARTS:
            return Field(key, level, label, "text", pattern=self._pattern(kind))
        unit = get_unit(kind, f"{self.where}, {key!r}")
        found = _RANGE.fullmatch(limits[0]) if limits else None
        self._check(found is not None, key, "has a range, such as 0.50-2.75")
        assert found is not None
        decimals = len(found[2].partition(".")[2])
        low, high = (int(Decimal(found[at]).scaleb(decimals)) for at in (1, 2))
        self._check(low < high, key, "has a range that goes up")
        return Field(key, level, label, "number", unit, low, high, decimals)

    def _pattern(self, text: str) -> str:
        """A pattern of names; the name of a part alone stands for it."""
        return check_pattern(f"{{{text}}}" if text in PARTS else text, self.where)

    def _relation(self, level: int) -> Relation:
        phrase, role, inverse, *roles = self._parts(f"{LEVELS[level]}_belongs_to", 3)
        return Relation(phrase, role, roles[0] if roles else plural_of(role), inverse)

    def _formula(self, key: str) -> Formula:
        name, label, unit, kind, inputs = self._parts(key, 5)
        if kind not in FORMULAS:
            raise UnknownNameError("kind of formula", kind, FORMULAS, self.where)
        fields = tuple(self._fact(one.strip()) for one in inputs.split(","))
        self._check(len(fields) == FORMULAS[kind].arity, key, f"has the inputs that {kind!r} takes")
        return Formula(
            name, label, None if unit == "date" else get_unit(unit, self.where), FORMULAS[kind], fields
        )

    def _deed(self, key: str, blank: str) -> Deed:
        tool, level, ask, *sets = self._parts(key, 3)
        self._check("{}" in ask and blank in ask, key, f"asks with {{}} and {blank}")
        self._check(level in LEVELS, key, f"is done to one of {', '.join(LEVELS)}")
        changed = self._fact(f"{level}.{sets[0]}") if sets else None
        self._check(changed is None or changed.kind == "date", key, "changes a date")
        return Deed(tool, LEVELS.index(level), ask, changed)

    def _fact(self, path: str) -> Field:
        level, _, key = path.partition(".")
        if level not in LEVELS or key not in self.kinds[LEVELS.index(level)].fields:
            known = [f"{LEVELS[kind.level]}.{one}" for kind in self.kinds for one in kind.fields]
            raise UnknownNameError("fact", path, known, self.where)
        return self.kinds[LEVELS.index(level)].fields[key]

    def _parts(self, key: str, least: int) -> list[str]:
        parts = [part.strip() for part in self._text(key).split(" | ")]
        self._check(len(parts) >= least, key, f"has {least} parts between bars")
        return parts

    def _text(self, key: str) -> str:
        return str(self._value(key))

    def _value(self, key: str) -> Any:
        if key not in self.data:
            raise DataCorruptError(f"{self.where}: {key!r} is missing")
        return self.data[key]

    def _check(self, holds: bool, key: str, rule: str) -> None:
        if not holds:
            raise DataCorruptError(f"{self.where}, {key!r}: expected that it {rule}: {self.data.get(key)!r}")
