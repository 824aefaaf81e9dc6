"""Workers: state, limits, ends, threads and forks, and what a machine without walls gets."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.sandbox.targets import processes_of_session
from toolenv.errors import SandboxUnavailableError, UnknownNameError, UsageError
from toolenv.sandbox import CAUSES, Layer, Limits, Network, Raised, Returned, Stopped, Unusable, Worker
from toolenv.sandbox import worker as worker_module

ROOT = Path(__file__).parents[3]
COUNTER = "count = 0\ndef add(step: int = 1):\n    global count\n    count += step\n    return count\n"


def test_a_module_keeps_its_state_from_call_to_call() -> None:
    with Worker(COUNTER) as worker:
        assert worker.loaded == Returned(None)
        assert [worker.call("add", {"step": 2}) for _ in range(3)] == [Returned(2), Returned(4), Returned(6)]


def test_workers_share_nothing() -> None:
    with Worker(COUNTER) as one, Worker(COUNTER) as other:
        assert one.call("add", {}) == other.call("add", {}) == Returned(1)


@pytest.mark.parametrize(
    ("function", "arguments", "outcome"),
    [
        ("missing", {}, Unusable("there is no such function")),
        ("count", {}, Unusable("there is no such function")),
        ("add", {"step": "x"}, Raised),
        ("add", {"unknown": 1}, Raised),
    ],
)
def test_what_a_call_cannot_do_is_said(function: str, arguments: dict[str, Any], outcome: Any) -> None:
    with Worker(COUNTER) as worker:
        found = worker.call(function, arguments)
        assert found == outcome or (isinstance(outcome, type) and isinstance(found, outcome))
        assert worker.is_alive


@pytest.mark.parametrize("source", ["def broken(:", "1 / 0", "import nothing_of_that_name", "\0"])
def test_a_module_that_does_not_load_says_why(source: str) -> None:
    with Worker(source) as worker:
        assert isinstance(worker.loaded, Raised)


def test_a_module_that_never_loads_is_stopped() -> None:
    with Worker("while True: pass", limits=Limits(seconds=0.5)) as worker:
        assert worker.loaded == Stopped("time")
        assert not worker.is_alive
        outcome = worker.call("add", {})
        assert isinstance(outcome, Stopped)
        assert outcome.cause == "gone"


HARMLESS = """
import asyncio, os, shutil

def loop():
    async def both():
        return sum(await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0.001, 2)))
    return asyncio.run(both())

def copy():
    with open("one", "w") as file:
        file.write("words")
    os.chmod("one", 0o640)
    shutil.copy("one", "two")
    with open("two") as file:
        return [file.read(), oct(os.stat("two").st_mode)]
"""


@pytest.mark.parametrize("network", ["kill", "refuse"])
def test_event_loops_and_copies_within_the_folder_work(network: Network) -> None:
    with Worker(HARMLESS, limits=Limits(network=network)) as worker:
        assert worker.call("loop", {}) == Returned(3)
        if "namespaces" in worker.layers:  # without them there is no folder
            assert worker.call("copy", {}) == Returned(["words", "0o100640"])


def test_long_requests_and_replies_pass() -> None:
    text = "é" * 200_000
    with Worker("def echo(text): return text\n", limits=Limits(reply=2 << 20)) as worker:
        assert worker.call("echo", {"text": text}) == Returned(text)


def test_lone_surrogates_do_no_harm() -> None:
    """FIELD-079."""
    with Worker("def bad(): return '\\ud800'\n") as worker:
        assert worker.call("bad", {}) == Returned("\N{REPLACEMENT CHARACTER}")


def test_runs_are_the_same_in_every_worker() -> None:
    source = "import random\ndef draw(): return [random.random(), list({'a', 'b', 'c', 'd'})]\n"
    with Worker(source) as one, Worker(source) as other:
        assert one.call("draw", {}) == other.call("draw", {})


def test_another_hash_seed_shows_who_depends_on_the_order_of_sets() -> None:
    source = "def order(): return list({str(number) for number in range(50)})\n"
    with Worker(source) as one, Worker(source, hash_seed=1) as other:
        assert one.call("order", {}) != other.call("order", {})


def test_the_temporary_folder_is_its_own() -> None:
    source = "def keep(text):\n    open('/tmp/kept', 'a').write(text)\n    return open('/tmp/kept').read()\n"
    with Worker(source) as one, Worker(source) as other:
        if "namespaces" not in one.layers:
            pytest.skip("without namespaces there is no folder to write to")
        assert one.call("keep", {"text": "a"}) == Returned("a")
        assert one.call("keep", {"text": "b"}) == Returned("ab")
        assert other.call("keep", {"text": "c"}) == Returned("c")
    assert not Path("/tmp/kept").exists()


def test_closing_leaves_no_process() -> None:
    worker = Worker(COUNTER)
    session = worker.process_id
    assert processes_of_session(session)
    worker.close()
    worker.close()
    assert processes_of_session(session) == []
    assert not worker.is_alive


def test_a_worker_that_nobody_closes_ends_with_its_owner_object() -> None:
    worker = Worker(COUNTER)
    session = worker.process_id
    del worker
    gc.collect()
    assert processes_of_session(session) == []


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(600)"])
def test_killing_the_owner_ends_its_workers(body: str) -> None:
    program = f"""
        import os, threading, time
        from toolenv.sandbox import Worker
        worker = Worker("def spin():\\n    {body}\\n")
        threading.Thread(target=worker.call, args=("spin", {{}}), daemon=True).start()
        time.sleep(0.1)
        print(worker.process_id, flush=True)
        os.kill(os.getpid(), 9)
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -9, done.stderr
    session = int(done.stdout)
    for _ in range(1000):
        if not processes_of_session(session):
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"session {session} lives on")


