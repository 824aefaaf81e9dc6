"""The command line, one command a module. ``toolenv --help`` lists them."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

app = typer.Typer(
    name="toolenv",
    help="Find out whether tool-using agents know what they can't do.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from toolenv import __version__

        typer.echo(f"toolenv {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version, and leave."),
    ] = False,
) -> None:
    """Find out whether tool-using agents know what they can't do."""


def main() -> None:
    """Run the command line; an error of ours is one line on stderr and exit status 2."""
    from toolenv.cli.stopped import Interrupted, ServerLost, Stopped, command_to_resume
    from toolenv.errors import ToolEnvError

    try:
        _run()
    except Interrupted as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        typer.echo(f"toolenv: interrupted; {stop}. Go on with: {command_to_resume()}", err=True)
        _leave(INTERRUPTED)
    except ServerLost as error:
        typer.echo(f"toolenv: {error}. {error.how} {command_to_resume()}", err=True)
        _leave(2)
    except Stopped as error:
        typer.echo(f"toolenv: {error}. Once that is mended, go on with: {command_to_resume()}", err=True)
        sys.exit(2)
    except ToolEnvError as error:
        typer.echo(f"toolenv: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _run() -> None:
    # Commands register themselves on import.
    from toolenv.cli import (  # noqa: F401
        annotate,
        arm,
        build,
        certify,
        compare,
        data,
        envs,
        export,
        generate,
        play,
        quickstart,
        report,
        rescore,
        reviews,
        run,
        validate,
    )
    from toolenv.cli.text import check_arguments
    from toolenv.runner.garbage import collect_seldom

    collect_seldom()
    check_arguments(sys.argv[1:])
    # `module:attribute` agents live where the user is. Last, so that no file there hides a library.
    sys.path.append("")
    app(prog_name="toolenv")


def _leave(status: int) -> None:
    """Exit without waiting for threads that wait for a server: nothing of theirs would be kept."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
