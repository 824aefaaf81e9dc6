"""What an agent can know; the examples are judged by hand."""

from __future__ import annotations

from typing import Any

import pytest

from toolenv.feasibility.certificates.grounding import Knowledge, strings, told
from toolenv.types import ChatMessage, ToolSpec

SAID = (
    "Move 'final_report.pdf' to temp on March 3rd, 2026. Pay $1,250.50 in 12 rates, 15% at once. Twice two."
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("final_report.pdf", True),
        ("Final Report", True),  # another case, other separators
        ("temp/final_report.pdf", True),  # put together
        ("final_report.doc", False),
        ("2026-03-03", True),  # a date that was spelled out
        ("2026-04-03", False),
        ("12rates", True),
        ("", True),
        (1250.5, True),
        (1250, False),
        (12, True),
        (2, True),  # spelled out
        (0.15, True),  # a percentage
        (1262.5, True),  # a sum
        (15006, True),  # a product
        (987654, False),
        (True, True),
        (None, True),
        (["temp", 12], True),
        (["temp", 13.37], False),
        ({"report": "temp"}, True),
        ({"report": "nowhere"}, False),
        ({"nowhere": "temp"}, False),
    ],
)
def test_what_is_grounded(value: Any, expected: bool) -> None:
    assert Knowledge().plus(SAID).has(value) is expected


def test_documentation_is_read_but_its_numbers_are_not_calculated_with() -> None:
    tool = ToolSpec("set_mode", "Modes are eco and sport, up to 700.", {"type": "object", "properties": {}})
    known = told([ChatMessage("user", "Drive 30 miles.")], [tool])
    assert known.has("sport")
    assert known.has(700)
    assert not known.has(730)


def test_what_is_learned_later_is_known_later() -> None:
    before = Knowledge().plus("Who am I?")
    after = before.plus('{"user_id": "mia_li_3668"}')
    assert (before.has("mia_li_3668"), after.has("mia_li_3668")) == (False, True)


def test_where_numbers_abound_none_is_made_of_two() -> None:
    many = " ".join(str(number * 1000) for number in range(1, 500))
    assert Knowledge().plus(many).has(7000)
    assert not Knowledge().plus(many, "3").has(7003)


def test_merged_sources_know_the_same_words() -> None:
    known = Knowledge().plus("one apple", "two pears")
    merged = Knowledge((known.merged(),))
    assert [merged.has(text) for text in ("apple pears", "plum")] == [True, False]


def test_the_texts_in_a_value() -> None:
    assert list(strings({"a": "x", "b": ["y", {"c": "z", "d": 1}]})) == ["x", "y", "z"]
