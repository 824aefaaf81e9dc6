"""What upstream's backends can do, read off their source: what each tool may change, and what it can return.

Both are over-approximations, for whatever arguments and in whatever state: a tool changes nothing that is not
among :attr:`ToolFacts.writes`, and returns nothing that none of :attr:`ToolFacts.returns` covers. Where the
source is too clever for the reader, the answer is "anything". Certificates of infeasibility rest on this;
``tests/envs_registry/bfcl/test_static_facts.py`` holds it against what the tools do.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from envs_registry.bfcl.backends import FILES
from envs_registry.bfcl.effects import Effects
from envs_registry.bfcl.leaving import WithoutLongContext
from envs_registry.bfcl.returns import Returns
from envs_registry.bfcl.shapes import Shape
from toolenv.errors import DataCorruptError

SOURCES: Final = Path("eval_checker", "multi_turn_eval", "func_source_code")

_STARTING: Final = frozenset({"__init__", "_load_scenario"})

COMPUTED_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "edit_ticket": frozenset({"title", "description", "status", "priority"})
}
"""Tools that set keys they are told, with the keys that they accept."""


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """One tool.

    Attributes:
        backend: the class it belongs to.
        writes: the attributes it may change, private ones included; random streams are not counted.
        shrinks: those of them into which it never puts anything that was not there.
        sets: the constants it may set an attribute to, for those that it changes in no other way.
        returns: the shapes of what it returns; errors it raises are not among them.
        short_returns: those of them that it returns outside of long contexts.
        draws: whether it takes from the random stream.
    """

    backend: str
    writes: frozenset[str]
    shrinks: frozenset[str]
    sets: Mapping[str, tuple[Any, ...]]
    returns: tuple[Shape, ...]
    short_returns: tuple[Shape, ...]
    draws: bool


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """One backend class; for the last three see :class:`envs_registry.bfcl.shapes.Store`."""

    tools: Mapping[str, ToolFacts]
    puts: Mapping[str, tuple[Shape, ...] | None]
    later: frozenset[str] | None
    adjusted: frozenset[str]

    @property
    def written(self) -> frozenset[str]:
        """The attributes that some tool may change."""
        return frozenset().union(*(tool.writes for tool in self.tools.values()))


@cache
def backend_facts(package: Path) -> Mapping[str, BackendFacts]:
    """The facts of every backend class of an unpacked ``bfcl_eval`` folder."""
    return {name: _read(package / SOURCES / f"{file}.py", name) for name, file in FILES.items()}


def _read(file: Path, name: str) -> BackendFacts:
    tree = ast.parse(file.read_bytes(), filename=str(file))
    found = next((one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == name), None)
    if found is None:
        raise DataCorruptError(f"{file} defines no class {name}")
    methods = {one.name: one for one in found.body if isinstance(one, ast.FunctionDef)}
    effects, returns = Effects(methods), Returns(methods)
    short = Returns({name: WithoutLongContext().visit(deepcopy(one)) for name, one in methods.items()})
    tools = {
        tool: ToolFacts(
            backend=name,
            writes=effects.writes(tool),
            shrinks=effects.shrinks(tool),
            sets=effects.sets(tool),
            returns=returns.of(tool),
            short_returns=short.of(tool),
            draws=effects.draws(tool),
        )
        for tool in methods
        if not tool.startswith("_")
    }
    keeping = [method for method in methods if method not in _STARTING and effects.writes(method)]
    written = frozenset().union(*(tool.writes for tool in tools.values()))
    puts = {attribute: returns.put_into(attribute, keeping) for attribute in sorted(written)}
    running = [methods[method] for method in keeping]
    return BackendFacts(tools, puts, _later(running), _adjusted(running))


def _later(methods: list[ast.FunctionDef]) -> frozenset[str] | None:
    """The keys set in dictionaries that exist already, but for those that are attributes themselves."""
    found: set[str] = set()
    for method in methods:
        for node in ast.walk(method):
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Store):
                continue
            if isinstance(node.slice, ast.Constant):
                found.add(str(node.slice.value))
            elif method.name in COMPUTED_KEYS:
                found |= COMPUTED_KEYS[method.name]
            elif not _is_attribute(node.value):
                return None
    return frozenset(found)


def _adjusted(methods: list[ast.FunctionDef]) -> frozenset[str]:
    """The attributes whose items are changed by ``self.x[…] += …`` and the like."""
    return frozenset(
        node.target.value.attr
        for method in methods
        for node in ast.walk(method)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.target, ast.Subscript)
        and isinstance(node.target.value, ast.Attribute)
    )


def _is_attribute(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
