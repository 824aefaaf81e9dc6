"""Runs one module of untrusted code and answers requests for its functions.

A frame is four bytes of length, the most significant first, and JSON. A request is ``{"id": …, "source": …,
"name": …}`` or ``{"id": …, "function": …, "arguments": {…}}``; the reply repeats the id, and holds
``"value"``,
``"raised": [TYPE, TEXT]``, ``"absent"`` (no such function) or ``"unusable"`` (a result that is no JSON
value).

Nothing here is a wall: the code shares this interpreter and can change all of it. Walls are the kernel's, and
who reads the replies trusts none.
"""

from __future__ import annotations

import json
import os
import random
import types
from typing import Any

LONGEST_TEXT = 2_000


def serve(requests: int, replies: int) -> None:
    """Answer requests until there are no more.

    Args:
        requests, replies: file descriptors.
    """
    module = types.ModuleType("tool")
    while (request := read_frame(requests)) is not None:
        reply = _answer(module, request)
        write_frame(replies, {"id": request["id"], **reply})


def read_frame(descriptor: int) -> Any:
    """The next frame; ``None`` at the end."""
    header = _read(descriptor, 4)
    return None if len(header) < 4 else json.loads(_read(descriptor, int.from_bytes(header, "big")))


def write_frame(descriptor: int, value: Any) -> None:
    """Send a frame."""
    body = json.dumps(value, allow_nan=False).encode()
    left = memoryview(len(body).to_bytes(4, "big") + body)
    while left:
        left = left[os.write(descriptor, left) :]


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(descriptor, min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _answer(module: types.ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    try:
        if "source" in request:
            _load(module, request["source"], request["name"])
            return {"value": None}
        function = vars(module).get(request["function"])
        if not callable(function):
            return {"absent": True}
        value = function(**request["arguments"])
    except BaseException as error:
        return {"raised": [type(error).__name__[:200], _text(error)]}
    return _checked(value)


def _load(module: types.ModuleType, source: str, name: str) -> None:
    random.seed(0)  # what code draws from the shared stream is the same in every worker
    module.__file__ = name
    exec(compile(source, name, "exec", dont_inherit=True), module.__dict__)


def _checked(value: Any) -> dict[str, Any]:
    try:
        json.dumps(value, allow_nan=False)
    except BaseException as error:
        return {"unusable": _text(error)}
    return {"value": value}


def _text(error: BaseException) -> str:
    try:
        return str(error)[:LONGEST_TEXT]
    except BaseException:
        return ""
