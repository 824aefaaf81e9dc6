"""Requests in a person's words: the sentences of ``wording.toml``, filled from declarations and facts."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from envs_registry.workflows.declaration import Field, Subtopic
from envs_registry.workflows.facts import Facts, Record
from envs_registry.workflows.script import Choices, chosen_records
from envs_registry.workflows.shapes import Branch, Shape
from envs_registry.workflows.streams import Stream
from envs_registry.workflows.units import CURRENCIES, preferred_conversion

_SENTENCES: Mapping[str, Sequence[str]] = tomllib.loads(
    (Path(__file__).parent / "wording.toml").read_text(encoding="utf-8")
)
_STATISTICS = {"total": "total", "mean": "average", "highest": "highest", "lowest": "lowest"}


@dataclass(frozen=True, slots=True)
class Speaker:
    """How one task is worded.

    Args:
        subtopic: the world's words.
        stream: which template is taken each time; part of the structure, so variants speak alike.
    """

    subtopic: Subtopic
    stream: Stream

    def request(self, shape: Shape, facts: Facts, choices: Choices) -> str:
        """The request."""
        sentences = [*self._before(choices), *self._core(shape, facts, choices), *self._tail(shape, choices)]
        if self.stream.chance(30):
            sentences.append(self._say("closing"))
        return " ".join(_sentence(one) for one in sentences)

    def _before(self, choices: Choices) -> list[str]:
        kind = self.stream.below(10)
        before = [self._say("opening")] if kind in (6, 7) else []
        if kind < 6:
            before = [self.stream.choice(self.subtopic.motives)]
        return [*before, self._say("mirror", self.subtopic.mirror)] if choices.mirrored else before

    # -- what is asked -----------------------------------------------------------------------------------

    def _core(self, shape: Shape, facts: Facts, choices: Choices) -> list[str]:
        records = chosen_records(facts, shape)
        acts = "dated" in shape.tail or "amounted" in shape.tail
        if shape.core == "fact":
            return [self._fact(shape, records[0]), *self._unit(shape, choices)]
        if shape.core == "deed":
            ask = self.subtopic.dated.ask.format(
                self._thing(shape.branches[0], records[0]), date=self._date(choices.deed_date)
            )
            return [self._say("deed", ask)]
        if shape.core == "formula":
            formula = shape.formula
            assert formula is not None
            kind = "formula_first" if acts else "formula"
            asked = self._say(kind, formula.label, _joined(self._inputs(shape, records)))
            return [asked, *self._unit(shape, choices)]
        if shape.core == "summary":
            return [self._summary(shape, records, choices), *self._unit(shape, choices)]
        best = self._say(
            "best_first" if acts else "best",
            self._among(shape, records),
            f"{choices.order} {_field(shape).label}",
        )
        return [best] if acts else [best, self._say("its_id")]

    def _fact(self, shape: Shape, record: Record) -> str:
        (branch,) = shape.branches
        field = _field(shape)
        kind = "person" if field.pattern == "{person}" else "fact"
        return self._say(kind, f"{field.label} of {self._reached(branch, record, branch.top)}")

    def _inputs(self, shape: Shape, records: Sequence[Record]) -> list[str]:
        """The inputs of a calculation, branch by branch; later ones of a branch as "its …"."""
        assert shape.formula is not None
        phrases = []
        for branch, record in zip(shape.branches, records, strict=True):
            fields = [one for one in shape.formula.inputs if branch.base <= one.level <= branch.top]
            fields.sort(key=lambda one: one.level)
            for at, field in enumerate(fields):
                if at and fields[0].level == branch.base:
                    phrases.append(self._own(branch.base, field))
                else:
                    phrases.append(f"the {field.label} of {self._reached(branch, record, field.level)}")
        return phrases

    def _summary(self, shape: Shape, records: Sequence[Record], choices: Choices) -> str:
        """Which statistic of which things is wanted."""
        branch = shape.branches[0]
        compared = f"{_STATISTICS[choices.statistic]} {_field(shape).label}"
        if branch.listed:
            inverse = self.subtopic.relations[branch.base - 1].inverse
            return self._say("summary", compared, f"of all {inverse.format(self._thing(branch, records[0]))}")
        things = self._things(shape, records)
        if branch.top == branch.base:
            return self._say("summary", compared, f"of {things}")
        return self._say("summary_of_theirs", things, compared, self._theirs(branch))

    def _among(self, shape: Shape, records: Sequence[Record]) -> str:
        """Among which things the best is wanted."""
        branch = shape.branches[0]
        if branch.listed:
            inverse = self.subtopic.relations[branch.base - 1].inverse
            return f"of all {inverse.format(self._thing(branch, records[0]))}"
        things = self._things(shape, records)
        if branch.top == branch.base:
            return f"of {things}"
        return f"take {things}: of their {self._theirs(branch)}"

    # -- what is done then -------------------------------------------------------------------------------

    def _tail(self, shape: Shape, choices: Choices) -> list[str]:
        sentences = []
        item = self.subtopic.kinds[0].label
        if shape.core != "deed" and "dated" in shape.tail:
            date = "that date" if shape.core == "formula" else self._date(choices.deed_date)
            thing = "it" if shape.core == "best" else f"that {item}"
            sentences.append(self._say("then", self.subtopic.dated.ask.format(thing, date=date)))
        if "amounted" in shape.tail:
            ask = self.subtopic.amounted.ask.format(f"that {item}", amount="exactly that amount")
            sentences.append(self._say("then", ask))
        if "receipt" in shape.tail:
            sentences.append(self._say("handler"))
        elif sentences or shape.core == "deed":
            sentences.append(self._say("code"))
        return sentences

    def _unit(self, shape: Shape, choices: Choices) -> list[str]:
        """The unit the value is wanted in, where it is not the one it comes in, or to be clear."""
        acts = "dated" in shape.tail or "amounted" in shape.tail
        if shape.rate or ("convert" in shape.tail and shape.unit is not None and shape.unit.is_money):
            return [self._say("rate_first" if acts else "rate", CURRENCIES[choices.currency])]
        if shape.unit is None or acts:
            return []
        if "convert" in shape.tail:
            target = preferred_conversion(shape.unit)
            assert target is not None
            return [self._say("unit", target.spoken)]
        return (
            [self._say("unit", shape.unit.spoken)] if shape.unit.dimension and self.stream.chance(50) else []
        )

    # -- noun phrases ------------------------------------------------------------------------------------

    def _thing(self, branch: Branch, record: Record) -> str:
        """The first thing of a branch: "the shipment for Oakham Foods", "shipment SHP-2041"."""
        kind = self.subtopic.kinds[branch.base]
        return kind.phrase.format(record.name) if branch.by_name else f"{kind.label} {record.id}"

    def _things(self, shape: Shape, records: Sequence[Record]) -> str:
        """Several first things."""
        kind = self.subtopic.kinds[shape.branches[0].base]
        if shape.branches[0].by_name:
            return _joined([kind.phrase.format(record.name) for record in records])
        return f"{kind.plural} {_joined([record.id for record in records])}"

    def _reached(self, branch: Branch, record: Record, level: int) -> str:
        """What a branch reaches at a level: "the vessel carrying the shipment for Oakham Foods"."""
        phrase = self._thing(branch, record)
        for below in range(branch.base, level):
            phrase = self.subtopic.relations[below].phrase.format(phrase)
        return phrase

    def _own(self, base: int, field: Field) -> str:
        """A fact of something that belongs to what has just been named."""
        if field.level == base:
            return f"its {field.label}"
        roles = [self.subtopic.relations[level].role for level in range(base, field.level)]
        return f"the {field.label} of its {_possessive(roles)}"

    def _theirs(self, branch: Branch) -> str:
        """What several things belong to: "vessels", "vessels' home ports"."""
        relations = self.subtopic.relations[branch.base : branch.top]
        *owners, last = [relation.roles for relation in relations]
        return " ".join([*(f"{owner}'" if owner.endswith("s") else f"{owner}'s" for owner in owners), last])

    def _date(self, date: str) -> str:
        day = datetime.date.fromisoformat(date)
        month = _MONTHS[day.month - 1]
        return self.stream.choice((f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}"))

    def _say(self, kind: str, *parts: str) -> str:
        return self.stream.choice(_SENTENCES[kind]).format(*parts)


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


def _field(shape: Shape) -> Field:
    assert shape.field is not None
    return shape.field


def _possessive(roles: Sequence[str]) -> str:
    *owners, last = roles
    return " ".join([*(f"{owner}'s" for owner in owners), last])


def _joined(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
