"""Which values an argument holds, and where a text mentions one. Expected values are hand-made."""

from __future__ import annotations

from typing import Any

import pytest

from toolenv.feasibility.values import Text, tokens_in, values_in, without


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("order #W100 is pending", "#w100", True),
        ("order #W1001", "#w100", False),
        ("The ID is Mia_Li_3668.", "mia_li_3668", True),
        ("final_report.txt", "report.txt", False),
        ("in /tmp/report.txt", "report.txt", True),
        ('{"total": 150.0}', "150", True),
        ('{"total": 150.00}', "150", True),
        ('{"total": 150.25}', "150", False),
        ('{"total": 1500}', "150", False),
        ('{"total": 0.150}', "150", False),
        ("costs $1,250.50 in all", "1250.5", True),
        ("costs $1,250.50 in all", "1250.50", True),
        ("costs 1250.5", "1250.50", True),
        ("costs 1250.55", "1250.5", False),
        ("[100, 250]", "250", True),
        ("zip 01234", "01234", True),
        ("zip 1234", "01234", False),
        ("12,345,678 people", "12345678", True),
        ("minus -15 degrees", "-15", True),
        ("a (very) odd [pattern]*", "[pattern]*", True),
        ("", "x", False),
    ],
)
def test_a_text_mentions_whole_words_and_numbers(text: str, value: str, found: bool) -> None:
    assert Text(text).mentions(value) is found


def test_a_value_is_blanked_in_every_form_it_is_mentioned_in() -> None:
    assert (
        without("1,250.50 or 1250.5, not 21250.5; Lamp, lamps", "1250.50")
        == "  or  , not 21250.5; Lamp, lamps"
    )
    assert without("Lamp, lamps", "lamp") == " , lamps"


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ({"a": 9, "b": -9, "c": True, "d": None, "e": "x", "f": "..", "g": ""}, []),
        ({"a": 10, "b": 10.0, "c": 10.5}, [("a", "10"), ("b", "10"), ("c", "10.5")]),
        ({"order": " #W100 "}, [("order", "#w100")]),
        (
            {"people": [{"name": "Mia Li"}, {"age": 31}]},
            [("people[0].name", "mia li"), ("people[1].age", "31")],
        ),
    ],
)
def test_guessable_values_need_no_source(arguments: dict[str, Any], values: list[tuple[str, str]]) -> None:
    assert [(value.path, value.text) for value in values_in(arguments)] == values


def test_the_tokens_of_a_text_are_its_numbers_and_names() -> None:
    (value,) = values_in({"text": "Pay 54.04 and 1,200 for #W100 to mia@example.com."})
    assert value.tokens == ("54.04", "1200", "#w100", "mia@example.com")


def test_of_a_long_text_only_tokens_count() -> None:
    (value,) = values_in({"text": "word " * 50 + "#W100"})
    assert value == ("text", "", ("#w100",))


def test_words_of_a_message_each_once() -> None:
    assert tokens_in("It costs $1,250.50. It is 4.") == ("it", "costs", "1250.50", "is", "4")
