"""What a method of an upstream backend may change, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeGuard

_QUIET_FUNCTIONS: Final = frozenset(
    [
        "Decimal",
        "TypeError",
        "ValueError",
        "abs",
        "all",
        "any",
        "bool",
        "deepcopy",
        "dict",
        "enumerate",
        "float",
        "getcontext",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "range",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "tuple",
        "zip",
    ]
)
_QUIET_METHODS: Final = frozenset(
    [
        "copy",
        "encode",
        "endswith",
        "format",
        "fromtimestamp",
        "get",
        "isdigit",
        "items",
        "join",
        "keys",
        "log",
        "lower",
        "lstrip",
        "now",
        "randint",
        "replace",
        "rstrip",
        "split",
        "splitlines",
        "sqrt",
        "startswith",
        "strftime",
        "strip",
        "strptime",
        "timestamp",
        "today",
        "uniform",
        "upper",
        "values",
        "zfill",
        "_get_item",
        "_list_contents",
        "_read",
    ]
)
"""Methods that change nothing, whatever they are called on; the last three are of upstream's files."""

_TAKING: Final = frozenset("clear discard pop remove".split())
"""Methods that only remove from what they are called on."""

_MAKERS: Final = frozenset("copy deepcopy dict list set sorted".split())
"""What makes a new container, be it of old things."""


_OWN_RANDOM: Final = "_random"


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
            if _is_own(node) and node.attr not in methods and node.attr != _OWN_RANDOM
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
        if all(map(_is_own, places)):
            names = frozenset(place.attr for place in places if _is_own(place)) - self._apart
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
        return any(_is_own(node) and node.attr == _OWN_RANDOM for one in called for node in ast.walk(one))

    def _called(self, name: str, seen: set[str]) -> set[str]:
        """A method and the methods it calls, and they call."""
        if name not in seen:
            seen.add(name)
            for node in ast.walk(self._methods[name]):
                if _is_own(node) and node.attr in self._methods:
                    self._called(node.attr, seen)
        return seen

    def _reached(self, method: ast.FunctionDef) -> frozenset[str]:
        """Attributes through which a method can reach what they hold."""
        parents = {child: parent for parent in ast.walk(method) for child in ast.iter_child_nodes(parent)}
        found = {
            node.attr
            for node in ast.walk(method)
            if _is_own(node) and node.attr not in self._apart and not _is_looked_at(node, parents)
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
        is_method = isinstance(parent, ast.Attribute) and parent.attr in _QUIET_METHODS
        is_call = isinstance(parent, ast.Call) and parent.func is node
        if not (is_part or is_method or is_call):
            return isinstance(parent, _LOOKS_ONLY)
        node, parent = parent, parents[parent]


def _is_own(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


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
        if _is_own(node) and node.attr == attribute
    )


def _is_taken_from(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """``self.x.remove(…)`` and ``del self.x[…]``."""
    parent = parents[node]
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Del) and parent.value is node
    is_statement = isinstance(parents.get(parents.get(parent, parent), parent), ast.Expr)
    return isinstance(parent, ast.Attribute) and parent.attr in _TAKING and is_statement


def _mentions(method: ast.FunctionDef, attribute: str) -> bool:
    return any(_is_own(node) and node.attr == attribute for node in ast.walk(method))


def _holding_new_only(methods: Mapping[str, ast.FunctionDef]) -> frozenset[str]:
    """The private attributes to which nothing is assigned, and into which nothing put, but what is new."""
    nodes = tuple(node for method in methods.values() for node in ast.walk(method))
    kept: dict[str, list[bool]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                is_put = isinstance(target, ast.Subscript)
                place = target.value if isinstance(target, ast.Subscript) else target
                if _is_own(place):
                    is_new = _is_new(node.value) if is_put else _is_new_inside(node.value)
                    kept.setdefault(place.attr, []).append(is_new)
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
        if _is_own(node) and isinstance(node.ctx, ast.Store | ast.Del):
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


def _places(
    node: ast.AST, own: Locals, methods: Mapping[str, ast.FunctionDef]
) -> Iterator[ast.expr | None]:
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        if isinstance(node, ast.Attribute):
            yield from () if _is_own(node) else (None,)
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
        return called.id in _QUIET_FUNCTIONS or called.id in own.functions
    if not isinstance(called, ast.Attribute):
        return False
    if _is_own(called):
        return called.attr in methods  # looked at by itself
    return called.attr in _QUIET_METHODS or own.may_change(called.value)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


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
            name for name, values in assigned.items() if name not in bound and all(map(_is_new, values))
        )
        self.filled = frozenset(
            name
            for name in self.made - _extended(nodes)
            if all(map(_is_new_inside, assigned[name])) and all(map(_is_new, put.get(name, ())))
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
            found |= _names(node.target)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            found |= _names(node.optional_vars)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store):
            found |= _names(node)
    return found


def _extended(nodes: Iterable[ast.AST]) -> set[str]:
    """Variables on which methods are called that may put something into them."""
    return {
        node.func.value.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.attr not in _QUIET_METHODS
    }


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _is_new(value: ast.expr) -> bool:
    """Whether an expression makes a container that nothing else holds, or a constant."""
    made = ast.Constant | ast.Compare | ast.JoinedStr | ast.List | ast.Tuple | ast.Set | ast.Dict
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in _MAKERS
    return isinstance(value, made | ast.ListComp | ast.SetComp | ast.DictComp)


def _is_new_inside(value: ast.expr) -> bool:
    """Whether what an expression makes holds nothing but what is new, too."""
    if isinstance(value, ast.Dict):
        return all(map(_is_new, value.values))
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_new, value.elts))
    return isinstance(value, ast.Constant | ast.Compare | ast.JoinedStr)
