"""Hazard manifests: which hazard is armed on which task, and the witness that it can be recovered from.

A manifest is a JSON file, one task a line::

    {"version": 1, "suite": "Workflows", "condition": "output-drift", "data": "…",
     "provenance": "…how it was made…",
     "tasks": {TASK_ID: [{"hazard": …, "mode": …, "tool": …, "seed": …, "parameters": {…},
                          "extra_calls": …, "witness": […]}, …], …},
     "excluded": {TASK_ID: REASON, …}, "hash": "sha256:…"}

A task has one entry per seed. ``tasks`` and ``excluded`` together hold every task that was tried, once.
``hash`` covers the rest. No entry is there without a witness: decisions that reach the task's own reference
under this very hazard, made by a policy that sees what an agent sees (paper 2, automatic recovery-path
validation).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from toolenv.errors import DataCorruptError, UnknownNameError, UsageError
from toolenv.hashed_json import expect_fields, read_json, sealed, unsealed
from toolenv.hazards.base import Instance
from toolenv.hazards.checks import check_instance
from toolenv.hazards.witness import Stored, check_stored, restored
from toolenv.task import Reference, Score, Task
from toolenv.trace import Trace
from toolenv.types import Action

MANIFEST_VERSION = 1

_FIELDS: Mapping[str, type] = {
    **dict.fromkeys(("suite", "condition", "data", "provenance"), str),
    **dict.fromkeys(("tasks", "excluded"), dict),
}
_ENTRY: Mapping[str, type] = {
    **dict.fromkeys(("hazard", "mode", "tool"), str),
    **dict.fromkeys(("seed", "extra_calls"), int),
    "parameters": dict,
    "witness": list,
}


@dataclass(frozen=True)
class ProvedInstance:
    """An instance and its recovery witness.

    Attributes:
        instance: what is armed.
        witness: decisions that succeed under it, as :mod:`toolenv.hazards.witness` stores them.
        extra_calls: the recovery cost: how many calls more than the clean solution makes.
        place: the file and task it was read from, for errors.
    """

    instance: Instance
    witness: Stored
    extra_calls: int
    place: str = field(default="", compare=False)

    def recoverable(self, task: Task) -> Task:
        """The task with its witness as solution; without one, nobody knows how to recover."""
        flags = task.flags if self.witness else task.flags | {"no_reference"}
        reference = RecoveryReference(task.reference, self.witness, self.instance, self.place)
        return replace(task, reference=reference, flags=flags)

    def to_json(self) -> dict[str, Any]:
        """The entry of a manifest."""
        armed = self.instance
        return {
            "hazard": armed.hazard,
            "mode": armed.mode,
            "tool": armed.tool,
            "seed": armed.seed,
            "parameters": dict(armed.parameters),
            "extra_calls": self.extra_calls,
            "witness": list(self.witness),
        }

    @classmethod
    def from_json(cls, task_id: str, data: Any, where: str = "hazard manifest") -> ProvedInstance:
        """Read an entry back; ``where`` names it in errors.

        Raises:
            DataCorruptError: a field is missing or of another type, or says what no hazard can be.
        """
        where = f"{where}, task {task_id!r}"
        if not isinstance(data, dict):
            raise DataCorruptError(f"{where}: {data!r:.80}, expected an object")
        expect_fields(data, _ENTRY, where)
        instance = Instance(
            task_id, data["hazard"], data["mode"], data["tool"], data["seed"], data["parameters"]
        )
        check_instance(instance, where)
        check_stored(data["witness"], where)
        return cls(instance, tuple(data["witness"]), data["extra_calls"], where)


@dataclass(frozen=True)
class HazardManifest:
    """The proved instances of one condition of a suite; see the module for the file form."""

    suite: str
    condition: str
    data: str
    provenance: str
    tasks: Mapping[str, tuple[ProvedInstance, ...]]
    excluded: Mapping[str, str] = field(default_factory=dict)

    def at_seed(self, seed: int | None) -> dict[str, ProvedInstance]:
        """The instance of each task that was armed with ``seed``; ``None`` takes each task's first.

        Raises:
            UnknownNameError: no task has one.
        """
        if seed is None:
            return {task: proved[0] for task, proved in self.tasks.items() if proved}
        every = [(task, one) for task, proved in self.tasks.items() for one in proved]
        found = {task: one for task, one in every if one.instance.seed == seed}
        if not found:
            known = {str(one.instance.seed) for _, one in every}
            raise UnknownNameError("hazard_seed", str(seed), known, where=f"{self.suite}-{self.condition}")
        return found

    def check(self, suite: str, condition: str, where: str) -> None:
        """Refuse to serve for another suite or condition; ``where`` names the file in errors.

        Raises:
            DataCorruptError: it was made for another.
        """
        if (self.suite, self.condition) != (suite, condition):
            raise DataCorruptError(
                f"{where}: these are hazards of {self.suite}-{self.condition}, not of {suite}-{condition}"
            )

    def choose(
        self, clean: Collection[str], wanted: Sequence[str] | None, seed: int | None
    ) -> dict[str, ProvedInstance]:
        """The instances of the tasks ``wanted``, or of all ``clean`` ones that have one.

        Raises:
            UsageError: one that is wanted has none, with the reason; or there is none at all.
            UnknownNameError: no instance was armed with ``seed``.
        """
        where, found = f"{self.suite}-{self.condition}", self.at_seed(seed)
        for task_id in wanted or ():
            if task_id not in found:
                reason = self.excluded.get(task_id, "no instance was proved for it")
                raise UsageError(f"task {task_id!r} is not in {where}: {reason}")
        chosen = {one: found[one] for one in (clean if wanted is None else wanted) if one in found}
        if not chosen:
            raise UsageError(f"{where}: none of the subset's tasks has a proved instance")
        return chosen

    def to_json(self) -> dict[str, Any]:
        """The file form, hash included."""
        body = {
            "version": MANIFEST_VERSION,
            "suite": self.suite,
            "condition": self.condition,
            "data": self.data,
            "provenance": self.provenance,
            "tasks": {task: [one.to_json() for one in proved] for task, proved in self.tasks.items()},
            "excluded": dict(self.excluded),
        }
        return sealed(body)

    @cached_property
    def hash(self) -> str:
        """``sha256:…`` over the manifest's content."""
        return str(self.to_json()["hash"])

    def write(self, path: Path) -> None:
        """Write the file form."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_lines(self.to_json()), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> HazardManifest:
        """Read a manifest file.

        Raises:
            DataMissingError: no such file.
            DataCorruptError: not a manifest, another version, or its hash does not match.
        """
        return cls.from_json(read_json(path, "hazard manifest"), where=str(path))

    @classmethod
    def from_json(cls, data: Any, where: str = "hazard manifest") -> HazardManifest:
        """Check and build from the file form; ``where`` names it in errors."""
        data = unsealed(data, MANIFEST_VERSION, where)
        expect_fields(data, _FIELDS, where)
        expect_fields(data["tasks"], dict.fromkeys(data["tasks"], list), where)
        expect_fields(data["excluded"], dict.fromkeys(data["excluded"], str), f"{where}: excluded")
        tasks = {
            task: tuple(ProvedInstance.from_json(task, entry, where) for entry in entries)
            for task, entries in data["tasks"].items()
        }
        for task, proved in tasks.items():
            _check_task(task, proved, data["excluded"], where)
        return cls(
            data["suite"], data["condition"], data["data"], data["provenance"], tasks, data["excluded"]
        )


@dataclass(frozen=True)
class RecoveryReference:
    """A task's own truth, with the recovery witness as its solution.

    Attributes:
        truth: the task's reference; it alone judges.
        witness: the solution under the hazard, as stored.
        instance: what is armed.
        place: where the witness was read from, for errors.
    """

    truth: Reference
    witness: Stored
    instance: Instance | None = None
    place: str = field(default="", compare=False)

    def score(self, trace: Trace) -> Score:
        """The verdict of the task's own reference."""
        return self.truth.score(trace)

    def is_accurate(self, trace: Trace) -> bool | None:
        """Paper 2's accuracy, where the task's own reference tells it."""
        tell: Callable[[Trace], bool | None] | None = getattr(self.truth, "is_accurate", None)
        return None if tell is None else tell(trace)

    def solution(self) -> tuple[Action, ...]:
        """The witness.

        Raises:
            DataCorruptError: it was made for another solution.
        """
        try:
            return restored(self.witness, self.truth.solution())
        except DataCorruptError as error:
            raise DataCorruptError(f"{self.place}: {error}") from error


def as_shipped(task: Task) -> Task:
    """A task with its own truth, as its suite knows it."""
    found = task.reference
    return replace(task, reference=found.truth) if isinstance(found, RecoveryReference) else task


def _check_task(task: str, proved: Sequence[ProvedInstance], excluded: Collection[str], where: str) -> None:
    """A task has an entry per seed or a reason, never both."""
    seeds = [one.instance.seed for one in proved]
    if not seeds:
        raise DataCorruptError(f"{where}: task {task!r} has no entry; list it as excluded")
    if task in excluded:
        raise DataCorruptError(f"{where}: task {task!r} is armed and excluded at once")
    if len(set(seeds)) < len(seeds):
        raise DataCorruptError(f"{where}: task {task!r} has several entries of one seed: {sorted(seeds)}")


def _lines(data: Mapping[str, Any]) -> str:
    """JSON with one line per top-level entry, and one per task."""
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            inner = ",\n".join(f"  {_compact(name)}: {_compact(item)}" for name, item in value.items())
            parts.append(f" {_compact(key)}: {{\n{inner}\n }}" if value else f" {_compact(key)}: {{}}")
        else:
            parts.append(f" {_compact(key)}: {_compact(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
