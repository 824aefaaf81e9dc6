"""Whether an entry of a manifest can be armed: by itself, and on its task."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.hazards import get_kind
from toolenv.hazards.base import Instance
from toolenv.hazards.settings import BESIDE, Setting, check_settings
from toolenv.suite import OWN_MODE
from toolenv.task import Task


def check_instance(instance: Instance, where: str) -> None:
    """Refuse an unknown hazard or mode, and parameters that the mode does not take.

    Args:
        instance: as a manifest has it.
        where: names file and task in errors.

    Raises:
        DataCorruptError: names the field, its value and the nearest good one.
    """
    settings = _settings(instance, where)
    check_settings(settings, instance.parameters, f"{where}, {instance.hazard} ({instance.mode})")


def check_fit(instance: Instance, task: Task, where: str) -> None:
    """Refuse a hazard on a tool or parameter that the task does not have: it would never fire.

    Args:
        instance: one that :func:`check_instance` let pass.
        task: the task it is to be armed on.
        where: names the file in errors.

    Raises:
        DataCorruptError: names what is not there, and the nearest that is.
    """
    tools = {tool.name: tool for tool in task.tools}
    for name in sorted(instance.armed):
        _expect("tool", name, tools, f"task {task.id!r}", where)
    properties = tools[instance.tool].parameters.get("properties", {})
    place = f"task {task.id!r}, tool {instance.tool!r}"
    for name, setting in _settings(instance, where).items():
        if setting.is_parameter:
            _expect("parameter", instance.parameters[name], properties, place, where)


def _settings(instance: Instance, where: str) -> Mapping[str, Setting]:
    try:
        kind = get_kind(instance.hazard)
    except UnknownNameError as error:
        raise DataCorruptError(f"{where}: {error}") from error
    if instance.mode == OWN_MODE:
        return BESIDE
    _expect("mode", instance.mode, kind.modes, kind.name, where)
    return kind.settings[instance.mode]


def _expect(kind: str, name: str, known: Collection[str], place: str, where: str) -> None:
    if name not in known:
        raise DataCorruptError(f"{where}: {UnknownNameError(kind, name, known, where=place)}")
