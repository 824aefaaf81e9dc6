"""What the checker of certificates asks of a suite."""

from __future__ import annotations

from typing import Protocol

from toolenv.feasibility.certificates.records import Claim
from toolenv.task import Score, Task
from toolenv.trace import Trace


class Rules(Protocol):
    """What certificates about a suite rest on. A suite keeps them in a module ``rules`` of its package.

    Attributes:
        version: changes with whatever makes a certificate valid or not.
    """

    version: str

    def outcome(self, task: Task, trace: Trace) -> Score:
        """Whether a trace brings about all that the task asks for, whatever the judge wants beyond that.

        Whatever satisfies the judge does.
        """
        ...

    def problem(self, task: Task, claim: Claim) -> str:
        """What is wrong with a claim about a masked task; empty if it holds, for any call of any agent."""
        ...


class NoRules:
    """The rules of a suite that has none: no claim holds, and no outcome counts but the judge's."""

    version = "none"

    def outcome(self, task: Task, trace: Trace) -> Score:
        """What the judge says."""
        return task.reference.score(trace)

    def problem(self, task: Task, claim: Claim) -> str:
        """Always one."""
        return "this suite has no rules by which a claim could hold"
