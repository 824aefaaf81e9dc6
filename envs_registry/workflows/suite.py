"""The Workflows suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from toolenv.errors import UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.suite import TaskTable
from toolenv.task import Task

if TYPE_CHECKING:
    from envs_registry.workflows.contracts import ToolContract
    from envs_registry.workflows.identifiers import TaskNumber

MASKS = Path(__file__).parent / "masks"
HAZARDS = Path(__file__).parent / "hazards"

TRAINING_SEED = 1
"""Training tasks are of another seed than the evaluation set, so the two share nothing."""

TRAINING_SIZES: Mapping[str, int] = MappingProxyType({"train-1000": 1_000, "train-10000": 10_000})
VARIANTS: Mapping[str, int] = MappingProxyType({f"variant-{at}": at for at in (1, 2, 3)})

BY_CONSTRUCTION = (
    "Critical tools are those of the reference calls and their alternatives, which read the same facts from "
    "the other source; by construction no other tool of the pool tells what the answer depends on."
)


class Workflows:
    """Generated tasks in 84 declared worlds: sequential, parallel and mixture workflows of 2 to 8 tools."""

    name = "Workflows"
    only_computes = True
    subsets: tuple[str, ...] = ("default", *VARIANTS, *TRAINING_SIZES, "train")
    on_demand: tuple[str, ...] = (*TRAINING_SIZES, "train")
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = "default"
    # The longest reference makes 14 calls, which some agents make one at a time. Paper 2's own cap is 10.
    max_turns = 20
    data = ""
    hazards = HAZARDS

    def generate(self, seed: int, index: int) -> Task:
        """Task number ``index`` of a seed, a pure function of both; endless in either."""
        from envs_registry.workflows.generate import generate
        from envs_registry.workflows.identifiers import TaskNumber

        return generate(TaskNumber(seed, index))

    def variant(self, task_id: str, variant: int) -> Task:
        """The task of the same structure with other values, a control of contamination; 0 is the task itself.

        Raises:
            UsageError: no id of this suite, or a negative variant.
        """
        from envs_registry.workflows.generate import generate
        from envs_registry.workflows.identifiers import parse_task_id

        return generate(parse_task_id(task_id).with_variant(variant))

    def table(self, subset: str) -> TaskTable:
        """Training tasks, made when they are asked for."""
        from envs_registry.workflows.on_demand import WITHOUT_END, training_table

        return training_table(TRAINING_SEED, TRAINING_SIZES.get(subset, WITHOUT_END))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset, once per process; ``train`` has no end and cannot be had as a whole.

        Raises:
            UsageError: of ``train``.
        """
        if subset == "train":
            raise UsageError("subset 'train' has no end: take it from an environment, or `generate`")
        return _tasks(subset)

    def masks(self, subset: str) -> MaskManifest:
        """The masks of the frozen set are a file; variants share them, and training tasks carry their own.

        Raises:
            UsageError: of ``train``.
        """
        if subset == "train":
            raise UsageError("subset 'train' has no end, so that no manifest holds its masks")
        if subset in TRAINING_SIZES:
            return _training_masks(subset)
        return _frozen_masks() if subset == "default" else _variant_masks(subset)

    def world(self, task: Task, seed: int) -> World:
        """A fresh world; it does not depend on the seed."""
        from envs_registry.workflows.toolbox import get_toolbox
        from envs_registry.workflows.world import WorkflowWorld

        return WorkflowWorld(task.metadata["facts"], get_toolbox(task.metadata["subtopic"]).runners)

    def arguments(self, task: Task) -> ArgumentPolicy:
        """A number in quotation marks still means the number."""
        return "coerce"

    def result_limit(self, task: Task) -> int | None:
        """As good as none: results are short."""
        return 20_000

    def equivalent_tools(self, task: Task, tools: frozenset[str]) -> frozenset[str]:
        """The tools of a task that tell what some others tell: they are critical if those are."""
        contracts: Mapping[str, ToolContract] = task.metadata["blueprint"].contracts
        return frozenset(contracts[name].alternative for name in tools) & contracts.keys()

    def indispensable(self, task: Task) -> tuple[tuple[str, ...], ...]:
        """Groups of tools of which each alone is needed; see :func:`toolenv.suite.indispensable_tools`."""
        from envs_registry.workflows.indispensable import indispensable_groups

        return indispensable_groups(task.metadata["blueprint"])

    def leaked_answer(self, task: Task, text: str) -> str:
        """See :class:`toolenv.suite.Answering`."""
        from envs_registry.workflows.leakage import leaked_forms, squeeze

        squeezed = squeeze(text)
        return next(
            (form for form in leaked_forms(task.metadata["blueprint"].answer) if form in squeezed), ""
        )

    def warnings(self, task: Task) -> tuple[str, ...]:
        """What is wrong with a task's parts; nothing, unless the generator is broken."""
        from envs_registry.workflows.checks import problems

        return problems(task)


def subset_numbers(subset: str) -> tuple[TaskNumber, ...]:
    """The numbers of a subset's tasks, in order."""
    from envs_registry.workflows.evaluation import evaluation_numbers
    from envs_registry.workflows.identifiers import TaskNumber

    if subset in TRAINING_SIZES:
        return tuple(TaskNumber(TRAINING_SEED, index) for index in range(TRAINING_SIZES[subset]))
    return tuple(number.with_variant(VARIANTS.get(subset, 0)) for number in evaluation_numbers())


@cache
def _tasks(subset: str) -> tuple[Task, ...]:
    # Registering ids must not load the declarations.
    from envs_registry.workflows.generate import generate

    return tuple(map(generate, subset_numbers(subset)))


@cache
def _frozen_masks() -> MaskManifest:
    return MaskManifest.read(MASKS / "default.json")


@cache
def _variant_masks(subset: str) -> MaskManifest:
    """The frozen set's masks: variants have the same tools."""
    frozen, variant = _frozen_masks(), VARIANTS[subset]
    return MaskManifest(
        suite=frozen.suite,
        subset=subset,
        data=frozen.data,
        provenance=frozen.provenance,
        masks={f"{task_id}~{variant}": tools for task_id, tools in frozen.masks.items()},
        excluded={f"{task_id}~{variant}": reason for task_id, reason in frozen.excluded.items()},
        flags={f"{task_id}~{variant}": flags for task_id, flags in frozen.flags.items()},
        evidence={f"{task_id}~{variant}": known for task_id, known in frozen.evidence.items()},
    )


@cache
def _training_masks(subset: str) -> MaskManifest:
    masks = {task.id: tuple(sorted(task.metadata["blueprint"].critical)) for task in _tasks(subset)}
    return MaskManifest("Workflows", subset, "none", BY_CONSTRUCTION, masks)
