"""Options that take several values after one name: ``--traces A B C``, as shells expand ``runs/*``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class ManyValues(TyperCommand):
    """A command whose repeatable options also take several values at once.

    ``--name A B C`` is read as ``--name A --name B --name C``: values end where the next option begins.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Spell the repetitions out, then parse as usual."""
        many = {
            name
            for parameter in self.params
            if getattr(parameter, "multiple", False)
            for name in parameter.opts
        }
        return super().parse_args(ctx, _spelt_out(args, many))


def _spelt_out(args: list[str], many: set[str]) -> list[str]:
    result: list[str] = []
    current = ""
    for at, arg in enumerate(args):
        if arg.startswith("-") and arg != "-":
            current = arg if arg in many else ""
            result.append(arg)
        elif current and args[at - 1] != current:
            result += [current, arg]
        else:
            result.append(arg)
    return result
