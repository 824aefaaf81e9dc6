"""What an option's value is refused for says the value."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

SHOWN = 80
"""Characters of a value that are shown."""


class NamingValues(TyperGroup):
    """Commands whose errors about an option name the value, which those of pydantic leave out."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was given.

        Raises:
            typer.BadParameter: names option and value.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            value = _refused(error.__cause__)
            if value is not None:
                error.message = f"{value!r:.{SHOWN}}: {error.message}"
            raise


def _refused(cause: BaseException | None) -> object:
    """The value that was refused; ``None`` where nothing says it."""
    errors = getattr(cause, "errors", None)
    found = errors() if callable(errors) else []
    return found[0].get("input") if found and isinstance(found[0], dict) else None
