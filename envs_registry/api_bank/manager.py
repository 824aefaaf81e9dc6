"""How arguments reach an API and its result comes back: upstream's tool manager (APIS.md 2.4 and 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from envs_registry.api_bank.registry import Api
from envs_registry.api_bank.schemas import required
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.tool_search import Document

RAISED: Final = (
    Failure,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What upstream's APIs raise, by design or on arguments of other types; the text becomes the result's."""


class Refused(Exception):
    """A call that reached no API: upstream's manager raises its text."""


def convert(document: Document, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the types an API declares.

    Upstream gets every value as text. Other JSON values pass where they already have the declared type,
    ``True`` for a bool included, which upstream would take for False. A null for a parameter that need not be
    given is as good as none.

    Raises:
        Refused: a parameter that is not declared, a number that is none, or a required one is missing.
    """
    parameters, needed = document["input_parameters"], required(document)
    converted = {}
    for name, value in arguments.items():
        if name not in parameters:
            raise Refused(f"invalid parameter name. parameter: {name}")
        if value is not None or name in needed:
            converted[name] = _convert(value, parameters[name]["type"])
    missing = [name for name in needed if name not in converted]
    if missing:
        raise Refused(_missing_text(document["name"], missing))
    return converted


def _convert(value: Any, declared: str) -> Any:
    if declared == "bool":
        return value if isinstance(value, bool) else value == "True"
    if declared not in _NUMBERS:
        return value
    try:
        return _NUMBERS[declared](value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refused(str(error)) from error


def _integer(value: Any) -> int:
    if isinstance(value, str) and not value.isdigit():
        raise Refused(f"invalid parameter type. parameter: {value}")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
        raise Refused("invalid parameter type.")
    return float(value)


_NUMBERS: Final[Mapping[str, Callable[[Any], Any]]] = {"int": _integer, "float": _number}


def _missing_text(name: str, missing: list[str]) -> str:
    """Python's text of a call that lacks arguments."""
    quoted = [f"'{one}'" for one in missing]
    listed = ", ".join(quoted[:-1]) + ("," if len(quoted) > 2 else "") + " and " if len(quoted) > 1 else ""
    plural = "s" if len(quoted) > 1 else ""
    return f"{name}.call() missing {len(quoted)} required positional argument{plural}: {listed}{quoted[-1]}"


def execute(
    api: Api, document: Document, state: State, arguments: dict[str, Any]
) -> tuple[dict[str, Any], Exception | None]:
    """Run an API and describe what came of it.

    Args:
        api: the API.
        document: what upstream says of it.
        state: of the episode; changed.
        arguments: converted ones, which now belong to the API.

    Returns:
        ``{"api_name", "input", "output", "exception"}``, the name left out where upstream leaves it out; and
        what the API raised, if it did.
    """
    given = {**dict.fromkeys(document["optional_args"]), **arguments}
    output, raised = None, None
    try:
        output = api.run(state, **given)
    except RAISED as error:
        raised = error
    result = {
        "input": given if document["input_parameters"] else None,
        "output": output,
        "exception": None if raised is None else str(raised),
    }
    return ({"api_name": api.name, **result} if api.names_itself else result), raised
