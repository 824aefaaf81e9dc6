"""A small data set in every form that real ones come in, and a server on loopback that hands out archives."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER_COMMIT = "89abcdef0123456789abcdef0123456789abcdef"

FILES = {
    "toy_eval/data/tasks.json": b'{"id": "toy_0"}\n',
    "toy_eval/data/answers/tasks.json": b'{"id": "toy_0", "answer": 4}\n',
    "toy_eval/world.py": b"class World:\n    pass\n",
}
"""The data set: two files of data, one of code."""

SOURCE = b"TASKS = ['first', 'second']\n"
DERIVED = b'["first", "second"]'
"""A file that upstream keeps as Python source, and what is read from it."""


def nested(files: Mapping[str, bytes]) -> dict[str, dict[str, str]]:
    """Hashes in the form of definition files."""
    groups: dict[str, dict[str, str]] = {}
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        groups.setdefault(folder or ".", {})[name] = hashlib.sha256(content).hexdigest()
    return groups


def write_tree(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Files below a folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return buffer.getvalue()


def wheel_of(files: Mapping[str, bytes], version: str = "1.0") -> bytes:
    """A wheel that pip accepts."""
    about = f"toy_eval-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: toy-eval\nVersion: {version}\n".encode()
    wheel = b"Wheel-Version: 1.0\nGenerator: toy\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return zip_of({**files, f"{about}/METADATA": metadata, f"{about}/WHEEL": wheel, f"{about}/RECORD": b""})


def tar_of(
    files: Mapping[str, bytes], top: str = "toy-0123", extra: tuple[tarfile.TarInfo, ...] = ()
) -> bytes:
    """A repository's archive as GitHub makes it: gzipped, all below one folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in extra:
            archive.addfile(member)
    return buffer.getvalue()


def define(folder: Path, key: str, fetch: Mapping[str, Any], **changes: Any) -> Path:
    """Write the definition of a toy data set; returns the folder that holds it."""
    data = {path: content for path, content in FILES.items() if path.endswith(".json")}
    code = {path: content for path, content in FILES.items() if path.endswith(".py")}
    definition = {
        "key": key,
        "title": "Toy",
        "version": "1.0",
        "licence": "MIT",
        "attribution": "Copyright (c) nobody",
        "fetch": fetch,
        "layouts": [{"name": "wheel", "parts": ["data", "code"]}, {"name": "data-only", "parts": ["data"]}],
        "parts": {
            "data": {"purpose": "every task", "files": nested(data)},
            "code": {"purpose": "multi-turn tasks", "files": nested(code)},
        },
        **changes,
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{key}.json").write_text(json.dumps(definition))
    return folder


def define_wheel(folder: Path, wheel: bytes) -> Path:
    """A toy data set in a wheel."""
    pin = {"name": "toy-eval", "version": "1.0", "sha256": hashlib.sha256(wheel).hexdigest()}
    return define(folder, "toy", {"wheel": pin})


def define_repository(folder: Path) -> Path:
    """A toy data set in two archives of one repository, part of it kept as Python source."""
    data = {"data/tasks.json": FILES["toy_eval/data/tasks.json"]}
    archives = [
        {
            "repository": "o/toy",
            "commit": COMMIT,
            "folder": "bench",
            "parts": ["data"],
            "sources": ["src/*.py"],
        },
        {"repository": "o/toy", "commit": OLDER_COMMIT, "folder": "bench", "parts": ["tests"]},
    ]
    layouts = [
        {"name": "shared", "parts": ["data", "tests", "derived"]},
        {"name": "upstream", "parts": ["data", "tests"], "derived": ["derived"], "sources": ["src/*.py"]},
        {"name": "checkout", "parts": ["data"], "derived": ["derived"], "sources": ["src/*.py"]},
    ]
    parts = {
        "data": {"purpose": "every task", "files": nested(data)},
        "tests": {"purpose": "level 3", "files": nested({"test-data/level-3.json": b"[3]"})},
        "derived": {"purpose": "the schemas", "files": nested({"derived/tasks.json": DERIVED})},
    }
    return define(folder, "toy", {"archives": archives}, layouts=layouts, parts=parts)


REPOSITORY = {
    "bench/data/tasks.json": FILES["toy_eval/data/tasks.json"],
    "bench/src/tasks.py": SOURCE,
    "bench/src/deeper/not_wanted.py": b"",
    "README.md": b"",
}
OLDER_REPOSITORY = {"bench/test-data/level-3.json": b"[3]"}


def derive(upstream: Path, target: Path) -> None:
    """A reader of the toy's Python source: takes what stands between the quotes."""
    names = (upstream / "src/tasks.py").read_text().split("'")[1::2]
    write_tree(target, {"derived/tasks.json": json.dumps(names).encode()})


@dataclass
class ArchiveServer:
    """What a loopback server hands out, chunked as GitHub does: path → body, or a status to refuse."""

    bodies: dict[str, bytes | int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""
    cut_after: int | None = None

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        body = self.bodies.get(request.path, 404)
        if isinstance(body, int):
            request.send_error(body)
            return
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        request.wfile.write(chunked[: self.cut_after])


@contextlib.contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()
