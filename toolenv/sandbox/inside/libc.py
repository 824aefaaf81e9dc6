"""The C library's calls that Python does not offer."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_LIBRARY = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library.

    Raises:
        OSError: it returned -1; the message names the function.
    """
    ctypes.set_errno(0)
    # System calls take words of the machine: a plain int would fill but half of one.
    words = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    result: int = getattr(_LIBRARY, name)(*words)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, value: Any, more: Any = 0) -> None:
    """``prctl(2)``; the arguments that an option has no use for are 0, as the kernel asks.

    Raises:
        OSError: the kernel refused.
    """
    call("prctl", option, value, more, 0, 0)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("process", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


CAPABILITY_VERSION = 0x20080522


def drop_capabilities() -> None:
    """Give up every privilege, root's included.

    Raises:
        OSError: the kernel refused.
    """
    header, none = _Header(CAPABILITY_VERSION, 0), (_Capabilities * 2)()
    call("capset", ctypes.byref(header), ctypes.byref(none))
