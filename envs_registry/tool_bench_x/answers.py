"""ToolBench-X's expected answers, which are texts, as canonical answers."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

from envs_registry.workflows.answers import Answer, AnswerKind, numbers_in
from envs_registry.workflows.leakage import leaked_forms, squeeze

_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,10})?")
_WITH_UNIT = re.compile(r"[^\d]{0,12}?([-+]?\d{1,15}(?:,\d{3})*(?:\.\d{1,10})?)[^\d]{0,12}")
SHORTEST_FORM = 3
"""Characters of a form that is looked for anywhere; shorter ones stand in any text, and count as tokens
only."""


@lru_cache(maxsize=8192)
def answer_of(text: str) -> Answer:
    """The canonical answer that a text stands for: a number, a date, or the text itself."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return Answer("number", float(text) if "." in text else int(text))
    return Answer("date" if _is_date(text) else "text", text)


def leaked_form(answer: str, text: str) -> str:
    """The form of an answer that a text holds, exact or normalised; ``""`` if it holds none.

    Normalised as in paper 2's appendix: lower case, without white space and punctuation, without a unit,
    numbers in their usual formats.
    """
    canonical, squeezed = answer_of(answer), squeeze(text)
    for form in _forms(answer, canonical):
        if len(form) >= SHORTEST_FORM and form in squeezed:
            return form
    if canonical.is_in(text):
        return canonical.text
    number = _number_alone(answer)
    return number.text if number is not None and number.is_in(text) else ""


def _forms(answer: str, canonical: Answer) -> list[str]:
    number = _number_alone(answer)
    found = [squeeze(answer), *leaked_forms(canonical)]
    if number is not None:
        found += leaked_forms(number)
    return [form for form in dict.fromkeys(found) if form]


def _number_alone(answer: str) -> Answer | None:
    """The number of an answer with a unit or currency beside it."""
    match = _WITH_UNIT.fullmatch(answer.strip())
    if match is None or _NUMBER.fullmatch(answer.strip()):
        return None
    value = next(numbers_in(match[1]), None)
    if value is None:
        return None
    kind: AnswerKind = "number"
    return Answer(kind, int(value) if value == value.to_integral_value() else float(value))


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
