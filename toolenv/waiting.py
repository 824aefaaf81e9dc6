"""Work that waits, apart from how: a thread of its own blocks, or one thread waits for much at a time.

A :data:`Waiting` is a generator that yields each :class:`Wait` and is sent what came of it. :func:`block`
waits in the thread that calls it; a :class:`toolenv.model_server.reactor.Reactor` meanwhile goes on with
others.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from toolenv.model_server.reactor import Reactor

Result = TypeVar("Result")
Done: TypeAlias = Callable[[Any], None]
"""Takes what came of a wait: a value, or the exception that is thrown where it was yielded."""


class Wait(Protocol):
    """Something waited for."""

    def block(self) -> Any:
        """Wait in this thread; returns a value, or the exception that is to be thrown."""
        ...

    def begin(self, reactor: Reactor, done: Done) -> None:
        """Begin to wait; ``done`` is called in the reactor's thread, perhaps before this returns.

        What goes wrong is given to ``done``, not raised.
        """
        ...


Waiting: TypeAlias = Generator[Wait, Any, Result]


def block(waiting: Waiting[Result]) -> Result:
    """The result of a work, waited for in this thread."""
    try:
        wait = next(waiting)
        while True:
            came = wait.block()
            wait = waiting.throw(came) if isinstance(came, Exception) else waiting.send(came)
    except StopIteration as end:
        result: Result = end.value
        return result
