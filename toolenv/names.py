"""Wire names: tool names that every OpenAI-compatible server accepts.

Servers take ``[a-zA-Z0-9_-]{1,64}``; data sets use dots, spaces, other scripts and any length. A wire
name is made from the tool's own name alone wherever that is possible, so that it is the same in every
pool, order and run. Traces, critical tools and metrics use the data set's own names.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from toolenv.errors import SchemaError
from toolenv.identity import ByIdentity
from toolenv.types import ToolSpec

MAX_WIRE_LENGTH = 64

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ILLEGAL_CHARACTER = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_LENGTHS = (8, 16, 32)


def with_wire_names(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools of one pool, in the same order, each with its wire name.

    A legal name is its own wire name. In others each illegal character becomes ``_`` (``math.add`` →
    ``math_add``). A name that is too long, not ASCII, or that would meet another tool's name this way
    ends in a short hash of the original instead.

    Raises:
        SchemaError: a name is empty, or two tools share one.
    """
    wires = _wire_names([tool.name for tool in tools])
    return tuple(_named(tool, wires[tool.name]) for tool in tools)


def lookup_table(tools: Iterable[ToolSpec]) -> Mapping[str, ToolSpec]:
    """Every name a call may use, the tools' own and the wire names, and the tool it means.

    Raises:
        SchemaError: one name would mean two tools.
    """
    table: dict[str, ToolSpec] = {}
    for tool in tools:
        for name in dict.fromkeys((tool.name, tool.wire_name or tool.name)):
            other = table.setdefault(name, tool)
            if other is not tool:
                raise SchemaError(f"the name {name!r} means two tools, {other.name!r} and {tool.name!r}")
    return table


def shared_lookup_table(tools: tuple[ToolSpec, ...]) -> Mapping[str, ToolSpec]:
    """:func:`lookup_table`, made once for a tuple of tools: all episodes of a task are offered the same."""
    return _tables.of(tools, lambda: lookup_table(tools))


_tables: ByIdentity[tuple[ToolSpec, ...], Mapping[str, ToolSpec]] = ByIdentity(20_000)


def _named(tool: ToolSpec, wire_name: str) -> ToolSpec:
    return tool if tool.wire_name == wire_name else replace(tool, wire_name=wire_name)


def _wire_names(names: Sequence[str]) -> dict[str, str]:
    originals = _distinct(names)
    wires = {name: name for name in originals if _LEGAL.fullmatch(name)}
    if len(wires) == len(originals):
        return wires
    simple = {name: _ILLEGAL_CHARACTER.sub("_", name) for name in originals if name not in wires}
    uses = Counter(simple.values())
    for name, candidate in simple.items():
        fits = name.isascii() and len(candidate) <= MAX_WIRE_LENGTH
        if fits and uses[candidate] == 1 and candidate not in originals:
            wires[name] = candidate
    taken = originals | set(wires.values())
    for name in sorted(simple.keys() - wires.keys()):
        wires[name] = _hashed(name, simple[name], taken)
        taken.add(wires[name])
    return wires


def _hashed(name: str, candidate: str, taken: Collection[str]) -> str:
    """``candidate`` shortened and followed by a hash of ``name``: the shortest that is still free."""
    stem = candidate.strip("_") or "tool"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    for length in _DIGEST_LENGTHS:
        wire = f"{stem[: MAX_WIRE_LENGTH - 1 - length]}_{digest[:length]}"
        if wire not in taken:
            return wire
    raise SchemaError(f"no wire name is left for tool {name!r}: other tools bear every name made from it")


def _distinct(names: Sequence[str]) -> set[str]:
    distinct = set(names)
    if "" in distinct:
        raise SchemaError(f"tool number {names.index('') + 1} of {len(names)} has an empty name")
    if len(distinct) != len(names):
        double = next(name for name, count in Counter(names).items() if count > 1)
        raise SchemaError(f"two tools are named {double!r}; names within a pool must differ")
    return distinct
