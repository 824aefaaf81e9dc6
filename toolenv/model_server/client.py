"""An OpenAI-compatible server: requests sent, paced, tried again and counted."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from toolenv.errors import ContextWindowError, DeadlineError, ServerError
from toolenv.identity import ByIdentity
from toolenv.model_server.backoff import Backoff, share
from toolenv.model_server.circumstances import Circumstances, here
from toolenv.model_server.clock import CLOCK, Clock, Pause
from toolenv.model_server.endpoint import Endpoint, endpoint_of, is_named
from toolenv.model_server.limits import SPREAD, Gate, Gates, OutOfTimeError
from toolenv.model_server.outcome import Failure, Reply
from toolenv.model_server.own_reply import OwnReplies, new_request_id
from toolenv.model_server.responses import load_json, read_break, read_response
from toolenv.model_server.transport import Exchange, Transport, TransportError
from toolenv.stopping import strip_reasoning
from toolenv.types import NO_TOKENS, Usage
from toolenv.usage import as_retried
from toolenv.waiting import Waiting, block

BACKOFF = Backoff()
CHAT, MODELS = "/chat/completions", "/models"


class ChatServer:
    """An OpenAI-compatible server; may be shared by threads.

    Args:
        base_url: e.g. ``"http://127.0.0.1:8000/v1"``; ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        api_key: sent as the bearer token; ``None`` is ``OPENAI_API_KEY``, or ``"none"`` for servers that
            want no key.
        timeout: seconds a request may take.
        attempts: how often a request is tried.
        backoff: waits between attempts.
        clock: what they are measured by.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 600.0,
        attempts: int = 6,
        backoff: Backoff = BACKOFF,
        clock: Clock = CLOCK,
    ) -> None:
        self._base_url, self._api_key, self._timeout = base_url, api_key, timeout
        self._attempts, self._backoff, self._clock = attempts, backoff, clock
        self._waits_again = True
        self._endpoint: Endpoint | None = None
        self._transport = Transport()
        self._gates = Gates(clock=clock)
        self._own = OwnReplies()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(
            ChatServer,
            base_url=self._base_url,
            api_key=self._api_key,
            timeout=self._timeout,
            attempts=self._attempts,
            backoff=self._backoff,
            clock=self._clock,
        )
        return made, ()

    def hurried(self, seconds: float) -> ChatServer:
        """The same server for a look before a run: a server that says nothing is not asked again.

        It shares this one's connections.

        Args:
            seconds: the most that a request may take; less if this server's timeout is.
        """
        self.endpoint  # noqa: B018  (made once for both)
        quick = object.__new__(ChatServer)
        quick.__dict__.update(self.__dict__)  # copy() makes what unpickling makes: one that shares nothing
        quick._timeout, quick._waits_again = min(self._timeout, seconds), False
        return quick

    @property
    def timeout(self) -> float:
        """The seconds a request may take."""
        return self._timeout

    @property
    def endpoint(self) -> Endpoint:
        """Where requests go; found out at first use."""
        if self._endpoint is None:
            with self._lock:
                self._endpoint = self._endpoint or endpoint_of(self._base_url, self._api_key)
        return self._endpoint

    @property
    def is_named(self) -> bool:
        """Whether anything says which server is meant, an address or a key; else it is OpenAI's, in vain."""
        return is_named(self._base_url, self._api_key)

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.endpoint.url

    def complete(self, request: Mapping[str, Any]) -> Reply:
        """The reply to ``request``, the keyword arguments of ``chat.completions.create``.

        Raises:
            ContextWindowError: the conversation is too long.
            DeadlineError: the episode's time ran out.
            ServerError: no attempt led to a reply.
        """
        return block(self.completing(request))

    def completing(self, request: Mapping[str, Any]) -> Waiting[Reply]:
        """:meth:`complete`, whoever waits for it; begun in the circumstances of the episode."""
        outcome = yield from self._trying(request)
        if isinstance(outcome, Reply):
            return outcome
        if outcome.context_window:
            raise ContextWindowError(outcome.message, outcome.usage)
        tries = f" after {outcome.attempts} attempts" if outcome.attempts > 1 else ""
        said = f"{self.url}{tries}: {outcome.message}"
        if outcome.trouble == "budget/deadline":
            raise DeadlineError(said, outcome.usage)
        raise ServerError(said, outcome.usage, trouble=outcome.trouble)

    def try_complete(self, request: Mapping[str, Any]) -> Reply | Failure:
        """As :meth:`complete`, with the failure as a value."""
        return block(self._trying(request))

    def _trying(self, request: Mapping[str, Any]) -> Waiting[Reply | Failure]:
        around, body = here() or Circumstances(self._gates), _body(request)
        key = "" if around.cache is None else around.key(self.url, body)
        kept = around.cache.find(key) if around.cache is not None else None
        if kept is not None:
            around.recalled += 1
            return kept
        outcome, before, attempts = yield from self._persist(body, around)
        if isinstance(outcome, Failure):
            return replace(outcome, usage=before, attempts=attempts)
        if around.cache is not None:
            around.cache.keep(key, outcome)
        return replace(outcome, usage=before + outcome.usage) if attempts > 1 else outcome

    def recall(self, request: Mapping[str, Any]) -> Reply | None:
        """The reply that the response cache of the run holds for a request, if there is one."""
        around = here()
        if around is None or around.cache is None:
            return None
        return around.cache.find(around.key(self.url, _body(request), counted=False))

    def models(self) -> tuple[str, ...] | Failure:
        """The names the server lists; empty if its answer is no list."""
        try:
            response = self._transport.send(self._exchange(MODELS, None, self._timeout))
        except TransportError as error:
            return read_break(error)
        if response.status != 200:
            failure = read_response(response, "")
            return failure if isinstance(failure, Failure) else ()
        body = load_json(response.body)
        listed = body.get("data") if isinstance(body, dict) else None
        entries = listed if isinstance(listed, list) else []
        names = (entry.get("id") for entry in entries if isinstance(entry, dict))
        return tuple(name for name in names if isinstance(name, str))

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        self._transport.close()

    def _persist(
        self, body: Mapping[str, Any], around: Circumstances
    ) -> Waiting[tuple[Reply | Failure, Usage, int]]:
        """Try until there is a reply, or nothing more to be hoped for.

        Returns:
            What the last attempt led to, the tokens of those that failed, and how many there were.
        """
        sent, gate = _encoded(body), around.gates.of(self.url)
        spent, attempts = NO_TOKENS, 0
        while True:
            attempts += 1
            outcome = yield from self._attempt(sent, body["model"], gate, around.deadline)
            if isinstance(outcome, Reply):
                return outcome, spent, attempts
            around.has_failed(outcome.trouble, outcome.message)
            spent += as_retried(outcome.usage)
            silent = outcome.status is None and not self._waits_again
            if attempts >= self._attempts or silent or not outcome.transient:
                return outcome, spent, attempts
            seconds = self._rest(outcome, attempts, sent, gate, around)
            if around.deadline is not None and self._clock.now() + seconds > around.deadline:
                return _OUT_OF_TIME, spent, attempts
            yield Pause(seconds, self._clock)

    def _attempt(
        self, sent: bytes, model: str, gate: Gate, deadline: float | None
    ) -> Waiting[Reply | Failure]:
        try:
            return (yield from gate.passage(self._in_flight(sent, model, deadline), deadline))
        except OutOfTimeError:
            return _OUT_OF_TIME

    def _in_flight(self, sent: bytes, model: str, deadline: float | None) -> Waiting[Reply | Failure]:
        request_id = new_request_id()
        left = self._timeout if deadline is None else deadline - self._clock.now()
        if left <= 0:
            return _OUT_OF_TIME
        try:
            response = yield self._exchange(CHAT, sent, min(self._timeout, left), request_id)
        except TransportError as error:
            failure = read_break(error)
            late = error.reason == "timeout" and left <= self._timeout and deadline is not None
            return replace(_OUT_OF_TIME, usage=failure.usage) if late else failure
        return self._own.checked(read_response(response, model), response, model, request_id)

    def _exchange(self, path: str, body: bytes | None, seconds: float, request_id: str = "") -> Exchange:
        headers = [*self.endpoint.headers, *([f"X-Request-Id: {request_id}"] if request_id else [])]
        return Exchange(self._transport, self.url + path, headers, body, seconds)

    def _rest(self, failure: Failure, attempts: int, sent: bytes, gate: Gate, around: Circumstances) -> float:
        """Seconds before the next attempt."""
        # With the episode's seed: trials of a task send the same, and must not come back together.
        key = f"{around.seed}:{hashlib.sha256(sent).hexdigest()}"
        if (
            not failure.delay
        ):  # at once, or a moment that has passed by the server's clock: as if it said nothing
            return (around.backoff or self._backoff).delay(attempts, key)
        gate.keep_quiet(failure.delay)
        return failure.delay * (1 + SPREAD * share(key, attempts))


_OUT_OF_TIME = Failure("the episode ran out of time", "budget/deadline")


def _body(request: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent: as in the openai client, ``extra_body`` holds further keys of the request."""
    body = dict(request)
    body.update(body.pop("extra_body", {}))
    return body


def _encoded(body: Mapping[str, Any]) -> bytes:
    """The request as JSON. Tools are most of it; a tuple of them is the same in all requests of a task."""
    from pydantic_core import to_json

    tools = body.get("tools")
    if not (tools and isinstance(tools, tuple)):  # a list might be changed before the next request
        return to_json(body)
    others = dict(body)
    del others["tools"]
    rest = to_json(others)
    return b'%s,"tools":%s}' % (rest[:-1], _tools.of(tools, lambda: to_json(tools)))


_tools: ByIdentity[tuple[Any, ...], bytes] = ByIdentity(2048)


def visible_text(reply: Reply) -> str:
    """The text of a reply, reasoning written before it left out; empty where the server sent none."""
    content = reply.message.get("content")
    return strip_reasoning(content)[0].strip() if isinstance(content, str) else ""
