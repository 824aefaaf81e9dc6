"""The program of the sandbox's process: a supervisor, and below it the worker that runs untrusted code.

Standard input are requests, standard output replies, and on standard error the supervisor reports, as JSON,
how the worker ended. The supervisor runs nothing untrusted and does nothing but wait: when requests end
(whoever sent them is gone) or it is told to terminate, it kills the worker, and with it all that is in its
process namespace.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import sys
import time
import types
from typing import Any

REQUESTS, REPLIES, REPORT = 0, 1, 2
GRACE_MILLISECONDS = 30
# Where the worker keeps its two pipes; 0 to 2 are what untrusted code prints to.
WORKER_REQUESTS, WORKER_REPLIES = 10, 11


class Told(BaseException):
    """The supervisor was told to terminate."""


def load_package() -> types.ModuleType:
    """This folder as a package that is no part of any other."""
    folder = os.path.dirname(os.path.abspath(__file__))
    place = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("inside", place, submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["inside"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Start the worker and wait for its end."""
    settings = json.loads(sys.argv[1])
    load_package()
    confine = importlib.import_module("inside.confine")
    serve = importlib.import_module("inside.serve")
    libc = importlib.import_module("inside.libc")
    reasons: dict[str, str] = {}
    has_namespaces = confine.enter_namespaces(settings["layers"], reasons)
    signal.signal(signal.SIGTERM, _be_told)
    worker = os.fork()
    if worker == 0:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        work(settings, confine, serve, has_namespaces, reasons)
        os._exit(0)
    supervise(worker)


def _be_told(*_: Any) -> None:
    raise Told


def work(settings: Any, confine: Any, serve: Any, has_namespaces: bool, reasons: dict[str, str]) -> None:
    """The worker: confine itself, say with which layers, and serve."""
    os.dup2(REQUESTS, WORKER_REQUESTS, inheritable=False)
    os.dup2(REPLIES, WORKER_REPLIES, inheritable=False)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (REQUESTS, REPLIES, REPORT):
        os.dup2(nothing, descriptor)
    os.closerange(WORKER_REPLIES + 1, 1024)
    os.closerange(REPORT + 1, WORKER_REQUESTS)
    sys.argv, sys.orig_argv[:] = [""], []
    try:
        layers = confine.confine(settings, has_namespaces, reasons)
    except (confine.Refused, OSError) as refused:
        serve.write_frame(WORKER_REPLIES, {"refused": str(refused), "reasons": reasons})
        return
    serve.write_frame(WORKER_REPLIES, {"layers": layers, "reasons": reasons})
    serve.serve(WORKER_REQUESTS, WORKER_REPLIES)


def supervise(worker: int) -> None:
    """Wait for the end of requests, kill the worker, and report how it ended."""
    os.close(REPLIES)
    ends = select.poll()
    ends.register(REQUESTS, 0)
    try:
        ends.poll()
    except Told:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ended = _wait(worker)
        by_itself = ended is not None
        if ended is None:
            os.kill(worker, signal.SIGKILL)
            ended = os.wait4(worker, 0)
        _, status, usage = ended
        cpu = usage.ru_utime + usage.ru_stime
        report = {"exit": os.waitstatus_to_exitcode(status), "by_itself": by_itself, "cpu": cpu}
        os.write(REPORT, json.dumps(report).encode())


def _wait(worker: int) -> Any:
    """How the worker ended, if it ends within a moment: without requests it has nothing to do."""
    for _ in range(GRACE_MILLISECONDS):
        ended = os.wait4(worker, os.WNOHANG)
        if ended[0]:
            return ended
        time.sleep(0.001)
    return None


if __name__ == "__main__":
    main()
