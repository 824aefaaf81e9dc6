"""The contract of a suite: what is asked, the world that answers, which tools are critical."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from toolenv.errors import UnknownNameError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.hashed_json import given_path
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.corrections import Action, Corrections
    from toolenv.hazards.base import Instance
    from toolenv.hazards.manifest import HazardManifest


class Suite(Protocol):
    """A data set as tasks. One module of ``envs_registry`` holds one; it is all that knows the data.

    Attributes:
        name: as in ids, e.g. ``"BFCL"``.
        subsets: the names ``subset=`` takes.
        unavailable: names a user may expect among the subsets, with the reason they are not there.
        default_subset: what an id means when no subset is named.
        max_turns: the cap on decisions per user turn (paper 1, Appendix C).
        data: the key of ``toolenv data pull``, or ``""`` for a suite that needs none.
    """

    name: str
    subsets: tuple[str, ...]
    unavailable: Mapping[str, str]
    default_subset: str
    max_turns: int
    data: str

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset, clean, in a fixed order. Cached: the same objects each time.

        Raises:
            DataMissingError: with the command that fetches the data.
            DataCorruptError: the data is not the pinned version.
        """
        ...

    def masks(self, subset: str) -> MaskManifest:
        """The critical tools of a subset's tasks, from a manifest file; never computed here."""
        ...

    def world(self, task: Task, seed: int) -> World:
        """A fresh world for one episode; shares nothing mutable with any other."""
        ...

    def arguments(self, task: Task) -> ArgumentPolicy:
        """What happens to arguments that break a tool's schema."""
        ...

    def result_limit(self, task: Task) -> int | None:
        """Characters of a result an agent sees; ``None`` for no limit."""
        ...


# What only some suites have; a suite that lacks one of these needs to say nothing.


@runtime_checkable
class Configurable(Protocol):
    """A suite with settings of its own, which ``gymnasium.make(id, NAME=…)`` passes on.

    Attributes:
        options: the names of the settings.
    """

    options: tuple[str, ...]

    def configured(self, **options: Any) -> Suite:
        """The suite with some settings changed.

        Raises:
            UsageError: a value that cannot be used.
        """
        ...


@runtime_checkable
class Correctable(Protocol):
    """A suite whose tasks' answers a file may correct; it has a setting ``corrections``.

    Attributes:
        corrections: those that its tasks are as; ``None`` for the data set's own answers.
    """

    corrections: Corrections | None


@runtime_checkable
class Derived(Protocol):
    """A suite whose data set keeps part of its data as source code, which is read as data."""

    def derive(self, upstream: Path, target: Path) -> None:
        """Make the derived parts of an upstream copy; a :data:`toolenv.data.pull.Derivation`."""
        ...


@runtime_checkable
class Questionable(Protocol):
    """A suite that knows how its tasks' data may disagree with itself."""

    def warnings(self, task: Task) -> tuple[str, ...]:
        """What is odd about a task, a line each, for people (FIELD-063, FIELD-114)."""
        ...


@runtime_checkable
class Answering(Protocol):
    """A suite whose tasks have an answer that an agent must not be told before it has called a tool."""

    def leaked_answer(self, task: Task, text: str) -> str:
        """The form of a task's answer that a text holds, exact or normalised; empty if it holds none.

        Paper 2, appendix (answer-leakage check): case, white space, punctuation, units and the usual forms of
        numbers make no difference.
        """
        ...


OWN_MODE = "upstream"
"""The mode of an instance whose perturbation is in the data set's own code."""


@runtime_checkable
class BringsHazards(Protocol):
    """A suite whose data set perturbs its tools itself: a hazard is other tools, not a wrapped kernel.

    Attributes:
        own_hazards: the conditions it has for that; ids exist for them whether its data is there or not.
    """

    own_hazards: tuple[str, ...]

    def hazard_manifest(self, condition: str) -> HazardManifest:
        """What is armed on which task. A witness is empty where the data set has no recovery path."""
        ...

    def perturbed_world(self, task: Task, instance: Instance, seed: int) -> World:
        """A fresh world with the perturbed tools.

        The record of every result says under ``"hazard"`` what :class:`toolenv.kernel.PerturbedKernel` says.
        """
        ...


