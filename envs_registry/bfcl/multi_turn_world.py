"""The world behind BFCL's multi-turn tasks: upstream's backends, one set of instances per episode.

A call is a typed call of the public method of that name, never an ``eval``; its text, errors included, is the
text that upstream's executor gives for the same call. Two things upstream's executor does are left out, since
both come from its rewriting of call strings: names that are no tool are never looked up among Python's or the
executor's own names, and texts in arguments keep the blank before a parenthesis.
"""

from __future__ import annotations

import copy
import decimal
import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, NoneType
from typing import Any, Final, TypeAlias

from envs_registry.bfcl.backend_repairs import PLAIN_DECIMALS
from envs_registry.bfcl.backends import Backends
from toolenv.canonical import digest
from toolenv.errors import ToolError, ToolFault, UnknownNameError, UsageError

MethodTable: TypeAlias = Mapping[str, tuple[int, Callable[..., Any]]]
"""Tool name → which instance answers, and the method."""

FORBIDDEN: Final = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
"""Names upstream's executor refuses to call."""

UNBOUNDED: Final = "state nested too deep to compare"
"""The digest of a state nested deeper than :data:`toolenv.canonical.MAX_DEPTH` levels, endless ones included.

Only a file system can become one, in some forty nested directories or a directory copied into itself; no
ground truth of the data set comes near, so it differs from every expected state.
"""

_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "Directory": ("name", "contents"),
    "File": ("name", "content"),
}
"""Objects inside a backend's state, and what their ``==`` compares."""

_STATELESS: Final = frozenset({"MathAPI"})
_ATOMS: Final = frozenset({str, int, float, bool, NoneType})
_DEEPEST_SHOWN: Final = 100


class MultiTurnWorld:
    """The instances of one episode."""

    __slots__ = ("_instances", "_methods")

    def __init__(self, instances: Mapping[str, Any], methods: MethodTable) -> None:
        self._instances = tuple(instances.items())
        self._methods = methods

    @classmethod
    def create(
        cls,
        backends: Backends,
        involved_classes: Iterable[str],
        initial_config: Mapping[str, Any],
        long_context: bool = False,
    ) -> MultiTurnWorld:
        """Fresh instances.

        Args:
            backends: from :func:`envs_registry.bfcl.backends.load_backends`.
            involved_classes: the task's backends; of equal tool names the later class's wins.
            initial_config: the scenario of each class, by its name; copied. Other classes are ignored.
            long_context: whether states are padded, as upstream does in its long-context category.

        Raises:
            UnknownNameError: no such backend class.
        """
        names = tuple(dict.fromkeys(involved_classes))
        if unknown := [name for name in names if name not in backends]:
            raise UnknownNameError("backend class", unknown[0], backends, where="BFCL")
        instances = {
            name: _start(backends[name], initial_config.get(name, {}), long_context) for name in names
        }
        return cls(instances, _method_table(tuple(backends[name] for name in names)))

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; the arguments are copied before a backend may keep them.

        Returns:
            Upstream's text: strings as they are, dictionaries as JSON where that works, else ``str()``.

        Raises:
            ToolError: the method raised, or there is none of that name; the text is upstream's.
        """
        try:
            index, method = self._methods[name]
        except KeyError:
            raise ToolError(f"Error during execution: {_refusal(name)}") from None
        own = {key: item if type(item) in _ATOMS else copy.deepcopy(item) for key, item in arguments.items()}
        try:
            return _as_text(method(self._instances[index][1], **own))
        except Exception as error:
            raise ToolError(f"Error during execution: {error}") from error

    def fork(self) -> MultiTurnWorld:
        """An independent copy, its random streams at the same place.

        Raises:
            ToolFault: directories nested beyond what Python can copy, some 150.
        """
        try:
            return MultiTurnWorld(copy.deepcopy(dict(self._instances)), self._methods)
        except RecursionError as error:
            raise ToolFault("the file system is nested too deep to copy") from error

    def digest(self) -> str:
        """Equal for two worlds exactly if upstream's state check passes, but see :data:`UNBOUNDED`.

        That check compares, with ``==``, every attribute of every instance whose name begins with no
        underscore.
        """
        state = [(name, _public(instance)) for name, instance in self._instances]
        try:
            return digest(state, encode=_compared)
        except RecursionError:
            return UNBOUNDED

    def view(self) -> dict[str, Any]:
        """The compared state as JSON values: ``{class: {attribute: value}}``.

        Sets become sorted lists, keys text; what is nested deeper than 100 levels is shown as ``"…"``.
        """
        return {name: _plain(_public(instance), 0) for name, instance in self._instances}


def parameter_names(backends: Backends) -> Mapping[str, tuple[str, ...]]:
    """The parameters of each tool, in the order in which upstream's methods take them."""
    methods = _method_table(tuple(backends.values()))
    return {name: tuple(inspect.signature(method).parameters)[1:] for name, (_, method) in methods.items()}


# ---- instances and methods ----


def _start(backend: type[Any], scenario: Any, long_context: bool) -> Any:
    instance = backend()
    if backend.__name__ not in _STATELESS:
        instance._load_scenario(copy.deepcopy(scenario), long_context=long_context)
    return instance


@functools.cache
def _method_table(classes: tuple[type[Any], ...]) -> MethodTable:
    return MappingProxyType(
        {
            name: (index, method)
            for index, backend in enumerate(classes)
            for name, method in inspect.getmembers(backend, inspect.isfunction)
            if not name.startswith("_") and name not in FORBIDDEN
        }
    )


def _refusal(name: str) -> str:
    """Upstream's reason: a call string is refused for its second part, then looked up by its first."""
    parts = name.split(".")
    if (called := parts[min(1, len(parts) - 1)]) in FORBIDDEN:
        return f"Function call {called} is not allowed."
    return f"name '{parts[0]}' is not defined"


def _as_text(result: Any) -> str:
    if type(result) is str:
        return result
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # whatever it is, upstream then takes str()
            return _str(result)
    return _str(result)


def _str(result: Any) -> str:
    with decimal.localcontext(PLAIN_DECIMALS):  # decides how a Decimal is written
        return str(result)


# ---- state ----


def _public(instance: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(instance).items() if not name.startswith("_")}


def _compared(value: Any) -> dict[str, Any]:
    """What ``==`` compares of a file or directory, under a key that tells the two apart."""
    kind = type(value).__name__
    if kind not in _COMPARED:
        raise UsageError(f"a BFCL backend holds {kind} {value!r:.80}, which upstream's do not")
    return {"type": kind.lower(), **{name: getattr(value, name) for name in _COMPARED[kind]}}


def _plain(value: Any, depth: int) -> Any:
    if type(value) in _ATOMS:
        return value
    if depth > _DEEPEST_SHOWN:
        return "…"
    if isinstance(value, dict):
        return _plain_dictionary(value, depth)
    if isinstance(value, set):
        return [_plain(item, depth + 1) for item in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return _plain(_compared(value), depth)


def _plain_dictionary(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """Keys as text; upstream's tweets can have comments under 1 and under "1" at once."""
    shown = {key: _plain(item, depth + 1) for key, item in value.items() if isinstance(key, str)}
    for key, item in value.items():
        if not isinstance(key, str):
            name = str(key) if str(key) not in shown else f"{key} ({type(key).__name__})"
            shown[name] = _plain(item, depth + 1)
    return shown
