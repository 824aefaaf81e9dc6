"""The BFCL suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from envs_registry.bfcl.categories import CATEGORIES, SUBSETS, UNAVAILABLE
from toolenv.errors import DataCorruptError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.suite import corrections_for
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.corrections import Corrections

MASKS = Path(__file__).parent / "masks"
HAZARDS = Path(__file__).parent / "hazards"


class BFCL:
    """Tasks of the Berkeley Function Calling Leaderboard v4.

    Args:
        corrections: what tasks are left out and whose answers are other than upstream's.
    """

    name = "BFCL"
    only_computes = True
    subsets: tuple[str, ...] = tuple(SUBSETS)
    unavailable: Mapping[str, str] = UNAVAILABLE
    default_subset = "default"
    max_turns = 10
    data = "bfcl"
    hazards = HAZARDS
    options = ("corrections",)

    def __init__(self, corrections: Corrections | None = None) -> None:
        self.corrections = corrections

    def configured(self, corrections: str | Path | None = None) -> BFCL:
        """The suite as a file corrects it: ``gymnasium.make("ToolFeas/BFCL-clean-v0", corrections=FILE)``.

        Raises:
            DataError, UsageError: the file cannot be used, see :mod:`toolenv.corrections`.
        """
        return BFCL(corrections_for(BFCL(), corrections))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset; a category is read once per process.

        Raises:
            DataError, UsageError: also where a correction does not fit its task.
        """
        return tuple(task for name in SUBSETS[subset] for task in self._category(name))

    def masks(self, subset: str) -> MaskManifest:
        """The masks of the subset's categories, joined."""
        return MaskManifest.joined(subset, [category_masks(name) for name in SUBSETS[subset]])

    def world(self, task: Task, seed: int) -> World:
        """A fresh world; BFCL's worlds do not depend on the seed."""
        make_world = task.metadata["make_world"]
        world: World = make_world()
        return world

    def arguments(self, task: Task) -> ArgumentPolicy:
        """Strict where arguments are scored by type; upstream's own behaviour where tools really run.

        Where upstream's only right answers break its own schema, the schema cannot be enforced.
        """
        if task.metadata["kind"] == "multi_turn" or "reference_breaks_schema" in task.flags:
            return "record"
        return "strict"

    def result_limit(self, task: Task) -> int | None:
        """No limit: long results are the point of the long-context category."""
        return None

    def _category(self, name: str) -> tuple[Task, ...]:
        return _category(name) if self.corrections is None else _corrected(name, self.corrections)


@cache
def category_masks(name: str) -> MaskManifest:
    """The mask manifest of one category."""
    return MaskManifest.read(MASKS / f"{name}.json")


@cache
def _category(name: str) -> tuple[Task, ...]:
    # Reading tasks pulls in everything that answers and scores them; registering ids must not.
    from envs_registry.bfcl.load import data_folder, load_category

    # Multi-turn worlds are upstream's own classes; a copy of the data alone does not have them.
    needed = ("data", "code") if CATEGORIES[name].kind == "multi_turn" else ("data",)
    tasks = load_category(data_folder(*needed), CATEGORIES[name])
    if len(tasks) != CATEGORIES[name].size:
        raise DataCorruptError(f"BFCL {name}: {len(tasks)} entries, expected {CATEGORIES[name].size}")
    return tasks


@cache
def _corrected(name: str, corrections: Corrections) -> tuple[Task, ...]:
    from envs_registry.bfcl.corrections import correct
    from toolenv.feasibility.corrected import corrected_tasks

    return corrected_tasks(BFCL(), _category(name), corrections, correct)
