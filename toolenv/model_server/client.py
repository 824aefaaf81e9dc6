"""An OpenAI-compatible server over the openai client: requests sent, retried and counted."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from toolenv.errors import ContextWindowError, ServerError
from toolenv.model_server.outcome import Failure, Reply, load_json, read_error, read_reply
from toolenv.stopping import strip_reasoning
from toolenv.types import NO_TOKENS
from toolenv.usage import as_retried

if TYPE_CHECKING:
    import openai

CONNECT_SECONDS = 10.0
FIRST_DELAY = 1.0
LONGEST_DELAY = 60.0


class ChatServer:
    """An OpenAI-compatible server; may be shared by threads.

    Args:
        base_url: e.g. ``"http://127.0.0.1:8000/v1"``; ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        api_key: sent as the bearer token; ``None`` is ``OPENAI_API_KEY``, or ``"none"`` for servers that
            want no key.
        timeout: seconds a request may wait for bytes.
        attempts: how often a request is tried.
        sleep: waits between attempts, in seconds.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 600.0,
        attempts: int = 6,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base_url, self._api_key, self._timeout = base_url, api_key, timeout
        self._attempts, self._sleep = attempts, sleep
        self._waits_again = True
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            ChatServer,
            base_url=self._base_url,
            api_key=self._api_key,
            timeout=self._timeout,
            attempts=self._attempts,
            sleep=self._sleep,
        )
        return made, ()

    def hurried(self, seconds: float) -> ChatServer:
        """The same server for a look before a run: a server that says nothing is not asked again.

        It shares this one's connections, and lasts as long as they do.

        Args:
            seconds: the most that a request may wait for bytes; less if this server's timeout is.
        """
        quick = copy(self)
        quick._timeout, quick._waits_again = min(self._timeout, seconds), False
        quick._client = self.client.with_options(timeout=quick._patience())
        return quick

    def _patience(self) -> openai.Timeout:
        import openai

        return openai.Timeout(self._timeout, connect=min(self._timeout, CONNECT_SECONDS))

    @property
    def timeout(self) -> float:
        """The seconds a request may wait for bytes."""
        return self._timeout

    @property
    def url(self) -> str:
        """Where requests go."""
        return str(self.client.base_url).rstrip("/")

    @property
    def client(self) -> openai.OpenAI:
        """The openai client, made at first use: its import takes longer than all of toolenv's."""
        with self._lock:
            if self._client is None:
                import openai

                self._client = openai.OpenAI(
                    base_url=self._base_url,
                    api_key=self._api_key or os.environ.get("OPENAI_API_KEY", "").strip() or "none",
                    timeout=self._patience(),
                    max_retries=0,  # counted and paced here
                )
            return self._client

    def complete(self, request: Mapping[str, Any]) -> Reply:
        """The reply to ``request``, the keyword arguments of ``chat.completions.create``.

        Raises:
            ContextWindowError: the conversation is too long.
            ServerError: no attempt led to a reply.
        """
        outcome = self.try_complete(request)
        if isinstance(outcome, Reply):
            return outcome
        if outcome.context_window:
            raise ContextWindowError(outcome.message, outcome.usage)
        tries = f" after {outcome.attempts} attempts" if outcome.attempts > 1 else ""
        raise ServerError(f"{self.url}{tries}: {outcome.message}", outcome.usage)

    def try_complete(self, request: Mapping[str, Any]) -> Reply | Failure:
        """As :meth:`complete`, with the failure as a value."""
        spent, attempt = NO_TOKENS, 0
        while True:
            outcome, attempt = self._attempt(request), attempt + 1
            if isinstance(outcome, Reply):
                return replace(outcome, usage=spent + outcome.usage)
            spent += as_retried(outcome.usage)
            silent = outcome.status is None and not self._waits_again
            if attempt >= self._attempts or silent or not outcome.transient:
                return replace(outcome, usage=spent, attempts=attempt)
            backoff = min(FIRST_DELAY * 2 ** (attempt - 1), LONGEST_DELAY)
            self._sleep(backoff if outcome.delay is None else outcome.delay)

    def models(self) -> tuple[str, ...] | Failure:
        """The names the server lists; empty if its answer is no list."""
        import openai

        try:
            raw = self.client.models.with_raw_response.list()
        except openai.OpenAIError as error:
            return read_error(error)
        body = load_json(raw.text)
        listed = body.get("data") if isinstance(body, dict) else None
        entries = listed if isinstance(listed, list) else []
        names = (entry.get("id") for entry in entries if isinstance(entry, dict))
        return tuple(name for name in names if isinstance(name, str))

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _attempt(self, request: Mapping[str, Any]) -> Reply | Failure:
        import openai

        try:
            raw = self.client.chat.completions.with_raw_response.create(**request)
        except openai.OpenAIError as error:
            return read_error(error)
        return read_reply(raw.text)


def visible_text(reply: Reply) -> str:
    """The text of a reply, reasoning written before it left out; empty where the server sent none."""
    content = reply.message.get("content")
    return strip_reasoning(content)[0].strip() if isinstance(content, str) else ""
