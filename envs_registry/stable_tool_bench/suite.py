"""The StableToolBench suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from envs_registry.stable_tool_bench.groups import ALL, GROUPS, SAMPLE, SUBSETS, groups_of, sample
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.suite import corrections_for
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Usage

if TYPE_CHECKING:
    from envs_registry.stable_tool_bench.sources import Sources
    from toolenv.corrections import Corrections

MASKS = Path(__file__).parent / "masks"
HAZARDS = Path(__file__).parent / "hazards"
RESULT_LIMIT = 1024
"""Characters of a result that an agent sees, as upstream."""


class StableToolBench:
    """The 765 solvable queries of StableToolBench.

    Args:
        sources: what the virtual server answers from; by default what the environment variables say
            (:mod:`envs_registry.stable_tool_bench.sources`), looked up whenever an episode starts.
        corrections: what tasks are left out.
    """

    name = "StableToolBench"
    subsets: tuple[str, ...] = SUBSETS
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = ALL
    max_turns = 10
    data = "stabletoolbench"
    hazards = HAZARDS
    options = ("corrections",)

    def __init__(self, sources: Sources | None = None, corrections: Corrections | None = None) -> None:
        self._sources, self.corrections = sources, corrections

    def configured(self, corrections: str | Path | None = None) -> StableToolBench:
        """The suite without the tasks that a file leaves out, see :mod:`toolenv.corrections`.

        Raises:
            DataError, UsageError: a file that cannot be used.
        """
        chosen = corrections_for(StableToolBench(), corrections, ("exclude",))
        return StableToolBench(self._sources, chosen)

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset, in upstream's order; ids are upstream's ``query_id``."""
        return _tasks(subset) if self.corrections is None else self.corrections.kept(_tasks(subset))

    def masks(self, subset: str) -> MaskManifest:
        """The masks of the subset's groups, joined."""
        return _masks(subset)

    def preflight(self) -> Usage:
        """Try the simulator's server, if there is one, before a run.

        Returns:
            What it cost.

        Raises:
            PreflightError: it does not answer.
        """
        simulator = self._found_sources().simulator
        return NO_TOKENS if simulator is None else simulator.server.preflight()

    def world(self, task: Task, seed: int) -> World:
        """A virtual server; ``seed`` decides what it makes up."""
        from envs_registry.stable_tool_bench.world import VirtualServer

        return VirtualServer(task.metadata["apis"], seed, self._found_sources())

    def _found_sources(self) -> Sources:
        from envs_registry.stable_tool_bench.sources import sources_from_environment

        return sources_from_environment() if self._sources is None else self._sources

    def arguments(self, task: Task) -> ArgumentPolicy:
        """What plainly means the right type is converted; upstream checks nothing."""
        return "coerce"

    def result_limit(self, task: Task) -> int | None:
        """Upstream's limit."""
        return RESULT_LIMIT


@cache
def _tasks(subset: str) -> tuple[Task, ...]:
    # Reading tasks pulls in everything that answers and scores them; registering ids must not.
    from envs_registry.stable_tool_bench.load import load_groups

    loaded = load_groups()
    tasks = tuple(task for group in groups_of(subset) for task in loaded[group])
    if subset != SAMPLE:
        return tasks
    drawn = sample(task.id for task in tasks)
    return tuple(task for task in tasks if task.id in drawn)


@cache
def _masks(subset: str) -> MaskManifest:
    parts = [MaskManifest.read(MASKS / f"{group}.json") for group in GROUPS if group in groups_of(subset)]
    ids = [task_id for part in parts for task_id in (*part.masks, *part.excluded)]
    kept = sample(ids) if subset == SAMPLE else frozenset(ids)
    return MaskManifest.joined(subset, parts, kept)
