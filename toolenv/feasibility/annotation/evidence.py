"""How far a suite's labels can be trusted: certificates of single tasks, and a sample that people verified.

A labels file::

    {"version": 1, "suites": {"BFCL": {"manifest": "sha256:…",
                                       "status": {TASK_ID: "infeasible" | "feasible" | "unknown", …},
                                       "population": 445, "checked": 121, "confirmed": 115}}}

``status`` holds what is proven of single tasks' "infeasible" labels; what is not named is ``unknown``. The
other three say that of ``population`` labels ``checked`` were drawn at random, and ``confirmed`` of those
found right; 0 where nobody checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from toolenv.errors import DataCorruptError, StoreError, UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.hashed_json import expect_fields, read_json

LABELS_VERSION = 1

Status: TypeAlias = Literal["infeasible", "feasible", "unknown"]
"""What is proven of a label: right, wrong, nothing."""


@dataclass(frozen=True, slots=True)
class LabelEvidence:
    """What is known of the labels of one suite's masked tasks; see the module.

    Attributes:
        manifest: the hash of the mask manifest the labels come from.
        status: what is proven, by task id.
        population: how many labels there are.
        checked, confirmed: how many people looked at, and how many of those they found right.
    """

    manifest: str
    status: Mapping[str, Status] = field(default_factory=dict)
    population: int = 0
    checked: int = 0
    confirmed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.manifest, str):
            raise UsageError(f"labels of the masks {self.manifest!r:.80}: give the hash of their manifest")
        counts = (self.confirmed, self.checked, self.population)
        if any(isinstance(one, bool) or not isinstance(one, int) for one in counts) or not (
            0 <= self.confirmed <= self.checked <= self.population
        ):
            raise UsageError(
                "labels need 0 <= confirmed <= checked <= population, "
                f"got confirmed={self.confirmed!r}, checked={self.checked!r}, population={self.population!r}"
            )
        for task, status in self.status.items():
            if status not in get_args(Status):
                raise UnknownNameError("status", status, get_args(Status), where=f"task {task!r}")

    def joined(self, other: LabelEvidence) -> LabelEvidence:
        """Both together, e.g. certificates and a verified sample of the same masks.

        Raises:
            UsageError: they are of other masks, contradict each other, or both hold a sample.
        """
        if self.manifest != other.manifest:
            raise UsageError(f"labels of the masks {self.manifest} and of {other.manifest}")
        for task in sorted(self.status.keys() & other.status.keys()):
            if {self.status[task], other.status[task]} >= {"feasible", "infeasible"}:
                raise UsageError(f"task {task!r} is certified both feasible and infeasible")
        if self.checked and other.checked:
            raise UsageError("two verified samples of one suite; give one")
        known = {task: one for task, one in other.status.items() if one != "unknown"}
        sampled = self if self.checked else other
        return replace(sampled, status={**self.status, **known})


def evidence_of(manifest: MaskManifest) -> LabelEvidence:
    """What a manifest itself says is proven of its masks."""
    proven = {"certified": "infeasible", "refuted": "feasible"}
    status = {task: manifest.evidence.get(task, {}).get("status", "unknown") for task in manifest.masks}
    return LabelEvidence(
        manifest.hash, {task: cast(Status, proven.get(one, "unknown")) for task, one in status.items()}
    )


def write_labels(path: Path, suites: Mapping[str, LabelEvidence]) -> None:
    """Write a labels file.

    Raises:
        StoreError: it cannot be written.
    """
    plain = {name: {**asdict(one), "status": dict(one.status)} for name, one in suites.items()}
    text = json.dumps({"version": LABELS_VERSION, "suites": plain}, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error


def read_labels(paths: Iterable[Path]) -> dict[str, LabelEvidence]:
    """Labels files together, by suite.

    Raises:
        DataMissingError: no such file.
        DataCorruptError: not a labels file, or it contradicts another.
    """
    found: dict[str, LabelEvidence] = {}
    for path in paths:
        try:
            for suite, evidence in _suites(path).items():
                found[suite] = found[suite].joined(evidence) if suite in found else evidence
        except UsageError as error:
            raise DataCorruptError(f"{path}: {error}") from error
    return found


def _suites(path: Path) -> dict[str, LabelEvidence]:
    data = read_json(path, "labels file")
    if not isinstance(data, dict) or data.get("version") != LABELS_VERSION:
        raise DataCorruptError(f"{path} is no labels file of version {LABELS_VERSION}")
    expect_fields(data, {"suites": dict}, str(path))
    expect_fields(data["suites"], dict.fromkeys(data["suites"], dict), f"{path}: suites")
    return {
        suite: _evidence(known, f"{path}: labels of suite {suite!r}")
        for suite, known in data["suites"].items()
    }


def _evidence(data: Mapping[str, Any], where: str) -> LabelEvidence:
    known = [one.name for one in fields(LabelEvidence)]
    for name in data:
        if name not in known:
            raise DataCorruptError(str(UnknownNameError("field", name, known, where)))
    expect_fields(data, {"manifest": str, **({"status": dict} if "status" in data else {})}, where)
    try:
        return LabelEvidence(**data)
    except UsageError as error:
        raise DataCorruptError(f"{where}: {error}") from error
