"""One thread that owns an engine, so that requests can be added from any thread while it works.

Whatever has been asked for is added before every step: a finished request's place is taken by the next one
as soon as its episode asks again, and the engine's batch never drains while there is work.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeAlias

from toolenv.errors import ServerError

from .dialect import Generation


class Engine(Protocol):
    """What works on requests; only ever called from one thread."""

    def add(self, request_id: str, prompt: Sequence[int], sampling: Any) -> None:
        """Take up a request.

        Raises:
            Exception: it cannot be; the engine goes on.
        """
        ...

    def step(self) -> Iterable[tuple[str, Generation | None]]:
        """Work for a moment; the requests that are finished now, ``None`` for what was broken off."""
        ...

    def close(self) -> None:
        """Give back what it holds; nothing is asked of it afterwards."""
        ...


class Request(NamedTuple):
    """What is to be generated."""

    prompt: Sequence[int]
    sampling: Any
    result: Future[Generation]


Inbox: TypeAlias = "SimpleQueue[Request | None]"
LAST_WORK_SECONDS = 30.0


class EngineThread:
    """An engine in a thread of its own.

    Args:
        start: makes the engine; called in that thread.
        name: of the engine, for errors.

    Raises:
        Exception: whatever ``start`` raised.
    """

    def __init__(self, start: Callable[[], Engine], name: str) -> None:
        self._inbox: Inbox = SimpleQueue()
        started: Future[None] = Future()
        thread = threading.Thread(
            target=_work, args=(start, name, self._inbox, started), name=name, daemon=True
        )
        thread.start()
        started.result()
        # Also at the interpreter's end: an engine that is cut off in the midst of a step takes it down.
        self._end = weakref.finalize(self, _stop, self._inbox, thread)

    def submit(self, prompt: Sequence[int], sampling: Any) -> Future[Generation]:
        """Ask for a generation; its exception is a :class:`ServerError` if there will be none."""
        result: Future[Generation] = Future()
        self._inbox.put(Request(prompt, sampling, result))
        return result

    def close(self) -> None:
        """End the thread; what is unfinished fails."""
        self._end()


def _stop(inbox: Inbox, thread: threading.Thread) -> None:
    inbox.put(None)
    if thread is not threading.current_thread():
        thread.join(LAST_WORK_SECONDS)


def _work(start: Callable[[], Engine], name: str, inbox: Inbox, started: Future[None]) -> None:
    try:
        engine = start()
    except BaseException as error:
        started.set_exception(error)
        return
    started.set_result(None)
    loop = _Loop(engine, name, inbox)
    why = loop.run()
    engine.close()
    del engine
    loop.refuse_all(why)


class _Loop:
    """The thread's work: requests by id, as far as they are unfinished."""

    def __init__(self, engine: Engine, name: str, inbox: Inbox) -> None:
        self.engine, self.name, self.inbox = engine, name, inbox
        self.unfinished: dict[str, Future[Generation]] = {}
        self.count = 0

    def run(self) -> str:
        """Work until told to end or until the engine fails; says which."""
        while True:
            while not self.unfinished or not self.inbox.empty():
                request = self.inbox.get()
                if request is None:
                    return "it was closed"
                self.take(request)
            try:
                for request_id, generation in self.engine.step():
                    self.end(self.unfinished.pop(request_id), generation)
            except Exception as error:
                return f"{type(error).__name__}: {error}"

    def take(self, request: Request) -> None:
        self.count += 1
        try:
            self.engine.add(str(self.count), request.prompt, request.sampling)
        except Exception as error:
            request.result.set_exception(ServerError(f"{self.name}: {type(error).__name__}: {error}"))
        else:
            self.unfinished[str(self.count)] = request.result

    def end(self, result: Future[Generation], generation: Generation | None) -> None:
        if generation is None:
            why = f"{self.name}: the engine broke the generation off"
            result.set_exception(ServerError(why, trouble="server/broken_generation"))
        else:
            result.set_result(generation)

    def refuse_all(self, why: str) -> None:
        """Let every request fail, those that are still to come included."""
        for result in self.unfinished.values():
            result.set_exception(ServerError(f"{self.name}: {why}"))
        del self.engine
        closed = why == "it was closed"
        while not (closed and self.inbox.empty()):
            request = self.inbox.get()
            if request is None:
                closed = True
            else:
                request.result.set_exception(ServerError(f"{self.name}: {why}"))
