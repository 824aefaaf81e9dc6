"""What the parameters of an instance may be: every kind says it of each of its modes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.hazards.forms import last_name


class Setting(NamedTuple):
    """One parameter of a mode.

    Attributes:
        expected: what it is, in words.
        fits: whether a JSON value is one.
        known: the values there are, by the other parameters, where they can be listed.
        is_parameter: whether it names a parameter of the armed tool, which the task must then have.
        optional: whether it may be left out.
    """

    expected: str
    fits: Callable[[Any], bool]
    known: Callable[[Mapping[str, Any]], Collection[str]] | None = None
    is_parameter: bool = False
    optional: bool = False


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_name, value))


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and all(type(step) in (str, int) for step in value)


NAME = Setting("a name", _is_name)
PARAMETER = NAME._replace(is_parameter=True)
NAMES = Setting("a list of names", _are_names)
OTHER_NAMES = Setting(
    "an object of a name by name",
    lambda value: isinstance(value, dict) and value != {} and _are_names([*value, *value.values()]),
)
PATH = Setting("a path: a list of names and numbers", _is_path)
FIELD_PATH = Setting(
    "a path with the name of a field in it", lambda value: _is_path(value) and bool(last_name(tuple(value)))
)
ANY = Setting("a JSON value", lambda value: True)
BESIDE: Mapping[str, Setting] = {
    "also": Setting("a list of tools", lambda value: value == [] or _are_names(value), optional=True),
    "hint": Setting("a text", lambda value: isinstance(value, str), optional=True),
}
"""Of an instance that a data set brings."""


def check_settings(settings: Mapping[str, Setting], given: Mapping[str, Any], where: str) -> None:
    """Hold the parameters of an instance to what its mode takes.

    Args:
        settings: of the mode.
        given: the parameters.
        where: names file, task and mode in errors.

    Raises:
        DataCorruptError: one is missing, of another form, or none of the mode's.
    """
    for name in given:
        if name not in settings:
            raise _unknown("parameter", name, settings, where)
    for name, setting in settings.items():
        if name not in given:
            if not setting.optional:
                raise DataCorruptError(f"{where}: parameter {name!r} is missing, {setting.expected}")
            continue
        value = given[name]
        if not setting.fits(value):
            raise DataCorruptError(
                f"{where}: parameter {name!r} is {value!r:.80}, expected {setting.expected}"
            )
        if setting.known is not None and value not in (known := setting.known(given)):
            raise _unknown(name, value, known, where)


def _unknown(kind: str, name: str, known: Collection[str], where: str) -> DataCorruptError:
    return DataCorruptError(f"{where}: {UnknownNameError(kind, name, known)}")
