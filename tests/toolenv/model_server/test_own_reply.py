"""Replies that belong to another request."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from tests.support.clock import FakeClock
from tests.support.fake_server import (
    MODEL,
    Answer,
    FakeServer,
    Request,
    Script,
    as_json,
    completion,
    in_order,
)
from toolenv.model_server import ChatServer, Failure, Reply

ASKED = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]}


def outcome(
    script: Script | Answer, requests: int = 1, attempts: int = 1
) -> tuple[Reply | Failure, FakeServer]:
    with FakeServer(script) as server:
        chat = ChatServer(base_url=server.base_url, attempts=attempts, clock=FakeClock().clock)
        for _ in range(requests):
            last = chat.try_complete(ASKED)
        chat.close()
    return last, server


def echoing(prefix: str = "chatcmpl-", instead: str = "") -> Script:
    """As vLLM does it: the reply's id is made of the request's."""

    def script(request: Request) -> Answer:
        body = json.loads(completion("hi").body)
        return as_json({**body, "id": prefix + (instead or request.headers["x-request-id"])})

    return script


def test_every_request_has_an_id_of_its_own() -> None:
    _, server = outcome(completion("hi"), requests=3)
    assert len({one.headers["x-request-id"] for one in server.requests}) == 3


def test_an_echoed_id_is_no_mistake() -> None:
    assert isinstance(outcome(echoing())[0], Reply)
    assert isinstance(outcome(echoing(prefix="req_", instead="abc"))[0], Reply)


def test_another_requests_id_is_found_out_and_asked_again() -> None:
    other = f"toolenv-{'0' * 32}"
    failure, _ = outcome(echoing(instead=other))
    assert isinstance(failure, Failure)
    assert failure.trouble == "server/mixed_reply"
    assert other in failure.message
    assert failure.usage.total_tokens is None, "what our own request cost, nobody said"
    answers = iter([echoing(instead=other), echoing()])
    reply, _ = outcome(lambda request: next(answers)(request), attempts=2)
    assert isinstance(reply, Reply)
    in_header = Answer(200, completion("hi").body, {"x-request-id": other})
    assert isinstance(outcome(in_header)[0], Failure)


def test_another_model_is_found_out_where_the_server_says_what_it_was_asked_for() -> None:
    failure, _ = outcome(in_order(completion("a"), completion("b", model="other")), requests=2)
    assert isinstance(failure, Failure)
    assert "it is of model 'other', and 'fake-model' was asked" in failure.message


def test_a_server_that_has_other_names_for_its_models_is_believed() -> None:
    snapshots = in_order(completion("a", model="fake-2026-01"), completion("b", model="fake-2026-06"))
    assert isinstance(outcome(snapshots, requests=2)[0], Reply)
    assert isinstance(outcome(in_order(completion("a"), completion("b", model="")), requests=2)[0], Reply)


def test_ids_are_new_in_a_forked_process() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os\n"
            "from toolenv.model_server.own_reply import new_request_id\n"
            "if not os.fork():\n"
            "    print(new_request_id(), flush=True)\n"
            "    os._exit(0)\n"
            "os.wait()\n"
            "print(new_request_id(), new_request_id())\n",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(set(told)) == len(told) == 3
    assert all(re.fullmatch(r"toolenv-[0-9a-f]{32}", one) for one in told)
