from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toolenv.feasibility.annotation.samples import HOSTILE, give, make_item, written
from toolenv.feasibility.annotation.answers import QUESTION, Answer
from toolenv.feasibility.annotation.session import Session, adjudication, annotation
from toolenv.feasibility.annotation.shown import item_text
from toolenv.feasibility.annotation.terminal import answer_in_terminal


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path, _ = written(tmp_path / "sample.json", [make_item(letter) for letter in "abc"])
    with annotation(path, "ann") as session:
        yield session


def play(session: Session, *lines: str) -> str:
    """What is printed while these lines are typed; every line must be asked for."""
    said: list[str] = []
    typed = iter(lines)
    answer_in_terminal(session, lambda: next(typed), said.append)
    assert list(typed) == []
    return "\n".join(said)


def test_answers_with_and_without_notes(session: Session) -> None:
    play(session, "y  cp and rm do it ", "NO", "u")
    assert [session.answer(index) for index in range(3)] == [
        Answer("yes", "cp and rm do it"),
        Answer("no"),
        Answer("unsure"),
    ]


def test_all_that_a_person_needs_is_shown(session: Session) -> None:
    shown = play(session, "q")
    for part in (
        "item 1 of 3, 0 answered: | Toy/a",
        "| [user] Move the file.",
        "TURN 2\noffered from here on: | cp\n| [user] And again.",
        "MASKED (1)\n| masked_0(): Masked: Move the file.",
        "REMAINING (2)\n| cp(source, [force]): Move the file.\n| rm(): Remove a file.",
        QUESTION,
        "yes: a substitute remains",
    ):
        assert part in shown


def test_moving_about(session: Session) -> None:
    shown = play(session, "s", "b", "s", "s", "n", "b", "y", "quit")
    assert [session.answer(index) for index in range(3)] == [Answer("yes"), None, Answer("no")]
    # Asked in this order: 1, 2, 1, 2, 3, 1 (the first open one), 1 (nothing is before it), 2.
    assert [shown.count(f"item {number} of 3") for number in (1, 2, 3)] == [4, 3, 1]


def test_parameters_on_demand(session: Session) -> None:
    shown = play(session, "p", "q")
    assert '| cp: {"type": "object", "properties": {"source"' in shown


def test_what_is_no_answer_is_said(session: Session) -> None:
    shown = play(session, "", "maybe", "n " + "x" * 4001, "q")
    assert "answer 'maybe': give one of yes, no, unsure" in shown
    assert "at most 4,000 are kept" in shown
    assert session.answered == 0


def test_hostile_texts_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    item = make_item("evil", text=HOSTILE)
    said = {"ann": Answer("yes", HOSTILE)}
    text = item_text(item, "item 1 of 1", said)
    assert text.encode()
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    assert not set("\x7f\x9b\u202e\u202c\ud800") & set(text)
    # A task's lines begin with a bar: headings of its own making are told from ours.
    assert text.count("\n| REMAINING (0)") == 3 + 1
    assert [line for line in text.splitlines() if line.startswith("REMAINING")] == ["REMAINING (2)"]


def test_the_adjudicator_sees_what_both_said(tmp_path: Path) -> None:
    path, _ = written(tmp_path / "sample.json", [make_item("a"), make_item("b")])
    give(path, "ann", {"Toy/a": "yes", "Toy/b": "no"})
    give(path, "bob", {"Toy/a": "no", "Toy/b": "no"})
    with adjudication(path) as session:
        shown = play(session, "n talked over")
        assert "ann said yes" in shown
        assert "bob said no" in shown
        assert session.answer(0) == Answer("no", "talked over")
