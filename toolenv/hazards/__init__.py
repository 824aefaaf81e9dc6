"""Hazards: recoverable perturbations of a kernel (paper 2), one file each.

A module here that has ``KIND`` (see :class:`toolenv.hazards.base.Kind`) is a hazard; it needs no entry in any
list.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from toolenv.errors import UnknownNameError
from toolenv.facts.exposure import Exposure, exposure
from toolenv.hazards.base import Instance, Kind, Subject
from toolenv.kernel.perturbed import Hazard, PerturbedKernel
from toolenv.kernel.protocol import Kernel
from toolenv.task import Task

__all__ = [
    "Exposure",
    "Instance",
    "Kind",
    "Subject",
    "applies",
    "exposure",
    "get_kind",
    "hint",
    "kinds",
    "perturbed",
]


MOST_HAZARDS = 20_000
"""Hazards that are kept."""


@cache
def kinds() -> Mapping[str, Kind]:
    """Every hazard by name, sorted."""
    modules = (importlib.import_module(f"{__name__}.{one.name}") for one in pkgutil.iter_modules(__path__))
    found = {module.KIND.name: module.KIND for module in modules if hasattr(module, "KIND")}
    return MappingProxyType(dict(sorted(found.items())))


def get_kind(name: str) -> Kind:
    """The hazard of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in kinds():
        raise UnknownNameError("hazard", name, kinds())
    return kinds()[name]


def applies(name: str, subject: Subject) -> bool:
    """Whether a hazard fits a task and its clean solution; ``get_kind(name).needs`` says what is missing."""
    return next(get_kind(name).sites(subject), None) is not None


def perturbed(kernel: Kernel, instance: Instance) -> PerturbedKernel:
    """A kernel seen through an instance of a hazard.

    Hazards are pure, so all kernels of one instance share its hazard, and what that remembers.
    """
    known = _hazards.get(id(instance))
    if known is None or known[0] is not instance:
        if len(_hazards) >= MOST_HAZARDS:
            _hazards.clear()
        known = _hazards[id(instance)] = (instance, get_kind(instance.hazard).hazard(instance))
    return PerturbedKernel(kernel, known[1])


_hazards: dict[int, tuple[Instance, Hazard]] = {}
"""By identity; each keeps its instance alive, so that no other can come to bear the same id."""


def hint(task: Task, instance: Instance) -> str:
    """What is wrong with the tools and what to do about it, without the answer (paper 2, §4, arm Hint).

    The tool is named as agents see it: a server allows fewer characters than some data sets use. A hint that
    the data set brings is given as it is.
    """
    if "hint" in instance.parameters:
        return str(instance.parameters["hint"])
    names = {tool.name: tool.wire_name or tool.name for tool in task.tools}
    return get_kind(instance.hazard).hint(replace(instance, tool=names.get(instance.tool, instance.tool)))
