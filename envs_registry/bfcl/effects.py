"""What a method of an upstream backend may change, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from envs_registry.bfcl.locals import Locals, is_new, is_new_inside
from envs_registry.bfcl.syntax import QUIET_FUNCTIONS, QUIET_METHODS, is_own

_OWN_RANDOM: Final = "_random"

_TAKING: Final = frozenset({"clear", "discard", "pop", "remove"})
"""Methods that only remove from what they are called on."""


class Effects:
    """The attributes that the methods of one class may change.

    A method changes the attributes it assigns to. If it changes anything in place, it may also have changed
    whatever any of the attributes holds that it or a method it calls mentions, other than to compare it or to
    write it into a text: there is no other way to reach what the instance keeps. An attribute whose name
    begins with ``_`` may stand for a part of another, so that such a mention counts for all, unless nothing
    is ever put there but what is new. Random streams apart.
    """

    def __init__(self, methods: Mapping[str, ast.FunctionDef]) -> None:
        self._methods = methods
        self._all = frozenset(
            node.attr
            for method in methods.values()
            for node in ast.walk(method)
            if is_own(node) and node.attr not in methods and node.attr != _OWN_RANDOM
        )
        self._apart = _holding_new_only(methods)

    def writes(self, name: str) -> frozenset[str]:
        """The attributes that a method may change."""
        called = [self._methods[one] for one in sorted(self._called(name, set()))]
        if any(map(_uses_whole_self, called)):
            return self._all
        found = {attribute for one in called for attribute, _ in _given_attributes(one)}
        found |= {attribute for one in called for attribute in self._apart if _mentions(one, attribute)}
        return frozenset(found | self._changed_in_place(called)) & self._all

    def _changed_in_place(self, called: list[ast.FunctionDef]) -> frozenset[str]:
        """The attributes that may change without being assigned to."""
        places = [place for one in called for place in _places_of_change(one, self._methods)]
        if all(map(is_own, places)):
            names = frozenset(place.attr for place in places if is_own(place)) - self._apart
            return self._all if any(name.startswith("_") for name in names) else names
        return frozenset().union(*map(self._reached, called))

    def shrinks(self, name: str) -> frozenset[str]:
        """The attributes from which a method may take something, but into which it puts nothing."""
        called = [self._methods[one] for one in sorted(self._called(name, set()))]
        return frozenset(
            attribute
            for attribute in self.writes(name)
            if not attribute.startswith("_") and all(_only_takes(one, attribute) for one in called)
        )

    def sets(self, name: str) -> Mapping[str, tuple[Any, ...]]:
        """The constants to which a method sets attributes, for those that it changes in no other way."""
        called = [self._methods[one] for one in sorted(self._called(name, set()))]
        given: dict[str, list[ast.expr | None]] = {}
        for method in called:
            for attribute, value in _given_attributes(method):
                given.setdefault(attribute, []).append(value)
        reached = self._changed_in_place(called)
        return {
            attribute: tuple(value.value for value in values if isinstance(value, ast.Constant))
            for attribute, values in given.items()
            if attribute not in reached and all(isinstance(value, ast.Constant) for value in values)
        }

    def draws(self, name: str) -> bool:
        """Whether a method takes from the random stream."""
        called = (self._methods[one] for one in self._called(name, set()))
        return any(is_own(node) and node.attr == _OWN_RANDOM for one in called for node in ast.walk(one))

    def _called(self, name: str, seen: set[str]) -> set[str]:
        """A method and the methods it calls, and they call."""
        if name not in seen:
            seen.add(name)
            for node in ast.walk(self._methods[name]):
                if is_own(node) and node.attr in self._methods:
                    self._called(node.attr, seen)
        return seen

    def _reached(self, method: ast.FunctionDef) -> frozenset[str]:
        """Attributes through which a method can reach what they hold."""
        parents = {child: parent for parent in ast.walk(method) for child in ast.iter_child_nodes(parent)}
        found = {
            node.attr
            for node in ast.walk(method)
            if is_own(node) and node.attr not in self._apart and not _is_looked_at(node, parents)
        }
        private = any(name.startswith("_") for name in found & self._all)
        return self._all if private else frozenset(found)


_LOOKS_ONLY: Final = (ast.Compare, ast.UnaryOp, ast.FormattedValue, ast.If)
"""Code that does no more with a value than to compare it, to test it, or to write it down."""


def _is_looked_at(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether an attribute, or a part taken of it, is only looked at."""
    parent = parents[node]
    while True:
        if isinstance(parent, ast.Subscript) and parent.slice is node:
            return True
        is_part = isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load)
        is_method = isinstance(parent, ast.Attribute) and parent.attr in QUIET_METHODS
        is_call = isinstance(parent, ast.Call) and parent.func is node
        if not (is_part or is_method or is_call):
            return isinstance(parent, _LOOKS_ONLY)
        node, parent = parent, parents[parent]


