"""What a method of an upstream backend can return, read off its source."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from envs_registry.bfcl.leaving import always_leaves, return_statements
from envs_registry.bfcl.shapes import ANYTHING, NONE, Kept, Record, Shape, Value, value_of
from envs_registry.bfcl.syntax import is_name, names_in, own_name

NOT_A_RECORD: Final = Value("text", ("<Directory: ", None))

HELPERS: Final[Mapping[str, tuple[Shape, ...]]] = {
    # A directory, or why there is none; too clever a function for the reader.
    "_navigate_to_directory": (
        NOT_A_RECORD,
        Record((("error", Value("text", ("cd: '", None, "': No such file or directory"))),)),
    )
}
"""What some helpers return, declared by hand."""

_CALLS: Final[Mapping[str, str]] = {
    "bool": "truth",
    "float": "number",
    "int": "number",
    "len": "number",
    "list": "list",
    "sorted": "list",
    "str": "text",
}


class Returns:
    """The shapes that the methods of one class can return."""

    def __init__(self, methods: Mapping[str, ast.FunctionDef]) -> None:
        self._methods = methods

    def of(self, name: str) -> tuple[Shape, ...]:
        """The shapes of what a method returns; of one that never does, none."""
        return tuple(dict.fromkeys(self._of(name, ())))

    def put_into(self, attribute: str, names: Iterable[str]) -> tuple[Shape, ...] | None:
        """The shapes of what methods put into an attribute; ``None`` if they do more than put and remove."""
        found: list[Shape] = []
        for name in names:
            method = self._methods[name]
            scope = _Scope(self, method, (name,))
            for node in ast.walk(method):
                if _changes_otherwise(node, attribute):
                    return None
                for value in _put(node, attribute):
                    found += scope.shapes(value)
        return tuple(dict.fromkeys(found))

    def _of(self, name: str, calling: tuple[str, ...]) -> Iterator[Shape]:
        if name in HELPERS:
            yield from HELPERS[name]
            return
        if name in calling:
            yield ANYTHING
            return
        method = self._methods[name]
        scope = _Scope(self, method, (*calling, name))
        for node, records_only in return_statements(method.body):
            value = node.value or ast.Constant(None)
            for shape in scope.shapes(value):
                if not records_only or shape == ANYTHING or not isinstance(shape, Value):
                    yield shape
        if not always_leaves(method.body):
            yield NONE


class _Scope:
    """One method, where variables stand for what is assigned to them."""

    def __init__(self, returns: Returns, method: ast.FunctionDef, calling: tuple[str, ...]) -> None:
        self._returns, self._calling = returns, calling
        self._nodes = tuple(ast.walk(method))
        self._parameters = {node.arg for node in self._nodes if isinstance(node, ast.arg)}

    def shapes(self, node: ast.expr, seen: tuple[str, ...] = ()) -> Iterator[Shape]:
        """The shapes of an expression's value."""
        if isinstance(node, ast.Dict):
            yield _record(node)
        elif isinstance(node, ast.IfExp):
            yield from self.shapes(node.body, seen)
            yield from self.shapes(node.orelse, seen)
        elif isinstance(node, ast.Name):
            yield from self._variable(node.id, seen)
        elif isinstance(node, ast.Call) and own_name(node.func) in self._returns._methods:
            yield from self._returns._of(own_name(node.func), self._calling)
        elif _is_get(node):
            assert isinstance(node, ast.Call)
            assert isinstance(node.func, ast.Attribute)
            yield Kept(own_name(node.func.value), 1)
            yield from self.shapes(node.args[1], seen) if len(node.args) > 1 else (NONE,)
        else:
            kept = _kept(node)
            yield kept if kept is not None else _value(node)

    def _variable(self, name: str, seen: tuple[str, ...]) -> Iterator[Shape]:
        if name in self._parameters or name in seen or self._changes_unseen(name):
            yield ANYTHING
            return
        later = tuple(self._later(name))
        for value in tuple(self._assigned(name)) or (ANYTHING,):  # what is not assigned here is global
            found = self.shapes(value, (*seen, name)) if isinstance(value, ast.expr) else iter((value,))
            for shape in found:
                yield _with_later(shape, later)

    def _assigned(self, name: str) -> Iterator[ast.expr | Shape]:
        """Everything a variable can hold."""
        for node in self._nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        yield from (node.value,) if target.id == name else ()
                    elif not isinstance(target, ast.Subscript | ast.Attribute) and name in names_in(target):
                        yield ANYTHING
            elif isinstance(node, ast.For) and name in names_in(node.target):
                yield _item_of(node) if isinstance(node.target, ast.Name) else ANYTHING
            elif (
                (isinstance(node, ast.AugAssign | ast.NamedExpr) and name in names_in(node.target))
                or (
                    isinstance(node, ast.withitem)
                    and node.optional_vars
                    and name in names_in(node.optional_vars)
                )
                or (isinstance(node, ast.ExceptHandler) and node.name == name)
            ):
                yield ANYTHING

    def _later(self, name: str) -> Iterator[tuple[str, Value]]:
        """Keys set in a dictionary after it was made."""
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and is_name(target.value, name):
                        assert isinstance(target.slice, ast.Constant)
                        yield str(target.slice.value), _value(node.value)

    def _changes_unseen(self, name: str) -> bool:
        """Whether a dictionary changes in ways that :meth:`_later` does not show."""
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and is_name(node.value, name):
                if isinstance(node.ctx, ast.Del):
                    return True
                if isinstance(node.ctx, ast.Store) and not isinstance(node.slice, ast.Constant):
                    return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                changing = {"update", "pop", "popitem", "setdefault", "clear"}
                if is_name(node.func.value, name) and node.func.attr in changing:
                    return True
        return False


