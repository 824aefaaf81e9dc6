"""The response cache: what a key holds, what is kept, and entries that are damaged."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import MODEL, FakeServer, completion, error, in_order
from toolenv.errors import ServerError, UsageError
from toolenv.model_server import ChatServer, Reply
from toolenv.model_server.cache import ResponseCache, key_of
from toolenv.model_server.circumstances import Circumstances, under
from toolenv.model_server.limits import Gates
from toolenv.types import Usage

SAID = {"role": "assistant", "content": "hi \ud83c \U0001f378"}
REPLY = Reply(SAID, "stop", "m", Usage(11, 7), "chatcmpl-1")
KEY = key_of("http://a/v1", {"model": "m"}, 1, 0)


def request(text: str = "hi") -> dict[str, object]:
    return {"model": MODEL, "messages": [{"role": "user", "content": text}]}


@contextmanager
def episode(folder: Path, seed: int | None = 1) -> Iterator[Circumstances]:
    with under(Circumstances(Gates(), ResponseCache(folder), seed=seed)) as around:
        yield around


@contextmanager
def counting() -> Iterator[tuple[ChatServer, FakeServer]]:
    answers = (completion(f"answer {number}") for number in range(1000))
    with FakeServer(lambda _: next(answers)) as server:
        chat = ChatServer(base_url=server.base_url, clock=FakeClock().clock)
        yield chat, server
        chat.close()


def said(reply: Reply) -> object:
    return reply.message["content"]


def test_a_reply_comes_back_with_its_tokens_marked(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    assert cache.find(KEY) is None
    cache.keep(KEY, REPLY)
    found = ResponseCache(tmp_path).find(KEY)
    assert found == Reply(
        REPLY.message,
        "stop",
        "m",
        Usage(11, 7, recalled_input_tokens=11, recalled_output_tokens=7),
        "chatcmpl-1",
        recalled=True,
    )


def test_unknown_tokens_stay_unknown(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.keep(KEY, Reply(REPLY.message, "stop", "m", Usage()))
    found = cache.find(KEY)
    assert found is not None
    assert found.usage == Usage()


def test_the_key_is_of_all_that_is_sent_and_where() -> None:
    keys = [
        KEY,
        key_of("http://b/v1", {"model": "m"}, 1, 0),
        key_of("http://a/v1", {"model": "n"}, 1, 0),
        key_of("http://a/v1", {"model": "m", "temperature": 0}, 1, 0),
        key_of("http://a/v1", {"model": "m"}, 2, 0),
        key_of("http://a/v1", {"model": "m"}, None, 0),
        key_of("http://a/v1", {"model": "m"}, 1, 1),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of("u", {"a": 1, "b": 2}, 1, 0) == key_of("u", {"b": 2, "a": 1}, 1, 0)


def test_the_same_question_in_one_episode_is_asked_as_often_as_it_is_made(tmp_path: Path) -> None:
    """Three votes of one model at temperature 1 stay three votes, in this run and in the next."""
    with counting() as (chat, server):
        for _ in range(2):
            with episode(tmp_path):
                votes = [said(chat.complete(request())) for _ in range(3)]
            assert votes == ["answer 0", "answer 1", "answer 2"]
        assert len(server.requests) == 3
        with episode(tmp_path, seed=2):
            assert said(chat.complete(request())) == "answer 3", "another trial asks anew"


def test_off_by_default_and_outside_a_run() -> None:
    with counting() as (chat, server):
        for _ in range(2):
            chat.complete(request())
        assert len(server.requests) == 2
        assert chat.recall(request()) is None


def test_failures_are_never_kept(tmp_path: Path) -> None:
    with FakeServer(in_order(error(400, "no"), completion("hi"))) as server:
        chat = ChatServer(base_url=server.base_url, attempts=1)
        with episode(tmp_path) as around, pytest.raises(ServerError):
            chat.complete(request())
        assert around.failed == {"server/bad_request": 1}
        with episode(tmp_path):
            assert said(chat.complete(request())) == "hi"
        chat.close()


def test_what_failed_attempts_cost_is_not_kept_with_the_reply(tmp_path: Path) -> None:
    with FakeServer(in_order(error(500, "boom"), completion("hi"))) as server:
        chat = ChatServer(base_url=server.base_url, clock=FakeClock().clock)
        with episode(tmp_path):
            chat.complete(request())
        with episode(tmp_path) as around:
            usage = chat.complete(request()).usage
        chat.close()
    assert usage == Usage(11, 7, recalled_input_tokens=11, recalled_output_tokens=7)
    assert (around.recalled, around.failed) == (1, {})


def only_file(folder: Path) -> Path:
    (path,) = folder.glob("*/*.json")
    return path


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("hi", "ho"),
        lambda text: "",
        lambda text: "[]",
        lambda text: json.dumps({**json.loads(text), "version": 99}),
        lambda text: json.dumps({**json.loads(text), "reply": None}),
    ],
    ids=["half", "altered", "empty", "no object", "another version", "no reply"],
)
def test_a_damaged_entry_is_named_and_asked_for_again(
    tmp_path: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    cache = ResponseCache(tmp_path)
    cache.keep(KEY, REPLY)
    path = only_file(tmp_path)
    path.write_text(damage(path.read_text()))  # type: ignore[operator]
    with caplog.at_level(logging.WARNING):
        assert cache.find(KEY) is None
    assert f"{path} is damaged; asking again" in caplog.text
    cache.keep(KEY, REPLY)
    assert cache.find(KEY) is not None


def test_an_entry_of_another_key_is_none(tmp_path: Path) -> None:
    cache, other = ResponseCache(tmp_path), key_of("http://a/v1", {}, 1, 0)
    cache.keep(KEY, REPLY)
    path = only_file(tmp_path)
    (tmp_path / other[:2]).mkdir(exist_ok=True)
    path.rename(tmp_path / other[:2] / f"{other[2:]}.json")
    assert cache.find(other) is None


def test_threads_and_processes_share_a_folder(tmp_path: Path) -> None:
    write = (
        "import sys; from pathlib import Path; from toolenv.model_server.cache import ResponseCache, key_of\n"
        "from toolenv.model_server import Reply; from toolenv.types import Usage\n"
        "cache = ResponseCache(Path(sys.argv[1]))\n"
        "for n in range(200):\n"
        "    said = {'content': f'{n % 20} ' * 1000}\n"
        "    cache.keep(key_of('u', n % 20, 1, 0), Reply(said, '', '', Usage(1, 1)))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", write, str(tmp_path)]) for _ in range(2)]
    cache = ResponseCache(tmp_path)

    def read(n: int) -> None:
        found = cache.find(key_of("u", n % 20, 1, 0))
        assert found is None or found.message == {"content": f"{n % 20} " * 1000}

    with ThreadPoolExecutor(4) as pool:
        while any(writer.poll() is None for writer in writers):
            list(pool.map(read, range(40)))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert all(cache.find(key_of("u", n, 1, 0)) is not None for n in range(20))
    assert not list(tmp_path.glob("**/*.partial"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"cache .*file cannot be written"):
        ResponseCache(tmp_path / "file")


def test_a_reply_that_cannot_be_kept_is_said_and_the_run_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = ResponseCache(tmp_path)
    (tmp_path / KEY[:2]).write_text("in the way")
    with caplog.at_level(logging.WARNING):
        cache.keep(KEY, REPLY)
        assert cache.find(KEY) is None
    assert "cannot be written" in caplog.text
