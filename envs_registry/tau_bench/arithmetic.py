"""The calculator's arithmetic: numbers, signs, ``+ - * /`` and what Python makes of ``**`` and ``//``.

Nothing is evaluated as code, and size and time are bounded: ``9**9**9`` is refused at once.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolenv.errors import ToolError

CHARACTERS: Final = "0123456789+-*/(). "

MAX_LENGTH: Final = 1_000
"""Characters of an expression."""

MAX_BITS: Final = 10_000
"""Bits of an integer on the way; a result beyond 1,024 is no float anyway."""

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(expression: Any) -> str:
    """The value as text, rounded to two places, always written as a float (TOOLS.md, section 9.1).

    Raises:
        ToolError: a character that is not allowed, or no value; in Python's words.
        TypeError: ``expression`` cannot be read character by character.
    """
    for character in expression:
        if character not in CHARACTERS:
            raise ToolError("Error: invalid characters in expression")
    try:
        return str(round(float(_value(_parse(expression))), 2))
    except (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise ToolError(f"Error: {error}") from error


def _parse(expression: Any) -> ast.expr:
    if not isinstance(expression, str):
        raise TypeError("eval() arg 1 must be a string, bytes or code object")
    if len(expression) > MAX_LENGTH:
        raise ValueError(f"the expression is longer than {MAX_LENGTH} characters")
    return ast.parse(expression.lstrip(" "), "<string>", mode="eval").body


def _value(root: ast.expr) -> Any:
    """Evaluate without recursion: a sum of hundreds of terms is nested as deep as it is long."""
    values: list[Any] = []
    pending: list[tuple[ast.expr, bool]] = [(root, False)]
    while pending:
        node, operands_done = pending.pop()
        if operands_done:
            values.append(_apply(node, values))
        elif isinstance(node, ast.Constant):
            values.append(node.value)
        else:
            pending.append((node, True))
            pending += [(operand, False) for operand in reversed(_operands(node))]
    return values.pop()


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        return [node.func, *node.args]
    return []


def _apply(node: ast.expr, values: list[Any]) -> Any:
    """Take the operands off ``values`` and combine them."""
    if isinstance(node, ast.BinOp):
        right, left = values.pop(), values.pop()
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        return _bounded(_BINARY[type(node.op)](left, right))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](values.pop())
    if isinstance(node, ast.Call):
        called = values[-1 - len(node.args)]
        raise TypeError(f"{type(called).__name__!r} object is not callable")
    return ()  # the one form left that these characters can spell: empty parentheses


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        _refuse_beyond(abs(base).bit_length() * exponent)
    return _bounded(base**exponent)


def _bounded(value: Any) -> Any:
    if isinstance(value, int):
        _refuse_beyond(value.bit_length())
    return value


def _refuse_beyond(bits: int) -> None:
    if bits > MAX_BITS:
        raise OverflowError("int too large to convert to float")
