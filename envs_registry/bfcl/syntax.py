"""Reading upstream's source: the forms that its methods are made of."""

from __future__ import annotations

import ast
from typing import Final, TypeGuard

QUIET_FUNCTIONS: Final = frozenset(
    {
        "Decimal",
        "TypeError",
        "ValueError",
        *("abs", "all", "any", "bool", "deepcopy", "dict", "enumerate", "float", "getcontext", "int"),
        *("isinstance", "len", "list", "max", "min", "range", "reversed", "round", "set", "sorted", "str"),
        *("sum", "tuple", "zip"),
    }
)
"""Functions that change nothing."""

QUIET_METHODS: Final = frozenset(
    {
        *("copy", "encode", "endswith", "format", "fromtimestamp", "get", "isdigit", "items", "join", "keys"),
        *("log", "lower", "lstrip", "now", "randint", "replace", "rstrip", "split", "splitlines", "sqrt"),
        *("startswith", "strftime", "strip", "strptime", "timestamp", "today", "uniform", "upper", "values"),
        "zfill",
        *("_get_item", "_list_contents", "_read"),  # of upstream's files and directories
    }
)
"""Methods that change nothing, whatever they are called on."""


def is_own(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    """Whether this is ``self.x``."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def own_name(node: ast.AST) -> str:
    """``x`` of ``self.x``; empty for anything else."""
    return node.attr if is_own(node) else ""


def is_name(node: ast.AST, name: str) -> bool:
    """Whether this is the variable ``name``."""
    return isinstance(node, ast.Name) and node.id == name


def names_in(node: ast.AST) -> set[str]:
    """The variables in a piece of code."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
