"""What is sent is what was asked."""

from __future__ import annotations

from typing import Any

from tests.support.fake_server import FakeServer, completion
from toolenv.model_server import ChatServer


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def test_tools_that_changed_since_the_last_request_are_sent_anew() -> None:
    tools = [tool("one")]
    with FakeServer(completion("hi")) as server:
        chat = ChatServer(base_url=server.base_url)
        for _ in range(2):
            chat.complete({"model": "m", "messages": [], "tools": tools})
            tools.append(tool("two"))
        shared = (tool("three"),)
        for _ in range(2):
            chat.complete({"model": "m", "messages": [], "tools": shared, "tool_choice": "auto"})
        chat.close()
    sent = [one.body for one in server.requests]
    assert [[one["function"]["name"] for one in body["tools"]] for body in sent] == [
        ["one"], ["one", "two"], ["three"], ["three"],
    ]  # fmt: skip
    assert sent[3] == {"model": "m", "messages": [], "tools": [tool("three")], "tool_choice": "auto"}
