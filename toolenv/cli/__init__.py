"""The command line, one command a module. ``toolenv --help`` lists them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from toolenv.cli.told_values import NamingValues

app = typer.Typer(
    name="toolenv",
    cls=NamingValues,
    help="Find out whether tool-using agents know what they can't do.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""

TERMINATED = 143
"""The exit status after SIGTERM."""


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
    """Run the command line; an error of ours is one line on stderr and exit status 2.

    So is stdout that takes nothing, whatever else went well.
    """
    from toolenv.cli.streams import LOST, mend_streams, tell

    takes_output = mend_streams()
    try:
        _main()
    except SystemExit as end:
        if not takes_output and end.code in (None, 0):
            tell(f"toolenv: {LOST}: stdout is closed")
            sys.exit(2)
        raise


def _main() -> None:
    from toolenv.cli.outside import telling_what_is_outside
    from toolenv.cli.stopped import Interrupted, ServerLost, Stopped, command_to_resume, terminated_by
    from toolenv.cli.streams import drop_unwritten, tell
    from toolenv.errors import ToolEnvError

    try:
        with _sigterm_taken(), telling_what_is_outside():
            _run()
    except Interrupted as stop:
        _ignore_stopping()
        what, status = ("terminated", TERMINATED) if terminated_by(stop) else ("interrupted", INTERRUPTED)
        tell(f"toolenv: {what}; {stop}. Go on with: {command_to_resume()}")
        _leave(status)
    except ServerLost as error:
        tell(f"toolenv: {error}. {error.how} {command_to_resume()}")
        _leave(2)
    except Stopped as error:
        tell(f"toolenv: {error}. Once that is mended, go on with: {command_to_resume()}")
        drop_unwritten()
        sys.exit(2)
    except ToolEnvError as error:
        tell(f"toolenv: {error}")
        drop_unwritten()
        sys.exit(2)
    except KeyboardInterrupt as stop:
        sys.exit(TERMINATED if terminated_by(stop) else INTERRUPTED)
    except SystemExit as end:  # typer's own, outside of runs
        if not terminated_by(end):
            raise
        sys.exit(TERMINATED)


@contextmanager
def _sigterm_taken() -> Iterator[None]:
    """SIGTERM ends what Ctrl-C ends, unless whoever started this has it ignored."""
    from toolenv.cli.stopped import Terminated

    def stop(number: int, frame: object) -> None:
        raise Terminated

    before = signal.getsignal(signal.SIGTERM)
    if before is not signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _ignore_stopping() -> None:
    """What stops a run comes too late."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


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
    from toolenv.cli.children import end_children
    from toolenv.cli.streams import drop_unwritten

    _ignore_stopping()
    end_children()
    drop_unwritten()
    os._exit(status)
