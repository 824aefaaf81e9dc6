"""Hazards: recoverable perturbations of a kernel (paper 2), one file each.

A module here that has ``KIND`` (see :class:`toolenv.hazards.base.Kind`) is a hazard; it needs no entry in any
list.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from toolenv.errors import UnknownNameError
from toolenv.hazards.base import Instance, Kind, Subject
from toolenv.hazards.exposure import Exposure, exposure
from toolenv.kernel.perturbed import PerturbedKernel
from toolenv.kernel.protocol import Kernel

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
    """A kernel seen through an instance of a hazard."""
    return PerturbedKernel(kernel, get_kind(instance.hazard).hazard(instance))


def hint(instance: Instance) -> str:
    """What is wrong with the tools and what to do about it, without the answer (paper 2, §4, arm Hint)."""
    return get_kind(instance.hazard).hint(instance)
