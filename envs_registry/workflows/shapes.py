"""The shapes of tasks: what is started from, what is asked, what is done with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, TypeAlias

from envs_registry.workflows.blueprint import Workflow
from envs_registry.workflows.declaration import Field, Formula, Subtopic
from envs_registry.workflows.reading import get_subtopic
from envs_registry.workflows.units import Unit, convert, preferred_conversion

Core: TypeAlias = Literal["fact", "formula", "summary", "best", "deed"]
"""What is asked: one fact; a calculation; a statistic of several values; which of several things is best; a
deed."""

TailStep: TypeAlias = Literal["convert", "dated", "amounted", "receipt"]

MOST_TOOLS = 8


@dataclass(frozen=True, slots=True)
class Branch:
    """A chain of lookups.

    Attributes:
        base: the level it starts at. top: the level it climbs to.
        by_name: whether the request names the first thing, instead of giving its identifier.
        listed: whether it goes on from the members of the first thing, one level below.
    """

    base: int
    top: int
    by_name: bool
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """The structure of a task.

    Attributes:
        core: what is asked.
        branches: where its values come from; one for each compared thing in ``summary`` and ``best``.
        field: the fact asked for, or compared.
        formula: the calculation.
        rate: whether the calculation is wanted in another currency, with a rate that is looked up.
        tail: what is done with the result, in order.
    """

    core: Core
    branches: tuple[Branch, ...]
    field: Field | None = None
    formula: Formula | None = None
    rate: bool = False
    tail: tuple[TailStep, ...] = ()

    @property
    def tools(self) -> int:
        """How many different tools it takes."""
        names = {branch.base for branch in self.branches if branch.by_name}
        climbed = [range(branch.base, branch.top + 1) for branch in self.branches]
        records = {level for levels in climbed for level in levels} if self.core != "deed" else set()
        if self.branches[0].listed:
            records = {self.branches[0].base - 1, -1}  # the list itself, and the records of what is on it
        calculated = self.core in ("formula", "summary", "best")
        return len(names) + len(records) + self.rate + calculated + len(self.tail)

    @property
    def workflow(self) -> Workflow:
        """How its calls depend on each other; ``docs/workflows.md`` defines the three."""
        chained = any(branch.by_name or branch.top > branch.base or branch.listed for branch in self.branches)
        if len(self.branches) + self.rate == 1 and not self.branches[0].listed:
            return "sequential"
        return "mixture" if chained or self.tail else "parallel"

    @property
    def unit(self) -> Unit | None:
        """The unit of the value before any conversion."""
        if self.formula is not None:
            return self.formula.unit
        return self.field.unit if self.field is not None else None


Catalogue: TypeAlias = Mapping[tuple[Workflow, int], Mapping[str, tuple[Shape, ...]]]
"""Shapes by workflow and number of tools, then by core, so that no core crowds out the others."""


@cache
def catalogue(subtopic_name: str) -> Catalogue:
    """Every shape that a world offers."""
    found: dict[tuple[Workflow, int], dict[str, list[Shape]]] = {}
    for shape in _shapes(get_subtopic(subtopic_name)):
        if 2 <= shape.tools <= MOST_TOOLS:
            found.setdefault((shape.workflow, shape.tools), {}).setdefault(shape.core, []).append(shape)
    return {key: {core: tuple(some) for core, some in cores.items()} for key, cores in found.items()}


def _shapes(subtopic: Subtopic) -> Iterator[Shape]:
    yield from _facts(subtopic)
    yield from _formulas(subtopic)
    yield from _deeds()
    yield from _fans(subtopic)
    yield from _lists(subtopic)


def _facts(subtopic: Subtopic) -> Iterator[Shape]:
    """One fact at the end of a chain."""
    for by_name, base in product((True, False), range(3)):
        for top in range(base, 3):
            for field in subtopic.kinds[top].fields.values():
                if field.can_answer:
                    shape = Shape("fact", (Branch(base, top, by_name),), field)
                    yield shape
                    if _converts_well(field):
                        yield _with_tail(shape, "convert")


def _deeds() -> Iterator[Shape]:
    """Something is done to one item."""
    for by_name in (True, False):
        yield Shape("deed", (Branch(0, 0, by_name),), tail=("dated",))
        yield Shape("deed", (Branch(0, 0, by_name),), tail=("dated", "receipt"))


def _formulas(subtopic: Subtopic) -> Iterator[Shape]:
    """A calculation whose inputs come from one chain or from several."""
    for formula in subtopic.formulas:
        for groups in _splits(formula.levels):
            for names in product((True, False), repeat=len(groups)):
                branches = tuple(
                    Branch(base, top, by_name) for (base, top), by_name in zip(groups, names, strict=True)
                )
                for rate in (False, True) if _is_money(formula.unit) else (False,):
                    shape = Shape("formula", branches, formula=formula, rate=rate)
                    yield shape
                    yield from _formula_tails(subtopic, shape)


def _formula_tails(subtopic: Subtopic, shape: Shape) -> Iterator[Shape]:
    formula = shape.formula
    assert formula is not None
    converts = not shape.rate and _converts(formula.unit)
    if converts:
        yield _with_tail(shape, "convert")
    if formula is subtopic.formulas[0]:
        yield _with_tail(shape, "amounted")
        yield _with_tail(shape, "amounted", "receipt")
        if converts and _is_money(formula.unit):
            yield _with_tail(shape, "convert", "amounted")
            yield _with_tail(shape, "convert", "amounted", "receipt")
    if formula.kind.is_date and formula.inputs[0].low > 0 and shape.branches[0].base == 0:
        yield _with_tail(shape, "dated")
        yield _with_tail(shape, "dated", "receipt")


def _splits(levels: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Ways to reach some levels by chains, each as (base, top)."""
    yield ((levels[0], levels[-1]),)
    if len(levels) == 2:
        yield tuple((level, level) for level in levels)
        if levels == (1, 2):
            yield ((0, 2),)
    else:
        yield ((0, 1), (2, 2))
        yield ((0, 0), (1, 2))
        yield ((0, 0), (1, 1), (2, 2))