def test_a_fork_of_the_owner_leaves_its_workers_alone() -> None:
    with Worker(COUNTER) as worker:
        child = os.fork()
        if child == 0:  # pragma: no cover
            outcome = worker.call("add", {})
            worker.close()
            os._exit(0 if isinstance(outcome, Stopped) and outcome.cause == "gone" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert worker.call("add", {}) == Returned(1)


def test_many_threads_have_a_worker_each() -> None:
    results: list[Any] = []

    def work(step: int) -> None:
        with Worker(COUNTER) as worker:
            results.append([worker.call("add", {"step": step}) for _ in range(20)][-1] == Returned(20 * step))

    threads = [threading.Thread(target=work, args=(step,)) for step in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_a_machine_with_too_few_walls_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    few: list[tuple[Layer, ...]] = [("seccomp",), ("namespaces",), ("landlock",), ()]
    for layers in few:
        with pytest.raises(SandboxUnavailableError, match="cannot wall code in, so it is not run"):
            Worker(f"open({str(mark)!r}, 'w')", layers=layers)
    assert not mark.exists()


def test_another_system_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module.sys, "platform", "darwin")
    with pytest.raises(SandboxUnavailableError, match="needs Linux"):
        Worker(COUNTER)


def test_an_interpreter_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker_module, "PROGRAM", tmp_path / "absent.py")
    with pytest.raises(SandboxUnavailableError, match="did not start"):
        Worker(COUNTER)


@pytest.mark.parametrize(
    ("name", "value"), [("seconds", 0), ("memory", -1), ("reply", float("nan")), ("cpu_seconds", True)]
)
def test_limits_are_above_nothing(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Limits(**{name: value})


def test_an_unknown_network_policy_is_named() -> None:
    with pytest.raises(UnknownNameError, match="kill"):
        Limits(network="kil")  # type: ignore[arg-type]


def test_every_cause_is_in_words() -> None:
    for cause in CAUSES:
        assert CAUSES[cause] in str(Stopped(cause, "x"))


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else")
def test_it_works_without_root(tmp_path: Path) -> None:
    """The walls need no privileges: the program, run by nobody on the system's own interpreter."""
    python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("no interpreter that nobody may run")
    program = tmp_path / "inside"
    program.mkdir()
    for path in worker_module.PROGRAM.parent.glob("*.py"):
        (program / path.name).write_text(path.read_text())
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/") and "pytest" in str(folder):
            folder.chmod(0o755)
    settings = (
        '{"layers": ["namespaces", "landlock", "seccomp"], "cpu_seconds": 9, "memory": 268435456,'
        ' "folder": 1048576, "network": "kill"}'
    )
    command = [str(python), "-S", "-s", "-P", "-B", str(program / "start.py"), settings]
    done = subprocess.run(
        command,
        user=65534,
        group=65534,
        extra_groups=[],
        input=b"",
        capture_output=True,
        env={},
        check=False,
        timeout=60,
    )
    assert b'"layers": ["namespaces", "landlock", "seccomp"]' in done.stdout, done
