"""Which variables of a method hold only what the method has made itself, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final, TypeAlias

from envs_registry.bfcl.syntax import QUIET_METHODS, names_in

_MAKERS: Final = frozenset({"copy", "deepcopy", "dict", "list", "set", "sorted"})
"""What makes a new container, be it of old things."""


class Locals:
    """The variables of a method that hold what it has made itself.

    Attributes:
        made: those that only ever hold containers made here.
        filled: those of them into which nothing is put but what is made here, too.
        functions: functions defined inside.
    """

    def __init__(self, method: ast.FunctionDef) -> None:
        nodes = tuple(ast.walk(method))
        assigned, put = _assigned(nodes)
        bound = {one.arg for one in nodes if isinstance(one, ast.arg)} | _bound(nodes)
        self.functions = frozenset(one.name for one in nodes if isinstance(one, ast.FunctionDef))
        self.made = frozenset(
            name for name, values in assigned.items() if name not in bound and all(map(is_new, values))
        )
        self.filled = frozenset(
            name
            for name in self.made - _extended(nodes)
            if all(map(is_new_inside, assigned[name])) and all(map(is_new, put.get(name, ())))
        )

    def may_change(self, node: ast.expr) -> bool:
        """Whether changing what this stands for changes only what was made here: ``x`` and ``x[…]``."""
        if isinstance(node, ast.Name):
            return node.id in self.made
        inside = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        return inside and node.value.id in self.filled  # type: ignore[attr-defined]


_Values: TypeAlias = dict[str, list[ast.expr]]


def _assigned(nodes: Iterable[ast.AST]) -> tuple[_Values, _Values]:
    """By variable: what is assigned to it, and what is put into it under a key."""
    assigned: _Values = {}
    put: _Values = {}
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                put.setdefault(target.value.id, []).append(node.value)
            elif isinstance(target, ast.Name):
                assigned.setdefault(target.id, []).append(node.value)
    return assigned, put


def _bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables that get their values otherwise: loops, ``with``, ``as``, ``:=``, unpacking."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.For | ast.comprehension | ast.NamedExpr):
            found |= names_in(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            found |= names_in(node.optional_vars)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
            found |= names_in(node)
    return found


def _extended(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables on which methods are called that may put something into them."""
    return {
        node.func.value.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr not in QUIET_METHODS
    }


def is_new(value: ast.expr) -> bool:
    """Whether an expression makes a container that nothing else holds, or a constant."""
    made = ast.Constant | ast.Compare | ast.JoinedStr | ast.List | ast.Tuple | ast.Set | ast.Dict
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in _MAKERS
    return isinstance(value, made | ast.ListComp | ast.SetComp | ast.DictComp)


def is_new_inside(value: ast.expr) -> bool:
    """Whether what an expression makes holds nothing but what is new, too."""
    if isinstance(value, ast.Dict):
        return all(map(is_new, value.values))
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(map(is_new, value.elts))
    return isinstance(value, ast.Constant | ast.Compare | ast.JoinedStr)