def _fans(subtopic: Subtopic) -> Iterator[Shape]:
    """Several things of one level are looked up, and a fact of theirs is compared or summarised."""
    for by_name, base, count in product((True, False), range(3), (2, 3)):
        for top in range(base, 3):
            for field in _comparable(subtopic, top):
                branches = (Branch(base, top, by_name),) * count
                yield from _compared(field, branches, told=not by_name and base == top, deeds=top == 0)


def _lists(subtopic: Subtopic) -> Iterator[Shape]:
    """The same with all that belongs to one thing."""
    for by_name, level in product((True, False), (1, 2)):
        for field in _comparable(subtopic, level - 1):
            branches = (Branch(level, level, by_name, listed=True),)
            yield from _compared(field, branches, told=False, deeds=level == 1)


def _compared(field: Field, branches: tuple[Branch, ...], told: bool, deeds: bool) -> Iterator[Shape]:
    """Shapes that summarise or compare. Where the request tells the identifiers, "which" cannot be asked."""
    summary, best = Shape("summary", branches, field), Shape("best", branches, field)
    yield summary
    if _converts_well(field):
        yield _with_tail(summary, "convert")
    if not told:
        yield best
    if deeds:
        yield _with_tail(best, "dated")
        yield _with_tail(best, "dated", "receipt")


def _comparable(subtopic: Subtopic, level: int) -> list[Field]:
    fields = subtopic.kinds[level].fields.values()
    return [field for field in fields if field.kind == "number" and field.can_answer]


def _with_tail(shape: Shape, *tail: TailStep) -> Shape:
    return Shape(shape.core, shape.branches, shape.field, shape.formula, shape.rate, tail)


def _is_money(unit: Unit | None) -> bool:
    return unit is not None and unit.is_money


def _converts(unit: Unit | None) -> bool:
    return unit is not None and (unit.is_money or preferred_conversion(unit) is not None)


def _converts_well(field: Field) -> bool:
    """Whether all values of a fact have three digits after conversion, too, which gives two decimals."""
    unit, least = field.unit, field.low / 10**field.decimals
    if unit is None or not _converts(unit):
        return False
    target = preferred_conversion(unit)
    # Of the currencies, none is worth twice another of the strong ones, nor less than the weak ones are.
    return (least / 2 if target is None else convert(least, unit, target)) >= _LEAST_CONVERTED


_LEAST_CONVERTED = 1.0
