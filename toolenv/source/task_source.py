"""The tasks of one environment id, and the kernels that answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from toolenv.errors import UnknownNameError
from toolenv.kernel import CleanKernel, Kernel, MaskedKernel, World
from toolenv.seeding import mix, uniform
from toolenv.source.conditions import DRAWN
from toolenv.source.wanted import MOST_NAMED
from toolenv.suite import OWN_MODE, BringsHazards, Suite
from toolenv.task import Task
from toolenv.user import User

if TYPE_CHECKING:
    from toolenv.hazards import Instance

MOST_KERNELS = 20_000
"""Kernels that a source keeps."""


class TaskSource:
    """The tasks of one environment id and the kernels that answer them.

    Args:
        suite, condition: what the id names.
        clean: the tasks by id, in the suite's order, as the suite ships them.
        masked: those of them that have an infeasible form, in that form.
        prior: in ``mixed`` and ``confusable``, the probability that an episode is infeasible.
        max_turns: the cap on decisions per user turn.
        manifest_hash: names the manifest, and with it the frozen list of tasks.
        hazards: what is armed, by task id.
        decoys: in ``mixed``, whether feasible episodes lack as many other tools.
        ids: the task ids, where there are too many to be listed.

    Attributes:
        data: names the version of the suite's data.
        corrections: what a corrections file does to tasks of the subset; empty without one. See
            :meth:`toolenv.corrections.Corrections.within`.
    """

    data: str = ""
    corrections: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        suite: Suite,
        condition: str,
        clean: Mapping[str, Task],
        masked: Mapping[str, Task],
        prior: float,
        max_turns: int,
        manifest_hash: str = "",
        hazards: Mapping[str, Instance] | None = None,
        decoys: bool = False,
        ids: Sequence[str] | None = None,
    ) -> None:
        self.manifest_hash = manifest_hash
        self.suite, self.condition, self.prior, self.max_turns = suite, condition, prior, max_turns
        self.decoys = decoys
        self.user: User | None = getattr(suite, "user", None)
        self._clean, self._masked = clean, masked
        self.hazards: Mapping[str, Instance] = hazards or {}
        self._chosen = masked if condition in ("infeasible", *DRAWN) else clean
        self.task_ids: Sequence[str] = tuple(self._chosen) if ids is None else ids
        self._kernels: dict[tuple[str, str], Kernel] = {}

    def draw(self, seed: int) -> Task:
        """A task drawn uniformly by ``seed``."""
        return self.get(self.task_ids[mix("task", seed) % len(self.task_ids)], seed)

    def get(self, task_id: str, seed: int = 0) -> Task:
        """The task of that id; in ``mixed`` and ``confusable``, ``seed`` draws whether it is infeasible.

        Raises:
            UnknownNameError: no such task here.
        """
        if task_id not in self._chosen:
            named = islice(self.task_ids, MOST_NAMED)
            raise UnknownNameError("task id", task_id, named, where=f"{self.suite.name}-{self.condition}")
        if self.condition in DRAWN and uniform("label", seed) >= self.prior:
            return self._without_decoys(task_id, seed) if self.decoys else self._clean[task_id]
        return self._chosen[task_id]

    def _without_decoys(self, task_id: str, seed: int) -> Task:
        """The feasible task without as many tools as its mask has, none critical, drawn by ``seed``."""
        task, critical = self._clean[task_id], self._masked[task_id].mask
        kept = critical | set(getattr(self.suite, "inert_tools", ()))
        others = sorted(
            (tool.name for tool in task.tools if tool.name not in kept),
            key=lambda name: mix("decoy", seed, name),
        )
        return replace(task, mask=frozenset(others[: len(critical)]))

    def kernel(self, task: Task) -> Kernel:
        """The kernel of one of this source's tasks. Kernels are pure, so they are shared."""
        if task.mask and task.label == "feasible":
            return self._build_kernel(task)  # one of very many draws of decoys
        key = (task.id, task.label)
        found = self._kernels.get(key)
        if found is None:
            if len(self._kernels) >= MOST_KERNELS:  # an endless subset
                self._kernels.clear()
            found = self._kernels.setdefault(key, self._build_kernel(task))
        return found

    def _build_kernel(self, task: Task) -> Kernel:
        if task.id in self.hazards:
            return self._build_perturbed(task)
        suite = self.suite
        kernel: Kernel = CleanKernel(task, suite.world, suite.arguments(task), suite.result_limit(task))
        return MaskedKernel(kernel, task.mask, len(task.turns) + 1) if task.mask else kernel

    def _build_perturbed(self, task: Task) -> Kernel:
        from toolenv.hazards import perturbed  # most environments need nothing of it
        from toolenv.hazards.manifest import as_shipped

        suite, task = self.suite, as_shipped(task)
        instance = self.hazards[task.id]
        if isinstance(suite, BringsHazards) and instance.mode == OWN_MODE:
            world = _Perturbed(suite, instance)
            return CleanKernel(task, world, suite.arguments(task), suite.result_limit(task))
        clean = CleanKernel(task, suite.world, suite.arguments(task), suite.result_limit(task))
        return perturbed(clean, instance.withdrawn() if task.label == "infeasible" else instance)


class _Perturbed(NamedTuple):
    """Builds worlds with the perturbed tools of a suite's own."""

    suite: BringsHazards
    instance: Instance

    def __call__(self, task: Task, seed: int) -> World:
        return self.suite.perturbed_world(task, self.instance, seed)
