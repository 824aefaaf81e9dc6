"""Whether an agent told its user what the task asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

_TOKEN: Final = re.compile(
    r"(?P<number>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?)|[^\W\d_]+"
)


def missing_outputs(outputs: Iterable[str], messages: Sequence[str]) -> tuple[str, ...]:
    """The required outputs that stand in none of the messages, by upstream's rule (TOOLS.md, section 5).

    Upper and lower case count as one, commas are taken out of the messages, and then the output has to be
    any part of one: ``10`` is found in ``$100``.
    """
    plain = [message.lower().replace(",", "") for message in messages]
    return tuple(output for output in outputs if not any(output.lower() in text for text in plain))


def missing_values(outputs: Iterable[str], messages: Sequence[str]) -> tuple[str, ...]:
    """The same by a stricter rule: whole words and whole numbers, in order and next to each other.

    Numbers are compared by value, thousands separators, currency signs and all other punctuation left out:
    ``54.04`` is said by ``$54.040`` and not by ``1,054.04`` (FIELD-030). A number that begins with a zero,
    such as a zip code, is compared as text.
    """
    said = [_tokens(message) for message in messages]
    return tuple(output for output in outputs if not any(_holds(tokens, _tokens(output)) for tokens in said))


def _tokens(text: str) -> list[str | Decimal]:
    return [_token(match) for match in _TOKEN.finditer(text.lower())]


def _token(match: re.Match[str]) -> str | Decimal:
    number = match["number"]
    if number is None:
        return match[0]
    return number if re.match(r"0[0-9]", number) else Decimal(number.replace(",", ""))


def _holds(tokens: Sequence[str | Decimal], wanted: Sequence[str | Decimal]) -> bool:
    length = len(wanted)
    return any(tokens[start : start + length] == wanted for start in range(len(tokens) - length + 1))
