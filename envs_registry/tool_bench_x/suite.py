"""The ToolBenchX suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolenv.errors import DataMissingError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.hashed_json import given_path
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.seeding import mix
from toolenv.task import Task

if TYPE_CHECKING:
    from envs_registry.tool_bench_x.load import Loaded
    from toolenv.hazards import Instance
    from toolenv.hazards.manifest import HazardManifest, ProvedInstance

WORKFLOWS = ("sequential", "parallel", "mixture")
ALL = "default"
ANY = "hazard"
OWN_HAZARDS = (
    "cross-source-conflict",
    "execution-failure",
    ANY,
    "invocation-error",
    "output-drift",
    "specification-drift",
)
MASKS = "The critical tools are those that a task's record says it takes; all others are distractors."
RECOVERY = (
    "The data set's own perturbed tools; recovery paths are those of its records, where they have some."
)


class ToolBenchX:
    """ToolBench-X's tasks, or any in its layout; its tools run in the sandbox.

    Args:
        folder: a tree to read in place; ``None`` is what ``toolenv data pull`` has put into the cache.
    """

    name = "ToolBenchX"
    subsets: tuple[str, ...] = (ALL, *WORKFLOWS)
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = ALL
    # The paper's cap on interaction rounds.
    max_turns = 10
    data = "tool-bench-x"
    options = ("folder",)
    own_hazards = OWN_HAZARDS

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def configured(self, folder: str | Path | None = None) -> ToolBenchX:
        """The suite on a tree of one's own, e.g. one that ``toolenv generate`` has written.

        Raises:
            DataMissingError: there is no such folder.
        """
        if folder is None:
            return ToolBenchX()
        path = given_path("folder", folder).expanduser().absolute()
        if not path.is_dir():
            raise DataMissingError(f"folder={str(folder)!r}: there is no such folder")
        return ToolBenchX(path)

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a workflow, or of all, in the order of files and records."""
        tasks = self._loaded().tasks
        return tasks if subset == ALL else tuple(one for one in tasks if one.metadata["workflow"] == subset)

    def masks(self, subset: str) -> MaskManifest:
        """The tools that a task takes. Upstream offers no others, so nothing is left; a flag says so."""
        tasks = self.tasks(subset)
        masks = {one.id: tuple(sorted(_taken(one))) for one in tasks}
        flags = {one.id: ("mask_empties_pool",) for one in tasks if len(one.tools) == len(masks[one.id])}
        return MaskManifest(self.name, subset, self._loaded().data, MASKS, masks, {}, flags)

    def world(self, task: Task, seed: int) -> World:
        """The clean tools, in a process of their own."""
        from envs_registry.tool_bench_x.compartment import Compartment
        from envs_registry.tool_bench_x.injection import clean_module
        from envs_registry.tool_bench_x.world import ToolWorld

        return ToolWorld(Compartment(clean_module(task.metadata["source"], task.id, _prompt(task))))

    def perturbed_world(self, task: Task, instance: Instance, seed: int) -> World:
        """See :class:`toolenv.suite.BringsHazards`."""
        from envs_registry.tool_bench_x.compartment import Compartment
        from envs_registry.tool_bench_x.injection import clean_module, perturbed_module
        from envs_registry.tool_bench_x.world import PerturbedToolWorld

        source = self._loaded().perturbed[task.id][instance.hazard].source
        clean = clean_module(task.metadata["source"], task.id, _prompt(task))
        perturbed = perturbed_module(source, f"{task.id} ({instance.hazard})", _prompt(task), instance.seed)
        return PerturbedToolWorld(Compartment(perturbed), Compartment(clean), instance.facts)

    def hazard_manifest(self, condition: str) -> HazardManifest:
        """See :class:`toolenv.suite.BringsHazards`."""
        from toolenv.hazards.manifest import HazardManifest

        loaded = self._loaded()
        tasks = {}
        for task in loaded.tasks:
            proved = loaded.proved.get(task.id, {})
            chosen = _any(task.id, proved) if condition == ANY else proved.get(condition)
            if chosen is not None:
                tasks[task.id] = (chosen,)
        reason = f"the data set has no tools perturbed by {condition} for it"
        excluded = {one.id: reason for one in loaded.tasks if one.id not in tasks}
        return HazardManifest(self.name, condition, loaded.data, RECOVERY, tasks, excluded)

    def arguments(self, task: Task) -> ArgumentPolicy:
        """A number in quotation marks still means the number."""
        return "coerce"

    def result_limit(self, task: Task) -> int | None:
        """As good as none: a result is at most so long."""
        return 20_000

    def leaked_answer(self, task: Task, text: str) -> str:
        """See :class:`toolenv.suite.Answering`."""
        from envs_registry.tool_bench_x.answers import leaked_form
        from envs_registry.tool_bench_x.reference import ToolBenchXReference
        from toolenv.hazards.manifest import as_shipped

        reference = as_shipped(task).reference
        assert isinstance(reference, ToolBenchXReference)
        return leaked_form(reference.answer, text)

    def warnings(self, task: Task) -> tuple[str, ...]:
        """Records that stand in the tree but are no tasks; said once, with the first task."""
        loaded = self._loaded()
        if task.id != loaded.tasks[0].id:
            return ()
        return tuple(f"{name} is left out: {why}" for name, why in loaded.left_out.items())

    def _loaded(self) -> Loaded:
        return _load(self._place())

    def _place(self) -> Path:
        if self.folder is not None:
            return self.folder
        from envs_registry import data_store

        return data_store().require(self.data, "tasks", "tools")


def _prompt(task: Task) -> str:
    return task.messages[-1].content


def _taken(task: Task) -> tuple[str, ...]:
    """The tools that the record says a task takes: they stand first in the pool."""
    count: int = task.metadata["tool_count"]
    return tuple(tool.name for tool in task.tools[:count])


def _any(task_id: str, proved: Mapping[str, ProvedInstance]) -> ProvedInstance | None:
    """One of a task's hazards, drawn by its id."""
    names = sorted(proved)
    return proved[names[mix("hazard of a task", task_id) % len(names)]] if names else None


@lru_cache(maxsize=4)
def _load(folder: Path) -> Loaded:
    # Registering ids must not load what reads trees.
    from envs_registry.tool_bench_x.load import load

    return load(folder)
