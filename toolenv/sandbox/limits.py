"""What untrusted code may use up, and what becomes of it when it reaches for the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolenv.errors import UnknownNameError, UsageError

Network: TypeAlias = Literal["kill", "refuse"]
"""There is none in either case. ``kill``: whoever asks for it is killed. ``refuse``: the call fails as it
does on a machine without a network, which code with a way round it can catch."""

Layer: TypeAlias = Literal["namespaces", "landlock", "seccomp"]
LAYERS: tuple[Layer, ...] = ("namespaces", "landlock", "seccomp")
"""What holds the walls, see ``docs/sandbox.md``."""

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one worker. Reaching one kills it.

    Attributes:
        seconds: time on the wall for one request.
        cpu_seconds: processor time of the worker's whole life.
        memory: bytes of address space; the interpreter itself needs about 30 MiB.
        folder: bytes in the temporary folder, and in any one file.
        reply: bytes of one reply, as JSON.
        network: see :data:`Network`.
    """

    seconds: float = 10.0
    cpu_seconds: int = 120
    memory: int = 512 * MEBIBYTE
    folder: int = 16 * MEBIBYTE
    reply: int = MEBIBYTE
    network: Network = "kill"

    def __post_init__(self) -> None:
        for name in ("seconds", "cpu_seconds", "memory", "folder", "reply"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise UsageError(f"{name}={value!r}: give a number above 0")
        if self.network not in ("kill", "refuse"):
            raise UnknownNameError("network", self.network, ["kill", "refuse"])
