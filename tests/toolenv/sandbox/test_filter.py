"""The system call table against the C library of the filters, where the machine has it."""

from __future__ import annotations

import ctypes
import ctypes.util

import pytest

from toolenv.sandbox.inside import seccomp, syscalls


@pytest.fixture(scope="module")
def resolve() -> ctypes._CFuncPtr:  # type: ignore[name-defined]
    name = ctypes.util.find_library("seccomp")
    if name is None:
        pytest.skip("no libseccomp to compare with")
    function = ctypes.CDLL(name).seccomp_syscall_resolve_name_arch
    function.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
    return function


@pytest.mark.parametrize("machine", list(syscalls.AUDIT_ARCHITECTURES))
def test_numbers_are_those_of_libseccomp(resolve: ctypes._CFuncPtr, machine: str) -> None:  # type: ignore[name-defined]
    place = list(syscalls.AUDIT_ARCHITECTURES).index(machine)
    for name, numbers in syscalls.NUMBERS.items():
        found = resolve(syscalls.AUDIT_ARCHITECTURES[machine], name.encode())
        assert (numbers[place] if numbers[place] is not None else None) == (found if found >= 0 else None), (
            name
        )


def test_every_call_has_one_verdict() -> None:
    groups = (syscalls.ALLOWED, syscalls.DEADLY, syscalls.NETWORK, frozenset(seccomp._special(1, True, 0)))
    assert sum(map(len, groups)) == len(frozenset().union(*groups))
    assert frozenset().union(*groups) <= syscalls.NUMBERS.keys()


def test_jumps_stay_within_the_filter() -> None:
    steps = seccomp.program(1, writing=False, network_kills=True)
    assert len(steps) < 4096  # BPF_MAXINSNS
    for at, step in enumerate(steps):
        if step.code & 0x07 == 0x05:
            assert at + 1 + max(step.if_true, step.if_false) < len(steps)
            assert max(step.if_true, step.if_false) < 256
    assert steps[-1] == seccomp.Instruction(seccomp.RETURN, seccomp.REFUSE)
