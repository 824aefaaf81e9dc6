"""Upstream's lists of tasks, and the subsets made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Split:
    """One upstream list of tasks.

    Attributes:
        domain, split: as in upstream's file names.
        size: the number of tasks at the pinned commit.
        upstream_list: the name of the list in upstream's source.
    """

    domain: str
    split: str
    size: int
    upstream_list: str

    @property
    def name(self) -> str:
        """How the ids of its tasks begin, e.g. ``"retail_test"``."""
        return f"{self.domain}_{self.split}"

    @property
    def file(self) -> str:
        """The derived file, relative to the data set's folder."""
        return f"derived/{self.domain}_tasks_{self.split}.json"

    @property
    def upstream_file(self) -> str:
        """The Python source it is derived from."""
        return f"tau_bench/envs/{self.domain}/tasks_{self.split}.py"


SPLITS: Mapping[str, Split] = {
    split.name: split
    for split in (
        Split("retail", "test", 115, "TASKS_TEST"),
        Split("airline", "test", 50, "TASKS"),
        Split("retail", "train", 500, "TASKS_TRAIN"),
        Split("retail", "dev", 20, "TASKS_DEV"),
    )
}

SUBSETS: Mapping[str, tuple[str, ...]] = {
    "default": ("retail_test", "airline_test"),  # paper 1's 165
    "retail": ("retail_test",),
    "airline": ("airline_test",),
    "retail_train": ("retail_train",),
    "retail_dev": ("retail_dev",),
}
"""Every subset, as the splits it is made of."""

MANIFESTS: Mapping[str, str] = {names[0]: subset for subset, names in SUBSETS.items() if len(names) == 1}
"""The mask manifest of each split, by the subset that is that split alone."""
