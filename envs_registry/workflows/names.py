"""Names for people, places and things: invented, so that no model knows anything about them.

Their parts are in ``names.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from envs_registry.workflows.streams import Stream
from toolenv.errors import DataCorruptError, UnknownNameError

_POOLS: Mapping[str, Sequence[str]] = tomllib.loads(
    (Path(__file__).parent / "names.toml").read_text(encoding="utf-8")
)
_FIRST, _LAST = tuple(_POOLS["first"]), tuple(_POOLS["last"])
_STEM, _PLACE_END = tuple(_POOLS["stem"]), tuple(_POOLS["place_end"])
_COMPANY_END, _STREET_END = tuple(_POOLS["company_end"]), tuple(_POOLS["street_end"])
_WORD = tuple(_POOLS["word"])
_LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def _person(stream: Stream) -> str:
    return f"{stream.choice(_FIRST)} {stream.choice(_LAST)}"


def _town(stream: Stream) -> str:
    return stream.choice(_STEM) + stream.choice(_PLACE_END)


def _company(stream: Stream) -> str:
    return f"{_town(stream)} {stream.choice(_COMPANY_END)}"


def _street(stream: Stream) -> str:
    return f"{stream.between(2, 198)} {stream.choice(_WORD)} {stream.choice(_STREET_END)}"


PARTS: Mapping[str, Callable[[Stream], str]] = {
    "person": _person,
    "town": _town,
    "company": _company,
    "street": _street,
    "word": lambda stream: stream.choice(_WORD),
    "letter": lambda stream: stream.choice(_LETTERS),
    "number": lambda stream: str(stream.between(102, 989)),
}
"""What a pattern of names may hold, e.g. ``"the {word} {number}"``."""

_PART = re.compile(r"\{(\w+)\}")


def check_pattern(pattern: str, where: str) -> str:
    """``pattern``, if it can be filled.

    Raises:
        UnknownNameError: it holds a part that does not exist.
        DataCorruptError: it holds none, so that there is but one such name.
    """
    parts = _PART.findall(pattern)
    for name in parts:
        if name not in PARTS:
            raise UnknownNameError("part of a name", name, PARTS, where)
    if not parts:
        raise DataCorruptError(f"{where}: the names {pattern!r} have no part such as {{person}}")
    return pattern


def draw_name(pattern: str, stream: Stream, taken: set[str]) -> str:
    """A name after the pattern that is not taken yet; it is taken then."""
    parts = _split(pattern)
    while True:
        name = "".join([part if isinstance(part, str) else part(stream) for part in parts])
        if name not in taken:
            taken.add(name)
            return name


@cache
def _split(pattern: str) -> tuple[str | Callable[[Stream], str], ...]:
    """The texts and the parts of a pattern, in order."""
    pieces = _PART.split(pattern)
    return tuple(PARTS[piece] if at % 2 else piece for at, piece in enumerate(pieces))
