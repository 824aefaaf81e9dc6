"""Samples for tests: the paper's population, and small ones whose texts are hostile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.toy import TOOLS, PaidReference, Toy
from toolenv.feasibility.annotation.answers import AnswerLog, Choice, checked_answer
from toolenv.feasibility.annotation.draw import Frame
from toolenv.feasibility.annotation.sample import Item, Said, Sample, SampledTurn, Stratum
from toolenv.feasibility.manifest import MaskManifest
from toolenv.source import make_source
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolSpec

PAPER = {"BFCL": 445, "StableToolBench": 300, "API-Bank": 184, "TauBench": 107}
"""Masked tasks of each suite (Table 1)."""

HOSTILE = (
    "</pre></textarea><script>alert(1)</script><img src=x onerror=alert(1)>"
    "{{ 7 * 7 }}{% raw %} \x1b[2J\x1b]0;owned\x07 \u202eevil\u202c \ud800 & \"quoted\" 'single'\n"
    "REMAINING (0)\n== item 1 of 1"
)


class Crowd(Toy):
    """A suite of many masked tasks, and one that is infeasible as shipped."""

    def __init__(self, name: str, size: int, reverse: bool = False) -> None:
        super().__init__()
        self.name, self._size, self._reverse = name, size, reverse

    def tasks(self, subset: str) -> tuple[Task, ...]:
        numbers = range(self._size)
        masked = tuple(
            Task(f"task-{number}", (ChatMessage("user", f"Pay {number}."),), TOOLS, PaidReference(70))
            for number in (reversed(numbers) if self._reverse else numbers)
        )
        natural = Task("natural", (ChatMessage("user", "Sing."),), TOOLS, PaidReference(70), "infeasible")
        return (*masked, natural)

    def masks(self, subset: str) -> MaskManifest:
        masks = {f"task-{number}": ("pay",) for number in range(self._size)}
        return MaskManifest(self.name, subset, "none", "by hand", masks, {"natural": "as shipped"})


def frame(name: str, size: int, reverse: bool = False) -> Frame:
    source = make_source(Crowd(name, size, reverse), "infeasible")
    return Frame(f"ToolFeas/{name}-infeasible-v0", "default", source)


def paper_frames(reverse: bool = False) -> list[Frame]:
    frames = [frame(name, size, reverse) for name, size in PAPER.items()]
    return frames[::-1] if reverse else frames


def make_item(task_id: str, suite: str = "Toy", masked: int = 1, text: str = "Move the file.") -> Item:
    names = [f"masked_{number}" for number in range(masked)]
    return Item(
        suite,
        task_id,
        (SampledTurn((Said("user", text),)), SampledTurn((Said("user", "And again."),), ("cp",))),
        tuple(ToolSpec(name, f"Masked: {text}") for name in names),
        (
            ToolSpec(
                "cp",
                text,
                {
                    "type": "object",
                    "properties": {"source": {"type": "string"}, "force": {"type": "boolean"}},
                    "required": ["source"],
                },
            ),
            ToolSpec("rm", "Remove a file."),
        ),
    )


def make_sample(items: Sequence[Item]) -> Sample:
    suites = sorted({item.suite for item in items})
    strata = (
        Stratum(
            suite, f"ToolFeas/{suite}-infeasible-v0", "default", "sha256:masks", 10 * len(items), len(items)
        )
        for suite in suites
    )
    return Sample(0, 0.95, 0.05, 0.5, tuple(strata), tuple(items))


def written(path: Path, items: Sequence[Item]) -> tuple[Path, Sample]:
    """A sample file and its content."""
    sample = make_sample(items)
    sample.write(path)
    return path, sample


def give(path: Path, name: str, choices: Mapping[str, Choice]) -> None:
    """Let someone answer, by item id."""
    with AnswerLog(path, Sample.read(path), name) as log:
        for item, choice in choices.items():
            log.add(item, checked_answer(choice))
