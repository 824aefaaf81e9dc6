"""Commands whose options come in groups: a dataclass among the parameters stands for an option a field."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Spread the dataclasses among a command's parameters into the options that typer reads.

    A field is declared as a parameter is: ``name: Annotated[TYPE, typer.Option(…)] = DEFAULT``. Groups are
    shared by commands, and hold what is done with their values.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = [
        part for one in inspect.signature(command).parameters for part in _parts(command, one, hints)
    ]

    @wraps(command)
    def spread(**given: Any) -> None:
        made = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    described: Any = spread
    described.__signature__ = inspect.Signature(parameters)
    described.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _parts(command: Callable[..., None], name: str, hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    """The parameters that stand for one of a command's."""
    hint = hints[name]
    if not is_dataclass(hint):
        default = inspect.signature(command).parameters[name].default
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        return
    inner = get_type_hints(hint, include_extras=True)
    for one in fields(hint):
        yield inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=inner[one.name]
        )


def _default(of: Field[Any]) -> Any:
    return inspect.Parameter.empty if of.default is MISSING else of.default
