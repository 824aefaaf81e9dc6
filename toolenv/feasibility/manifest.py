"""Mask manifests: which tools are critical for which task, and how that is known.

A manifest is a JSON file::

    {"version": 1, "suite": "BFCL", "subset": "default", "data": "sha256:…",
     "provenance": "…how the masks were made…",
     "masks": {TASK_ID: [TOOL, …], …},
     "excluded": {TASK_ID: REASON, …},
     "flags": {TASK_ID: [FLAG, …], …},
     "built": {…how it was built: criterion, runs, agents…},
     "evidence": {TASK_ID: {"status": STATUS, …what is known of the task…}, …},
     "hash": "sha256:…"}

``masks`` and ``excluded`` together hold every task of the subset once. ``hash`` covers the rest. ``built``
and ``evidence`` are JSON objects that a manifest may lack; ``docs/feasibility.md`` says what is in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolenv.errors import DataCorruptError, DataMissingError, MasksMissingError, UnknownNameError
from toolenv.hashed_json import expect_fields, read_json, sealed, unsealed, write_json

MANIFEST_VERSION = 1

_FIELDS: Mapping[str, type] = {
    "suite": str,
    "subset": str,
    "data": str,
    "provenance": str,
    "masks": dict,
    "excluded": dict,
    "flags": dict,
}
_OPTIONAL = ("built", "evidence")
_READ_AGAIN: Mapping[str, type] = {"corrections": str, "suite_options": dict}

FLAGS: Mapping[str, str] = {
    "can_never_pass": "no call sequence is accepted by the data set's own scoring rules",
    "mask_empties_pool": "masking the critical tools leaves no tool at all",
    "do_nothing_passes": "an agent that does nothing is scored as successful",
    "reference_breaks_schema": "the right answer breaks the data set's own schema, so it is not enforced",
    "no_reference": "the data set does not say what would be right, so no oracle can play it",
    "natural_negative": "infeasible as the data set ships it; nothing was masked",
    "proxy_judge": "success is judged by an offline proxy, not by the data set's own measure",
    "reference_call_fails": "a call of the reference solution returns an error; it is not counted as used",
    "query_grounded": "the query already holds what the masked tool would fetch",
    "semantically_redundant": "a remaining tool reads as if it did the same as a masked one",
    "corrected": "its right answer is not the data set's own, but one of a corrections file",
    "corrected_tools": "corrected so that other tools are needed; masks of the data set's own do not fit",
    "never_solved": "none of the agents that the masks were built from solved it with all its tools",
}
"""Every flag a task may carry, with its meaning."""

STATUSES: Mapping[str, str] = {
    "intersection": "every successful trace known uses every masked tool; that is evidence, and no proof",
    "questioned": "as intersection, but each masked tool is redundant or fetches what the query holds",
    "certified": "a checked argument says that the remaining tools cannot do it",
    "assumed": "nothing was tried, and no remaining tool reads as if it did the same as a masked one",
    "unknown": "neither a solution with the remaining tools nor an argument against one was found",
    "refuted": "the remaining tools have done it",
}
"""How sure it is that a masked task is infeasible: the ``status`` of its evidence (FIELD-019)."""


@dataclass(frozen=True)
class MaskManifest:
    """Critical tools per task (C_i, §3.2), with provenance; see the module for the file form."""

    suite: str
    subset: str
    data: str
    provenance: str
    masks: Mapping[str, tuple[str, ...]]
    excluded: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    built: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The file form, hash included."""
        body: dict[str, Any] = {
            "version": MANIFEST_VERSION,
            "suite": self.suite,
            "subset": self.subset,
            "data": self.data,
            "provenance": self.provenance,
            "masks": {task: list(tools) for task, tools in self.masks.items()},
            "excluded": dict(self.excluded),
            "flags": {task: list(flags) for task, flags in self.flags.items()},
        }
        optional = {
            "built": dict(self.built),
            "evidence": {task: dict(known) for task, known in self.evidence.items()},
        }
        # Left out where empty, so that manifests from before these existed keep their hash.
        body.update({name: value for name, value in optional.items() if value})
        return sealed(body)

    @property
    def hash(self) -> str:
        """``sha256:…`` over the manifest's content."""
        return str(self.to_json()["hash"])

    def write(self, path: Path) -> None:
        """Write the file form."""
        write_json(path, self.to_json())

    @classmethod
    def read(cls, path: Path) -> MaskManifest:
        """Read a manifest file.

        Raises:
            MasksMissingError: no such file.
            DataCorruptError: not a manifest, another version, its hash does not match, or what it says of a
                task cannot be: an empty mask, an unknown flag, masked and excluded at once.
        """
        try:
            data = read_json(path, "mask manifest")
        except DataMissingError as error:
            raise MasksMissingError(str(error)) from error
        return cls.from_json(data, where=str(path))

    @classmethod
    def joined(
        cls, subset: str, parts: Sequence[MaskManifest], kept: frozenset[str] | None = None
    ) -> MaskManifest:
        """The manifests of the parts of a subset as one; only of the tasks ``kept``, if given."""

        def all_of(name: str) -> dict[str, Any]:
            return {
                task: known
                for part in parts
                for task, known in getattr(part, name).items()
                if kept is None or task in kept
            }

        return replace(
            parts[0],
            subset=subset,
            masks=all_of("masks"),
            excluded=all_of("excluded"),
            flags=all_of("flags"),
            evidence=all_of("evidence"),
            built=_shared([part.built for part in parts]),
        )

    @classmethod
    def from_json(cls, data: Any, where: str = "mask manifest") -> MaskManifest:
        """Check and build from the file form; ``where`` names it in errors."""
        data = unsealed(data, MANIFEST_VERSION, where)
        expect_fields(data, _FIELDS, where)
        expect_fields(data, {name: dict for name in _OPTIONAL if name in data}, where)
        _check_tasks(data, where)
        return cls(
            suite=data["suite"],
            subset=data["subset"],
            data=data["data"],
            provenance=data["provenance"],
            masks={task: tuple(tools) for task, tools in data["masks"].items()},
            excluded=data["excluded"],
            flags={task: tuple(flags) for task, flags in data["flags"].items()},
            built=data.get("built", {}),
            evidence=data.get("evidence", {}),
        )


