"""What a request to a worker led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Cause: TypeAlias = Literal[
    "time", "cpu", "memory", "output", "forbidden", "crash", "exit", "protocol", "gone"
]

CAUSES: dict[Cause, str] = {
    "time": "it did not answer in time",
    "cpu": "it used up its processor time",
    "memory": "it used up its memory",
    "output": "its reply was too long",
    "forbidden": "it made a system call that no tool needs",
    "crash": "the interpreter crashed",
    "exit": "it ended the process",
    "protocol": "it sent something that is no reply to the request",
    "gone": "it had been stopped before",
}
"""Why a worker was stopped, in words."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The code returned; ``value`` is a clean JSON value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Raised:
    """The code raised an exception.

    Attributes:
        kind: the exception's type name, e.g. ``"TimeoutError"``.
        text: its message, cut.
    """

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


@dataclass(frozen=True, slots=True)
class Unusable:
    """There is no such function, or its result is no JSON value within bounds; ``why`` says so."""

    why: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The worker was stopped and is gone.

    Attributes:
        cause: see :data:`CAUSES`.
        detail: what is known of it besides.
    """

    cause: Cause
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.cause}: {CAUSES[self.cause]}" + (f" ({self.detail})" if self.detail else "")


Outcome: TypeAlias = Returned | Raised | Unusable | Stopped
