from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolenv.feasibility.annotation.samples import give, make_item, written
from toolenv.errors import StoreError, UnknownNameError, UsageError
from toolenv.feasibility.annotation.answers import CHOICES, Answer, AnswerLog
from toolenv.feasibility.annotation.sample import Sample
from toolenv.feasibility.annotation.session import adjudication, annotation
from toolenv.feasibility.annotation.verdict import judge_items, read_judged

IDS = [f"Toy/{letter}" for letter in "abcdefghi"]
PAIRS = [(one, other) for one in CHOICES for other in CHOICES]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "sample.json", [make_item(letter) for letter in "abcdefghi"])[0]


def test_a_session_goes_on_where_it_ended(path: Path) -> None:
    with annotation(path, "ann") as session:
        session.record(0, "no")
        session.record(2, "yes", "cp and rm")
        assert session.next_open() == 1
        assert session.next_open(2) == 3
    with annotation(path, "ann") as session:
        assert (session.answered, session.next_open()) == (2, 1)
        assert session.answer(2) == Answer("yes", "cp and rm")
        for index in range(len(IDS)):
            session.record(index, "no")
        assert session.next_open(5) is None


def test_annotators_see_nothing_of_each_other(path: Path) -> None:
    give(path, "ann", dict.fromkeys(IDS, "yes"))
    with annotation(path, "bob") as session:
        assert session.said_before == {}
        assert session.answered == 0


def test_only_what_is_disputed_is_adjudicated(path: Path) -> None:
    for place, name in enumerate(("ann", "bob")):
        give(path, name, {item: pair[place] for item, pair in zip(IDS, PAIRS, strict=True)})
    with adjudication(path) as session:
        # All but yes/yes and no/no: two who are unsure agree, and leave the item open.
        expected = [
            item for item, pair in zip(IDS, PAIRS, strict=True) if pair not in (("yes",) * 2, ("no",) * 2)
        ]
        assert [item.id for item in session.items] == expected
        assert session.said_before["Toy/b"] == {"ann": Answer("yes"), "bob": Answer("no")}
        session.record(0, "no", "talked over")
    names, judged = read_judged(path, Sample.read(path))
    assert names == ("ann", "bob")
    assert [one.verdict for one in judged] == ["yes", "no", None, None, "no", None, None, None, None]


def test_adjudication_waits_for_both(path: Path) -> None:
    with pytest.raises(UsageError, match="two annotators are needed, found nobody"), adjudication(path):
        pass
    give(path, "ann", dict.fromkeys(IDS, "no"))
    with pytest.raises(UsageError, match="two annotators are needed, found ann"), adjudication(path):
        pass
    give(path, "bob", dict.fromkeys(IDS[:7], "no"))
    with (
        pytest.raises(UsageError, match="2 of 9 items are not answered by both 'ann' and 'bob'"),
        adjudication(path),
    ):
        pass


def test_two_of_three_annotators_are_chosen_by_name(path: Path) -> None:
    for name in ("ann", "bob", "cat"):
        give(path, name, dict.fromkeys(IDS, "no"))
    with pytest.raises(UsageError, match="found ann, bob, cat"), adjudication(path):
        pass
    with adjudication(path, ["cat", "ann"]) as session:
        assert len(session.items) == 0
    with pytest.raises(UnknownNameError, match="unknown annotator 'can'"):
        read_judged(path, Sample.read(path), ["can", "ann"])


def test_no_answer_changes_once_disagreements_are_settled(path: Path) -> None:
    give(path, "ann", dict.fromkeys(IDS, "no"))
    give(path, "bob", dict.fromkeys(IDS, "yes"))
    with (
        adjudication(path) as session,
        pytest.raises(StoreError, match="in use by another process"),
        annotation(path, "ann"),
    ):
        pass
    with annotation(path, "ann"):
        pass  # nothing is settled yet
    with adjudication(path) as session:
        session.record(0, "no")
    with pytest.raises(UsageError, match="answers stand"), annotation(path, "ann"):
        pass
    with pytest.raises(UsageError, match="that name is kept"), annotation(path, "Adjudication"):
        pass


def test_a_bad_answer_is_not_kept(path: Path) -> None:
    with annotation(path, "ann") as session:
        with pytest.raises(UsageError, match="answer '': give one of"):
            session.record(0, "")
        assert session.answered == 0


def test_an_adjudication_of_an_agreed_item_does_not_count(path: Path) -> None:
    sample = Sample.read(path)
    agreed = {"Toy/a": Answer("no")}
    (one, *_) = judge_items(sample, agreed, agreed, {"Toy/a": Answer("yes")})
    assert one.verdict == "no"
    with AnswerLog(path, sample, "ann") as log:
        assert log.answers == {}
