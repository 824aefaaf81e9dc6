"""The calculator of all levels (APIS.md 5.13)."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

from envs_registry.api_bank.registry import api
from envs_registry.api_bank.rules import OUTCOME, argument, every
from envs_registry.api_bank.state import Failure, State

LONGEST_FORMULA: Final = 2_000
"""Characters; evaluation takes quadratic time, and no recorded formula comes near."""

Token: TypeAlias = Any
"""A number, or the text of a sign."""

_TOKEN = re.compile(r"\d+|[-+*/()]")
_ALLOWED = re.compile(r"[0-9+\-*/()]+")
_INVALID: Final = "invalid formula"


def _without_blanks(formula: Any) -> Any:
    return formula.replace(" ", "")


_RULE = every(argument("formula", _without_blanks), OUTCOME)


@api("Calculator", _RULE, folder="lv3_apis")
@api("Calculator", _RULE)
def calculator(state: State, formula: Any) -> Any:
    """The value of a formula."""
    text = _without_blanks(formula)
    operators = sum(text.count(sign) for sign in "+-*/")
    if (
        not _ALLOWED.fullmatch(text)
        or text.count("(") != text.count(")")
        or not operators
        or operators + 1 == len(text)
        or len(text) > LONGEST_FORMULA
    ):
        raise Failure(_INVALID)
    return _value([float(token) if token.isdigit() else token for token in _TOKEN.findall(text)])


def _value(tokens: list[Token]) -> Token:
    """Parentheses first: the first ``(`` is paired with the first ``)``, so that nested ones fail."""
    while "(" in tokens:
        start = tokens.index("(")
        if ")" not in tokens:
            raise Failure("')' is not in list")
        end = tokens.index(")")
        tokens[start : end + 1] = [_value(tokens[start + 1 : end])]
    for signs in ("*/", "+-"):
        _apply_all(tokens, signs)
    return tokens[0]


def _apply_all(tokens: list[Token], signs: str) -> None:
    """Replace each sign and its neighbours by their result, from the left."""
    while (at := _first(tokens, signs)) is not None:
        result = _apply(tokens[at], tokens[at - 1], tokens[at + 1])
        if at == 0:
            # Upstream would keep the sign and never come back.
            raise Failure(_INVALID)
        tokens[at - 1 : at + 2] = [result]


def _first(tokens: list[Token], signs: str) -> int | None:
    return next((at for at, token in enumerate(tokens) if isinstance(token, str) and token in signs), None)


def _apply(sign: str, left: Token, right: Token) -> Token:
    match sign:
        case "*":
            return left * right
        case "/":
            return left / right
        case "+":
            return left + right
        case _:
            return left - right
