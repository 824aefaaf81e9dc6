"""The contract of a suite: what is asked, the world that answers, which tools are critical."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy, World
from toolenv.task import Task


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
