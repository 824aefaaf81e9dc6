"""A worker: one module of untrusted Python in a process of its own, with the kernel's walls around it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from toolenv.errors import SandboxUnavailableError
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.sandbox.channel import Channel, ChannelError
from toolenv.sandbox.ending import cause_of, end
from toolenv.sandbox.limits import LAYERS, Layer, Limits
from toolenv.sandbox.outcome import Outcome, Raised, Returned, Stopped, Unusable

PROGRAM = Path(__file__).parent / "inside" / "start.py"
START_SECONDS = 60.0
"""So long a start may take: on a busy machine Python alone takes its time."""

# -S and -s: no installed packages; -P: no modules beside the program; -B: nothing is written.
_FLAGS = ("-S", "-s", "-P", "-B", "-X", "utf8")
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": "/tmp", "TMPDIR": "/tmp"}


class Worker:
    """A process that runs one module of untrusted code; a context manager. Not for several threads at once.

    The module keeps its state from call to call. Whatever it does it does to itself: other workers share
    nothing with it. It is stopped at the first sign of misbehaviour, and is then gone for good.

    Args:
        source: the module's text.
        name: what tracebacks call it.
        limits: what it may use up.
        environment: its environment variables, besides a few fixed ones; nothing is inherited.
        hash_seed: orders its sets of texts.
        layers: the walls to use if they can be had; for tests of each.

    Attributes:
        loaded: what running the module's text led to; ``Returned(None)`` if it went well.
        layers: the walls that are there.

    Raises:
        SandboxUnavailableError: this machine cannot wall code in; it is not run.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str = "<tools>",
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        hash_seed: int = 0,
        layers: Sequence[Layer] = LAYERS,
    ) -> None:
        self._limits = Limits() if limits is None else limits
        fixed = {**_ENVIRONMENT, "PYTHONHASHSEED": str(hash_seed)}
        self._process = _start(self._limits, {**(environment or {}), **fixed}, layers)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._channel = Channel(self._process.stdin.fileno(), self._process.stdout.fileno())
        self._finalizer = weakref.finalize(self, _abandon, self._process, os.getpid())
        self._owner = os.getpid()
        self._stopped: Stopped | None = None
        self.layers = self._await_walls()
        self.loaded: Outcome = self._ask({"source": source, "name": name})

    @property
    def is_alive(self) -> bool:
        """Whether it can be called. A copy that a fork of this process has made cannot."""
        return self._stopped is None and self._owner == os.getpid()

    @property
    def process_id(self) -> int:
        """The supervisor's."""
        return self._process.pid

    def call(self, function: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a function of the module with arguments by name, JSON values."""
        return self._ask({"function": function, "arguments": dict(arguments)})

    def close(self) -> None:
        """Stop the process and all that it may have left; waits until it is gone."""
        if self.is_alive:
            self._stop(Stopped("gone", "closed"))
        self._finalizer.detach()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _await_walls(self) -> tuple[str, ...]:
        try:
            told = self._channel.receive(START_SECONDS, 1 << 16)
        except ChannelError as error:
            said = end(self._process).text
            why = f"{error.cause} {said}".strip()
            raise SandboxUnavailableError(f"the sandbox did not start: {why}") from error
        if "layers" in told:
            return tuple(told["layers"])
        end(self._process)
        reasons = "; ".join(f"{layer}: {why}" for layer, why in told["reasons"].items())
        raise SandboxUnavailableError(
            f"this machine cannot wall code in, so it is not run: {told['refused']} ({reasons})"
        )

    def _ask(self, request: Mapping[str, Any]) -> Outcome:
        if not self.is_alive:
            return Stopped("gone", str(self._stopped or "of another process"))
        identifier = secrets.token_hex(16)
        try:
            reply = self._channel.exchange(
                {"id": identifier, **request}, self._limits.seconds, self._limits.reply
            )
            return self._read(reply, identifier)
        except ChannelError as error:
            return self._stop(Stopped(error.cause, error.detail))

    def _read(self, reply: Any, identifier: str) -> Outcome:
        if not isinstance(reply, dict) or reply.get("id") != identifier or len(reply) != 2:
            raise ChannelError("protocol", "a forged reply")
        if "value" in reply:
            try:
                return Returned(clean_json(reply["value"])[0])
            except UnusableValueError as error:
                return Unusable(f"the result is unusable: {error}")
        match reply:
            case {"raised": ["MemoryError", *_]}:
                raise ChannelError("memory", "MemoryError")
            case {"raised": [str(kind), str(text)]}:
                return Raised(*(clean_json(one)[0] for one in (kind, text)))
            case {"absent": True}:
                return Unusable("there is no such function")
            case {"unusable": str(why)}:
                return Unusable(f"the result is no JSON value: {clean_json(why)[0]}")
        raise ChannelError("protocol", "a reply of no known form")

    def _stop(self, stopped: Stopped) -> Stopped:
        """End the process; if it had ended by itself, find out how."""
        ending = end(self._process)
        if stopped.cause == "exit":
            stopped = cause_of(ending, self._limits)
        self._stopped = stopped
        self._finalizer.detach()
        return stopped


def _start(
    limits: Limits, environment: Mapping[str, str], layers: Sequence[Layer]
) -> subprocess.Popen[bytes]:
    if sys.platform != "linux":
        raise SandboxUnavailableError(
            f"the sandbox needs Linux (namespaces or Landlock, and seccomp), and this is {sys.platform}; "
            "no untrusted code is run"
        )
    settings = {
        "layers": list(layers),
        "cpu_seconds": limits.cpu_seconds,
        "memory": limits.memory,
        "folder": limits.folder,
        "network": limits.network,
    }
    command = [sys.executable, *_FLAGS, str(PROGRAM), json.dumps(settings)]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, start_new_session=True
        )
    except OSError as error:
        raise SandboxUnavailableError(f"the sandbox did not start: {error}") from error


def _abandon(process: subprocess.Popen[bytes], owner: int) -> None:
    """A worker that nobody closed; a fork of its owner must leave it alone."""
    if owner == os.getpid():
        with suppress(OSError):
            end(process)
