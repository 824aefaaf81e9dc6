"""Tool modules described, without running them: the outline program does it, itself in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from toolenv.sandbox import Limits, Returned, Stopped, Unusable, Worker
from toolenv.types import ToolSpec

PROGRAM = Path(__file__).parent / "outline.py"
_LIMITS = Limits(seconds=20.0, reply=8 << 20)


@dataclass(frozen=True, slots=True)
class Outline:
    """What a module says of itself.

    Attributes:
        functions: description and parameters (JSON Schema) by name.
        hints: ``EXCEPTION_HINTS``, if it has them as a literal.
        problem: why it could not be read; then the others are empty.
    """

    functions: Mapping[str, Mapping[str, Any]]
    hints: Mapping[str, Any] | None = None
    problem: str = ""

    def spec(self, name: str) -> ToolSpec | None:
        """A function as a tool; ``None`` if there is none of that name."""
        found = self.functions.get(name)
        return None if found is None else ToolSpec(name, found["description"], found["parameters"])


class OutlineReader:
    """Describes modules; a context manager. A text that brings the parser down costs a new process."""

    def __init__(self) -> None:
        self._worker: Worker | None = None

    def read(self, source: str) -> Outline:
        """The outline of a module's text.

        Raises:
            SandboxUnavailableError: this machine cannot wall code in.
        """
        if self._worker is None or not self._worker.is_alive:
            self._worker = Worker(PROGRAM.read_text(encoding="utf-8"), name=PROGRAM.name, limits=_LIMITS)
        outcome = self._worker.call("outline", {"source": source})
        if isinstance(outcome, Stopped):
            return Outline({}, problem=f"reading it brought Python down ({outcome.cause})")
        if not isinstance(outcome, Returned):
            return Outline({}, problem=outcome.why if isinstance(outcome, Unusable) else str(outcome))
        found = outcome.value
        return Outline(found.get("functions", {}), found.get("hints"), found.get("problem", ""))

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.close()

    def __enter__(self) -> OutlineReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
