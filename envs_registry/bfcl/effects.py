"""What a method of an upstream backend may change, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

_QUIET_FUNCTIONS: Final = frozenset(
    "abs all any bool deepcopy dict enumerate float int isinstance len list max min range round set sorted str "
    "sum tuple zip ValueError TypeError Decimal getcontext get_size".split()
)
_QUIET_METHODS: Final = frozenset(
    "copy encode endswith format get isdigit items join keys lower lstrip replace rstrip split splitlines "
    "sqrt startswith strftime strip strptime timestamp today upper values zfill randint uniform now "
    "fromtimestamp log".split()
)
_OWN_RANDOM: Final = "_random"


class Effects:
    """The attributes that the methods of one class may change.

    A method that only reads changes nothing. Any other may change every attribute that it or a method it
    calls mentions, since there is no other way to reach what the instance keeps; attributes whose names begin
    with ``_`` may stand for parts of others, so that mentioning one counts as mentioning them all. Random
    streams apart.
    """

    def __init__(self, methods: Mapping[str, ast.FunctionDef]) -> None:
        self._methods = methods
        self._all = frozenset(
            node.attr
            for method in methods.values()
            for node in ast.walk(method)
            if _is_own(node) and node.attr not in methods
        )

    def writes(self, name: str) -> frozenset[str]:
        """The attributes that a method may change."""
        called = self._called(name, set())
        if all(_only_reads(self._methods[one], self._methods) for one in called):
            return frozenset()
        return frozenset().union(*(self._mentioned(self._methods[one]) for one in called))

    def _called(self, name: str, seen: set[str]) -> set[str]:
        """A method and the methods it calls, and they call."""
        if name not in seen:
            seen.add(name)
            for node in ast.walk(self._methods[name]):
                if _is_own(node) and node.attr in self._methods:
                    self._called(node.attr, seen)
        return seen

    def _mentioned(self, method: ast.FunctionDef) -> frozenset[str]:
        nodes = tuple(ast.walk(method))
        found = {node.attr for node in nodes if _is_own(node) and node.attr not in self._methods}
        found.discard(_OWN_RANDOM)
        if _uses_whole_self(method) or any(name.startswith("_") for name in found):
            return self._all - {_OWN_RANDOM}
        return frozenset(found)


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _uses_whole_self(method: ast.FunctionDef) -> bool:
    """Whether ``self`` is used other than to take an attribute."""
    attributes = {id(node.value) for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    names = (node for node in ast.walk(method) if isinstance(node, ast.Name) and node.id == "self")
    return any(id(node) not in attributes for node in names)


def _only_reads(method: ast.FunctionDef, methods: Mapping[str, ast.FunctionDef]) -> bool:
    fresh = _fresh_locals(method)
    return not _uses_whole_self(method) and all(
        _is_quiet(node, fresh, methods) for statement in method.body for node in ast.walk(statement)
    )


def _is_quiet(node: ast.AST, fresh: frozenset[str], methods: Mapping[str, ast.FunctionDef]) -> bool:
    """Whether a piece of code by itself changes nothing but the method's own variables."""
    if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return isinstance(node, ast.Subscript) and _base(node.value) in fresh
    if isinstance(node, ast.Global | ast.Nonlocal | ast.Lambda | ast.Await | ast.Yield | ast.YieldFrom):
        return False
    if isinstance(node, ast.AugAssign):  # += changes a list in place, whoever else holds it
        return isinstance(node.target, ast.Name) and node.target.id in fresh | _counters(node)
    if isinstance(node, ast.Call):
        return _is_quiet_call(node.func, fresh, methods)
    return True


def _is_quiet_call(called: ast.expr, fresh: frozenset[str], methods: Mapping[str, ast.FunctionDef]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _QUIET_FUNCTIONS
    if not isinstance(called, ast.Attribute):
        return False
    if _is_own(called):
        return called.attr in methods  # looked at by itself
    return called.attr in _QUIET_METHODS or _base(called.value) in fresh


def _counters(node: ast.AugAssign) -> frozenset[str]:
    """The variable of an addition or division that only a number survives."""
    literal = isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float)
    return frozenset({node.target.id}) if literal and isinstance(node.target, ast.Name) else frozenset()


def _base(node: ast.expr) -> str:
    """``x`` of ``x``, and of ``x[…]`` where what is in ``x`` is as fresh as it."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _fresh_locals(method: ast.FunctionDef) -> frozenset[str]:
    """Variables that only ever hold containers made in the method, down to what is put into these."""
    assigned: dict[str, list[ast.expr]] = {}
    bound = {argument.arg for argument in ast.walk(method) if isinstance(argument, ast.arg)}
    for node in ast.walk(method):
        for target, value in _assignments(node):
            assigned.setdefault(target, []).append(value)
        if isinstance(node, ast.For | ast.comprehension | ast.withitem | ast.ExceptHandler | ast.NamedExpr):
            bound |= _bound_names(node)
    return frozenset(
        name for name, values in assigned.items() if name not in bound and all(map(_is_fresh, values))
    )


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Variables and what is assigned to them or put into them."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    for target in targets:
        assert isinstance(node, ast.Assign | ast.AnnAssign)
        assert node.value is not None
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id, _put(node.value)
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                if isinstance(item, ast.Name):
                    yield item.id, node.value


def _put(value: ast.expr) -> ast.expr:
    """What is put into a container under one key: it may be anything that is not changed through it."""
    return value


def _bound_names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    target = node.optional_vars if isinstance(node, ast.withitem) else getattr(node, "target", None)
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)} if target else set()


def _is_fresh(value: ast.expr) -> bool:
    """Whether an expression makes a container (of containers) that nothing else holds."""
    if isinstance(value, ast.Constant | ast.Compare | ast.JoinedStr):
        return True
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return True
    if isinstance(value, ast.Dict):
        return all(map(_is_fresh, value.values))
    return isinstance(value, ast.ListComp | ast.SetComp)
