"""Text on the command line that is none: bytes that cannot be decoded, or halves of characters."""

from __future__ import annotations

from collections.abc import Sequence

from toolenv.errors import UsageError


def check_arguments(arguments: Sequence[str]) -> None:
    """Refuse a command line that holds anything but text: it could be neither sent, stored nor shown.

    Raises:
        UsageError: names the argument and its number.
    """
    for number, argument in enumerate(arguments, 1):
        if not is_text(argument):
            raise UsageError(
                f"argument {number}, {argument!a}, holds bytes that are no UTF-8 text; give it in UTF-8"
            )


def is_text(value: str) -> bool:
    """Whether it can be written as UTF-8; Python reads other bytes of a command line as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
