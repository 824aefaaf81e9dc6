"""The command line, one command a module. ``toolenv --help`` lists them."""

from __future__ import annotations

import sys

import typer

from toolenv.errors import ToolEnvError

app = typer.Typer(
    name="toolenv",
    help="Find out whether tool-using agents know what they can't do.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line; an error of ours is one line on stderr and exit status 2."""
    # Commands register themselves on import.
    from toolenv.cli import build, data, envs, play, quickstart, report, rescore, run, validate  # noqa: F401

    try:
        app()
    except ToolEnvError as error:
        typer.echo(f"toolenv: {error}", err=True)
        sys.exit(2)
