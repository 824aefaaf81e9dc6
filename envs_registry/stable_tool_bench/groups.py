"""The query groups of StableToolBench, and the subsets made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from toolenv.seeding import mix

GROUPS: Mapping[str, int] = MappingProxyType(
    {
        "G1_instruction": 163,
        "G1_category": 153,
        "G1_tool": 158,
        "G2_category": 124,
        "G2_instruction": 106,
        "G3_instruction": 61,
    }
)
"""Upstream's groups with their sizes. G1: one tool; G2: tools of one category; G3: of several."""

ALL, SAMPLE = "all", "sample-500"
SAMPLE_SIZE = 500
SAMPLE_SEED = 0
SUBSETS: tuple[str, ...] = (ALL, *GROUPS, SAMPLE)


def groups_of(subset: str) -> tuple[str, ...]:
    """The groups that a subset's tasks come from."""
    return (subset,) if subset in GROUPS else tuple(GROUPS)


def sample(task_ids: Iterable[str], size: int = SAMPLE_SIZE, seed: int = SAMPLE_SEED) -> frozenset[str]:
    """The tasks of ``sample-500``: paper 1 names 500 (Table 1), though its rates are of all 765.

    A task's rank is a hash of the seed and its id, and the lowest ranks are drawn: the sample is the same on
    every machine, whatever the order of the ids, and a smaller one is part of a larger one.
    """
    return frozenset(sorted(task_ids, key=lambda task_id: (mix("sample", seed, task_id), task_id))[:size])
