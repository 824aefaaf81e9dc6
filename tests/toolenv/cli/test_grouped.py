"""Options in groups are options like others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from toolenv.cli.grouped import grouped


@dataclass(frozen=True, slots=True)
class Size:
    width: Annotated[int, typer.Option(min=1, help="How wide.")] = 3
    names: Annotated[list[str] | None, typer.Option("--name", help="Names.")] = None


app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@grouped
def draw(
    what: Annotated[str, typer.Argument()], *, size: Size, bold: Annotated[bool, typer.Option()] = False
) -> None:
    """Draw something."""
    typer.echo(f"{what} {size} {bold}")


@pytest.mark.parametrize(
    ("arguments", "made", "bold"),
    [
        ([], Size(), False),
        (["--width", "7", "--bold"], Size(7), True),
        (["--name", "a", "--name", "b"], Size(names=["a", "b"]), False),
    ],
)
def test_a_group_is_made_of_what_is_given(arguments: list[str], made: Size, bold: bool) -> None:
    ended = CliRunner().invoke(app, ["tree", *arguments])
    assert (ended.exit_code, ended.output) == (0, f"tree {made} {bold}\n")


def test_values_are_checked_and_help_has_each_option_in_its_place() -> None:
    refused = CliRunner().invoke(app, ["tree", "--width", "0"])
    assert refused.exit_code == 2
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "Draw something." in shown
    assert shown.index("--width") < shown.index("How wide.") < shown.index("--name") < shown.index("--bold")
