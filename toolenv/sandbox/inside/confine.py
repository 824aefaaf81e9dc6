"""Puts the layers on, the outermost first, and says which there are."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from typing import Any

from . import landlock, libc, namespaces, paths, seccomp

NAMESPACES, LANDLOCK, SECCOMP = "namespaces", "landlock", "seccomp"


class Refused(Exception):
    """No sandbox can be had; the text says what is missing."""


def enter_namespaces(wanted: Sequence[str], reasons: dict[str, str]) -> bool:
    """Make new namespaces, if wanted and allowed; what is in the way goes into ``reasons``."""
    if NAMESPACES not in wanted:
        reasons[NAMESPACES] = "not asked for"
        return False
    try:
        namespaces.unshare()
    except OSError as error:
        reasons[NAMESPACES] = str(error)
        return False
    return True


def confine(settings: Mapping[str, Any], has_namespaces: bool, reasons: dict[str, str]) -> list[str]:
    """Confine this process for good.

    Args:
        settings: the limits and wishes, see ``toolenv.sandbox.worker``.
        has_namespaces: whether it is in new namespaces.
        reasons: why a layer is not there, by layer.

    Returns:
        The layers that are there.

    Raises:
        Refused: too few of them.
    """
    wanted = settings["layers"]
    readable = [*paths.standard_library(), *paths.library_folders(), *filter(os.path.exists, paths.EXTRAS)]
    _limit(settings)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    if has_namespaces:
        _new_root(readable, settings["folder"])
    else:
        os.chdir("/")
    libc.drop_capabilities()
    layers = [NAMESPACES] if has_namespaces else []
    if _landlock(wanted, readable, has_namespaces, reasons):
        layers.append(LANDLOCK)
    if not layers:
        raise Refused("neither namespaces nor Landlock keep files out of reach")
    if SECCOMP not in wanted:
        raise Refused("the system call filter was not asked for, and nothing takes its place")
    try:
        seccomp.install(os.getpid(), writing=has_namespaces, network_kills=settings["network"] == "kill")
    except OSError as error:
        reasons[SECCOMP] = str(error)
        raise Refused("system calls cannot be filtered") from error
    return [*layers, SECCOMP]


def _new_root(readable: list[str], size: int) -> None:
    try:
        namespaces.enter_new_root(readable, paths.package_folders(paths.standard_library()), size)
    except OSError as error:
        raise Refused(f"the file system cannot be exchanged: {error}") from error


def _landlock(
    wanted: Sequence[str], readable: list[str], has_namespaces: bool, reasons: dict[str, str]
) -> bool:
    if LANDLOCK not in wanted:
        reasons[LANDLOCK] = "not asked for"
        return False
    try:
        if has_namespaces:
            landlock.restrict(["/"], [namespaces.FOLDER])
        else:
            # A folder on the host's disk could be filled file by file, so none can be written to.
            landlock.restrict(paths.without_packages(readable), [])
    except OSError as error:
        reasons[LANDLOCK] = str(error)
        return False
    return True


def _limit(settings: Mapping[str, Any]) -> None:
    """Limits that the kernel keeps for each process; nothing inside can raise them again."""
    for kind, most in (
        (resource.RLIMIT_CPU, settings["cpu_seconds"]),
        (resource.RLIMIT_AS, settings["memory"]),
        (resource.RLIMIT_FSIZE, settings["folder"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (most, most))
