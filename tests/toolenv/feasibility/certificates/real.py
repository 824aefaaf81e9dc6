"""Certificates of real tasks, made once for all tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import envs_registry
from toolenv.agents.oracle import Oracle
from toolenv.cli.certify import planner_of
from toolenv.feasibility.certificates.certify import Effort, certify_all
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import Certificates
from toolenv.feasibility.certificates.search import Bound
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.source import make_source
from toolenv.suite import Suite

SUBSETS = {
    "BFCL": "multi_turn_base",
    "TauBench": "default",
    "APIBank": "level-1",
    "Workflows": "default",
}
FEW = 16
EFFORT = Effort(Bound(states=2000))


def suite(name: str) -> Suite:
    return envs_registry.get_suite(name)


def planner(name: str) -> Planner:
    found = planner_of(suite(name))
    assert found is not None
    return found


def manifest(name: str, only: str = "") -> MaskManifest:
    """The reference solutions' tools; or one tool alone, in some of the tasks whose masks have it."""
    whole = _reference_masks(name)
    if not only:
        return whole
    having = [task for task, mask in whole.masks.items() if only in mask]
    return replace(whole, masks={task: (only,) for task in having[-FEW:]})


@cache
def _reference_masks(name: str) -> MaskManifest:
    chosen = suite(name)
    return reference_masks(chosen, SUBSETS[name], Oracle(), chosen.masks(SUBSETS[name]).data, "A test.")


def certificates(name: str, only: str = "") -> Certificates:
    """Of those masks, each made once."""
    return _certificates(name, only)


@cache
def _certificates(name: str, only: str) -> Certificates:
    masks = manifest(name, only)
    source = make_source(suite(name), "clean", subset=SUBSETS[name])
    tasks = [source.get(task) for task in masks.masks]
    records = certify_all(suite(name), planner(name), tasks, masks, EFFORT, lambda: False)
    return Certificates(
        suite=name,
        subset=masks.subset,
        data=masks.data,
        masks=masks.hash,
        rules=planner(name).rules.version,
        bound=EFFORT.to_json(),
        tasks=dict(records),
    )


def calls_of(record: Any) -> list[tuple[str, dict[str, Any]]]:
    """The calls of the witness that refutes a task's first mask."""
    witness = record.certificates[0].witness
    return [(call.name, dict(call.arguments)) for call, _ in witness.calls()]
