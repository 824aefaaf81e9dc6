"""What a command costs: wall and processor time, and the peak memory of all its processes together."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CLI = (sys.executable, "-c", "from toolenv.cli import main; main()")
"""The command line of this tree."""

_SAMPLED_EVERY = 0.1


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command cost.

    Attributes:
        seconds: wall time.
        busy: seconds of all processors together.
        peak: bytes, the most that its processes held at one time (resident, shared pages counted in each);
            sampled ten times a second, and for the first process as the system counted it.
    """

    seconds: float
    busy: float
    peak: int

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s, {self.busy:.1f} s of processors, {self.peak / 1e6:.0f} MB at the peak"


def cost_of(*command: object) -> Cost:
    """Run a command to its end, its output thrown away.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    start = time.perf_counter()
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        peaks, ended = [0], threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, peaks, ended))
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    peak = max(*peaks, usage.ru_maxrss * 1024)
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, peak)


def together(costs: Sequence[Cost]) -> Cost:
    """The cost of commands that ran one after the other."""
    return Cost(
        sum(one.seconds for one in costs), sum(one.busy for one in costs), max(one.peak for one in costs)
    )


def _watch(pid: int, peaks: list[int], ended: threading.Event) -> None:
    while not ended.wait(_SAMPLED_EVERY):
        peaks.append(sum(_resident(one) for one in _tree(pid)))
        del peaks[: -1 if peaks[-1] >= max(peaks) else 0]


def _tree(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _tree(int(child))


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
