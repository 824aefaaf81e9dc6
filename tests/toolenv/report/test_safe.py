from __future__ import annotations

import unicodedata

import pytest

from toolenv.report.safe import safe_line, safe_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ä, 日本, 😀", "plain, ä, 日本, 😀"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://evil\x07link", "\\x1b]8;;http://evil\\x07link"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb\x00c\x7f", "a\\x0db\\x00c\\x7f"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("a\u2028b", "a\\u2028b"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\ufeffbom", "\\ufeffbom"),
        ("one\ntwo\tthree", "one\ntwo\tthree"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_controls_become_visible(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_no_code_point_of_the_planes_in_use_leaves_a_control_or_a_surrogate() -> None:
    everything = "".join(map(chr, [*range(0x20000), *range(0xE0000, 0xE1000), 0x10FFFF]))
    kept = set(safe_text(everything)) - {"\n", "\t", "\u200c", "\u200d"}
    assert not {char for char in kept if unicodedata.category(char)[0] == "C"}
    safe_text(everything).encode("utf-8")


def test_long_text_is_cut_and_says_so() -> None:
    assert safe_text("abcdef", 4) == "abcd… [2 more characters]"
    assert safe_text("abcd", 4) == "abcd"


def test_a_line_is_one_line() -> None:
    assert safe_line("a\n b\r\n\tc\x85d") == "a b c d"
    assert safe_line("x" * 200, 10) == "x" * 10 + "… [190 more characters]"
