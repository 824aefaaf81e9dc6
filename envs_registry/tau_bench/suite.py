"""The τ-bench suite: what :class:`toolenv.suite.Suite` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from envs_registry.tau_bench.splits import MANIFESTS, SPLITS, SUBSETS
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.user import User

MASKS = Path(__file__).parent / "masks"


class TauBench:
    """Tasks of τ-bench v1.

    Two modes. *Solo*, the default: the instruction is the user's message, and the agent's first message
    ends the episode. *User*: a simulated user knows the instruction and talks to the agent until it is
    content. ``gymnasium.make("ToolFeas/TauBench-clean-v0", user="llm:MODEL")`` chooses it.

    Args:
        user: who talks to the agent; ``None`` is solo mode.
        corrections: a file that replaces fields of tasks, see :mod:`envs_registry.tau_bench.corrections`.
    """

    name = "TauBench"
    subsets: tuple[str, ...] = tuple(SUBSETS)
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = "default"
    data = "tau-bench"
    inert_tools = frozenset({"calculate", "think", "transfer_to_human_agents"})
    lookup_tools = frozenset({"find_user_id_by_email", "find_user_id_by_name_zip"})
    options = ("user", "corrections")

    def __init__(self, user: User | None = None, corrections: Path | None = None) -> None:
        self.user = user
        # Upstream's own cap is 30 for a whole conversation; 15 is paper 1's (Appendix C).
        self.max_turns = 15 if user is None else 30
        self._corrections_file = corrections

    def configured(self, user: str | User | None = None, corrections: str | Path | None = None) -> TauBench:
        """The suite with settings of its own.

        Args:
            user: ``"scripted"`` (says the instruction, then nothing more), ``"llm:MODEL"`` or
                ``"llm:MODEL@URL"`` (a model on an OpenAI-compatible server), or any user.
            corrections: a file, see the class.

        Raises:
            UsageError: a text that names no user.
        """
        from envs_registry.tau_bench.users import make_user

        chosen = make_user(user) if isinstance(user, str) else user
        return TauBench(chosen, None if corrections is None else Path(corrections))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks of a subset; a split is read once per process and mode."""
        return tuple(task for name in SUBSETS[subset] for task in self._split(name))

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

    @cached_property
    def _corrections(self) -> Mapping[str, Mapping[str, Any]]:
        if self._corrections_file is None:
            return {}
        from envs_registry.tau_bench.corrections import read_corrections

        return read_corrections(self._corrections_file)

    def _split(self, name: str) -> tuple[Task, ...]:
        # Reading tasks pulls in everything that answers and scores them; registering ids must not.
        from envs_registry.tau_bench.load import data_folder, load_split

        folder = data_folder()
        if self._corrections:
            return load_split(folder, SPLITS[name], self._corrections, self.user is not None)
        return _shipped_split(folder, name, self.user is not None)


@cache
def split_masks(name: str) -> MaskManifest:
    """The mask manifest of one split."""
    return MaskManifest.read(MASKS / f"{MANIFESTS[name]}.json")


@cache
def _shipped_split(folder: Path, name: str, conversing: bool) -> tuple[Task, ...]:
    from envs_registry.tau_bench.load import load_split

    return load_split(folder, SPLITS[name], {}, conversing)
