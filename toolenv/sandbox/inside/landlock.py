"""Landlock: which files may be read, and which written, whatever else the process can reach.

Works without root on Linux 5.13 and newer where it is switched on; see ``landlock(7)``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from . import libc

SYS_CREATE_RULESET, SYS_ADD_RULE, SYS_RESTRICT_SELF = 444, 445, 446
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1

READ_FILE, READ_DIR = 1 << 2, 1 << 3
# By ABI: rights on files, rights on TCP ports, and what is kept within the sandbox (abstract sockets,
# signals).
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_EXECUTE, _MAKE_SPECIAL = 1 << 0, (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11)
_IOCTL_DEVICE = 1 << 15
_FOR_FILES = (1 << 0) | (1 << 1) | READ_FILE | (1 << 14) | _IOCTL_DEVICE


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The kernel's Landlock ABI, from 1.

    Raises:
        OSError: it has none, or it is switched off.
    """
    return libc.call("syscall", SYS_CREATE_RULESET, None, ctypes.c_size_t(0), CREATE_RULESET_VERSION)


def restrict(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Give up, for good, all rights on files but these: reading some, and writing below others.

    Args:
        readable: files and folders; of those that are not there nothing is said.
        writable: folders in which files and folders may be made, changed and removed, never run.

    Raises:
        OSError: the kernel does not allow it.
    """
    abi = version()
    files = _FILE_RIGHTS[max(one for one in _FILE_RIGHTS if one <= abi)]
    ruleset = _Ruleset(files, 0b11 if abi >= 4 else 0, 0b11 if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    descriptor = libc.call("syscall", SYS_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    try:
        for path in readable:
            _allow(descriptor, path, READ_FILE | READ_DIR)
        for path in writable:
            _allow(descriptor, path, files & ~(_EXECUTE | _MAKE_SPECIAL | _IOCTL_DEVICE))
        libc.call("syscall", SYS_RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = _PathBeneath(rights if os.path.isdir(path) else rights & _FOR_FILES, descriptor)
        libc.call("syscall", SYS_ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
