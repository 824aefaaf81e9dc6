"""What attacks aim at, and what is looked at after them."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolenv.sandbox import Layer, Limits, Outcome

SECRET = "correct-horse-battery-staple"
WALLS: dict[str, tuple[Layer, ...]] = {
    "all": ("namespaces", "landlock", "seccomp"),
    "without-landlock": ("namespaces", "seccomp"),
    "without-namespaces": ("landlock", "seccomp"),
}
QUICK = Limits(seconds=5.0, cpu_seconds=20, memory=256 << 20, folder=4 << 20, reply=1 << 16)


@dataclass
class Target:
    """What there is to attack."""

    secret: Path
    folder: Path
    tcp: socket.socket
    udp: socket.socket
    unix: socket.socket
    abstract: socket.socket
    abstract_name: str

    def facts(self) -> dict[str, Any]:
        """What an attacker may know."""
        return {
            "secret": str(self.secret),
            "folder": str(self.folder),
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "unix": self.unix.getsockname(),
            "abstract": self.abstract_name,
            "parent": os.getpid(),
        }

    def untouched(self) -> bool:
        """Whether nobody wrote, connected or sent anything."""
        for one in (self.tcp, self.unix, self.abstract):
            one.setblocking(False)
            with pytest.raises(BlockingIOError):
                one.accept()
        self.udp.setblocking(False)
        with pytest.raises(BlockingIOError):
            self.udp.recv(1)
        return self.secret.read_text() == SECRET and sorted(self.folder.iterdir()) == [self.secret]


def processes_of_session(session: int) -> list[int]:
    """The processes of a session that still live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def said(outcome: Outcome) -> str:
    """All that came back, as text: a secret must not be in it."""
    return json.dumps(repr(outcome))
