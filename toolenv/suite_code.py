"""What a suite's own code gives an episode beside its tools' answers; a bug in it is a ``ToolFault``."""

from __future__ import annotations

from toolenv.actions import shown
from toolenv.errors import RAISED, ServerError, ToolEnvError, ToolFault, words_of
from toolenv.hygiene import clean_text
from toolenv.kernel.protocol import Kernel, World, shown_tools
from toolenv.source import TaskSource
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolSpec
from toolenv.user import User


def begun(source: TaskSource, task: Task, seed: int) -> tuple[Kernel, World]:
    """The kernel of a task and a fresh world.

    Raises:
        ToolFault: they cannot be made.
        ToolEnvError: what is missing for them, such as data or a server.
    """
    try:
        kernel = source.kernel(task)
        return kernel, kernel.start(seed)
    except ToolEnvError:
        raise
    except RAISED as error:
        raise ToolFault(f"the world of task {task.id!r} raised {words_of(error)}") from error


def offered(kernel: Kernel, world: World, turn: int) -> tuple[ToolSpec, ...]:
    """The tools an agent is shown in a user turn.

    Raises:
        ToolFault: they cannot be told.
    """
    try:
        return shown_tools(world, kernel.tools(turn))
    except RAISED as error:
        raise ToolFault(f"what tells the tools raised {words_of(error)}") from error


def state_of(world: World) -> str:
    """The world's digest.

    Raises:
        ToolFault: it has none.
    """
    try:
        digest = world.digest()
    except RAISED as error:
        raise ToolFault(f"digest() of the world raised {words_of(error)}") from error
    if isinstance(digest, str):
        return digest
    raise ToolFault(f"digest() of the world returned {shown(digest)}, expected a str")


def words_of_user(user: User, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
    """What a simulated user says next; see :meth:`toolenv.user.User.reply`.

    Raises:
        ServerError: its model failed.
        ToolFault: it has a bug.
    """
    try:
        words = user.reply(task, said, seed)
    except ServerError:
        raise
    except RAISED as error:
        raise ToolFault(f"the simulated user raised {words_of(error)}") from error
    if words is None or isinstance(words, str):
        return None if words is None else clean_text(words)
    raise ToolFault(f"the simulated user said {shown(words)}, expected a str or None")
