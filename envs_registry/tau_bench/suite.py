"""The τ-bench suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from envs_registry.tau_bench.splits import MANIFESTS, SPLITS, SUBSETS
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.suite import corrections_for
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.corrections import Corrections
    from toolenv.user import User

MASKS = Path(__file__).parent / "masks"
HAZARDS = Path(__file__).parent / "hazards"


class TauBench:
    """Tasks of τ-bench v1.

    Two modes. *Solo*, the default: the instruction is the user's message, and the agent's first message
    ends the episode. *User*: a simulated user knows the instruction and talks to the agent until it is
    content. ``gymnasium.make("ToolFeas/TauBench-clean-v0", user="llm:MODEL")`` chooses it.

    Args:
        user: who talks to the agent; ``None`` is solo mode.
        corrections: what tasks are left out and whose fields are other than upstream's.
    """

    name = "TauBench"
    subsets: tuple[str, ...] = tuple(SUBSETS)
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = "default"
    data = "tau-bench"
    hazards = HAZARDS
    inert_tools = frozenset({"calculate", "think", "transfer_to_human_agents"})
    lookup_tools = frozenset({"find_user_id_by_email", "find_user_id_by_name_zip"})
    options = ("user", "corrections")

    def __init__(self, user: User | None = None, corrections: Corrections | None = None) -> None:
        self.user, self.corrections = user, corrections
        # Upstream's own cap is 30 for a whole conversation; 15 is paper 1's (Appendix C).
        self.max_turns = 15 if user is None else 30
        self.only_computes = user is None

    def configured(self, user: str | User | None = None, corrections: str | Path | None = None) -> TauBench:
        """The suite with settings of its own.

        Args:
            user: ``"scripted"`` (says the instruction, then nothing more), ``"llm:MODEL"`` or
                ``"llm:MODEL@URL"`` (a model on an OpenAI-compatible server), or any user.
            corrections: a file, see :mod:`toolenv.corrections`.

        Raises:
            DataError, UsageError: a text that names no user, a file that cannot be used.
        """
        from envs_registry.tau_bench.corrections import ACTIONS
        from envs_registry.tau_bench.users import make_user

        chosen = None if user is None else make_user(user)
        return TauBench(chosen, corrections_for(TauBench(), corrections, ACTIONS))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset; a split is read once per process and mode."""
        # Reading tasks pulls in everything that answers and scores them; registering ids must not.
        from envs_registry.tau_bench.load import data_folder

        folder, conversing = data_folder(), self.user is not None
        splits = [_split(folder, name, self.corrections, conversing) for name in SUBSETS[subset]]
        return tuple(task for split in splits for task in split)

    def masks(self, subset: str) -> MaskManifest:
        """The masks of the subset's splits, joined."""
        return MaskManifest.joined(subset, [split_masks(name) for name in SUBSETS[subset]])

    def world(self, task: Task, seed: int) -> World:
        """A fresh world; it does not depend on the seed."""
        world: World = task.metadata["make_world"]()
        return world

    def arguments(self, task: Task) -> ArgumentPolicy:
        """Noted only: upstream checks nothing, and its tools meet whatever comes."""
        return "record"

    def result_limit(self, task: Task) -> int | None:
        """No limit."""
        return None

    def warnings(self, task: Task) -> tuple[str, ...]:
        """What in a task's own data does not fit together (FIELD-063, FIELD-114)."""
        from envs_registry.tau_bench.consistency import disagreements

        return disagreements(task)

    def derive(self, upstream: Path, target: Path) -> None:
        """Make the derived files from upstream's Python sources; a :data:`toolenv.data.pull.Derivation`."""
        from envs_registry.tau_bench.upstream_source import derive

        derive(upstream, target)


@cache
def split_masks(name: str) -> MaskManifest:
    """The mask manifest of one split."""
    return MaskManifest.read(MASKS / f"{MANIFESTS[name]}.json")


@cache
def _split(folder: Path, name: str, corrections: Corrections | None, conversing: bool) -> tuple[Task, ...]:
    from envs_registry.tau_bench.corrections import correct
    from envs_registry.tau_bench.load import load_split
    from toolenv.feasibility.corrected import corrected_tasks

    if conversing:  # then the simulated user brings the instruction
        solo = _split(folder, name, corrections, False)
        return tuple(replace(task, messages=task.messages[:1]) for task in solo)
    if corrections is not None:
        return corrected_tasks(TauBench(), _split(folder, name, None, False), corrections, correct)
    return load_split(folder, SPLITS[name])
