"""The attack list: each is stopped, by each set of walls, and harms nothing else.

Every test runs with all walls, without Landlock, and without namespaces, where the machine has them. The
``attack`` fixture checks after each that the secret file, the listening servers and a bystanding worker are
as they were and that no process is left.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.toolenv.sandbox.conftest import Attack
from tests.toolenv.sandbox.targets import QUICK, SECRET, Target, said
from toolenv.sandbox import Layer, Raised, Returned, Stopped, Unusable, Worker

UNTOUCHED = ("/", os.devnull, os.__file__, os.path.dirname(os.__file__))
"""Of the host; a worker sees them, or has one of them open."""

DENIED = {"PermissionError", "FileNotFoundError", "OSError", "ProcessLookupError", "IsADirectoryError"}


def is_denied(outcome: object) -> bool:
    return isinstance(outcome, Raised) and outcome.kind in DENIED


# ---- time, processor, memory, processes --------------------------------------------------------------------


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(3600)"])
def test_code_that_never_ends_is_stopped(attack: Attack, body: str) -> None:
    outcome = attack(body, replace(QUICK, seconds=0.5))
    assert outcome == Stopped("time")


def test_a_loop_that_catches_everything_is_stopped(attack: Attack) -> None:
    body = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    assert attack(body, replace(QUICK, seconds=0.5)) == Stopped("time")


def test_processor_time_is_bounded_by_the_kernel_too(attack: Attack) -> None:
    outcome = attack("while True: pass", replace(QUICK, seconds=60.0, cpu_seconds=1))
    assert isinstance(outcome, Stopped)
    assert outcome.cause == "cpu"


@pytest.mark.parametrize(
    "body",
    [
        "return len(bytearray(1 << 40))",
        "kept = []\nwhile True: kept.append(bytearray(1 << 24))",
        "return len('x' * (1 << 33))",
        "import mmap; return len(mmap.mmap(-1, 1 << 34))",
    ],
)
def test_a_memory_bomb_is_stopped(attack: Attack, body: str) -> None:
    outcome = attack(body)
    assert isinstance(outcome, Stopped | Raised)
    assert not isinstance(outcome, Raised) or outcome.kind in {"OSError", "OverflowError"}
    assert not isinstance(outcome, Stopped) or outcome.cause == "memory"


def test_a_memory_bomb_that_catches_its_error_stays_within_its_limit(attack: Attack) -> None:
    body = (
        "kept = []\n"
        "try:\n    while True: kept.append(bytearray(1 << 20))\n"
        "except MemoryError: pass\n"
        "return len(kept)"
    )
    outcome = attack(body)
    assert isinstance(outcome, Returned)
    assert outcome.value < 256


@pytest.mark.parametrize(
    "body",
    [
        "while True: os.fork()",
        "os.forkpty()",
        "import subprocess; subprocess.run(['/bin/sh', '-c', 'true'])",
        "import ctypes; ctypes.CDLL(None).vfork()",
    ],
)
def test_a_fork_bomb_does_not_get_its_first_child(attack: Attack, body: str) -> None:
    outcome = attack(body)
    assert outcome == Stopped("forbidden") or is_denied(outcome)


def test_threads_are_refused(attack: Attack) -> None:
    outcome = attack("import threading\nthreading.Thread(target=print).start()")
    assert outcome == Raised("RuntimeError", "can't start new thread")


def test_nothing_is_left_in_the_background(attack: Attack) -> None:
    body = "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\nreturn 'left'"
    outcome = attack(body)
    assert outcome == Stopped("forbidden") or is_denied(outcome)


@pytest.mark.parametrize(
    "body",
    [
        "os.system('echo hi')",
        "os.execv('/bin/sh', ['sh'])",
        "os.posix_spawn('/bin/sh', ['sh'], {})",
        "import ctypes; ctypes.CDLL(None).system(b'echo hi')",
    ],
)
def test_no_program_is_run(attack: Attack, body: str) -> None:
    assert attack(body) == Stopped("forbidden")


# ---- other processes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(T['parent'], 9)",
        "os.kill(os.getppid() or 1, 9)",
        "os.kill(-1, 9)",
        "os.killpg(0, 15)",
        "import signal; signal.pidfd_send_signal(os.pidfd_open(T['parent']), 9)",
        "import ctypes; ctypes.CDLL(None).ptrace(16, T['parent'], 0, 0)",
        "import ctypes\nl = ctypes.CDLL(None)\nl.process_vm_readv(T['parent'], 0, 0, 0, 0, 0)",
        "import ctypes; ctypes.CDLL(None).tgkill(T['parent'], T['parent'], 9)",
    ],
)
def test_other_processes_are_out_of_reach(attack: Attack, body: str) -> None:
    assert attack(body) == Stopped("forbidden")


@pytest.mark.parametrize("command", ["F_SETOWN", "F_SETSIG"])
def test_no_file_sends_signals_to_others(attack: Attack, command: str) -> None:
    assert is_denied(attack(f"import fcntl; fcntl.fcntl(10, fcntl.{command}, T['parent'])"))


@pytest.mark.parametrize("name", ["environ", "mem", "maps", "cmdline", "root/etc/passwd", "cwd", "fd/0"])
def test_the_parent_s_proc_entries_are_out_of_reach(attack: Attack, name: str) -> None:
    assert is_denied(attack(f"return open(f'/proc/{{T[\"parent\"]}}/{name}', 'rb').read(100).hex()"))


# ---- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "T['secret']",
        "'/etc/shadow'",
        "'/etc/passwd'",
        "os.path.expanduser('~root/.bashrc')",
        f"{__file__!r}",
        f"{os.path.abspath('pyproject.toml')!r}",
        "'/proc/self/environ'",
        "'/proc/1/environ'",
        "'/dev/mem'",
        "'/sys/kernel/notes'",
    ],
)
def test_no_file_of_the_host_is_read(attack: Attack, path: str) -> None:
    outcome = attack(f"return open({path}, 'rb').read().hex()")
    assert is_denied(outcome)
    assert SECRET.encode().hex() not in said(outcome)


def test_a_symlink_leads_nowhere(attack: Attack) -> None:
    body = (
        "os.symlink(T['secret'], 'link')\n"
        "os.symlink('../../../../../../../..' + T['secret'], 'other')\n"
        "return open('link').read() + open('other').read()"
    )
    assert is_denied(attack(body))


@pytest.mark.parametrize(
    "body",
    [
        "os.link(T['secret'], 'mine')",
        "os.rename(T['secret'], 'mine')",
        "os.remove(T['secret'])",
        "os.chmod(T['secret'], 0o777)",
        "os.chmod(os.__file__, 0o777)",
        "os.chmod(os.path.dirname(os.__file__), 0o777)",
        "os.symlink(os.__file__, '/tmp/link'); os.chmod('/tmp/link', 0o777)",
        "os.chmod(os.path.basename(os.__file__), 0o777, dir_fd=os.open(os.path.dirname(os.__file__), 0))",
        "os.fchmod(0, 0o777)",
        "os.fchmod(os.open(os.__file__, 0), 0o777)",
        "os.chmod('/', 0o777)",
        "os.chown(T['secret'], 1, 1)",
        "os.utime(T['secret'], (0, 0))",
        "os.truncate(T['secret'], 0)",
        "open(T['secret'], 'r+').write('gone')",
        "os.open(T['secret'], os.O_RDONLY | os.O_TRUNC)",
        "os.setxattr(T['secret'], 'user.x', b'y')",
        "open(T['folder'] + '/new', 'w').write('x')",
        "os.mkdir(T['folder'] + '/new')",
        "open('/new', 'w').write('x')",
        "open(os.__file__, 'a').write('import evil')",
        "open(os.path.dirname(os.__file__) + '/evil.py', 'w').write('x')",
        "os.mkfifo('/tmp/fifo', 0o600)",
        "os.listdir(T['folder'])",
    ],
)
def test_nothing_outside_the_folder_is_written_or_listed(attack: Attack, body: str) -> None:
    before = [os.stat(path).st_mode for path in UNTOUCHED]
    outcome = attack(body)
    assert is_denied(outcome) or outcome == Stopped("forbidden")
    assert "import evil" not in Path(os.__file__).read_text()
    assert [os.stat(path).st_mode for path in UNTOUCHED] == before


@pytest.mark.parametrize(
    "body",
    [
        "os.chroot('/tmp')",
        "import ctypes; ctypes.CDLL(None).unshare(0x10000000)",
        "import ctypes; ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None)",
        "import ctypes; ctypes.CDLL(None).umount2(b'/', 2)",
        "import ctypes; ctypes.CDLL(None).syscall(321, 0, 0, 0)",  # bpf, x86_64
        "import ctypes; ctypes.CDLL(None).syscall(425, 0, 0)",  # io_uring_setup
    ],
)
def test_the_walls_themselves_cannot_be_touched(attack: Attack, body: str) -> None:
    assert attack(body) == Stopped("forbidden")


@pytest.mark.parametrize(
    "body",
    [
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        "import resource; resource.prlimit(T['parent'], resource.RLIMIT_NOFILE, (0, 0))",
        "os.setuid(0)",
        "os.nice(-10)",
    ],
)
def test_limits_cannot_be_lifted(attack: Attack, body: str) -> None:
    outcome = attack(body)
    assert isinstance(outcome, Raised)
    assert outcome.kind in {"PermissionError", "ValueError", "OSError"}


@pytest.mark.parametrize(
    "body",
    [
        "return one.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, b'\\0' * 4)])",
        "return one.send(b'x')",
        "one.connect('\\0' + T['name'])",
        "one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)",
        "import fcntl; fcntl.ioctl(one, 0x8901, T['parent'].to_bytes(4, 'little'))",  # FIOSETOWN
        "import fcntl; fcntl.fcntl(one, fcntl.F_SETOWN, T['parent'])",
        "socket.socketpair(socket.AF_INET)",
        "socket.socketpair(socket.AF_INET6, socket.SOCK_DGRAM)",
    ],
)
def test_a_pair_of_sockets_leads_to_nobody(attack: Attack, body: str) -> None:
    """It passes no files, sends no signals, finds no other end, and takes no more memory than it has."""
    outcome = attack(f"import socket\none, other = socket.socketpair()\n{body}")
    assert outcome == Stopped("forbidden") or is_denied(outcome)


def test_files_of_the_host_cannot_be_locked(attack: Attack) -> None:
    """An exclusive lock asks for no right to write, and holds up whoever locks the file next."""
    assert is_denied(attack("import fcntl\nf = open(os.__file__)\nfcntl.flock(f, fcntl.LOCK_EX)"))


def test_the_disk_cannot_be_filled(attack: Attack) -> None:
    """One file, and many."""
    one = "with open('big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"
    many = (
        "for number in range(1 << 20):\n    with open(f'f{number}', 'wb') as file: file.write(bytes(1 << 16))"
    )
    for body in (one, many):
        outcome = attack(body)
        assert isinstance(outcome, Raised)
        assert outcome.kind in {"OSError", "PermissionError"}


# ---- environment -------------------------------------------------------------------------------------------


def test_the_environment_holds_no_secret(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    outcome = attack("import ctypes\nreturn dict(os.environ)")
    assert isinstance(outcome, Returned)
    assert set(outcome.value) <= {"PYTHONHASHSEED", "LC_ALL", "LC_CTYPE", "TZ", "HOME", "TMPDIR"}
    assert SECRET not in said(outcome)


def test_no_file_descriptor_is_inherited(attack: Attack, target: Target) -> None:
    os.set_inheritable(target.tcp.fileno(), True)
    handle = os.open(target.secret, os.O_RDONLY)
    os.set_inheritable(handle, True)
    try:
        body = (
            "found = []\n"
            "for number in range(1024):\n"
            "    try:\n        os.fstat(number)\n        found.append(number)\n"
            "    except OSError: pass\n"
            "return found"
        )
        # What it prints to goes nowhere; 10 and 11 are the pipes of requests and replies.
        assert attack(body) == Returned([0, 1, 2, 10, 11])
    finally:
        os.close(handle)


def test_installed_packages_are_not_there(attack: Attack) -> None:
    outcome = attack("import numpy")
    assert outcome == Raised("ModuleNotFoundError", "No module named 'numpy'")
    import numpy

    body = f"sys.path.append({str(Path(numpy.__file__).parents[1])!r})\nimport numpy"
    assert attack(body) == Raised("ModuleNotFoundError", "No module named 'numpy'")
    assert isinstance(attack("import toolenv"), Raised)


def test_the_standard_library_is_there(attack: Attack) -> None:
    body = (
        "import csv, ctypes, datetime, decimal, email, hashlib, json, math, re, sqlite3, uuid, zoneinfo\n"
        "import statistics\n"
        "return [statistics.mean([1, 2, 3]), hashlib.sha256(b'').hexdigest()[:8],\n"
        "        datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc).isoformat()]"
    )
    assert attack(body) == Returned([2, "e3b0c442", "2030-01-01T00:00:00+00:00"])


# ---- network -----------------------------------------------------------------------------------------------

CONNECTIONS = {
    "tcp": "import socket; socket.create_connection(('127.0.0.1', T['tcp']))",
    "udp": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "s.sendto(b'x', ('127.0.0.1', T['udp']))",
    "unix": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(T['unix'])",
    "abstract": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + T['abstract'])",
    "dns": "import socket; socket.getaddrinfo('example.com', 80)",
    "listen": "import socket; socket.create_server(('127.0.0.1', 0))",
    "raw": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "netlink": "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
    "http": "import urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{T[\"tcp\"]}/')",
}


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_whoever_reaches_for_the_network_is_killed(attack: Attack, kind: str) -> None:
    outcome = attack(CONNECTIONS[kind])
    # Unix sockets are refused only: the C library itself tries one to look up users.
    assert outcome == Stopped("forbidden") or (kind in ("unix", "abstract", "dns") and denies(outcome))


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_or_told_that_there_is_none(attack: Attack, kind: str) -> None:
    """Code that has a way round a missing network may take it."""
    body = "\n".join(f"    {line}" for line in CONNECTIONS[kind].split("\n"))
    outcome = attack(f"try:\n{body}\nexcept OSError:\n    return 'offline'", replace(QUICK, network="refuse"))
    assert outcome == Returned("offline")


def denies(outcome: object) -> bool:
    return isinstance(outcome, Raised) and outcome.kind in {"PermissionError", "gaierror", "URLError"}


# ---- crashes, output, replies ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "causes"),
    [
        ("import ctypes; ctypes.string_at(0)", {"crash"}),
        ("import ctypes; ctypes.CDLL(None).abort()", {"crash", "forbidden"}),
        ("os.abort()", {"crash", "forbidden"}),
        ("os._exit(0)", {"exit"}),
        ("os._exit(7)", {"exit"}),
        ("os.close(10); os.close(11)", {"exit"}),
    ],
)
def test_a_crash_is_a_typed_failure(attack: Attack, body: str, causes: set[str]) -> None:
    outcome = attack(body)
    assert isinstance(outcome, Stopped)
    assert outcome.cause in causes


def test_recursion_without_a_limit_is_a_typed_failure(attack: Attack) -> None:
    """Python 3.12 and newer bound recursion in C by themselves."""
    body = "sys.setrecursionlimit(1 << 30)\nx = []\nfor _ in range(1 << 19): x = [x]\nreturn len(repr(x))"
    outcome = attack(body)
    assert outcome == Stopped("crash", "SIGSEGV") or isinstance(outcome, Raised)


def test_deep_recursion_is_an_exception(attack: Attack) -> None:
    outcome = attack("def f(): return f()\nf()")
    assert isinstance(outcome, Raised)
    assert outcome.kind == "RecursionError"


@pytest.mark.parametrize("error", ["SystemExit(3)", "KeyboardInterrupt()", "GeneratorExit()"])
def test_leaving_by_exception_is_an_exception(attack: Attack, error: str) -> None:
    outcome = attack(f"raise {error}")
    assert isinstance(outcome, Raised)


def test_a_huge_result_is_stopped(attack: Attack) -> None:
    outcome = attack("return 'x' * (1 << 20)")
    assert isinstance(outcome, Stopped)
    assert outcome.cause == "output"


def test_what_is_printed_goes_nowhere(attack: Attack) -> None:
    body = (
        "for stream in (sys.stdout, sys.stderr):\n    stream.write('x' * (1 << 24))\n"
        "os.write(1, b'x' * 9)\nreturn 1"
    )
    assert attack(body) == Returned(1)


REDUCING = """\
class Evil:
    def __reduce__(self): return (os.system, ('touch ' + T['folder'] + '/x',))
