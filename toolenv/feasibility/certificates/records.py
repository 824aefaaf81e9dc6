"""Certificates, and the file that holds them.

::

    {"version": 1, "suite": "BFCL", "subset": "multi_turn_base", "data": "sha256:…", "masks": "sha256:…",
     "rules": "…", "bound": {…}, "hash": "sha256:…",
     "tasks": {TASK_ID: {"status": STATUS, "mask": [TOOL, …] | null, "reason": "…",
                         "certificates": [CERTIFICATE, …]}, …}}

A task's certificates are about one mask each, in the order in which the masks were tried: the manifest's own
first, then those proposed after a refutation. ``masks`` names the manifest by its hash, ``rules`` the version
of the suite's rules that the certificates rest on. ``hash`` covers the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from toolenv.errors import DataCorruptError
from toolenv.hashed_json import read_json, sealed, unsealed, write_json
from toolenv.trace import Trace

CERTIFICATES_VERSION = 1

Answer: TypeAlias = Literal["feasible", "infeasible", "unknown"]

Criterion: TypeAlias = Literal["judge", "outcome"]
"""What counts as solved: what the data set's judge accepts, or, more weakly, that everything that was asked
for has come about: the states, and what was to be found out. A judge may want more, e.g. a certain
confirmation. Who satisfies the judge has brought about the outcome."""

Status: TypeAlias = Literal["certified", "repaired", "dropped", "assumed", "unknown"]

Kind: TypeAlias = Literal["do-nothing", "query-grounded", "semantic-redundancy", "not-needed"]
"""How a task turned out to be feasible: without a tool; since the query held what the masked tool would have
fetched; by other tools; or by those left of the reference solution, which needed no more."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An argument why a task cannot be solved; the suite's rules say what each kind claims.

    Attributes:
        kind: e.g. ``effect`` or ``result``.
        turn: the user turn that cannot be finished, from 0.
        facts: what the kind speaks about; JSON values.
    """

    kind: str
    turn: int
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known about one task under one mask.

    Attributes:
        task_id, mask: the task and the tools taken away, sorted.
        answer: whether the task can be solved.
        criterion: if feasible, the strongest criterion that the witness meets; if infeasible, the weakest
            that nothing meets.
        witness: if feasible, an episode under the mask.
        kind: if feasible, how.
        claim: if infeasible, why.
        states: how many states the search looked at.
        bound: if unknown, the bound that was reached.
    """

    task_id: str
    mask: tuple[str, ...]
    answer: Answer
    criterion: Criterion = "judge"
    witness: Trace | None = None
    kind: Kind | None = None
    claim: Claim | None = None
    states: int = 0
    bound: str = ""

    def to_json(self) -> dict[str, Any]:
        """The file form."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        plain["mask"] = list(self.mask)
        plain["witness"] = None if self.witness is None else self.witness.to_json()
        if self.claim is not None:
            plain["claim"] = {name: getattr(self.claim, name) for name in Claim.__slots__}
        return plain

    @classmethod
    def from_json(cls, data: Any) -> Certificate:
        """Read the file form.

        Raises:
            DataCorruptError: it is no certificate.
        """
        try:
            plain = {name: data[name] for name in cls.__slots__}
            plain["mask"] = tuple(plain["mask"])
            plain["witness"] = None if plain["witness"] is None else Trace.from_json(plain["witness"])
            plain["claim"] = None if plain["claim"] is None else Claim(**plain["claim"])
        except (AttributeError, KeyError, TypeError) as error:
            raise DataCorruptError(f"not a certificate: {type(error).__name__}: {error}") from error
        certificate = cls(**plain)
        if certificate.answer not in get_args(Answer) or certificate.criterion not in get_args(Criterion):
            raise DataCorruptError(
                f"not a certificate: answer {certificate.answer!r}, criterion {certificate.criterion!r}"
            )
        return certificate


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """What became of a task.

    Attributes:
        status: ``certified`` (its mask stands), ``repaired`` (another mask stands), ``dropped`` (none
            does), ``unknown`` (the mask stands unproven) or ``assumed`` (unproven too, since nothing can be
            tried; but no remaining tool reads like a masked one).
        mask: the mask that stands; ``None`` if dropped.
        certificates: one for each mask that was looked at, the manifest's own first.
        reason: why it was dropped.
    """

    status: Status
    mask: tuple[str, ...] | None
    certificates: tuple[Certificate, ...]
    reason: str = ""

    @property
    def was_refuted(self) -> bool:
        """Whether the manifest's own mask leaves the task feasible."""
        return self.certificates[0].answer == "feasible"


@dataclass(frozen=True)
class Certificates:
    """The certificates of a subset's tasks; see the module for the file form."""

    suite: str
    subset: str
    data: str
    masks: str
    rules: str
    bound: Mapping[str, int]
    tasks: Mapping[str, TaskRecord] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The file form, hash included."""
        body = {
            "version": CERTIFICATES_VERSION,
            "suite": self.suite,
            "subset": self.subset,
            "data": self.data,
            "masks": self.masks,
            "rules": self.rules,
            "bound": dict(self.bound),
            "tasks": {task: _record_to_json(record) for task, record in self.tasks.items()},
        }
        return sealed(body)

    @property
    def hash(self) -> str:
        """``sha256:…`` over the content."""
        return str(self.to_json()["hash"])

    def write(self, path: Path) -> None:
        """Write the file form."""
        write_json(path, self.to_json())

    @classmethod
    def read(cls, path: Path) -> Certificates:
        """Read a certificates file.

        Raises:
            DataMissingError: no such file.
            DataCorruptError: not certificates, another version, or the hash does not match.
        """
        return cls.from_json(read_json(path, "certificates"), where=str(path))

    @classmethod
    def from_json(cls, data: Any, where: str = "certificates") -> Certificates:
        """Check and build from the file form; ``where`` names it in errors."""
        data = unsealed(data, CERTIFICATES_VERSION, where)
        try:
            names = ("suite", "subset", "data", "masks", "rules", "bound")
            tasks = {task: _record_from_json(record) for task, record in data["tasks"].items()}
            return cls(**{name: data[name] for name in names}, tasks=tasks)
        except (AttributeError, KeyError, TypeError) as error:
            raise DataCorruptError(f"{where}: {type(error).__name__}: {error}") from error


def _record_to_json(record: TaskRecord) -> dict[str, Any]:
    return {
        "status": record.status,
        "mask": None if record.mask is None else list(record.mask),
        "reason": record.reason,
        "certificates": [certificate.to_json() for certificate in record.certificates],
    }


def _record_from_json(data: Mapping[str, Any]) -> TaskRecord:
    if data["status"] not in get_args(Status):
        raise DataCorruptError(f"status {data['status']!r}: one of {', '.join(get_args(Status))}")
    return TaskRecord(
        status=cast(Status, data["status"]),
        mask=None if data["mask"] is None else tuple(data["mask"]),
        certificates=tuple(Certificate.from_json(one) for one in data["certificates"]),
        reason=data["reason"],
    )
