"""The grammar of agent specs.

::

    spec     = pair | combined | name
    pair     = "planner(" spec ")" "->" "executor(" spec ")"
    combined = NAME "(" { argument "," } spec ")"
    name     = NAME [ ":" ARGUMENT ]

In parentheses a name ends at a comma or parenthesis of its own level. Spaces between parts do not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolenv.errors import UnknownNameError, UsageError

MAX_DEPTH = 16
"""Specs within specs."""

_HEAD = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)\s*\(")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Name:
    """An agent that needs no other, e.g. ``chat:MODEL``; ``at`` is where it begins in the whole spec."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Combined:
    """An agent made of another one."""

    name: str
    arguments: tuple[str, ...]
    inner: Spec
    at: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A planner and an executor."""

    planner: Spec
    executor: Spec
    at: int


Spec: TypeAlias = Name | Combined | Pair


def parse_spec(text: str) -> Spec:
    """The parts of a spec.

    Raises:
        UsageError: it is none; the message names the character, counted from 1, and what was expected there.
    """
    return _Reader(text).whole()


def misplaced(text: str, at: int, problem: str) -> str:
    """The words for something wrong at one place of a spec."""
    return f"agent spec {text!r}, character {at + 1}: {problem}"


def number(agent: str, name: str, arguments: Sequence[str], default: float | None = None) -> float:
    """The one argument of an agent, a finite number.

    Raises:
        UsageError: none is given and there is no default, more than one is, or it is no number.
    """
    if not arguments and default is not None:
        return float(default)
    if len(arguments) != 1:
        given = f"{len(arguments)} are given" if arguments else "it is missing"
        raise UsageError(f"{agent}: one {name} stands before the agent, {given}; write {agent}({name},SPEC)")
    try:
        value = float(arguments[0])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{agent}: {name} is {arguments[0]!r}; give a number")
    return value


def whole_number(agent: str, name: str, arguments: Sequence[str], default: int | None = None) -> int:
    """The one argument of an agent, a whole number of at least 1.

    Raises:
        UsageError: as :func:`number`, or it is not whole or below 1.
    """
    value = number(agent, name, arguments, default)
    if not value.is_integer() or value < 1:
        raise UsageError(f"{agent}: {name} is {arguments[0]!r}; give a whole number of at least 1")
    return int(value)


class _Reader:
    """Reads one spec from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> Spec:
        if not _HEAD.match(self.text, _end_of_space(self.text, 0)):
            return Name(self.text, 0)
        spec = self.spec(0)
        self.skip_space()
        if self.at < len(self.text):
            raise self.wrong(f"the spec has ended, but {self.text[self.at :]!r:.40} follows")
        return spec

    def spec(self, depth: int) -> Spec:
        self.skip_space()
        start, head = self.at, _HEAD.match(self.text, self.at)
        if head is None:
            return self.name()
        if depth >= MAX_DEPTH:
            raise self.wrong(f"more than {MAX_DEPTH} agents within agents")
        if head[1] == "executor":
            raise self.wrong("an executor needs a planner: write planner(SPEC)->executor(SPEC)")
        if head[1] == "planner":
            return Pair(self.role(head, depth), self.role(self.executor(), depth), start)
        *before, inner = self.items(head, depth)
        self.skip_space()
        if self.text.startswith("->", self.at):
            unknown = UnknownNameError("agent", head[1], ["planner"], where="front of '->'")
            raise self.wrong(str(unknown), start)
        for one in before:
            if not isinstance(one, Name):
                raise self.wrong(f"only the last part of {head[1]}(…) can hold an agent", one.at)
        return Combined(head[1], tuple(one.text for one in before if isinstance(one, Name)), inner, start)

    def executor(self) -> re.Match[str]:
        """The arrow and the beginning of the executor, behind a planner."""
        self.skip_space()
        arrow = self.at
        self.at += 2
        self.skip_space()
        head = _HEAD.match(self.text, self.at)
        if not self.text.startswith("->", arrow) or head is None or head[1] != "executor":
            raise self.wrong("a planner needs an executor: '->executor(SPEC)' is expected here", arrow)
        return head

    def role(self, head: re.Match[str], depth: int) -> Spec:
        """The one agent in the parentheses of a planner or an executor."""
        items = self.items(head, depth)
        if len(items) > 1:
            raise self.wrong(f"{head[1]}(…) takes one agent, {len(items)} are given", items[1].at)
        return items[0]

    def items(self, head: re.Match[str], depth: int) -> list[Spec]:
        """What stands between the parentheses."""
        opened, self.at, items = head.end() - 1, head.end(), list[Spec]()
        while True:
            items.append(self.spec(depth + 1))
            self.skip_space()
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise self.wrong(f"the parenthesis of {head[1]}( is never closed", opened)
            if sign not in ",)":
                raise self.wrong(f"expected ',' or ')', found {self.text[self.at :]!r:.40}")
            self.at += 1
            if sign == ")":
                return items

    def name(self) -> Name:
        """Up to a comma or a closing parenthesis of this level."""
        start, level = self.at, 0
        while self.at < len(self.text):
            sign = self.text[self.at]
            if level == 0 and sign in ",)":
                break
            level += (sign == "(") - (sign == ")")
            self.at += 1
        text = self.text[start : self.at].rstrip()
        if not text:
            raise self.wrong("an agent or a value is missing here", start)
        return Name(text, start)

    def skip_space(self) -> None:
        self.at = _end_of_space(self.text, self.at)

    def wrong(self, problem: str, at: int | None = None) -> UsageError:
        return UsageError(misplaced(self.text, self.at if at is None else at, problem))


def _end_of_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