def _with_later(shape: Shape, later: tuple[tuple[str, Value], ...]) -> Shape:
    if not later or isinstance(shape, Value):
        return shape
    if isinstance(shape, Record):
        return Record(shape.fields, (*shape.later, *later))
    return Kept(shape.attribute, shape.depth, shape.later | {key for key, _ in later})


def _record(node: ast.Dict) -> Shape:
    fields = []
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return Value("record")
        fields.append((key.value, _value(value)))
    return Record(tuple(fields))


def _kept(node: ast.expr) -> Kept | None:
    """``self.x``, an item of it, or a copy of either."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "copy" and not node.args:
            return _kept(node.func.value)
        return None
    if isinstance(node, ast.Call) and is_name(node.func, "deepcopy"):
        return _kept(node.args[0])
    if own_name(node):
        return Kept(own_name(node), 0)
    if isinstance(node, ast.Subscript) and own_name(node.value):
        return Kept(own_name(node.value), 1)
    return None


def _is_get(node: ast.expr) -> bool:
    """``self.x.get(…)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get"
        and bool(own_name(node.func.value))
    )


_PUTTING: Final = frozenset({"add", "append"})
_NOT_PUTTING: Final = frozenset(
    {
        *("clear", "copy", "count", "discard", "get", "index", "items", "keys", "pop", "popitem", "remove"),
        "values",
    }
)


def _put(node: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """What ``self.x[…] = …`` and ``self.x.append(…)`` put there."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and own_name(target.value) == attribute:
                yield node.value
    if isinstance(node, ast.Call) and _method_on(node.func, attribute) in _PUTTING:
        yield from node.args


def _method_on(called: ast.expr, attribute: str) -> str:
    """``m`` of ``self.x.m``, for the attribute ``x``."""
    on = isinstance(called, ast.Attribute) and own_name(called.value) == attribute
    return called.attr if on and isinstance(called, ast.Attribute) else ""


def _changes_otherwise(node: ast.AST, attribute: str) -> bool:
    """Whether a piece of code may change an attribute other than by putting in or taking out an item."""
    if own_name(node) == attribute:
        return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    method = _method_on(node.func, attribute) if isinstance(node, ast.Call) else ""
    return bool(method) and method not in _PUTTING | _NOT_PUTTING


def _item_of(loop: ast.For) -> Shape:
    """What a loop over an attribute, or over its values, runs through."""
    source = loop.iter
    if (
        isinstance(source, ast.Call)
        and isinstance(source.func, ast.Attribute)
        and source.func.attr == "values"
    ):
        source = source.func.value
        return Kept(own_name(source), 1) if own_name(source) else ANYTHING
    return Kept(own_name(source), 1) if own_name(source) else ANYTHING


def _value(node: ast.expr) -> Value:
    """What is known of the value of an expression inside a dictionary, or returned by itself."""
    if isinstance(node, ast.Constant):
        return value_of(node.value)
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        parts = _text_parts(node)
        return ANYTHING if parts is None else Value("text", parts)
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return Value("truth")
    if isinstance(node, ast.List | ast.ListComp):
        return Value("list")
    if isinstance(node, ast.Dict | ast.DictComp):
        return Value("record")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return Value(_CALLS.get(node.func.id, ""))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        return Value("text")
    return ANYTHING


def _text_parts(node: ast.expr) -> tuple[str | None, ...] | None:
    """The fixed parts of a text put together; ``None`` of what is no text for sure."""
    if isinstance(node, ast.Constant):
        return (node.value,) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return tuple(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text_parts(node.left), _text_parts(node.right)
        if left is None and right is None:
            return None
        return (*(left or (None,)), *(right or (None,)))
    return None