def _shared(built: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is said of all parts alike."""
    return {key: value for key, value in built[0].items() if all(one.get(key) == value for one in built)}


def _check_tasks(data: Mapping[str, Any], where: str) -> None:
    """Refuse what would label a task falsely: nothing is infeasible for the lack of no tool."""
    for task, tools in data["masks"].items():
        _check_names(tools, f"{where}: the mask of task {task!r}")
        if not tools:
            raise DataCorruptError(f"{where}: the mask of task {task!r} is empty; list it as excluded")
        if task in data["excluded"]:
            raise DataCorruptError(f"{where}: task {task!r} is masked and excluded at once")
    for task, flags in data["flags"].items():
        _check_names(flags, f"{where}: the flags of task {task!r}")
        for flag in flags:
            if flag not in FLAGS:
                problem = UnknownNameError("flag", flag, FLAGS, f"task {task!r}")
                raise DataCorruptError(f"{where}: {problem}")
    excluded, evidence = data["excluded"], data.get("evidence", {})
    expect_fields(excluded, dict.fromkeys(excluded, str), f"{where}: excluded")
    expect_fields(evidence, dict.fromkeys(evidence, dict), f"{where}: evidence")
    for task, known in evidence.items():
        status = known.get("status", "unknown")
        if status not in list(STATUSES):
            unknown = UnknownNameError("status", status, STATUSES, f"the evidence of task {task!r}")
            raise DataCorruptError(f"{where}: {unknown}")
    _check_built(data.get("built", {}), f"{where}: built")


def _check_built(built: Mapping[str, Any], where: str) -> None:
    """What is read again: the corrections that masks belong to, and the settings of the suite."""
    given = {name: kind for name, kind in _READ_AGAIN.items() if built.get(name) is not None}
    expect_fields(built, given, where)


def _check_names(names: Any, what: str) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataCorruptError(f"{what} is {names!r:.80}, expected a list of names")
