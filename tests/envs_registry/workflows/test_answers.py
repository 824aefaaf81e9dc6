"""Whether a message holds an answer: FIELD-030's whole tokens, and forms that people write."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from envs_registry.workflows.answers import Answer, AnswerKind, number_text, numbers_in
from envs_registry.workflows.leakage import leaked_forms, squeeze

AMOUNT = Answer("number", 1250.04, "EUR")
DAY = Answer("date", "2031-03-04")


@pytest.mark.parametrize(
    "text",
    [
        "1250.04",
        "The total is 1,250.04 EUR.",
        "€1,250.04",
        "$1,250.04!",
        "1'250.04 francs",
        "1\u202f250.04",
        "1250.040",
        "(1250.04)",
        "1250.04kg",
        "**1,250.04**",
        "[1250.04,3.5]",
        "x=1250.04, y=2",
        "1.25004e3",
        "It lies between 1 and 2,000: 1250.04.",
    ],
)
def test_field_030_a_number_is_held_by_any_token_of_equal_value(text: str) -> None:
    assert AMOUNT.is_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1250",
        "11250.04",
        "1250.041",
        "1250.04.1",
        "-1250.04",
        "A-1250.04",
        "v1250.04",
        "1.250,04",
        "1250,04",
        "1 250.04",
        "1250.04:30",
        "2-1250.04",
    ],
)
def test_field_030_part_of_a_number_or_word_is_no_token(text: str) -> None:
    assert not AMOUNT.is_in(text)


@pytest.mark.parametrize("text", ["__import__('os').system('id')", "NaN", "null", "", "infinity", "inf"])
def test_field_007_nothing_is_evaluated_and_nothing_collapses_to_zero(text: str) -> None:
    assert not Answer("number", 0.0).is_in(text)


def test_field_028_numbers_are_equal_however_they_are_written() -> None:
    assert set(numbers_in("5 5.0 5e0 +5")) == {Decimal(5)}


def test_field_030_ten_is_not_in_a_hundred() -> None:
    ten = Answer("number", 10)
    assert all(map(ten.is_in, ("10", "$10.00 in all")))
    assert not any(map(ten.is_in, ("100", "10.5", "210", "ORD-10", "2031-10-04", "10:30")))


@pytest.mark.parametrize(
    "text",
    [
        "2031-03-04",
        "on 4 March 2031.",
        "March 4, 2031",
        "March 4th, 2031",
        "the 4th of March 2031",
        "Mar. 4 2031",
        "04 MAR 2031",
        "2031/3/4",
        "Tuesday, 4 March 2031",
    ],
)
def test_dates_in_unambiguous_forms(text: str) -> None:
    assert DAY.is_in(text)


@pytest.mark.parametrize(
    "text",
    ["04/03/2031", "14 March 2031", "4 March 2032", "2031-04-03", "2031-03-041", "12031-03-04", "4 March"],
)
def test_other_and_ambiguous_dates(text: str) -> None:
    assert not DAY.is_in(text)


@pytest.mark.parametrize(
    ("kind", "value", "text", "held"),
    [
        ("id", "SHP-482", "it is shp-482.", True),
        ("id", "SHP-482", "(`SHP-482`)", True),
        ("id", "SHP-482", "SHP-4821", False),
        ("id", "SHP-482", "X-SHP-482", False),
        ("id", "SHP-482", "SHP-482-A", False),
        ("text", "Anna Berg", "That would be ANNA  BERG.", True),
        ("text", "Anna Berg", "Ánna\nBerg", True),
        ("text", "Anna Berg", "Anna Bergstrom", False),
        ("text", "Anna Berg", "Hanna Berg", False),
    ],
)
def test_texts_and_ids_are_whole_words(kind: AnswerKind, value: str, text: str, held: bool) -> None:
    assert Answer(kind, value).is_in(text) is held


@pytest.mark.parametrize(
    ("value", "text"),
    [(1250.0, "1250"), (0.1, "0.1"), (1e-05, "0.00001"), (1e16, "10000000000000000"), (-3, "-3")],
)
def test_canonical_numbers(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    "text",
    ["1,111" * 40_000, "9" * 200_000, "1." * 100_000, "4 march " * 30_000, "-" * 200_000, "1e" * 100_000],
)
@pytest.mark.parametrize("answer", [AMOUNT, DAY, Answer("id", "SHP-482")])
def test_hostile_messages_take_bounded_time(answer: Answer, text: str) -> None:
    start = time.perf_counter()
    assert not answer.is_in(text)
    assert time.perf_counter() - start < 5  # milliseconds where linear


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        # The paper's normalisations: case, white space, punctuation, units, number formats.
        ("number", 1250.5, "about 1,250.50 EUR"),
        ("number", 1250.5, "1250.5kg"),
        ("id", "SHP-482", "shp 482"),
        ("text", "Anna Berg", "ANNA-BERG"),
        ("date", "2031-03-04", "4th... no, 4 March, 2031"),
        ("date", "2031-03-04", "Mar 4 2031"),
    ],
)
def test_the_leakage_check_sees_through_formatting(kind: AnswerKind, value: Any, text: str) -> None:
    assert any(form in squeeze(text) for form in leaked_forms(Answer(kind, value)))
