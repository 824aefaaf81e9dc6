"""A real HTTP server on loopback that fails in twelve ways, and keeps books of what it did and what it told.

Which request fails, and how, is a function of its body and of how often the same body has come before: the
same under any order of threads. A conversation goes on by two calls (both under one id, as broken servers
send them), then a final message.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.support.fake_server import Answer, FakeServer, Request, as_json, call, completion, error, raw

FAULTS = {
    "refuses tools": "server/refused_tools",
    "limits the rate": "server/rate_limit",
    "breaks": "server/internal_error",
    "is overloaded": "server/overloaded",
    "drops the connection": "server/dropped",
    "breaks off": "server/dropped",
    "says nothing in 200": "server/no_message",
    "sends a web page": "server/not_json",
    "sends half of the JSON": "server/not_json",
    "streams": "server/stream",
    "mixes replies": "server/mixed_reply",
    "hangs": "server/timeout",
}
"""Twelve ways to fail, and what each is to be called."""

UNBILLED = frozenset({"refuses tools", "limits the rate", "breaks", "is overloaded"})
"""No generation is behind these."""

TOLD = frozenset({"", "says nothing in 200"})
"""The client learns the tokens of these alone."""


@dataclass(frozen=True)
class Entry:
    """What was done for one request.

    Attributes:
        task: the user's first message, which names the episode.
        fault: how it failed; ``""`` if it did not.
        prompt, completion: tokens of the generation; 0 where there was none.
    """

    task: str
    fault: str
    prompt: int
    completion: int

    @property
    def generated(self) -> bool:
        return self.fault not in UNBILLED

    @property
    def told(self) -> bool:
        return self.fault in TOLD


class FaultyServer(FakeServer):
    """The server; a context manager.

    Args:
        share: of requests that fail.
        faults: the ways in which they do.

    Attributes:
        books: an entry for each request of a run, in order of arrival; a preflight is none.
    """

    def __init__(self, share: float = 0.2, faults: Iterable[str] = FAULTS) -> None:
        super().__init__(self.reply)
        self.share, self.faults = share, list(faults)
        self.books: list[Entry] = []
        self._seen: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def reply(self, request: Request) -> Answer:
        """Write the request down and answer it, in one way or another."""
        tools = [tool["function"]["name"] for tool in request.body.get("tools", ())]
        if tools == ["get_time"]:
            return completion("ready")
        messages = request.body["messages"]
        task = next(one["content"] for one in messages if one["role"] == "user")
        fault = self._fault(request.raw)
        entry = Entry(task, fault, *((0, 0) if fault in UNBILLED else (len(request.raw) // 4, len(messages))))
        with self._lock:
            self.books.append(entry)
        usage = {"prompt_tokens": entry.prompt, "completion_tokens": entry.completion}
        good = _good(messages, tools, usage)
        return self._broken(fault, good, usage) if fault else good

    def _fault(self, body: bytes) -> str:
        with self._lock:
            number = self._seen[body]
            self._seen[body] += 1
        draw = hashlib.sha256(body + str(number).encode()).digest()
        if int.from_bytes(draw[:8]) / 2**64 >= self.share:
            return ""
        return self.faults[int.from_bytes(draw[8:16]) % len(self.faults)]

    def _broken(self, fault: str, good: Answer, usage: dict[str, int]) -> Answer:
        if fault == "hangs" and usage["prompt_tokens"] % 2:
            return Answer(body=good.body, fault="drip")
        return {
            "refuses tools": error(400, '"auto" tool choice requires --enable-auto-tool-choice'),
            "limits the rate": error(429, "slow down", headers={"retry-after-ms": "20"}),
            "breaks": error(500, "boom"),
            "is overloaded": error(503, "loading", headers={"Retry-After": "0"}),
            "drops the connection": Answer(fault="drop"),
            "breaks off": Answer(body=good.body[: len(good.body) // 2], fault="cut"),
            "says nothing in 200": as_json({"choices": [], "usage": usage}),
            "sends a web page": raw("<html>bad gateway</html>", headers={"Content-Type": "text/html"}),
            "sends half of the JSON": raw(good.body[: len(good.body) // 2]),
            "streams": raw('data: {"choices": []}\n\n', headers={"Content-Type": "text/event-stream"}),
            "mixes replies": _of_another_request(good),
            "hangs": Answer(fault="hang"),
        }[fault]

    def told_of(self, task: str) -> tuple[int, int] | None:
        """The tokens (prompt, completion) that the client was told for an episode; ``None`` if not of all."""
        spent = [one for one in self.books if one.task == task and one.generated]
        if not all(one.told for one in spent):
            return None
        return sum(one.prompt for one in spent), sum(one.completion for one in spent)


def _good(messages: list[Any], tools: list[str], usage: dict[str, int]) -> Answer:
    if messages[-1]["role"] == "tool" or not tools:
        return completion("Done.", usage=usage)
    twice = [call(tools[0], "{}", "call_1"), call(tools[-1], "{}", "call_1")]
    return completion(None, tool_calls=twice, finish_reason="tool_calls", usage=usage)


def _of_another_request(good: Answer) -> Answer:
    body = json.loads(good.body)
    return as_json({**body, "id": f"chatcmpl-toolenv-{'0' * 32}"})
