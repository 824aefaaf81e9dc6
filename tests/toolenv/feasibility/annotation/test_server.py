"""The page over real HTTP, with a client that is no browser."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.toolenv.feasibility.annotation.samples import HOSTILE, give, make_item, written
from toolenv.errors import UsageError
from toolenv.feasibility.annotation.answers import NOTE_LIMIT, Answer
from toolenv.feasibility.annotation.page import content_security_policy
from toolenv.feasibility.annotation.server import BODY_LIMIT, PageServer
from toolenv.feasibility.annotation.session import Session, adjudication, annotation

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    text: str


class Client:
    """Talks to one page server."""

    def __init__(self, server: PageServer) -> None:
        parts = urlsplit(server.url)
        self.host, self.port, self.base = parts.hostname or "", parts.port or 0, parts.path

    def request(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        with closing(http.client.HTTPConnection(self.host, self.port, timeout=20)) as connection:
            connection.request(method, path, body, dict(headers or {}))
            with connection.getresponse() as reply:
                return Reply(reply.status, dict(reply.getheaders()), reply.read().decode())

    def get(self, page: str = "") -> Reply:
        return self.request("GET", self.base + page)

    def post(self, page: str, fields: Mapping[str, str]) -> Reply:
        return self.request("POST", self.base + page, urlencode(fields), FORM)


@contextmanager
def served(session: Session) -> Iterator[Client]:
    with PageServer(session) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Client(server)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(
        tmp_path / "sample.json", [make_item("a"), make_item("evil", text=HOSTILE), make_item("c")]
    )[0]


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with annotation(path, "ann") as session:
        yield session


@pytest.fixture
def client(session: Session) -> Iterator[Client]:
    with served(session) as client:
        yield client


def test_a_whole_annotation(client: Client, session: Session) -> None:
    start = client.get()
    assert (start.status, start.headers["Location"]) == (303, f"{client.base}1")
    for number, choice, following in ((1, "no", "2"), (3, "unsure", "2"), (2, "yes", "all")):
        assert f"Item {number} of 3" in client.get(str(number)).text
        reply = client.post(str(number), {"answer": choice, "note": "line\r\nbreak é"})
        assert (reply.status, reply.headers["Location"]) == (303, client.base + following)
    assert client.get().text == client.get("all").text
    assert "All items are answered" in client.get().text
    kept = [json.loads(line) for line in session.log.path.read_text(encoding="utf-8").splitlines()]
    assert [(one["item"], one["answer"]) for one in kept] == [
        ("Toy/a", "no"),
        ("Toy/c", "unsure"),
        ("Toy/evil", "yes"),
    ]
    assert kept[0]["note"] == "line\nbreak é"


def test_every_reply_is_locked_down(client: Client) -> None:
    for reply in (
        client.get("1"),
        client.get(),
        client.get("99"),
        client.request("GET", "/"),
        client.post("1", {}),
    ):
        assert reply.headers["Content-Security-Policy"] == content_security_policy()
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Referrer-Policy"] == "no-referrer"
        assert reply.headers["Cache-Control"] == "no-store"
        assert "Python" not in reply.headers["Server"]


def test_only_the_token_opens_the_page(client: Client) -> None:
    token = client.base.strip("/")
    assert len(token) >= 32
    for path in (
        "/",
        "/1",
        "/all",
        f"/{token[:-1]}/1",
        f"/{token}x/1",
        f"/{token}/../1",
        f"/{token}",
    ):
        reply = client.request("GET", path)
        assert reply.status == 404
        assert token not in reply.text
        assert "Toy/a" not in reply.text
    assert client.request("POST", f"/{token[:-1]}x/1", urlencode({"answer": "no"}), FORM).status == 404


def test_tokens_differ(session: Session) -> None:
    with PageServer(session) as one, PageServer(session) as other:
        assert one.token != other.token


def test_a_foreign_name_for_this_address_is_refused(client: Client, session: Session) -> None:
    # DNS rebinding: a site lets its own name point here.
    evil = {"Host": f"evil.example:{client.port}"}
    assert client.request("GET", f"{client.base}1", headers=evil).status == 404
    assert (
        client.request("POST", f"{client.base}1", urlencode({"answer": "no"}), {**FORM, **evil}).status == 404
    )
    assert session.answered == 0
    here = {"Host": f"localhost:{client.port}"}
    assert client.request("GET", f"{client.base}1", headers=here).status == 200


def test_it_listens_on_this_machine_alone(session: Session) -> None:
    with PageServer(session) as server:
        assert server.server_address[0] == "127.0.0.1"
        with pytest.raises(UsageError, match=f"port {server.server_port} of 127.0.0.1 cannot be had"):
            PageServer(session, server.server_port)


def test_hostile_tasks_reach_the_browser_as_text(client: Client) -> None:
    page = client.get("2").text
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "answer &#39;&#39;: give one of yes, no, unsure"),
        ({"answer": "<b>maybe</b>"}, "answer &#39;&lt;b&gt;maybe&lt;/b&gt;&#39;: give one of"),
        ({"answer": "no", "note": "x" * (NOTE_LIMIT + 1)}, "at most 4,000 are kept"),
    ],
)
def test_a_bad_form_is_shown_again_with_the_reason(
    client: Client, session: Session, fields: Mapping[str, str], why: str
) -> None:
    reply = client.post("1", fields)
    assert reply.status == 400
    assert why in reply.text
    assert session.answered == 0


def test_the_longest_note_fits(client: Client, session: Session) -> None:
    note = "\U0001f600" * NOTE_LIMIT
    assert client.post("1", {"answer": "no", "note": note}).status == 303
    assert session.answer(0) == Answer("no", note)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "application/json"}, 415),
        ({**FORM, "Content-Length": str(BODY_LIMIT + 1)}, 413),
        ({**FORM, "Content-Length": "9" * 5000}, 413),
        ({**FORM, "Content-Length": "-1"}, 411),
        ({**FORM, "Content-Length": "²"}, 411),
    ],
)
def test_bodies_that_are_no_forms_are_refused(
    client: Client, session: Session, headers: Mapping[str, str], status: int
) -> None:
    assert client.request("POST", f"{client.base}1", "", headers).status == status
    assert session.answered == 0


def test_too_many_fields_are_refused(client: Client, session: Session) -> None:
    body = "&".join(f"f{number}=1" for number in range(9))
    assert client.request("POST", f"{client.base}1", body, FORM).status == 400
    assert session.answered == 0


@pytest.mark.parametrize("page", ["0", "4", "999999", "9999999", "-1", "one", "all/1", "%31"])
def test_pages_that_are_not_there(client: Client, page: str) -> None:
    assert client.get(page).status == 404
    assert client.post(page, {"answer": "no"}).status == 404


def test_the_overview_takes_no_answers(client: Client, session: Session) -> None:
    for page in ("", "all"):
        assert client.post(page, {"answer": "no"}).status == 404
    assert client.request("PUT", f"{client.base}1").status == 501
    assert session.answered == 0


def test_a_full_disk_is_said_and_loses_nothing(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    reply = client.post("1", {"answer": "no"})
    assert reply.status == 500
    assert "No space left on device" in reply.text
    assert session.answered == 0
    monkeypatch.undo()
    assert client.post("1", {"answer": "no"}).status == 303


def test_an_idle_connection_keeps_nobody_waiting(client: Client) -> None:
    with closing(socket.create_connection((client.host, client.port))):
        assert client.get("1").status == 200


def test_answers_given_at_the_same_time_are_all_kept(client: Client, session: Session) -> None:
    posts = [
        threading.Thread(target=client.post, args=(str(number % 3 + 1), {"answer": "no", "note": "x" * 2000}))
        for number in range(12)
    ]
    for one in posts:
        one.start()
    for one in posts:
        one.join()
    lines = session.log.path.read_bytes().splitlines()
    assert len(lines) == 12
    assert {json.loads(line)["item"] for line in lines} == {"Toy/a", "Toy/evil", "Toy/c"}


def test_an_adjudication_shows_both_answers_and_only_disputes(path: Path) -> None:
    give(path, "ann", {"Toy/a": "no", "Toy/evil": "yes", "Toy/c": "no"})
    give(path, "bob", {"Toy/a": "no", "Toy/evil": "no", "Toy/c": "no"})
    with adjudication(path) as session, served(session) as client:
        text = client.get("1").text
        assert "Item 1 of 1" in text
        assert "Said independently" in text
        assert '<th scope="row">ann</th><td><b>yes</b></td>' in text
        assert '<th scope="row">bob</th><td><b>no</b></td>' in text
        assert client.post("1", {"answer": "yes"}).headers["Location"] == f"{client.base}all"
