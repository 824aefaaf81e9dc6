"""Playing a shape in a world: the reference calls, each made for real, with what fed what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from envs_registry.workflows.blueprint import Feed, Origin, Path, ReferenceCall, value_at
from envs_registry.workflows.declaration import Field
from envs_registry.workflows.facts import Facts, Record, positions_apart
from envs_registry.workflows.shapes import Branch, Shape
from envs_registry.workflows.toolbox import Toolbox
from envs_registry.workflows.units import preferred_conversion
from envs_registry.workflows.world import WorkflowWorld

Given: TypeAlias = Any
"""An argument: a value, an :class:`Origin`, or a list of origins."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a task's structure leaves open in a shape.

    Attributes:
        mirrored: whether the mirror is read instead of the registry of record; either has the facts.
        statistic: of ``summary``: ``total``, ``mean``, ``highest`` or ``lowest``. order: of ``best``.
        currency: the other currency, where one is wanted.
        deed_date: the date of a deed, where no calculation gives it.
    """

    mirrored: bool
    statistic: str
    order: str
    currency: str
    deed_date: str


class Script:
    """The calls made so far.

    Args:
        toolbox: the world's tools.
        facts: what is true in it.
        choices: what the shape leaves open.
    """

    def __init__(self, toolbox: Toolbox, facts: Facts, choices: Choices) -> None:
        self.toolbox, self.facts, self.choices = toolbox, facts, choices
        self.world = WorkflowWorld(facts, toolbox.runners)
        self.calls: list[ReferenceCall] = []
        self.ids: list[Given] = []
        """The identifier at the base of each branch."""

    def play(self, shape: Shape) -> Origin:
        """Make all calls of a shape; returns where the answer comes from."""
        last = self._core(shape)
        unit = shape.unit
        currency = (
            self.choices.currency if shape.rate else unit.name if unit is not None and unit.is_money else ""
        )
        for step in shape.tail:
            if step == "convert":
                last = self._convert(shape, last)
                currency = self.choices.currency
            elif step == "dated":
                last = self._dated(shape, last)
            elif step == "amounted":
                last = self._amounted(last, currency)
            else:
                code = {"confirmation": last}
                last = Origin(self._call(self.toolbox.receipt, code), ("handled_by",))
        return last

    # -- the core ----------------------------------------------------------------------------------------

    def _core(self, shape: Shape) -> Origin:
        if shape.core == "formula":
            return self._formula(shape)
        if shape.core in ("summary", "best"):
            return self._compare(shape)
        (branch,) = shape.branches
        record = chosen_records(self.facts, shape)[0]
        if shape.core == "deed":
            self.ids.append(self._start(branch, record))
            # Without a search the identifier stands in the request, and nothing of a result is used.
            return self.ids[0] if branch.by_name else Origin(-1, ())
        assert shape.field is not None
        return self._fact(self._climb(branch, record), shape.field)

    def _formula(self, shape: Shape) -> Origin:
        formula = shape.formula
        assert formula is not None
        chosen = zip(shape.branches, chosen_records(self.facts, shape), strict=True)
        reached: dict[int, int] = {}
        for branch, record in chosen:
            reached.update(self._climb(branch, record))
        arguments = {field.output: self._fact(reached, field) for field in formula.inputs}
        if shape.rate:
            assert formula.unit is not None
            pair = {"from_currency": formula.unit.name, "to_currency": self.choices.currency}
            arguments["exchange_rate"] = Origin(self._call(self.toolbox.rate, pair), ("rate",))
        at = list(self.toolbox.subtopic.formulas).index(formula)
        return Origin(self._call(self.toolbox.formulas[at], arguments), (formula.key,))

    def _compare(self, shape: Shape) -> Origin:
        assert shape.field is not None
        top = shape.branches[0].top
        records = chosen_records(self.facts, shape)
        if shape.branches[0].listed:
            tops = self._members(shape.branches[0], records[0])
            top -= 1
        else:
            tops = [
                self._climb(one, record)[top] for one, record in zip(shape.branches, records, strict=True)
            ]
        values = [Origin(at, (shape.field.output,)) for at in tops]
        if shape.core == "summary":
            given = {"values": values, "statistic": self.choices.statistic}
            return Origin(self._call("summarise_values", given), ("result",))
        id_field = self.toolbox.subtopic.kinds[top].id_field
        given = {
            "ids": [Origin(at, (id_field,)) for at in tops],
            "values": values,
            "order": self.choices.order,
        }
        return Origin(self._call("rank_by_value", given), ("id",))

    # -- chains ------------------------------------------------------------------------------------------

    def _start(self, branch: Branch, record: Record) -> Given:
        """The identifier of a branch's first thing: given, or searched by its name."""
        if not branch.by_name:
            return record.id
        kind = self.toolbox.subtopic.kinds[branch.base]
        call = self._call(self.toolbox.searches[branch.base], {kind.name_field: record.name})
        return Origin(call, (kind.id_field,))

    def _climb(self, branch: Branch, record: Record) -> dict[int, int]:
        """Look up the first thing and all above it; which call told of which level."""
        kinds = self.toolbox.subtopic.kinds
        identifier = self._start(branch, record)
        self.ids.append(identifier)
        reached = {}
        for level in range(branch.base, branch.top + 1):
            reached[level] = self._call(self.toolbox.records[level], {kinds[level].id_field: identifier})
            if level < branch.top:
                identifier = Origin(reached[level], (kinds[level + 1].id_field,))
        return reached

    def _members(self, branch: Branch, record: Record) -> list[int]:
        """List what belongs to the first thing and look all of it up."""
        kind, below = self.toolbox.subtopic.kinds[branch.base], self.toolbox.subtopic.kinds[branch.base - 1]
        listed = self._call(self.toolbox.lists[branch.base - 1], {kind.id_field: self._start(branch, record)})
        field = f"{below.slug}_ids"
        count = len(self.calls[listed].result[field])
        tool = self.toolbox.records[branch.base - 1]
        return [self._call(tool, {below.id_field: Origin(listed, (field, at))}) for at in range(count)]

    def _fact(self, reached: Mapping[int, int], field: Field) -> Origin:
        return Origin(reached[field.level], (field.output,))

    # -- what is done with the result --------------------------------------------------------------------

    def _convert(self, shape: Shape, last: Origin) -> Origin:
        unit = shape.unit
        assert unit is not None
        if unit.is_money:
            given = {"amount": last, "from_currency": unit.name, "to_currency": self.choices.currency}
            return Origin(self._call("convert_currency", given), ("amount",))
        target = preferred_conversion(unit)
        assert target is not None
        given = {"value": last, "from_unit": unit.name, "to_unit": target.name}
        return Origin(self._call("convert_units", given), ("value",))

    def _dated(self, shape: Shape, last: Origin) -> Origin:
        computed = shape.formula is not None
        id_field = self.toolbox.subtopic.kinds[self.toolbox.subtopic.dated.level].id_field
        identifier = last if shape.core == "best" else self.ids[0]
        given = {id_field: identifier, "date": last if computed else self.choices.deed_date}
        return Origin(self._call(self.toolbox.dated, given), ("confirmation",))

    def _amounted(self, last: Origin, currency: str) -> Origin:
        subtopic = self.toolbox.subtopic
        unit = subtopic.formulas[0].unit
        assert unit is not None
        given: dict[str, Given] = {subtopic.kinds[subtopic.amounted.level].id_field: self.ids[0]}
        given["amount" if unit.is_money else f"amount_{unit.slug}"] = last
        if unit.is_money:
            given["currency"] = currency
        return Origin(self._call(self.toolbox.amounted, given), ("confirmation",))

    # -- making a call -----------------------------------------------------------------------------------

    def _call(self, tool: str, given: Mapping[str, Given]) -> int:
        """Make a call for real and note what fed it; its place among the calls."""
        if self.choices.mirrored and tool != self.toolbox.rate:
            tool = self.toolbox.contract(tool).alternative or tool
        arguments: dict[str, Any] = {}
        feeds: list[Feed] = []
        for name, value in given.items():
            arguments[name] = self._resolve(value, (name,), feeds)
        result = self.world.call(tool, arguments)
        stage = max((self.calls[feed.origin.call].stage + 1 for feed in feeds), default=0)
        self.calls.append(ReferenceCall(tool, arguments, tuple(feeds), result, stage))
        return len(self.calls) - 1

    def _resolve(self, value: Given, where: Path, feeds: list[Feed]) -> Any:
        if type(value) is Origin:
            feeds.append(Feed(where, value))
            return value_at(self.calls[value.call].result, value.path)
        if type(value) is list:
            return [self._resolve(one, (*where, at), feeds) for at, one in enumerate(value)]
        return value


