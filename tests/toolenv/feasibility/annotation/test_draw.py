from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.support.toy import Toy
from tests.toolenv.feasibility.annotation.samples import Crowd, frame, paper_frames
from toolenv.errors import UsageError
from toolenv.feasibility.annotation.draw import Frame, draw
from toolenv.source import make_source

TRUTH = (
    "reference",
    "label",
    "flags",
    "mask_",
    "success",
    "decision",
    "verdict",
    "PaidReference",
    "balance:",
)


def test_the_papers_sample() -> None:
    sample = draw(paper_frames())
    assert Counter(item.suite for item in sample.items) == {
        "BFCL": 121,
        "StableToolBench": 82,
        "API-Bank": 50,
        "TauBench": 30,
    }
    assert len({item.id for item in sample.items}) == 283
    assert {(one.suite, one.population, one.size) for one in sample.strata} == {
        ("BFCL", 445, 121),
        ("StableToolBench", 300, 82),
        ("API-Bank", 184, 50),
        ("TauBench", 107, 30),
    }


def test_the_draw_depends_on_the_seed_and_not_on_any_order() -> None:
    one = draw(paper_frames(), seed=1)
    again = draw(paper_frames(reverse=True), seed=1)
    assert one.items == again.items
    drawn = {item.id for item in one.items}
    other = {item.id for item in draw(paper_frames(), seed=2).items}
    # Two independent samples of 27% share about 27%.
    assert 0.15 * 283 < len(drawn & other) < 0.4 * 283


def test_every_task_is_drawn_about_equally_often() -> None:
    population, draws = 40, 400
    counts = Counter(
        item.task_id
        for seed in range(draws)
        for item in draw([frame("A", population)], seed, margin=0.2).items
    )
    size = sum(counts.values()) / draws
    expected = draws * size / population
    chi_square = sum((counts[f"task-{number}"] - expected) ** 2 / expected for number in range(population))
    # The 99.9% point for 39 degrees of freedom is 72.1; sampling without replacement makes less.
    assert 5 < chi_square < 72.1


def test_a_larger_sample_holds_the_smaller_one() -> None:
    small, large = (draw([frame("A", 300)], seed=3, margin=margin).items for margin in (0.1, 0.05))
    assert {item.id for item in small} < {item.id for item in large}


def test_tasks_infeasible_as_shipped_are_not_drawn() -> None:
    sample = draw([frame("A", 5)])
    assert {item.task_id for item in sample.items} == {f"task-{number}" for number in range(5)}
    with pytest.raises(
        UsageError, match="ToolFeas/B-infeasible-v0, subset 'default': no task of it is masked"
    ):
        draw([frame("A", 5), frame("B", 0)])


def test_an_item_holds_what_a_person_needs_and_no_truth() -> None:
    source = make_source(Toy(), "infeasible")
    sample = draw([Frame("ToolFeas/Toy-infeasible-v0", "default", source)])
    assert sample.strata[0].manifest == source.manifest_hash == Toy().masks("default").hash
    items = {item.task_id: item for item in sample.items}
    assert set(items) == {"pay-7", "pay-30", "two-turns"}
    two = items["two-turns"]
    assert [[said.text for said in turn.said] for turn in two.turns] == [
        ["Pay 7 from A1."],
        ["Now you can pay."],
    ]
    assert [tool.name for tool in two.masked] == ["pay"]
    assert [tool.name for tool in two.remaining] == ["accounts.balance", "crash"]
    assert two.turns[1].adds == ()  # what the turn adds is masked
    assert two.remaining[0].description == "The balance of an account."
    text = json.dumps(sample.to_json())
    assert [word for word in TRUTH if word in text] == []


def test_two_environments_of_one_suite_are_refused() -> None:
    with pytest.raises(UsageError, match="two environments of one suite"):
        draw([frame("A", 3), frame("A", 4)])


def test_the_crowd_is_what_it_says() -> None:
    assert len(Crowd("A", 7).tasks("default")) == 8