return Evil()"""


@pytest.mark.parametrize(
    "body",
    [
        REDUCING,
        "return {1, 2}",
        "return b'bytes'",
        "return float('nan')",
        "return {('a', 'b'): 1}",
        "x = []\nx.append(x)\nreturn x",
        "x = []\nfor _ in range(70): x = [x]\nreturn x",
        "return 1 << 5000",
    ],
)
def test_a_result_that_is_no_plain_json_is_unusable(attack: Attack, body: str) -> None:
    assert isinstance(attack(body), Unusable)


FRAME = """\
import json
def send(value):
    b = json.dumps(value).encode()
    os.write(11, len(b).to_bytes(4, 'big') + b)
"""


@pytest.mark.parametrize(
    "body",
    [
        "os.write(11, b'garbage that is no frame at all')\nos._exit(0)",
        "os.write(11, (5).to_bytes(4, 'big') + b'{}{}{')",
        "send({'value': 'forged'})",
        "send({'id': 'a' * 32, 'value': 'forged'})",
        "send([])",
        "os.write(11, (100).to_bytes(4, 'big') + b'[' * 100)",
        "os.write(11, (20000).to_bytes(4, 'big') + b'[' * 20000)",
        "os.write(11, (3).to_bytes(4, 'big') + b'NaN')",
        "os.write(11, (1 << 31).to_bytes(4, 'big'))",
        "os.write(11, (9).to_bytes(4, 'big') + b'\\xff' * 9)",
    ],
)
def test_a_forged_reply_is_found_out(attack: Attack, body: str) -> None:
    outcome = attack(f"{body}\nreturn 1", before=FRAME)
    assert isinstance(outcome, Stopped)
    assert outcome.cause in {"protocol", "output", "exit"}


def hostile(walls: tuple[Layer, ...], source: str) -> Worker:
    return Worker(f"import os, sys\n{FRAME}\n{source}", limits=QUICK, layers=walls)


def test_a_reply_to_a_call_that_was_not_made_yet_is_found_out(walls: tuple[Layer, ...]) -> None:
    source = "def first():\n    os.write(11, b'')\n    send_late()\n    return 1\n"
    late = (
        "def send_late():\n"
        "    import builtins\n"
        "    serve = sys.modules['inside.serve']\n"
        "    write = serve.write_frame\n"
        "    def both(descriptor, value):\n"
        "        write(descriptor, value)\n"
        "        write(descriptor, {'id': 'a' * 32, 'value': 'forged'})\n"
        "    serve.write_frame = both\n"
    )
    with hostile(walls, source + late) as worker:
        assert worker.call("first", {}) == Returned(1)
        outcome = worker.call("first", {})  # found before the request is sent, or after
        assert isinstance(outcome, Stopped)
        assert outcome.cause == "protocol"


def test_who_patches_the_worker_lies_about_its_own_module_alone(walls: tuple[Layer, ...]) -> None:
    """A module may return what it likes; a worker holds one module, so that it lies about no other."""
    source = (
        "def good(): return 'honest'\n"
        "def bad():\n"
        "    serve = sys.modules['inside.serve']\n"
        "    serve._answer = lambda module, request: {'value': 'lie'}\n"
        "    return 1\n"
    )
    with hostile(walls, source) as liar, hostile(walls, source) as other:
        assert liar.call("bad", {}) == Returned(1)
        assert liar.call("good", {}) == Returned("lie")
        assert other.call("good", {}) == Returned("honest")
