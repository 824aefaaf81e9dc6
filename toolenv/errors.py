"""Every exception toolenv raises on purpose.

::

    ToolEnvError
    ├── UsageError              the caller's mistake; names the value and the nearest good one
    │   ├── UnknownNameError    an id, subset, task, agent or keyword that does not exist
    │   ├── SchemaError         a tool schema or function signature that cannot be used
    │   └── NoActionError       what a policy, or the caller of step(), gave is no action
    ├── DataError               data on disk
    │   ├── DataMissingError    absent; the message holds the command that fetches it
    │   │   └── MasksMissingError   a mask manifest; it is made, not fetched
    │   └── DataCorruptError    present, but not what the manifest says
    ├── StoreError              a run directory that cannot be written, resumed or read
    ├── ServerError             a model server failed; the episode is invalid
    │   ├── PreflightError      … before any work was done
    │   └── DeadlineError       … or was too slow: the episode ran out of time
    ├── SandboxUnavailableError this machine cannot wall untrusted code in, so none is run
    ├── ContextWindowError      the conversation no longer fits the model; the episode failed, validly
    ├── ToolFault               a bug inside a tool: the environment's fault, never the agent's
    └── ReplayError             a recorded episode does not repeat: the environment's fault, too

    ToolError                   not an error of ours: a tool's *designed* failure, shown to the agent

An agent's mistake is never an exception: it is a :class:`toolenv.types.ToolResult` the agent reads.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

MOST_SHOWN = 40
"""How many of the names that exist an error lists; all agents fit."""


RAISED = (Exception, SystemExit, GeneratorExit)
"""What code that others wrote may raise: ``sys.exit`` in it ends its episode; Ctrl-C alone ends the run."""

FEWEST_CONTAINED = 4
"""So many characters of a name have to be given for the names that hold them whole to come first."""

ALIKE = 0.6
"""How alike two names are that one may have been meant for the other, whatever they begin or end with."""

SHARED = 3
"""So many first or last characters in common make up for less likeness, as of ``tau`` and ``TauBench``."""


def nearest(name: str, known: Iterable[str], cutoff: float | None = None) -> list[str]:
    """The names most like ``name``, at most three, best first; capitals do not count.

    Where there is none so like it, those that hold it whole.

    Args:
        name: what was looked for.
        known: the names that exist.
        cutoff: how alike they must be, from 0 to 1; see :func:`difflib.get_close_matches`. By default so
            alike that they may have been meant: names with half their letters in common often were not.
    """
    by_folded: dict[str, list[str]] = {}
    for one in known:
        by_folded.setdefault(one.casefold(), []).append(one)
    wanted = name.casefold()
    if cutoff is None:
        close = [one for one in _close(wanted, by_folded, 0.5) if _may_be_meant(wanted, one)]
    else:
        close = _close(wanted, by_folded, cutoff)
    if len(name) >= FEWEST_CONTAINED and not close:
        close = [folded for folded in by_folded if wanted in folded]
    return [one for folded in close for one in by_folded[folded]][:3]


def _close(wanted: str, known: Iterable[str], cutoff: float) -> list[str]:
    return difflib.get_close_matches(wanted, known, n=3, cutoff=cutoff)


def _may_be_meant(wanted: str, close: str) -> bool:
    """Of two names with half their letters in common."""
    return (
        len(wanted) < SHARED
        or close.startswith(wanted[:SHARED])
        or close.endswith(wanted[-SHARED:])
        or wanted in close
        or difflib.SequenceMatcher(None, close, wanted).ratio() >= ALIKE
    )


def words_of(error: BaseException) -> str:
    """``TypeError: what it says``, also of an exception whose own ``str()`` raises."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except RAISED as second:
        return f"{name}, whose str() raises {type(second).__name__}"


def traceback_of(error: BaseException) -> str:
    """The traceback, also of an exception that cannot be written out."""
    import traceback

    try:
        return "".join(traceback.format_exception(error))
    except RAISED:
        return words_of(error)


class ToolEnvError(Exception):
    """Base of every exception in this tree."""


class UsageError(ToolEnvError, ValueError):
    """The caller passed something that cannot be used."""