def _uses_whole_self(method: ast.FunctionDef) -> bool:
    """Whether ``self`` is used other than to take an attribute."""
    attributes = {id(node.value) for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    names = (node for node in ast.walk(method) if isinstance(node, ast.Name) and node.id == "self")
    return any(id(node) not in attributes for node in names)


def _only_takes(method: ast.FunctionDef, attribute: str) -> bool:
    """Whether a method does no more with an attribute than look at it and remove what is in it."""
    parents = {child: parent for parent in ast.walk(method) for child in ast.iter_child_nodes(parent)}
    return all(
        _is_looked_at(node, parents) or _is_taken_from(node, parents)
        for node in ast.walk(method)
        if is_own(node) and node.attr == attribute
    )


def _is_taken_from(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """``self.x.remove(…)`` and ``del self.x[…]``."""
    parent = parents[node]
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Del) and parent.value is node
    is_statement = isinstance(parents.get(parents.get(parent, parent), parent), ast.Expr)
    return isinstance(parent, ast.Attribute) and parent.attr in _TAKING and is_statement


def _mentions(method: ast.FunctionDef, attribute: str) -> bool:
    return any(is_own(node) and node.attr == attribute for node in ast.walk(method))


def _holding_new_only(methods: Mapping[str, ast.FunctionDef]) -> frozenset[str]:
    """The private attributes to which nothing is assigned, and into which nothing put, but what is new."""
    nodes = tuple(node for method in methods.values() for node in ast.walk(method))
    kept: dict[str, list[bool]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                is_put = isinstance(target, ast.Subscript)
                place = target.value if isinstance(target, ast.Subscript) else target
                if is_own(place):
                    new = is_new(node.value) if is_put else is_new_inside(node.value)
                    kept.setdefault(place.attr, []).append(new)
    return frozenset(name for name, new in kept.items() if name.startswith("_") and all(new))


def _given_attributes(method: ast.FunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """The attributes assigned to, each with the value if that is written there."""
    values = {
        target: node.value
        for node in ast.walk(method)
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    for node in ast.walk(method):
        if is_own(node) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.attr, values.get(node)


def _places_of_change(
    method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]
) -> Iterator[ast.expr | None]:
    """Where a method changes things in place that it has not made: ``x`` of ``x.append(…)``, ``x[…][…] = …``.

    ``None`` stands for a place that cannot be said.
    """
    own = Locals(method)
    for statement in method.body:
        for node in ast.walk(statement):
            yield from _places(node, own, methods)


def _places(node: ast.AST, own: Locals, methods: Mapping[str, ast.FunctionDef]) -> Iterator[ast.expr | None]:
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        if isinstance(node, ast.Attribute):
            yield from () if is_own(node) else (None,)
        elif not own.may_change(node.value):
            yield _root(node.value)
    elif isinstance(node, ast.Global | ast.Nonlocal | ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom):
        yield None
    elif isinstance(node, ast.AugAssign):  # changes a list in place, whoever else holds it
        if not _is_number(node.value) and not own.may_change(node.target):
            yield _root(node.target)
    elif isinstance(node, ast.Call) and not _is_quiet_call(node.func, own, methods):
        yield _root(node.func.value) if isinstance(node.func, ast.Attribute) else None


def _root(node: ast.expr) -> ast.expr:
    """``x`` of ``x[…][…]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _is_quiet_call(called: ast.expr, own: Locals, methods: Mapping[str, ast.FunctionDef]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in QUIET_FUNCTIONS or called.id in own.functions
    if not isinstance(called, ast.Attribute):
        return False
    if is_own(called):
        return called.attr in methods  # looked at by itself
    return called.attr in QUIET_METHODS or own.may_change(called.value)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
