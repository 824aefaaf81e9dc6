"""What a request to a model server led to: a reply or a failure, read from whatever came back.

An error text never looks like a model's answer (FIELD-022), and tokens that a failed attempt may have cost
are never lost (FIELD-011) or taken for 0 (FIELD-012).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from toolenv.json_values import mend_surrogates
from toolenv.types import NO_TOKENS, Usage
from toolenv.usage import normalise_usage

if TYPE_CHECKING:
    import openai

LONGEST_REQUESTED_DELAY = 600.0
LONGEST_QUOTE = 2000
TRANSIENT_STATUSES = frozenset({408, 409, 429})
UNCONNECTED = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol")

# A 429 counts requests or tokens per minute, so none of this is looked for there.
_CONTEXT_WINDOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|maximum prompt length"
    r"|context (length|window) (was )?exceeded|longer than the model'?s context"
    r"|exceeds? (the )?((available|maximum|model'?s) )*context"
    r"|(prompt|input) is too long|input token count .* exceeds|too large for model with .* context"
    r"|(inputs?|prompt)`? tokens.* must (be|have) (less than or equal|<=)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's answer that holds a message.

    Attributes:
        message: the message as the server sent it.
        finish_reason: why generation ended; ``""`` if not said.
        model: the model that answered, by the server's own account.
        usage: the tokens of this answer and of the attempts before it.
    """

    message: Mapping[str, Any]
    finish_reason: str
    model: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt, or all of them, led to no reply.

    Attributes:
        message: the server's words, or what happened to the connection.
        status: the HTTP status; ``None`` if there was no answer.
        transient: whether another attempt may go better.
        context_window: whether the conversation is longer than the model's context.
        delay: the seconds the server asked to wait.
        usage: the tokens of the attempts.
        attempts: how many there were.
    """

    message: str
    status: int | None = None
    transient: bool = False
    context_window: bool = False
    delay: float | None = None
    usage: Usage = NO_TOKENS
    attempts: int = 1


def read_reply(text: str) -> Reply | Failure:
    """The reply in the body of a 200; a body without one is a failed attempt that may have cost tokens."""
    body = load_json(text)
    if not isinstance(body, dict):
        return Failure(f"the reply is no JSON object: {text[:200]!r}", 200, transient=True, usage=Usage())
    usage = normalise_usage(body.get("usage"))
    if body.get("error"):
        said = _words(body["error"])
        overflow = bool(_CONTEXT_WINDOW.search(said))
        return Failure(said, 200, transient=not overflow, context_window=overflow, usage=usage)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Failure(f"the reply holds no message: {text[:200]!r}", 200, transient=True, usage=usage)
    if choice.get("finish_reason") == "error":
        return Failure(f"the generation failed: {text[:200]!r}", 200, transient=True, usage=usage)
    return Reply(message, str(choice.get("finish_reason") or ""), str(body.get("model") or ""), usage)


def read_error(error: openai.OpenAIError) -> Failure:
    """What the openai client's exception means."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return _refusal(error)
    if not isinstance(error, openai.APIConnectionError):
        return Failure(f"{type(error).__name__}: {error}")
    cause = f" ({type(error.__cause__).__name__}: {error.__cause__})" if error.__cause__ else ""
    return Failure(f"{error.message}{cause}", transient=True, usage=_lost(error))


def _refusal(error: openai.APIStatusError) -> Failure:
    status, body = error.status_code, load_json(error.response.text)
    said = _words(error.body) or "no message"
    everything = f"{said} {error.code or ''} {error.type or ''}"
    overflow = status != 429 and bool(_CONTEXT_WINDOW.search(everything))
    busy = (status in TRANSIENT_STATUSES or status >= 500) and error.code != "insufficient_quota"
    # An error status is no generation, unless the server says what it cost.
    cost = normalise_usage(body["usage"]) if isinstance(body, dict) and body.get("usage") else NO_TOKENS
    return Failure(
        f"HTTP {status}: {said}",
        status,
        transient=busy and not overflow,
        context_window=overflow,
        delay=requested_delay(error.response.headers),
        usage=cost,
    )


def _lost(error: openai.APIConnectionError) -> Usage:
    """Nothing if no connection was made; unknown if the request may have been worked on."""
    return NO_TOKENS if type(error.__cause__).__name__ in UNCONNECTED else Usage()


def _words(body: object) -> str:
    """The message in an error body of whatever shape, bounded."""
    if isinstance(body, Mapping):
        inner = body.get("message") or body.get("error") or body.get("detail") or dict(body)
        body = inner if isinstance(inner, str) else json.dumps(inner, default=str)
    return "" if body is None else str(body)[:LONGEST_QUOTE]


def requested_delay(headers: Mapping[str, str]) -> float | None:
    """The seconds of a ``Retry-After`` header in any form, at most ten minutes; ``None`` if absent."""
    milliseconds, seconds = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            delay = float(milliseconds) / 1000
        elif seconds is not None:
            delay = float(seconds)
        else:
            return None
    except ValueError:
        return _delay_until(seconds, headers.get("date"))
    return min(delay, LONGEST_REQUESTED_DELAY) if math.isfinite(delay) and delay >= 0 else None


def _delay_until(moment: str | None, now: str | None) -> float | None:
    """The seconds between two HTTP dates: the server's own clock is the one that counts."""
    if moment is None or now is None:
        return None
    try:
        delay = (parsedate_to_datetime(moment) - parsedate_to_datetime(now)).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(delay, 0.0), LONGEST_REQUESTED_DELAY)


def load_json(text: str) -> Any:
    """The JSON value of ``text``, its strings clean; ``None`` if it is none."""
    try:
        value = json.loads(text)
        if "\\ud" in text or "\\uD" in text:  # surrogate escapes, paired or not
            value = json.loads(mend_surrogates(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return value
