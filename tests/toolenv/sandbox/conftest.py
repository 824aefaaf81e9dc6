"""A machine's walls, a target, and attacks on it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.toolenv.sandbox.targets import QUICK, SECRET, WALLS, Target, processes_of_session
from toolenv.errors import SandboxUnavailableError
from toolenv.sandbox import Layer, Limits, Outcome, Returned, Worker


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Target]:
    folder = tmp_path / "home"
    folder.mkdir()
    secret = folder / "id_ed25519"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    with ExitStack() as stack:
        tcp, udp, unix, abstract = (
            stack.enter_context(socket.socket(family, kind))
            for family, kind in (
                (socket.AF_INET, socket.SOCK_STREAM),
                (socket.AF_INET, socket.SOCK_DGRAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
                (socket.AF_UNIX, socket.SOCK_STREAM),
            )
        )
        name = f"toolenv-test-{os.getpid()}"
        tcp.bind(("127.0.0.1", 0))
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(tmp_path / "s"))
        abstract.bind(f"\0{name}")
        for one in (tcp, unix, abstract):
            one.listen()
        yield Target(secret, folder, tcp, udp, unix, abstract, name)


@pytest.fixture(params=list(WALLS), scope="session")
def walls(request: pytest.FixtureRequest) -> tuple[Layer, ...]:
    """Each set of walls that is enough, if this machine has it."""
    wanted = WALLS[request.param]
    try:
        with Worker("", layers=wanted) as worker:
            if worker.layers != wanted:
                pytest.skip(f"this machine has no more than {worker.layers}")
    except SandboxUnavailableError as error:
        pytest.skip(str(error))
    return wanted


Attack: TypeAlias = Callable[..., Outcome]


@pytest.fixture(scope="session")
def bystander(walls: tuple[Layer, ...]) -> Iterator[Worker]:
    """A worker that lives through all attacks."""
    with Worker("def double(x):\n    return 2 * x\n", layers=walls) as worker:
        yield worker


@pytest.fixture
def attack(walls: tuple[Layer, ...], bystander: Worker, target: Target) -> Iterator[Attack]:
    """Runs the body of a hostile tool, and then looks whether anything else was harmed."""
    used: list[Worker] = []

    def run(body: str, limits: Limits = QUICK, before: str = "") -> Outcome:
        lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
        source = f"import os, sys\nT = {target.facts()!r}\n{before}\ndef attack():\n{lines}\n"
        worker = Worker(source, limits=limits, layers=walls)
        used.append(worker)
        assert worker.loaded == Returned(None)
        return worker.call("attack", {})

    yield run
    for one in used:
        one.close()
        assert processes_of_session(one.process_id) == []
    assert target.untouched()
    assert bystander.call("double", {"x": 21}) == Returned(42)
