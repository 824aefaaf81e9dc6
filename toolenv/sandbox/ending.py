"""Ends a worker's processes, and tells from the supervisor's report how the worker had ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from toolenv.sandbox.limits import Limits
from toolenv.sandbox.outcome import Stopped

PATIENCE = 10.0
"""Seconds until a supervisor that does not end is killed; the kernel then kills its worker."""

_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a worker ended.

    Attributes:
        code: its exit status, minus the signal that killed it; ``None`` if nobody knows.
        by_itself: whether it ended before anybody stopped it.
        cpu: seconds of processor time that it took.
        text: what the supervisor said.
    """

    code: int | None = None
    by_itself: bool = False
    cpu: float = 0.0
    text: str = ""


def end(process: subprocess.Popen[bytes]) -> Ending:
    """Stop a supervisor and its worker, and wait until they are gone."""
    with suppress(ProcessLookupError):
        process.terminate()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return _read(process)


def _read(process: subprocess.Popen[bytes]) -> Ending:
    """The report; the supervisor alone writes it, and it fits into the pipe."""
    if process.stderr is None or process.stderr.closed:
        return Ending()
    os.set_blocking(process.stderr.fileno(), False)
    said = process.stderr.read(1 << 16) or b""
    process.stderr.close()
    text = said.decode(errors="replace").strip()
    try:
        report = json.loads(text)
        return Ending(int(report["exit"]), bool(report["by_itself"]), float(report["cpu"]), text)
    except (ValueError, KeyError, TypeError):
        return Ending(text=text[-500:])


def cause_of(ending: Ending, limits: Limits) -> Stopped:
    """Why a worker that ended by itself did so."""
    code = ending.code
    if code is None:
        return Stopped("exit", ending.text)
    if code >= 0:
        return Stopped("exit", f"status {code}")
    if -code == signal.SIGSYS:
        return Stopped("forbidden")
    if -code in _CRASHES:
        return Stopped("crash", signal.Signals(-code).name)
    if ending.cpu >= limits.cpu_seconds - 0.5:
        return Stopped("cpu", f"{ending.cpu:.1f} s")
    if not ending.by_itself:
        return Stopped("exit", "it closed its pipes")
    if -code == signal.SIGKILL:
        return Stopped("memory", "the kernel killed it")
    return Stopped("exit", signal.Signals(-code).name)
