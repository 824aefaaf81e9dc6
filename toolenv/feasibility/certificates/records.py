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

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.hashed_json import expect_fields, read_json, sealed, unsealed, write_json
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
    def from_json(cls, data: Any, where: str = "certificate") -> Certificate:
        """Read the file form.

        Raises:
            DataCorruptError: it is no certificate; says what is wrong, and ``where``.
        """
        _expect(data, _CERTIFICATE, where)
        _expect_one_of(data, {"answer": Answer, "criterion": Criterion}, where)
        for name in ("witness", "kind", "claim"):
            if name not in data:
                raise DataCorruptError(f"{where}: {name!r} is missing")
        if data["kind"] is not None:
            _expect_one_of(data, {"kind": Kind}, where)
        plain = {name: data[name] for name in cls.__slots__}
        plain["mask"] = _names(data["mask"], f"{where}: 'mask'")
        plain["witness"] = _witness(data["witness"], f"{where}: witness")
        plain["claim"] = _claim(data["claim"], f"{where}: claim")
        return cls(**plain)


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
            DataCorruptError: not certificates, another version, or the hash does not match; says where.
        """
        return cls.from_json(read_json(path, "certificates"), where=str(path))

    @classmethod
    def from_json(cls, data: Any, where: str = "certificates") -> Certificates:
        """Check and build from the file form; ``where`` names it in errors."""
        data = unsealed(data, CERTIFICATES_VERSION, where)
        expect_fields(data, {**_HEADER, "tasks": dict}, where)
        if not data["tasks"]:
            raise DataCorruptError(f"{where}: 'tasks' is empty, so that nothing is certified")
        expect_fields(data["bound"], dict.fromkeys(data["bound"], int), f"{where}: bound")
        tasks = {
            task: _record_from_json(record, f"{where}: task {task!r}")
            for task, record in data["tasks"].items()
        }
        return cls(**{name: data[name] for name in _HEADER}, tasks=tasks)


def _record_to_json(record: TaskRecord) -> dict[str, Any]:
    return {
        "status": record.status,
        "mask": None if record.mask is None else list(record.mask),
        "reason": record.reason,
        "certificates": [certificate.to_json() for certificate in record.certificates],
    }


_HEADER: Mapping[str, type] = {
    **dict.fromkeys(("suite", "subset", "data", "masks", "rules"), str),
    "bound": dict,
}
_RECORD: Mapping[str, type] = {"status": str, "reason": str, "certificates": list}
_CERTIFICATE: Mapping[str, type] = {
    **dict.fromkeys(("task_id", "answer", "criterion", "bound"), str),
    "mask": list,
    "states": int,
}
_CLAIM: Mapping[str, type] = {"kind": str, "turn": int, "facts": dict}


def _record_from_json(data: Any, where: str) -> TaskRecord:
    _expect(data, _RECORD, where)
    _expect_one_of(data, {"status": Status}, where)
    if "mask" not in data:
        raise DataCorruptError(f"{where}: 'mask' is missing")
    return TaskRecord(
        status=cast(Status, data["status"]),
        mask=None if data["mask"] is None else _names(data["mask"], f"{where}: 'mask'"),
        certificates=tuple(
            Certificate.from_json(one, f"{where}: certificates[{at}]")
            for at, one in enumerate(data["certificates"])
        ),
        reason=data["reason"],
    )


def _witness(data: Any, where: str) -> Trace | None:
    if data is None:
        return None
    _expect(data, {}, where)
    try:
        return Trace.from_json(data)
    except DataCorruptError as error:
        raise DataCorruptError(f"{where}: {error}") from error


def _claim(data: Any, where: str) -> Claim | None:
    if data is None:
        return None
    _expect(data, _CLAIM, where)
    return Claim(**{name: data[name] for name in _CLAIM})


def _expect(data: Any, fields: Mapping[str, type], where: str) -> None:
    if not isinstance(data, dict):
        raise DataCorruptError(f"{where} is {data!r:.80}, expected an object")
    expect_fields(data, fields, where)


def _expect_one_of(data: Mapping[str, Any], names: Mapping[str, Any], where: str) -> None:
    for name, known in names.items():
        if data[name] not in list(get_args(known)):
            unknown = UnknownNameError(name, data[name], get_args(known))
            raise DataCorruptError(f"{where}: {unknown}")


def _names(value: Any, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise DataCorruptError(f"{what} is {value!r:.80}, expected a list of names")
    return tuple(value)
