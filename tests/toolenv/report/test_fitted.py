from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.console import Console

from toolenv.report.terminal import plain_table

NUMBERS = ("98.5–100", "72.2–82.9", "n=1,453", "+98.1", "<0.001", "17.5–28.1", "1,085", "0.45×")


def printed(width: int, agent: str = "a-name-that-is-longer-than-that") -> list[str]:
    table = plain_table("A title")
    table.add_column("agent", overflow="fold", min_width=12)
    for number in range(len(NUMBERS)):
        table.add_column(f"head {number}", justify="right")
    table.add_row(agent, *NUMBERS)
    out = StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("agent", ["a-name-that-is-longer-than-that", "short"])
@pytest.mark.parametrize("width", range(24, 120))
def test_every_number_is_there_whole_and_once_whatever_the_width(width: int, agent: str) -> None:
    lines = printed(width, agent)
    assert max(map(len, lines)) <= width
    words = [word for line in lines for word in line.split()]
    assert [words.count(number) for number in NUMBERS] == [1] * len(NUMBERS)
    heads = re.findall(r"head \d", "\n".join(lines))
    assert heads == [f"head {number}" for number in range(len(NUMBERS))]


def test_where_all_fits_there_is_one_table_and_further_ones_repeat_what_a_row_is() -> None:
    assert "\n".join(printed(119)).count("agent") == 1
    narrow = "\n".join(printed(40))
    assert narrow.count("agent") == narrow.count("a-name") > 1
    assert narrow.count("A title") == 1


def test_a_table_without_columns_or_rows_is_printed() -> None:
    out = StringIO()
    Console(file=out, width=40).print(plain_table("nothing"))
    empty = plain_table("heads alone")
    empty.add_column("one")
    Console(file=out, width=40).print(empty)
    assert "one" in out.getvalue()


ENVS = ("ToolFeas/BFCL-infeasible-v0", "ToolFeas/Workflows-specification-drift-v0")


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_each_part_has_all_columns_of_words_before_the_first_number(width: int) -> None:
    table = plain_table("A title")
    table.add_column("environment\nagent")
    table.add_column("role")
    for number in range(len(NUMBERS)):
        table.add_column(f"head {number}", justify="right")
    for env in ENVS:
        table.add_row(f"{env}\nan-agent", "executor", *NUMBERS)
    out = StringIO()
    Console(file=out, width=width).print(table)
    shown = out.getvalue()
    parts = shown.count("environment")
    assert shown.count("role") == parts
    assert (parts == 1) == (width == 200)
    assert shown.count("executor") == shown.count("an-agent") == 2 * parts
    assert shown.count("drift-v0") == parts, "no id is broken within its last words"
    assert "…" not in shown


def test_room_that_is_left_goes_to_the_first_column_of_words() -> None:
    table = plain_table("A title")
    table.add_column("environment")
    table.add_column("n", justify="right")
    table.add_column("how")
    table.add_row(ENVS[0], "7", "words " * 20)
    out = StringIO()
    Console(file=out, width=50).print(table)
    assert ENVS[0] in out.getvalue()
