"""The local page served: on 127.0.0.1 only, to whoever holds the token in its address."""

from __future__ import annotations

import re
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from toolenv.errors import StoreError, UsageError
from toolenv.feasibility.annotation.page import content_security_policy, render_item, render_overview
from toolenv.feasibility.annotation.session import Session

HOST = "127.0.0.1"
BODY_LIMIT = 64 * 1024
"""Bytes of a form; the longest note allowed takes 48,000 where every character is escaped."""

_PATH = re.compile(r"/(?P<token>[A-Za-z0-9_-]{1,100})/(?P<page>|all|[1-9][0-9]{0,5})")


class PageServer(ThreadingHTTPServer):
    """Serves a session until closed; use it as a context manager.

    Threads are needed: browsers keep idle connections open.

    Args:
        session: what is asked and where answers go.
        port: 0 takes a free one.

    Attributes:
        url: the page's address, with a token that cannot be guessed.

    Raises:
        UsageError: the port cannot be had.
    """

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session = session
        self.token = secrets.token_urlsafe(24)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(f"port {port} of {HOST} cannot be had: {error}") from error
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}
        self.url = f"http://{HOST}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version = "toolenv"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        page = self._page()
        if page is None:
            return
        session = self.server.session
        following = session.next_open()
        if page == "all" or (page == "" and following is None):
            self._send(HTTPStatus.OK, render_overview(session))
        elif page == "":
            self._redirect(str((following or 0) + 1))
        elif int(page) > len(session.items):
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send(HTTPStatus.OK, render_item(session, int(page) - 1))

    def do_POST(self) -> None:
        page = self._page()
        form = None if page is None else self._form()
        if page is None or form is None:
            return
        session = self.server.session
        if not page.isdigit() or int(page) > len(session.items):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        index = int(page) - 1
        try:
            session.record(index, form.get("answer", ""), form.get("note", ""))
        except UsageError as error:
            self._send(HTTPStatus.BAD_REQUEST, render_item(session, index, str(error)))
        except StoreError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, render_item(session, index, str(error)))
        else:
            following = session.next_open(index + 1)
            self._redirect("all" if following is None else str(following + 1))

    def _page(self) -> str | None:
        """The page asked for; ``None`` where the request was refused, without saying why.

        The host is checked because a site may point its own name at this address (DNS rebinding).
        """
        match = _PATH.fullmatch(self.path)
        known = match is not None and secrets.compare_digest(match["token"], self.server.token)
        if match is None or not known or self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return match["page"]

    def _form(self) -> dict[str, str] | None:
        """The form's fields; ``None`` where it was refused."""
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/x-www-form-urlencoded":
            self.send_error(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        elif not length.isascii() or not length.isdigit():
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
        elif len(length) > 9 or int(length) > BODY_LIMIT:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            body = self.rfile.read(int(length)).decode("ascii", "replace")
            try:
                fields = parse_qs(body, keep_blank_values=True, max_num_fields=8)
            except ValueError:
                self.send_error(HTTPStatus.BAD_REQUEST)
                return None
            return {name: values[-1] for name, values in fields.items()}
        return None

    def _redirect(self, page: str) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", f"/{self.server.token}/{page}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: HTTPStatus, page: str) -> None:
        content = page.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        for name, value in (
            ("Content-Security-Policy", content_security_policy()),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: addresses hold the token."""