def chosen_records(facts: Facts, shape: Shape) -> Sequence[Record]:
    """The first thing of each branch.

    Compared things differ at the level at which they are compared. Where a calculation has several branches,
    they are about things that do not belong together, so that none can be reached from another.
    """
    first = shape.branches[0]
    if shape.core in ("summary", "best") and not first.listed:
        family = len(facts.records[0]) - 4
        positions = positions_apart(family, first.base, first.top)[: len(shape.branches)]
        return [facts.records[first.base][at] for at in positions]
    others = [facts.records[branch.base][2] for branch in shape.branches[1:]]
    return [facts.records[first.base][0], *others]


def by_stage(calls: Sequence[ReferenceCall], origin: Origin) -> tuple[tuple[ReferenceCall, ...], Origin]:
    """The calls stage by stage, those of a stage in their own order; origins mean the same calls."""
    order = sorted(range(len(calls)), key=lambda at: calls[at].stage)
    if order == list(range(len(calls))):
        return tuple(calls), origin
    place = {old: new for new, old in enumerate(order)}

    def moved(one: Origin) -> Origin:
        return Origin(place[one.call], one.path)

    return tuple(
        replace(calls[at], feeds=tuple(Feed(feed.argument, moved(feed.origin)) for feed in calls[at].feeds))
        for at in order
    ), moved(origin)
