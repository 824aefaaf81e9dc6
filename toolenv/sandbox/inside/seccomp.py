"""A seccomp filter: which system calls pass, which are refused, and which kill whoever makes them.

All that is not known to be needed is refused. Works without root on any kernel with
``CONFIG_SECCOMP_FILTER``; see ``seccomp(2)``. The filter is a classic BPF program: one test per call, in a
row.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import libc
from .syscalls import ALLOWED, AUDIT_ARCHITECTURES, DEADLY, MACHINE, NETWORK, number

MODE_FILTER = 2

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

ALLOW = 0x7FFF0000
KILL = 0x80000000  # the process, not the thread alone
REFUSE = 0x00050000 | errno.EPERM
UNKNOWN = 0x00050000 | errno.ENOSYS

# Offsets within ``struct seccomp_data``; the machines known are little-endian.
NUMBER_AT, ARCHITECTURE_AT = 0, 4
X32 = 0x40000000

CLONE_THREAD = 0x00010000
AF_UNIX = 1
# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC; the same on both machines.
WRITING = 0o1 | 0o2 | 0o100 | 0o1000
# TCGETS, FIONCLEX, FIOCLEX, FIONBIO: what Python's own file objects ask for.
HARMLESS_CONTROLS = (0x5401, 0x5450, 0x5451, 0x5421)
# F_DUPFD to F_SETLKW, F_DUPFD_CLOEXEC; above all not F_SETOWN, by which a file sends signals to a process.
HARMLESS_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)


class Instruction(NamedTuple):
    """One step of a filter.

    Attributes:
        code: what it does.
        value: its operand.
        if_true, if_false: steps to skip after a test.
    """

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


class _Filter(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Filter)))


def program(process: int, *, writing: bool, network_kills: bool) -> list[Instruction]:
    """The filter.

    Args:
        process: the process that will have it; it may send signals to itself.
        writing: whether files may be opened for writing.
        network_kills: whether a call that talks to the network kills; otherwise it is refused.
    """
    steps = [
        Instruction(LOAD, ARCHITECTURE_AT),
        Instruction(JUMP_EQUAL, AUDIT_ARCHITECTURES[MACHINE], 1, 0),
        Instruction(RETURN, KILL),
        Instruction(LOAD, NUMBER_AT),
        Instruction(JUMP_AT_LEAST, X32, 0, 1),
        Instruction(RETURN, KILL),
    ]
    network = KILL if network_kills else REFUSE
    for name, inner in _special(process, writing, network).items():
        steps += _on(name, inner)
    for names, verdict in ((ALLOWED, ALLOW), (NETWORK, network), (DEADLY, KILL)):
        for name in sorted(names):
            steps += _on(name, [Instruction(RETURN, verdict)])
    return [*steps, Instruction(RETURN, REFUSE)]


def install(process: int, *, writing: bool, network_kills: bool) -> None:
    """Filter the calls of this process, for good; arguments as for :func:`program`.

    Raises:
        OSError: the kernel does not allow it.
    """
    steps = program(process, writing=writing, network_kills=network_kills)
    array = (_Filter * len(steps))(
        *(_Filter(one.code, one.if_true, one.if_false, one.value) for one in steps)
    )
    filled = _Program(len(steps), array)
    libc.prctl(libc.PR_SET_SECCOMP, MODE_FILTER, ctypes.c_void_p(ctypes.addressof(filled)))


def _special(process: int, writing: bool, network: int) -> dict[str, list[Instruction]]:
    """Calls whose arguments decide."""
    opening = [Instruction(RETURN, ALLOW)] if writing else None
    # By path alone, where all that is not one's own is mounted read-only; Landlock does not keep modes, and a
    # descriptor may be of the host: 0 to 2 are its /dev/null.
    mode = [Instruction(RETURN, ALLOW if writing else REFUSE)]
    return {
        # Starting a thread is refused; a process of one's own is deadly. The C library tries clone3 first.
        "clone3": [Instruction(RETURN, UNKNOWN)],
        "clone": _if_bits(0, CLONE_THREAD, REFUSE, KILL),
        # The C library asks the name service for users over a Unix socket, and can do without.
        "socket": _if_equal(0, AF_UNIX, REFUSE, network),
        # Two ends that nobody else has, and that can be but read and written: an event loop needs a pair.
        "socketpair": _if_equal(0, AF_UNIX, ALLOW, network),
        "chmod": mode,
        "fchmodat": mode,
        "tgkill": _if_equal(0, process, ALLOW, KILL),
        "prlimit64": [*_unless_zero(2, REFUSE), Instruction(RETURN, ALLOW)],
        "open": opening or _if_bits(1, WRITING, REFUSE, ALLOW),
        "openat": opening or _if_bits(2, WRITING, REFUSE, ALLOW),
        "ioctl": _if_among(1, HARMLESS_CONTROLS),
        "fcntl": _if_among(1, HARMLESS_COMMANDS),
    }


def _on(name: str, inner: list[Instruction]) -> Iterator[Instruction]:
    """``inner``, which ends with a verdict, if the call is ``name``."""
    wanted = number(name)
    if wanted is not None:
        yield Instruction(JUMP_EQUAL, wanted, 0, len(inner))
        yield from inner


def _argument(index: int) -> int:
    """Where the lower half of an argument stands."""
    return 16 + 8 * index


def _if_bits(index: int, bits: int, then: int, otherwise: int) -> list[Instruction]:
    return [
        Instruction(LOAD, _argument(index)),
        Instruction(JUMP_ANY_BIT, bits, 0, 1),
        Instruction(RETURN, then),
        Instruction(RETURN, otherwise),
    ]


def _if_equal(index: int, value: int, then: int, otherwise: int) -> list[Instruction]:
    return [
        Instruction(LOAD, _argument(index)),
        Instruction(JUMP_EQUAL, value, 0, 1),
        Instruction(RETURN, then),
        Instruction(RETURN, otherwise),
    ]


def _if_among(index: int, values: Sequence[int]) -> list[Instruction]:
    """Pass for some values of an argument, refuse others."""
    tests = [
        step for one in values for step in (Instruction(JUMP_EQUAL, one, 0, 1), Instruction(RETURN, ALLOW))
    ]
    return [Instruction(LOAD, _argument(index)), *tests, Instruction(RETURN, REFUSE)]


def _unless_zero(index: int, verdict: int) -> list[Instruction]:
    """A verdict unless both halves of an argument are zero."""
    return [
        step
        for half in (0, 4)
        for step in (
            Instruction(LOAD, _argument(index) + half),
            Instruction(JUMP_EQUAL, 0, 1, 0),
            Instruction(RETURN, verdict),
        )
    ]
