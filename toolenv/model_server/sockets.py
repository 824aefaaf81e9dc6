"""Which of many sockets have something to be read, or room to be written to."""

from __future__ import annotations

import os
import select
import selectors
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Protocol

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Sockets(Protocol):
    """Sockets that are watched, by descriptor."""

    def watch(self, descriptor: int, wanted: int) -> None:
        """Watch a socket for :data:`READ`, :data:`WRITE` or both, and for nothing else."""
        ...

    def rest(self, descriptor: int) -> None:
        """Watch a socket no longer, until it is wanted again; it may be closed any time."""
        ...

    def ready(self, seconds: float | None) -> Iterable[tuple[int, int]]:
        """What sockets are ready for, once one is or so many seconds have passed; ``None``: for ever."""
        ...

    def close(self) -> None:
        """Watch none any more."""
        ...


class SelectedSockets:
    """Sockets watched by whatever the system has."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def watch(self, descriptor: int, wanted: int) -> None:
        """See :class:`Sockets`."""
        try:
            self._selector.modify(descriptor, wanted)
        except KeyError:
            self._selector.register(descriptor, wanted)

    def rest(self, descriptor: int) -> None:
        """See :class:`Sockets`."""
        with suppress(KeyError):
            self._selector.unregister(descriptor)

    def ready(self, seconds: float | None) -> Iterable[tuple[int, int]]:
        """See :class:`Sockets`."""
        return [(key.fd, mask) for key, mask in self._selector.select(seconds)]

    def close(self) -> None:
        """See :class:`Sockets`."""
        self._selector.close()


if sys.platform == "linux":

    class PolledSockets:
        """Sockets watched by epoll itself, at half the cost of :mod:`selectors`.

        A socket that rests is left where it is: mostly it is wanted again for the next request. One that
        becomes ready meanwhile, as when the other side closes it, is forgotten then.
        """

        def __init__(self) -> None:
            self._poll = select.epoll()
            self._wanted: dict[int, int] = {}
            self._forks = _forks

        def watch(self, descriptor: int, wanted: int) -> None:
            """See :class:`Sockets`."""
            mask = self._wanted[descriptor] = _MASKS[wanted]
            try:
                self._poll.modify(descriptor, mask)
            except FileNotFoundError:  # a new one, perhaps in the place of one that was closed
                self._poll.register(descriptor, mask)

        def rest(self, descriptor: int) -> None:
            """See :class:`Sockets`."""
            known = self._wanted.pop(descriptor, None)
            if known is not None and self._forks:
                self._forget(descriptor)

        def ready(self, seconds: float | None) -> Iterable[tuple[int, int]]:
            """See :class:`Sockets`."""
            if self._forks != _forks:
                self._begin_anew()
            happened = []
            for descriptor, mask in self._poll.poll(seconds):
                if descriptor in self._wanted:
                    happened.append((descriptor, _EVENTS.get(mask) or _events(mask)))
                else:
                    self._forget(descriptor)
            return happened

        def _forget(self, descriptor: int) -> None:
            try:
                self._poll.unregister(descriptor)
            except OSError:  # closed here, and held by a process that was forked unnoticed
                self._begin_anew()

        def _begin_anew(self) -> None:
            """Watch what is wanted, and nothing that rests.

            A forked process holds the files of all sockets. Of one that is closed here epoll would tell for
            ever, and could not be made to forget it; from now on nothing is left there.
            """
            self._forks = _forks
            self._poll.close()
            self._poll = select.epoll()
            for descriptor, mask in self._wanted.items():
                self._poll.register(descriptor, mask)

        def close(self) -> None:
            """See :class:`Sockets`."""
            self._poll.close()

    _MASKS: Mapping[int, int] = {
        READ: select.EPOLLIN,
        WRITE: select.EPOLLOUT,
        READ | WRITE: select.EPOLLIN | select.EPOLLOUT,
    }
    _EVENTS: Mapping[int, int] = {mask: wanted for wanted, mask in _MASKS.items()}

    def _events(mask: int) -> int:
        """As selectors reads it: what failed or was closed is ready for all."""
        return (READ if mask & ~select.EPOLLOUT else 0) | (WRITE if mask & ~select.EPOLLIN else 0)

    _forks = 0

    def _count_fork() -> None:
        global _forks
        _forks += 1

    os.register_at_fork(after_in_parent=_count_fork)
    make_sockets: Callable[[], Sockets] = PolledSockets
else:
    make_sockets = SelectedSockets
