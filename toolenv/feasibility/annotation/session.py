"""One person at work on a sample: which items, what is answered, what is next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolenv.errors import UsageError
from toolenv.feasibility.annotation.answers import (
    ADJUDICATION,
    Answer,
    AnswerLog,
    answers_path,
    checked_answer,
    read_answers,
)
from toolenv.feasibility.annotation.sample import Item, Sample
from toolenv.feasibility.annotation.verdict import Judged, judge_items, open_items, two_annotators


@dataclass(frozen=True)
class Session:
    """The items one person answers.

    Attributes:
        name: who answers.
        items: what is asked, in order.
        log: where answers go.
        said_before: in an adjudication, each annotator's answer to each item, by item id and name. Empty
            otherwise: annotators answer independently.
    """

    name: str
    items: Sequence[Item]
    log: AnswerLog
    said_before: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)

    def answer(self, index: int) -> Answer | None:
        """The answer to the item at ``index``, if there is one."""
        return self.log.answers.get(self.items[index].id)

    def record(self, index: int, choice: str, note: str = "") -> None:
        """Keep an answer; a later one to the same item replaces it.

        Raises:
            UsageError: no such answer, or too long a note.
            StoreError: it cannot be written.
        """
        self.log.add(self.items[index].id, checked_answer(choice, note))

    def next_open(self, start: int = 0) -> int | None:
        """The first unanswered item from ``start`` on, then from the beginning; ``None`` if there is none."""
        order = [*range(start, len(self.items)), *range(start)]
        return next((index for index in order if self.answer(index) is None), None)

    @property
    def answered(self) -> int:
        """How many items have an answer."""
        return sum(self.answer(index) is not None for index in range(len(self.items)))


@contextmanager
def annotation(sample_path: Path, name: str) -> Iterator[Session]:
    """An annotator's session; takes up where the last one ended.

    Raises:
        UsageError: a name that cannot be used, or disagreements are being settled already.
        DataError, StoreError: a file that cannot be used.
    """
    sample = Sample.read(sample_path)
    if name.lower() == ADJUDICATION:
        raise UsageError(f"annotator {name!r}: that name is kept; --adjudicate settles disagreements")
    with AnswerLog(sample_path, sample, name) as log:
        if read_answers(answers_path(sample_path, ADJUDICATION), sample, ADJUDICATION):
            raise UsageError(f"{sample_path}: disagreements are being settled, so annotators' answers stand")
        yield Session(name, sample.items, log)


@contextmanager
def adjudication(sample_path: Path, names: Sequence[str] = ()) -> Iterator[Session]:
    """The session that settles what two annotators disagree on, or were unsure of.

    Their files are held meanwhile, so that nothing it rests on changes.

    Raises:
        UsageError: there are not two annotators, or they have not answered every item.
        DataError, StoreError: a file that cannot be used.
    """
    sample = Sample.read(sample_path)
    pair = two_annotators(sample_path, names)
    with ExitStack() as stack:
        first, second, settled = (
            stack.enter_context(AnswerLog(sample_path, sample, name)) for name in (*pair, ADJUDICATION)
        )
        judged = judge_items(sample, first.answers, second.answers, settled.answers)
        missing = open_items(judged)
        if missing:
            raise UsageError(
                f"{sample_path}: {missing} of {len(judged)} items are not answered by both {pair[0]!r} and "
                f"{pair[1]!r}; disagreements are settled when all are"
            )
        disputed = [one for one in judged if one.disputed]
        said = {one.item.id: _said(pair, one) for one in disputed}
        yield Session(ADJUDICATION, [one.item for one in disputed], settled, said)


def _said(names: Sequence[str], judged: Judged) -> dict[str, Answer]:
    return {name: answer for name, answer in zip(names, judged.answers, strict=True) if answer}
