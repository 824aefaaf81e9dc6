"""The API-Bank suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from envs_registry.api_bank.subsets import POOLS, SUBSETS, Pool, with_pool
from toolenv.errors import UnknownNameError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.suite import corrections_for
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.corrections import Corrections

MASKS = Path(__file__).parent / "masks"
HAZARDS = Path(__file__).parent / "hazards"


class APIBank:
    """Tasks of API-Bank.

    Args:
        pool: the tools on offer, whatever the subset; ``None`` leaves it to the subset.
        corrections: what tasks are left out.
    """

    name = "APIBank"
    only_computes = True
    subsets: tuple[str, ...] = tuple(SUBSETS)
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = "default"
    max_turns = 12
    data = "api-bank"
    hazards = HAZARDS
    inert_tools = frozenset({"ToolSearcher"})
    options = ("pool", "corrections")

    def __init__(self, pool: Pool | None = None, corrections: Corrections | None = None) -> None:
        self.pool, self.corrections = pool, corrections

    def configured(self, pool: Pool | None = None, corrections: str | Path | None = None) -> APIBank:
        """The suite with another pool: ``gymnasium.make("ToolFeas/APIBank-clean-v0", pool="dialogue")``.

        Args:
            pool: see the class.
            corrections: a file, see :mod:`toolenv.corrections`; it can leave tasks out.

        Raises:
            DataError, UsageError: no such pool, or a file that cannot be used.
        """
        if pool is not None and pool not in POOLS:
            raise UnknownNameError("pool", pool, POOLS, where="suite APIBank")
        return APIBank(pool, corrections_for(APIBank(), corrections, ("exclude",)))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset; it is read once per process.

        Raises:
            UsageError: there is no such subset with the pool that was chosen.
        """
        tasks = _tasks(with_pool(SUBSETS[subset], self.pool).name)
        return tasks if self.corrections is None else self.corrections.kept(tasks)

    def masks(self, subset: str) -> MaskManifest:
        """The subset's mask manifest; raises as :meth:`tasks`."""
        return _masks(with_pool(SUBSETS[subset], self.pool).name)

    def world(self, task: Task, seed: int) -> World:
        """A fresh world; the seed decides the tokens and numbers that are drawn."""
        from envs_registry.api_bank.tasks import make_world

        return make_world(task, seed)

    def arguments(self, task: Task) -> ArgumentPolicy:
        """Upstream's tool manager decides, and says so in its own words."""
        return "record"

    def result_limit(self, task: Task) -> int | None:
        """No limit."""
        return None

    def derive(self, upstream: Path, target: Path) -> None:
        """Make the schema files of an upstream copy from its sources, read as data."""
        from envs_registry.api_bank.derive import derive

        derive(upstream, target)

    def warnings(self, task: Task) -> tuple[str, ...]:
        """Where the recorded dialogue and the present APIs disagree."""
        from envs_registry.api_bank.consistency import disagreements

        return disagreements(task.metadata["setting"])


@cache
def _masks(subset: str) -> MaskManifest:
    return MaskManifest.read(MASKS / f"{subset}.json")


@cache
def _tasks(subset: str) -> tuple[Task, ...]:
    # Reading tasks pulls in everything that answers and scores them; registering ids must not.
    from envs_registry.api_bank.settings import data_folder
    from envs_registry.api_bank.tasks import load_tasks

    chosen = SUBSETS[subset]
    return load_tasks(data_folder(chosen.level), chosen)
