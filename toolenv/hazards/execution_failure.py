"""Execution failure: a valid call reaches the tool, and running it fails (paper 2, §3).

Transient failures end after a bounded number of calls of the tool; persistent ones do not, and another tool
that is documented to tell the same facts works.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from toolenv.hazards.base import Instance, Site, Subject, checked_mode
from toolenv.hazards.settings import BESIDE, Setting
from toolenv.kernel.perturbed import Answer, Hazard, Perturbed
from toolenv.kernel.protocol import Slot
from toolenv.seeding import mix
from toolenv.types import ToolCall, ToolResult, ToolSpec

MOST_FAILURES = 2
"""Calls that a transient failure swallows at most."""

_CAUSES: Mapping[str, tuple[str, ...]] = {
    "timeout": (
        "Error: {tool} timed out: no response within {seconds} seconds.",
        "Error: deadline exceeded while waiting for {tool} ({seconds} s).",
    ),
    "connection": (
        "Error: the connection to {tool} was reset by the peer.",
        "Error: could not connect to {tool}: connection refused.",
    ),
    "runtime": (
        "Error: {tool} raised an internal error (status 500, incident {incident}).",
        "Error: {tool} stopped with an unhandled exception (incident {incident}).",
    ),
    "parse": (
        "Error: the output of {tool} could not be parsed: unexpected end of input at character {character}.",
        "Error: {tool} sent an incomplete body: invalid JSON at character {character}.",
    ),
}

_FAILURES = Setting(
    f"a whole number from 1 to {MOST_FAILURES}",
    lambda value: type(value) is int and 1 <= value <= MOST_FAILURES,
)


class ExecutionFailure:
    """Timeouts, connection errors, runtime exceptions and parsing failures; transient or persistent."""

    name = "execution-failure"
    modes: Mapping[str, str] = {
        f"{lasting}-{cause}": f"{cause} errors, {words}"
        for lasting, words in (
            ("transient", f"which end after at most {MOST_FAILURES} calls of the tool"),
            ("persistent", "which do not end, while another tool tells the same"),
        )
        for cause in _CAUSES
    }
    settings: Mapping[str, Mapping[str, Setting]] = {
        **{f"transient-{cause}": {"failures": _FAILURES, "also": BESIDE["also"]} for cause in _CAUSES},
        **{f"persistent-{cause}": {} for cause in _CAUSES},
    }
    needs = "the solution calls no tool that works"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every tool of the solution: persistent where another tool tells the same, transient elsewhere."""
        for tool in subject.working:
            for cause in _CAUSES:
                if subject.is_replaceable(tool):
                    yield Site(f"persistent-{cause}", tool, {})
                    continue
                for failures in range(1, MOST_FAILURES + 1):
                    yield Site(f"transient-{cause}", tool, {"failures": failures})

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        checked_mode(self, instance)
        return FailingTool(instance)

    def hint(self, instance: Instance) -> str:
        """What fails, and whether to retry or to switch."""
        if "failures" in instance.parameters:
            return f"The tool {instance.tool} fails at first. The failure is temporary: call it again."
        return f"The tool {instance.tool} is down for good. Use another tool that tells the same."


KIND = ExecutionFailure()


def confusable_instances(subject: Subject, groups: Sequence[Sequence[str]], seed: int) -> list[Instance]:
    """Transient failures of whole groups of tools that stand in for each other, in the order of ``seed``.

    Args:
        subject: the task and its clean solution.
        groups: the groups; the first tool of each is one that the solution calls.
        seed: chooses causes and the first group.
    """
    found = []
    for group in groups:
        first = Instance(subject.task.id, KIND.name, "", group[0], seed)
        cause = tuple(_CAUSES)[first.draw("cause") % len(_CAUSES)]
        settings = {"failures": MOST_FAILURES, "also": list(group[1:])}
        found.append(replace(first, mode=f"transient-{cause}", parameters=settings))
    start = mix("confusable", seed, subject.task.id) % max(1, len(found))
    return found[start:] + found[:start]


WITHDRAWN = "Error: {tool} has been withdrawn and is no longer provided."


class FailingTool:
    """Tools whose calls fail: the first few, or all.

    Args:
        instance: ``parameters`` holds the number of ``failures``; all calls fail where it does not. ``also``
        names
            tools that fail beside the armed one. ``withdrawn`` says that after the failures, which look as
            ever, the tools turn out to be gone: then nothing is to be recovered.
    """

    def __init__(self, instance: Instance) -> None:
        self.armed, self.facts = instance.armed, instance.facts
        self._instance = instance
        self._failures: int | None = instance.parameters.get("failures")
        self._withdrawn = bool(instance.parameters.get("withdrawn"))
        self._texts = _CAUSES[instance.mode.partition("-")[2]]

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The documentation stays as it was."""
        return offered

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> Perturbed:
        """A failure without effect on the world; what is wrong with a call itself is said as ever."""
        ended = self._failures is not None and slot.attempt >= self._failures
        if ended and not self._withdrawn:
            return Perturbed(answer(call))
        clean = answer.aside(call)
        if clean.kind in ("invalid_arguments", "unknown_tool"):
            return Perturbed(clean)
        text = WITHDRAWN.format(tool=call.name) if ended else self._text(call.name, slot)
        return Perturbed(ToolResult(text, "tool_error"), clean)

    def _text(self, tool: str, slot: Slot) -> str:
        draw = self._instance.draw("text", tool, slot.attempt)
        text = self._texts[draw % len(self._texts)]
        return text.format(
            tool=tool,
            seconds=(10, 15, 30, 60)[draw // 8 % 4],
            incident=f"{draw // 64 % 0xFFFFFF:06x}",
            character=20 + draw // 64 % 400,
        )
