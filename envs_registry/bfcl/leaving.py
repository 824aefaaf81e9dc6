"""Where a method of an upstream backend returns, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from envs_registry.bfcl.syntax import is_name, own_name


class WithoutLongContext(ast.NodeTransformer):
    """Leaves out what only happens in long contexts."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """``if self.long_context: … else: …`` → what is after the ``else``."""
        self.generic_visit(node)
        return (node.orelse or [ast.Pass()]) if own_name(node.test) == "long_context" else node


def return_statements(body: Iterable[ast.stmt]) -> Iterator[tuple[ast.Return, bool]]:
    """Return statements, and whether each returns a variable just found to be a dictionary."""
    for statement in body:
        if isinstance(statement, ast.Return):
            yield statement, False
        elif isinstance(statement, ast.If) and _returns_found_record(statement):
            assert isinstance(statement.body[0], ast.Return)
            yield statement.body[0], True
            yield from return_statements(statement.orelse)
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for field in ("body", "orelse", "finalbody"):
                yield from return_statements(getattr(statement, field, ()))
            for handler in getattr(statement, "handlers", ()):
                yield from return_statements(handler.body)


def _returns_found_record(statement: ast.If) -> bool:
    """``if isinstance(x, dict): return x``."""
    test, first = statement.test, statement.body[0]
    return (
        isinstance(first, ast.Return)
        and isinstance(first.value, ast.Name)
        and isinstance(test, ast.Call)
        and is_name(test.func, "isinstance")
        and is_name(test.args[0], first.value.id)
        and is_name(test.args[1], "dict")
    )


def always_leaves(body: list[ast.stmt]) -> bool:
    """Whether a block surely ends in a return or a raise."""
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ast.Try):
        return always_leaves(last.body) and all(always_leaves(one.body) for one in last.handlers)
    return False
