"""Environment ids on the command line, plain or as patterns: the one place that reads them.

Those of a suite of one's own have the module that registers them in front, as for ``gymnasium.make``:
``module:ToolFeas/…``. It is imported, and the ids keep it: workers have to import it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, TypeAlias

import typer

import envs_registry
from toolenv.errors import UnknownNameError, UsageError, nearest
from toolenv.plugged_in import imported

Envs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="ENV…", help="Environment ids, or patterns such as 'ToolFeas/BFCL-*'; see: toolenv envs"
    ),
]
SomeEnvs: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="ENV…", help="Environment ids or patterns; all without any.")
]
OneEnv: TypeAlias = Annotated[
    str, typer.Argument(metavar="ENV", help="Environment id, or a pattern of one; see: toolenv envs")
]

_SIGNS = "*?["
_SHOWN = 3
"""How many of the ids that a pattern matches an error names."""


def env_names(given: Iterable[str]) -> tuple[str, ...]:
    """The ids given or matched by patterns (``*``, ``?``, ``[…]``), in plain form, each once, in order.

    Raises:
        UnknownNameError: there is no such id, or no id of that pattern; the nearest are named.
        UsageError: that is so of several; the nearest of each is named.
    """
    names, unknown = dict[str, None](), dict[str, UnknownNameError]()
    for text in given:
        try:
            names |= dict.fromkeys(_matched(text))
        except UnknownNameError as error:
            unknown[text] = error
    if len(unknown) > 1:
        raise UsageError(
            f"{len(unknown)} unknown environment ids: {'; '.join(map(_with_nearest, unknown.values()))}"
        )
    for only in unknown.values():
        raise only
    return tuple(names)


def _with_nearest(error: UnknownNameError) -> str:
    near = nearest(str(error.name), error.known)
    return f"{error.name!r} (did you mean {near[0]!r}?)" if near else f"{error.name!r} (see: toolenv envs)"


def env_name(text: str) -> str:
    """The one id given or matched by a pattern, in plain form.

    Raises:
        UnknownNameError: see :func:`env_names`.
        UsageError: the pattern matches several.
    """
    names = _matched(text)
    if len(names) > 1:
        some = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        raise UsageError(f"{text} matches {len(names)} environment ids ({some}); give one")
    return names[0]


def env_of(text: str, condition: str, why: str) -> str:
    """The one id given, in plain form, where a command is about one condition.

    Args:
        text: an id, or a pattern.
        condition: the condition that it has to have.
        why: what is said of an id of another condition, e.g. ``"people verify “infeasible” labels"``.

    Raises:
        UnknownNameError: see :func:`env_names`.
        UsageError: it has another condition; the id that has this one is named.
    """
    name = env_name(text)
    parts = envs_registry.parse_env_id(name)
    if parts["condition"] != condition:
        near = _front(name) + envs_registry.env_id(suite_name(name), condition)
        raise UsageError(f"{name}: {why}; did you mean {near}?")
    return name


def suite_name(name: str) -> str:
    """The name of the suite that an id, in plain form, is of."""
    return envs_registry.get_suite(envs_registry.parse_env_id(name)["suite"]).name


def _matched(text: str) -> Sequence[str]:
    text = text.removeprefix("toolenv:")
    front = _front(text)
    own = _brought(front.removesuffix(":")) if front else ()
    plain = text.removeprefix(front)
    if not any(sign in plain for sign in _SIGNS):
        envs_registry.parse_env_id(text)
        return [text]
    found = [front + name for name in (own if front else envs_registry.env_ids()) if fnmatchcase(name, plain)]
    if not found:
        patterns = [envs_registry.env_id(suite, "*") for suite in envs_registry.suites()]
        raise envs_registry.unknown_id(text, own, patterns)
    return found


_BROUGHT: dict[str, tuple[str, ...]] = {}
"""The ids that the import of a module registered."""


def _brought(module: str) -> tuple[str, ...]:
    """The ids that a module registers, which is imported; of one imported before by others, all there are."""
    before = set(envs_registry.own_ids())
    imported("suite", module, envs_registry.suites())
    new = tuple(name for name in envs_registry.own_ids() if name not in before)
    if new:
        _BROUGHT[module] = new
    return _BROUGHT.get(module, envs_registry.own_ids())


def _front(text: str) -> str:
    """The module in front of an id, with its colon; empty if there is none."""
    module, colon, _ = text.partition(":")
    return module + colon if colon and all(part.isidentifier() for part in module.split(".")) else ""
