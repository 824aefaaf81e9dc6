"""A module of tools at work in the sandbox. Its state is its history, so it can be copied and restarted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from toolenv.errors import ToolFault
from toolenv.sandbox import Limits, Raised, Returned, Stopped, Unusable, Worker

Made: TypeAlias = tuple[str, Mapping[str, Any]]
"""A call that was made: function and arguments."""

LIMITS = Limits(network="refuse")
"""Upstream's tools ask the network first, and are written to do without."""


class StoppedToolError(ToolFault):
    """The sandbox stopped a tool.

    Args:
        message: which, and why.
        stopped: the sandbox's own words.
    """

    def __init__(self, message: str, stopped: Stopped) -> None:
        super().__init__(message)
        self.stopped = stopped

    def __reduce__(self) -> tuple[type, tuple[str, Stopped]]:
        return type(self), (str(self), self.stopped)


@dataclass(frozen=True)
class Module:
    """A module of tools, and how it is set up.

    Attributes:
        source: its text.
        name: what errors call it.
        environment: its environment variables.
        setup: calls made once it is loaded, before all others; their results are not looked at.
        limits: what it may use up.
        hash_seed: orders its sets of texts.
    """

    source: str
    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    setup: tuple[Made, ...] = ()
    limits: Limits = LIMITS
    hash_seed: int = 0


class Compartment:
    """One episode's instance of a module; not for several threads at once.

    The process starts with the first call. Its state is a function of the calls made, so a copy starts a
    process of its own and makes them again, and so does one whose process was stopped, without the call that
    it was stopped for.

    Args:
        module: the module.
        history: calls already made.
    """

    def __init__(self, module: Module, history: Sequence[Made] = ()) -> None:
        self._module, self.history = module, list(history)
        self._worker: Worker | None = None

    def call(self, function: str, arguments: Mapping[str, Any]) -> Returned | Raised:
        """Call a function.

        Raises:
            ToolFault: the module does not load, has no such function, returns no JSON value, or was stopped.
            SandboxUnavailableError: this machine cannot wall code in.
        """
        worker = self._started()
        outcome = worker.call(function, arguments)
        if isinstance(outcome, Stopped):
            self.close()
            raise StoppedToolError(f"{self._module.name}: {function}: {outcome}", outcome)
        if isinstance(outcome, Unusable):
            raise ToolFault(f"{self._module.name}: {function}: {outcome.why}")
        self.history.append((function, dict(arguments)))
        return outcome

    def copy(self) -> Compartment:
        """An independent copy; its process starts when it is needed."""
        return Compartment(self._module, self.history)

    def close(self) -> None:
        """Stop the process. A later call starts another, in the same state."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _started(self) -> Worker:
        if self._worker is None or not self._worker.is_alive:
            self._worker = self._start()
        return self._worker

    def _start(self) -> Worker:
        module = self._module
        worker = Worker(
            module.source,
            name=module.name,
            limits=module.limits,
            environment=module.environment,
            hash_seed=module.hash_seed,
        )
        outcomes = [("loading", worker.loaded)]
        if worker.loaded == Returned(None):
            outcomes += [(name, worker.call(name, given)) for name, given in (*module.setup, *self.history)]
        for name, outcome in outcomes:
            if isinstance(outcome, Stopped):
                raise StoppedToolError(f"{module.name}: {name}: {outcome}", outcome)
        if isinstance(worker.loaded, Raised):
            worker.close()
            raise ToolFault(f"{module.name} does not load: {worker.loaded}")
        return worker