class UnknownNameError(UsageError):
    """A name that does not exist; the message offers the nearest that do.

    Args:
        kind: what was looked up, e.g. ``"subset"``.
        name: the name that was not found.
        known: the names that exist.
        where: where the name stood, e.g. ``"suite BFCL"``.
        more: what else helps.
    """

    def __init__(
        self, kind: str, name: object, known: Iterable[str], where: str = "", more: str = ""
    ) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        super().__init__(self._text(where) + (f" ({more})" if more else ""))

    def _text(self, where: str) -> str:
        near = nearest(str(self.name), self.known)
        place = f" in {where}" if where else ""
        if near:
            advice = f"did you mean {' or '.join(repr(one) for one in near)}?"
        elif len(self.known) > MOST_SHOWN:  # the beginning of a long list helps nobody
            closest = " or ".join(map(repr, nearest(str(self.name), self.known, cutoff=0.1)))
            nearest_are = closest and f"; the nearest: {closest}"
            advice = f"there are {len(self.known):,}, none like it{nearest_are}"
        elif self.known:
            advice = f"known: {', '.join(self.known)}"
        else:
            advice = "there are none"
        return f"unknown {self.kind} {self.name!r}{place}; {advice}"

    def __reduce__(self) -> tuple[type, tuple[str, object, list[str]]]:
        return type(self), (self.kind, self.name, self.known)


class SchemaError(UsageError):
    """A tool's schema or signature cannot be turned into JSON Schema."""


class NoActionError(UsageError):
    """What was given is no action.

    Args:
        giver: who gave it.
        problem: which part of it is wrong, and how.
    """

    def __init__(self, giver: str, problem: str) -> None:
        super().__init__(f"{giver} gave no action: {problem}")
        self.giver, self.problem = giver, problem

    def __reduce__(self) -> tuple[Any, ...]:
        return NoActionError, (self.giver, self.problem)


class DataError(ToolEnvError):
    """Something is wrong with data on disk."""


class DataMissingError(DataError, FileNotFoundError):
    """Data that a suite needs is absent; the message names the command that fetches it."""


class MasksMissingError(DataMissingError):
    """There is no mask manifest. Environments without masked tools need none."""


class DataCorruptError(DataError):
    """Data is present but does not match the pinned manifest."""


class StoreError(ToolEnvError):
    """A run directory cannot be written, resumed or read."""


class ServerError(ToolEnvError):
    """A model server failed. Episodes that meet one are invalid, never scored.

    Attributes:
        usage: a :class:`toolenv.types.Usage` with the tokens of the failed attempts, or ``None``.
        trouble: what happened, of :data:`toolenv.trouble.TROUBLES`.
        role: whose server it was, in a policy made of several, or ``user``, ``simulator``; mostly ``""``.
        ledger: ``usage`` by role, where there are roles.
    """

    def __init__(
        self, message: str, usage: Any = None, *, trouble: str = "server/other", role: str = ""
    ) -> None:
        super().__init__(message)
        self.usage, self.trouble, self.role = usage, trouble, role
        self.ledger: dict[str, Any] = {}


class PreflightError(ServerError):
    """The one request made before a run failed, so that no episode was started."""


class DeadlineError(ServerError):
    """An episode's time ran out while it waited for a server. It is invalid, and not played again."""

    def __init__(self, message: str, usage: Any = None, *, role: str = "") -> None:
        super().__init__(message, usage, trouble="budget/deadline", role=role)


class ContextWindowError(ToolEnvError):
    """The conversation is longer than the model's context window.

    The same request would fail again, so it is not retried; the agent's episode failed and stays valid.

    Attributes:
        usage: a :class:`toolenv.types.Usage` with the tokens of the failed attempts, or ``None``.
        trouble, role, ledger: as of :class:`ServerError`.
    """

    def __init__(self, message: str, usage: Any = None, *, role: str = "") -> None:
        super().__init__(message)
        self.usage, self.trouble, self.role = usage, "budget/context_window", role
        self.ledger: dict[str, Any] = {}


class SandboxUnavailableError(ToolEnvError):
    """The machine offers too little to wall untrusted code in; nothing was run."""


def server_error_of(role: str, error: ServerError | ContextWindowError, whose: str) -> ServerError:
    """The failure of a server behind the world, such as a simulated user's, as one that is not the agent's.

    Args:
        role: who asked it.
        error: what happened. A deadline stays one; an outgrown context is no outcome of the agent's.
        whose: words to put before the message.
    """
    told = f"{whose}: {error}"
    if isinstance(error, DeadlineError):
        return DeadlineError(told, error.usage, role=role)
    return ServerError(told, error.usage, trouble=error.trouble, role=role)


class ToolFault(ToolEnvError):
    """A bug inside a tool: the environment is at fault and the episode is invalid."""


class ReplayError(ToolEnvError):
    """A recorded episode, played again, meets other results: its tools or its data are not what they were."""


class ToolError(Exception):
    """A tool's designed failure (a bad password, no such order). The agent reads its text."""
