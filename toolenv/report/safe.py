"""Text from models and servers, made harmless for terminals and pages."""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d")
"""Format characters that scripts and emoji need; they change nothing beside their neighbours."""


def safe_text(text: str, limit: int | None = None) -> str:
    r"""``text`` with every control character but newline and tab shown as an escape (``\x1b``).

    Covers the escape that starts terminal sequences, marks that turn the direction of text, invisible
    format characters, line separators, lone surrogates and unassigned code points.

    Args:
        text: anything.
        limit: characters of ``text`` to keep; what was cut is counted in the text.
    """
    cut = "" if limit is None or len(text) <= limit else f"… [{len(text) - limit:,} more characters]"
    kept = text if limit is None else text[:limit]
    return "".join(char if char in "\n\t" or _harmless(char) else _escape(char) for char in kept) + cut


def safe_line(text: str, limit: int = 120) -> str:
    """:func:`safe_text` on one line, for names and cells."""
    return safe_text(" ".join(text.split()), limit)


def _harmless(char: str) -> bool:
    if char.isascii():
        return char.isprintable()
    return char in _JOINERS or unicodedata.category(char) not in {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
