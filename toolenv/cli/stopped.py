"""What stops runs before their end, and how to go on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from toolenv.cli.streams import OutputLost, telling_lost_output
from toolenv.errors import ServerError, ToolEnvError

GO_ON, MENDED = "Go on with:", "Once that is mended, go on with:"


class Terminated(KeyboardInterrupt):
    """SIGTERM, which Slurm and ``timeout`` send: whatever Ctrl-C ends, it ends."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM during a run; what had finished is kept."""


class ServerLost(ServerError):
    """A run stopped because its server fails every episode; what had finished is kept.

    Args:
        message: what happened, and what is kept.
        how: the words before the command that goes on.
    """

    def __init__(self, message: str, how: str = GO_ON) -> None:
        super().__init__(message)
        self.how = how


class Stopped(ToolEnvError):
    """An error stopped runs of which something is kept; the message names it."""


@contextmanager
def naming(finished: Sequence[Path]) -> Iterator[None]:
    """Whatever stops the block says which runs had finished before.

    Args:
        finished: their folders; the list may grow meanwhile.
    """
    try:
        with telling_lost_output(lambda: _named(finished)):
            yield
    except OutputLost:
        raise
    except Interrupted as stop:
        raise Interrupted(f"{stop}{_named(finished)}") from stop
    except ServerLost as error:
        raise ServerLost(f"{error}{_named(finished)}", error.how) from error
    except ToolEnvError as error:
        if not finished:
            raise
        raise Stopped(f"{error}{_named(finished)}") from error
    except KeyboardInterrupt as stop:
        if not finished:
            raise
        raise Interrupted(_named(finished).removeprefix("; ")) from stop
    except Exception:  # a bug, whose traceback follows
        if finished:
            typer.echo(f"toolenv: stopped{_named(finished)}", err=True)
        raise


def _named(finished: Sequence[Path]) -> str:
    return f"; finished before: {', '.join(map(str, finished))}" if finished else ""


def terminated_by(error: BaseException | None) -> bool:
    """Whether SIGTERM is what led to an error."""
    while error is not None:
        if isinstance(error, Terminated):
            return True
        error = error.__cause__ or error.__context__
    return False


def command_to_resume() -> str:
    """The command line that goes on with what this one has begun."""
    arguments = sys.argv[1:]
    if arguments[0] in ("run", "generate") and "--resume" not in arguments:
        end = arguments.index("--") if "--" in arguments else len(arguments)  # behind it there are no options
        arguments.insert(end, "--resume")
    return shlex.join(["toolenv", *arguments])
