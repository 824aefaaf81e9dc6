"""What all hazards share: what one is fitted to, an instance of one, and the contract of a kind.

A *kind* is one of paper 2's five hazards. An *instance* is one armed on one tool of one task; it is plain
data, so that the same bytes give the same perturbation in any process, and every arm of a study meets the
same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from toolenv.errors import DataCorruptError, UsageError
from toolenv.hazards.forms import shown_again, value_of
from toolenv.hazards.settings import Setting
from toolenv.kernel.perturbed import Answer, Hazard, Perturbed
from toolenv.kernel.protocol import Slot
from toolenv.plan import Contract, Plan, Use
from toolenv.quick import new_tuple
from toolenv.seeding import mix
from toolenv.task import Task
from toolenv.types import ToolCall, ToolResult, ToolSpec

MOST_REMEMBERED = 256
"""Changed results that one hazard keeps: a task that is played again and again meets the same ones."""


@dataclass(frozen=True)
class Subject:
    """What a hazard is fitted to: a task and one clean solution of it.

    Attributes:
        task: the task.
        plan: how the solution depends on what tools tell.
        calls: the plan's calls as they were made on the clean kernel, with their results.
    """

    task: Task
    plan: Plan
    calls: tuple[tuple[ToolCall, ToolResult], ...]

    def uses_by_tool(self) -> dict[str, list[Use]]:
        """What the plan takes from each tool's results, tools in the order of their first call."""
        found: dict[str, list[Use]] = {call.tool: [] for call in self.plan.calls}
        for use in self.plan.uses:
            found[self.plan.calls[use.taken.call].tool].append(use)
        return found

    def contract(self, tool: str) -> Contract:
        """What is documented of a tool's result."""
        return self.plan.contract(tool)

    @property
    def working(self) -> tuple[str, ...]:
        """The solution's tools that worked, in the order of their first call."""
        return tuple(dict.fromkeys(call.name for call, result in self.calls if result.kind == "ok"))

    def is_replaceable(self, tool: str) -> bool:
        """Whether another tool is documented to tell the same.

        What only shows as an error is no reason to do anything but switch there, whatever its cause.
        """
        return bool(self.contract(tool).sources)

    def calls_of(self, tool: str) -> tuple[tuple[ToolCall, ToolResult], ...]:
        """The solution's calls of a tool, with their results."""
        return tuple(pair for pair in self.calls if pair[0].name == tool)


class Site(NamedTuple):
    """A place where a hazard fits: which mode, on which tool, with which settings (JSON values)."""

    mode: str
    tool: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Instance:
    """One hazard armed on one task.

    Attributes:
        task_id: the task.
        hazard: the kind's name, e.g. ``"output-drift"``.
        mode: one of the kind's modes.
        tool: the armed tool.
        seed: chose the site among those that fit, and every choice within it.
        parameters: the mode's settings, JSON values.
    """

    task_id: str
    hazard: str
    mode: str
    tool: str
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def armed(self) -> frozenset[str]:
        """The armed tool, and those that are armed beside it."""
        return frozenset((self.tool, *self.parameters.get("also", ())))

    def withdrawn(self) -> Instance:
        """An execution failure that looks the same at first and never ends: the task is infeasible."""
        return replace(self, parameters={**self.parameters, "withdrawn": True})

    @property
    def facts(self) -> Mapping[str, Any]:
        """What traces say of it."""
        return {"name": self.hazard, "mode": self.mode, "tool": self.tool, "seed": self.seed}

    def draw(self, *purpose: int | str) -> int:
        """A uniform 64-bit integer that depends on seed, task, tool and purpose alone."""
        return mix("hazard", self.seed, self.task_id, self.hazard, self.tool, *purpose)


