"""How arguments meet a tool's parameters, and upstream's words where they do not (TOOLS.md, section 3.1)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from envs_registry.tau_bench.common import stop


@cache
def parameters_of(tool: Callable[..., Any]) -> tuple[str, ...]:
    """A tool's parameters in order, less the database."""
    return tuple(inspect.signature(tool).parameters)[1:]


def check_names(domain: str, tool: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that are not exactly the tool's parameters.

    Raises:
        ToolError: in upstream's words, which are Python's about upstream's classes.
    """
    names = parameters_of(tool)
    if len(arguments) == len(names) and all(name in arguments for name in names):
        return
    stop(_problem(domain, tool.__name__, names, arguments))


def _problem(domain: str, tool: str, names: Sequence[str], given: Collection[str]) -> str:
    method = f"{tool.title().replace('_', '')}.invoke()"
    if "data" in given:
        path = f"tau_bench.envs.{domain}.tools.{tool}"
        return f"{path}.{method} got multiple values for keyword argument 'data'"
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        return f"{method} got an unexpected keyword argument '{unknown}'"
    missing = [repr(name) for name in names if name not in given]
    plural = "s" if len(missing) > 1 else ""
    return f"{method} missing {len(missing)} required positional argument{plural}: {_listed(missing)}"


def _listed(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " and ".join(names)
    return f"{', '.join(names[:-1])}, and {names[-1]}"
