"""What two annotators, and the adjudication of their disagreements, make of each item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.annotation.answers import (
    ADJUDICATION,
    Answer,
    Choice,
    annotators,
    answers_path,
    read_answers,
)
from toolenv.feasibility.annotation.sample import Item, Sample


@dataclass(frozen=True, slots=True)
class Judged:
    """One item with all that people said of it.

    Attributes:
        item: the task.
        answers: of the two annotators, in the order of their names; ``None`` where one has not answered.
        adjudicated: the settled answer to an item they did not agree on, if there is one yet.
    """

    item: Item
    answers: tuple[Answer | None, Answer | None]
    adjudicated: Answer | None = None

    @property
    def pair(self) -> tuple[Choice, Choice] | None:
        """Both answers, once there are two."""
        first, second = self.answers
        return (first.choice, second.choice) if first and second else None

    @property
    def disputed(self) -> bool:
        """Whether it needs adjudication: both answered, and did not both say yes or both say no."""
        return self.pair is not None and self.pair not in (("yes", "yes"), ("no", "no"))

    @property
    def verdict(self) -> Choice | None:
        """The answer that counts; ``None`` while it is open."""
        if self.disputed:
            return self.adjudicated.choice if self.adjudicated else None
        return self.pair[0] if self.pair else None


def judge_items(
    sample: Sample,
    first: Mapping[str, Answer],
    second: Mapping[str, Answer],
    adjudicated: Mapping[str, Answer],
) -> tuple[Judged, ...]:
    """Every item with what was said of it; answers are by item id."""
    return tuple(
        Judged(item, (first.get(item.id), second.get(item.id)), adjudicated.get(item.id))
        for item in sample.items
    )


def read_judged(
    sample_path: Path, sample: Sample, names: Sequence[str] = ()
) -> tuple[tuple[str, str], tuple[Judged, ...]]:
    """The two annotators' names and every item, from the files beside a sample.

    Raises:
        UsageError: as :func:`two_annotators`.
        StoreError: a file that cannot be read.
    """
    first, second = two_annotators(sample_path, names)
    read = {
        name: read_answers(answers_path(sample_path, name), sample, name)
        for name in (first, second, ADJUDICATION)
    }
    return (first, second), judge_items(sample, read[first], read[second], read[ADJUDICATION])


def two_annotators(sample_path: Path, names: Sequence[str] = ()) -> tuple[str, str]:
    """The names of the two who answered a sample, sorted.

    Args:
        sample_path: the sample.
        names: the two to take, where more have answered.

    Raises:
        UsageError: there are not exactly two, or one named has not answered.
    """
    known = annotators(sample_path)
    for name in names:
        if name not in known:
            raise UnknownNameError("annotator", name, known, where=str(sample_path))
    chosen = sorted(set(names)) or known
    if len(chosen) != 2:
        found = ", ".join(chosen) or "nobody"
        raise UsageError(
            f"{sample_path}: two annotators are needed, found {found}; "
            "`toolenv annotate answer` adds one, --annotator NAME given twice chooses two"
        )
    return chosen[0], chosen[1]


def open_items(judged: Iterable[Judged]) -> int:
    """How many items have not been answered by both."""
    return sum(one.pair is None for one in judged)