class TaskTable(NamedTuple):
    """A subset that is never there as a whole.

    Attributes:
        ids: every task id, in order; as many as one likes, and cheap to index and to search.
        clean, masked: a task by its id, as it is and without its critical tools.
        hash: names what generates them.
    """

    ids: Sequence[str]
    clean: Mapping[str, Task]
    masked: Mapping[str, Task]
    hash: str


@runtime_checkable
class Generated(Protocol):
    """A suite with subsets whose tasks are made when they are asked for, so that they may be endless.

    Attributes:
        on_demand: the names of those subsets; environments do not ask ``tasks`` and ``masks`` for them.
    """

    on_demand: tuple[str, ...]

    def table(self, subset: str) -> TaskTable:
        """Such a subset."""
        ...


def configured(suite: Suite, options: Mapping[str, Any], beside: Iterable[str] = ()) -> Suite:
    """A suite with settings of its own.

    Args:
        suite: the suite.
        options: its settings.
        beside: what else could have been given, which a name that it does not know may be meant for.

    Raises:
        UnknownNameError: it has no such setting.
        UsageError: a value that cannot be used.
    """
    if not options:
        return suite
    known = suite.options if isinstance(suite, Configurable) else ()
    for name in options:
        if name not in known:
            raise UnknownNameError("option", name, {*known, *beside}, where=f"suite {suite.name}")
    assert isinstance(suite, Configurable)
    return suite.configured(**options)


def corrections_for(
    suite: Suite, path: str | Path | None, actions: Sequence[Action] | None = None
) -> Corrections | None:
    """The corrections of a suite's tasks in a file; ``None`` without a file.

    Args:
        suite: the suite as its data set has it.
        path: the file.
        actions: what the suite can do to a task.

    Raises:
        DataError, UsageError: see :func:`toolenv.corrections.read_corrections`.
    """
    if path is None:
        return None
    from toolenv.corrections import ACTIONS, read_corrections

    manifests = [suite.masks(subset) for subset in suite.subsets]
    known = {task_id for one in manifests for task_id in (*one.masks, *one.excluded)}
    found, data = given_path("corrections", path), manifests[0].data
    return read_corrections(found, suite.name, known, data, actions or ACTIONS)


def corrections_of(suite: Suite) -> Corrections | None:
    """The corrections that a suite's tasks are as."""
    return suite.corrections if isinstance(suite, Correctable) else None


def equivalent_tools(suite: Suite, task: Task, tools: frozenset[str]) -> frozenset[str]:
    """The tools of a task that can stand in for one of ``tools``; they are critical if those are.

    A suite that knows of some says so in a method ``equivalent_tools(task, tools)``.
    """
    find = getattr(suite, "equivalent_tools", None)
    found: frozenset[str] = frozenset() if find is None else find(task, tools)
    return found


def inert_tools(suite: Suite) -> frozenset[str]:
    """The tools that change nothing and feed nothing; they are never critical.

    A suite that has some names them in an attribute ``inert_tools``.
    """
    found: frozenset[str] = getattr(suite, "inert_tools", frozenset())
    return found


def only_computes(suite: Suite) -> bool:
    """Whether nothing that an episode of a suite does waits for a server, another process or a disk.

    One thread then moves all the episodes of a run. A suite of which that is true says so in an attribute
    ``only_computes``; for others threads are taken, which is never wrong.
    """
    found: bool = getattr(suite, "only_computes", False)
    return found


def lookup_tools(suite: Suite) -> frozenset[str]:
    """The tools that change nothing and whose whole result is one value, such as an id.

    Where the query holds that value already, masking them takes nothing away. A suite that has some names
    them in an attribute ``lookup_tools``.
    """
    found: frozenset[str] = getattr(suite, "lookup_tools", frozenset())
    return found


def indispensable_tools(suite: Suite, task: Task) -> tuple[tuple[str, ...], ...]:
    """Groups of tools: without all tools of any one of them a task cannot be done.

    The first of each is one that the task's solution calls. A suite that knows some has a method
    ``indispensable``; nobody has to.
    """
    known = getattr(suite, "indispensable", None)
    return () if known is None else tuple(known(task))


def hazard_manifests(suite: Suite) -> Mapping[str, Path]:
    """The hazard manifests a suite ships, by condition, sorted: ``output-drift.json`` is ``output-drift``'s.

    A suite that has some names their folder in an attribute ``hazards``.
    """
    folder: Path | None = getattr(suite, "hazards", None)
    return {} if folder is None else {path.stem: path for path in sorted(folder.glob("*.json"))}