class Kind(Protocol):
    """A hazard, such as the five of paper 2; a module of this package that has one names it ``KIND``.

    Attributes:
        name: the paper's name with dashes, as in ids.
        modes: what each mode does, by name.
        settings: the parameters of an instance in each mode, by name.
        needs: what a task must have for the hazard to fit, as the end of ``"… does not fit: "``.
    """

    name: str
    modes: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Setting]]
    needs: str

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every place where the hazard fits."""
        ...

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        ...

    def hint(self, instance: Instance) -> str:
        """What is wrong and what to do about it, for the Hint arm (paper 2, §4); never the answer."""
        ...


class HazardMisfitError(UsageError):
    """A hazard was asked for where it does not fit.

    Args:
        hazard, task_id: what was asked for.
        reason: what the task lacks.
    """

    def __init__(self, hazard: str, task_id: str, reason: str) -> None:
        self.hazard, self.task_id, self.reason = hazard, task_id, reason
        super().__init__(f"{hazard} does not fit task {task_id!r}: {reason}")

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.hazard, self.task_id, self.reason)


def candidates(kind: Kind, subject: Subject, seed: int) -> list[Instance]:
    """Every instance of a hazard on a task, in the order in which ``seed`` prefers them.

    Modes are shuffled, so that each that fits is as likely as any; its sites begin at a place drawn.

    Raises:
        HazardMisfitError: there is none; the message says what is missing.
    """
    task_id, by_mode = subject.task.id, dict[str, list[Site]]()
    for site in kind.sites(subject):
        by_mode.setdefault(site.mode, []).append(site)
    if not by_mode:
        raise HazardMisfitError(kind.name, task_id, kind.needs)
    ranks = {mode: mix("mode", seed, task_id, kind.name, mode) for mode in by_mode}
    return [
        Instance(task_id, kind.name, site.mode, site.tool, seed, site.parameters)
        for mode in sorted(by_mode, key=ranks.__getitem__)
        for site in _rotated(by_mode[mode], ranks[mode])
    ]


def _rotated(sites: Sequence[Site], by: int) -> Iterator[Site]:
    first = by // 64 % len(sites)
    yield from sites[first:]
    yield from sites[:first]


def checked_mode(kind: Kind, instance: Instance) -> str:
    """The instance's mode.

    Raises:
        DataCorruptError: the kind has no such mode.
    """
    if instance.mode not in kind.modes:
        raise DataCorruptError(
            f"task {instance.task_id!r}: {kind.name} has no mode {instance.mode!r}; "
            f"it has {sorted(kind.modes)}"
        )
    return instance.mode


class OutputHazard:
    """A hazard that changes what a tool's successful results look like; all else passes.

    Args:
        instance: what is armed.
        change_of: of an instance, what makes a result's value its perturbed form, made anew; an equal value
            where nothing is to change. That depends on nothing but the value, so that what was changed before
            need not be changed again. A function of a module, or no episode with the hazard can be pickled.
    """

    def __init__(self, instance: Instance, change_of: Callable[[Instance], Callable[[Any], Any]]) -> None:
        self.armed, self.facts = instance.armed, instance.facts
        self._made_of, self._change = (instance, change_of), change_of(instance)
        self._known: dict[str, ToolResult | None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The documentation stays as it was."""
        return offered

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> Perturbed:
        """The changed result of a call that worked."""
        clean = answer(call)
        changed = self.changed(clean)
        return Perturbed(clean) if changed is None else Perturbed(changed, clean)

    def changed(self, clean: ToolResult) -> ToolResult | None:
        """The changed result; ``None`` where nothing is to change."""
        content, kind, full, record = clean
        if kind != "ok":
            return None
        text = content if full is None else full
        changed = self._known.get(text, clean)
        if changed is clean:
            value = value_of(clean)
            other = self._change(value)
            changed = None if other == value else shown_again(other, clean)
            self._remember(text, changed)
        if changed is None or changed.record is record:
            return changed
        return new_tuple(ToolResult, (changed.content, "ok", changed.full, record))

    def _remember(self, text: str, changed: ToolResult | None) -> None:
        """``None`` if nothing is to change. A world may give any number of results."""
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[text] = changed
