"""A candidate instance: what the model made for one order, what the checks said, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from envs_registry.tool_bench_x.layout import Call, Key, Record
from toolenv.errors import DataCorruptError
from toolenv.types import NO_TOKENS, Usage

CANDIDATE_VERSION = 1


@dataclass(frozen=True)
class Candidate:
    """One candidate; what the model never got to is empty.

    Attributes:
        key: where it stands in the tree.
        reason: why it is rejected; ``""`` if it is retained.
        detail: what was found.
        topic, subtopic: in words.
        scenario: the situation it was made from.
        prompt, tools, distractors, answer: the task.
        source, calls: the tools and the reference path.
        hazard, perturbed, recovery, hint: the hazard.
        perturbed_tool: the first tool of the reference path that behaves otherwise.
        recoverable, leakless: what the two automatic checks said; ``None`` if it never got to them.
        usage: tokens of all generations.
        answers, unreadable: answers of the model, and how many of them could not be used.
    """

    key: Key
    reason: str = ""
    detail: str = ""
    topic: str = ""
    subtopic: str = ""
    scenario: str = ""
    prompt: str = ""
    tools: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    answer: str = ""
    source: str = ""
    calls: tuple[Call, ...] = ()
    hazard: str = ""
    perturbed: str = ""
    recovery: tuple[Call, ...] = ()
    hint: str = ""
    perturbed_tool: str = ""
    recoverable: bool | None = None
    leakless: bool | None = None
    usage: Usage = field(default=NO_TOKENS)
    answers: int = 0
    unreadable: int = 0

    @property
    def is_retained(self) -> bool:
        """Whether it passed everything."""
        return not self.reason

    @property
    def record(self) -> Record:
        """The task record of a retained one."""
        recovery = {self.hazard: self.recovery}
        return Record(self.key, self.prompt, self.tools, self.answer, self.distractors, self.calls, recovery)

    def to_json(self) -> dict[str, Any]:
        """A line of the log."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("calls", "recovery"):
            plain[name] = [call.to_json() for call in plain[name]]
        for name in ("tools", "distractors"):
            plain[name] = list(plain[name])
        return {"version": CANDIDATE_VERSION, **plain, "key": asdict(self.key), "usage": asdict(self.usage)}

    @classmethod
    def from_json(cls, data: Any) -> Candidate:
        """Read a line back.

        Raises:
            DataCorruptError: it is none.
        """
        if not isinstance(data, Mapping) or data.get("version") != CANDIDATE_VERSION:
            raise DataCorruptError(f"no candidate of version {CANDIDATE_VERSION}: {data!r:.80}")
        try:
            plain = {name: data[name] for name in cls.__dataclass_fields__}
            for name in ("calls", "recovery"):
                plain[name] = tuple(Call(one["tool"], one["arguments"]) for one in plain[name])
            for name in ("tools", "distractors"):
                plain[name] = tuple(plain[name])
            return cls(**{**plain, "key": Key(**plain["key"]), "usage": Usage(**plain["usage"])})
        except (KeyError, TypeError) as error:
            raise DataCorruptError(f"not a candidate: {type(error).__name__}: {error}") from error
