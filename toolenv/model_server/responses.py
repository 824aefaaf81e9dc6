"""Reading whatever came back from a model server.

An error text never looks like a model's answer (FIELD-022), and tokens that a failed attempt may have cost
are never lost (FIELD-011) or taken for 0 (FIELD-012).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Any

from toolenv.json_values import mend_surrogates
from toolenv.model_server.outcome import Failure, Reply
from toolenv.model_server.retry_after import requested_delay
from toolenv.model_server.transport import Response, TransportError
from toolenv.types import NO_TOKENS, Usage
from toolenv.usage import normalise_usage

LONGEST_QUOTE = 2000
_SHORT_QUOTE = 200
_MOST_DIGITS = 1000

# A 429 counts requests or tokens per minute, so none of this is looked for there.
_CONTEXT_WINDOW = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum (context|prompt|model) length"
    r"|context (length|window) (was )?exceeded|longer than the model'?s context|context length is only"
    r"|input length \S+ exceeds the maximum|range of input length"
    r"|exceeds? (the )?((available|maximum|model'?s) )*context"
    r"|(prompt|input) is too long|input token count .* exceeds|too large for model with .* context"
    r"|(inputs?|prompt)`? tokens.* must (be|have) (less than or equal|<=)",
    re.IGNORECASE | re.DOTALL,
)
_TOOLS = re.compile(r"\btools?\b|tool[_ -]?c(all|hoice)|function call|jinja", re.IGNORECASE)
_GONE = r"not (be )?found|(does|do) not exist|unknown|invalid|no such|not (a )?valid|not available"
_BY_STATUS: Mapping[int, str] = {
    401: "server/auth",
    402: "server/quota",
    403: "server/auth",
    404: "server/not_found",
    408: "server/timeout",
    409: "server/internal_error",
    425: "server/internal_error",
    429: "server/rate_limit",
    503: "server/overloaded",
    529: "server/overloaded",
}


_FAILED = "server/broken_generation", "the generation failed"
_UNFINISHED = {
    # vLLM and SGLang say `abort` when they pause or end, DeepSeek when it has no room.
    **dict.fromkeys(("error", "abort", "aborted", "cancelled", "insufficient_system_resource"), _FAILED),
    "content_filter": ("server/content_filter", "the provider's filter withheld the reply or part of it"),
}
"""Reasons for which a generation ended that make what there is of it no decision of the model's."""


def read_response(response: Response, model: str) -> Reply | Failure:
    """What an HTTP response says.

    Args:
        response: of any status.
        model: the model that was asked.
    """
    if 200 <= response.status < 300:
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
        return read_reply(response.body, streamed=streamed)
    return _refusal(response, model)


def read_reply(body: bytes | str, *, streamed: bool = False) -> Reply | Failure:
    """The reply in the body of a 200; a body without one is a failed attempt that may have cost tokens."""
    content = load_json(body)
    if not isinstance(content, dict):
        return _unreadable(_text(body), streamed)
    usage = normalise_usage(content.get("usage"))
    if content.get("error"):
        said = _words(content["error"])
        overflow = bool(_CONTEXT_WINDOW.search(said))
        trouble = "budget/context_window" if overflow else "server/error_in_reply"
        return Failure(said, trouble, 200, usage=usage)
    choices = content.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        quoted = repr(_text(body)[:_SHORT_QUOTE])
        return Failure(f"the reply holds no message: {quoted}", "server/no_message", 200, usage=usage)
    finish_reason, model, reply_id = choice.get("finish_reason"), content.get("model"), content.get("id")
    unfinished = _UNFINISHED.get(str(finish_reason).lower())
    if unfinished:
        trouble, why = unfinished
        quoted = repr(_text(body)[:_SHORT_QUOTE])
        return Failure(f"{why} (finish_reason {finish_reason}): {quoted}", trouble, 200, usage=usage)
    return Reply(message, str(finish_reason or ""), str(model or ""), usage, str(reply_id or ""))


def read_break(error: TransportError) -> Failure:
    """What it means that no whole response came."""
    # Nothing was spent on what was never sent; whatever else may have been worked on (FIELD-012).
    return Failure(str(error), f"server/{error.reason}", usage=Usage() if error.sent else NO_TOKENS)


def _unreadable(text: str, streamed: bool) -> Failure:
    quoted = repr(text[:_SHORT_QUOTE])
    if streamed or text.lstrip().startswith(("data:", "event:")):
        return Failure(f"a stream that was not asked for: {quoted}", "server/stream", 200, usage=Usage())
    return Failure(f"the reply is no JSON object: {quoted}", "server/not_json", 200, usage=Usage())


def _refusal(response: Response, model: str) -> Failure:
    status, content = response.status, load_json(response.body)
    error = content.get("error", content) if isinstance(content, dict) else None
    said = _words(error if error is not None else _text(response.body)) or "no message"
    if 300 <= status < 400:
        said = f"it sends elsewhere, to {response.headers.get('location', 'no address')!r:.300}"
    details = error if isinstance(error, Mapping) else {}
    everything = f"{said} {details.get('code') or ''} {details.get('type') or ''}"
    # An error status is no generation, unless the server says what it cost.
    bill = content.get("usage") if isinstance(content, dict) else None
    return Failure(
        f"HTTP {status}: {said}",
        _trouble(status, said, everything, model),
        status,
        delay=requested_delay(response.headers),
        usage=normalise_usage(bill) if bill else NO_TOKENS,
    )


def _trouble(status: int, said: str, everything: str, model: str) -> str:
    if status != 429 and _CONTEXT_WINDOW.search(everything):
        return "budget/context_window"
    if "insufficient_quota" in everything:
        return "server/quota"
    if status in (400, 404, 422) and is_about_model(said, model):
        return "server/unknown_model"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 300 <= status < 400:
        return "server/not_found"
    if status >= 500:
        return "server/internal_error"
    return "server/refused_tools" if _TOOLS.search(said) else "server/bad_request"


def is_about_model(quoted: str, model: str) -> bool:
    """Whether a server's words say that it does not know the model."""
    if not re.search(_GONE, quoted, re.IGNORECASE):
        return False
    rest, times = re.subn(rf"(?<!\w){re.escape(model)}(?!\w)", "", quoted)
    # Else it may say that something else is invalid for this model.
    return "model_not_found" in quoted or bool(times and re.search(r"\bmodels?\b", rest, re.IGNORECASE))


def _words(body: object) -> str:
    """The message in an error body of whatever shape, bounded."""
    if isinstance(body, Mapping):
        inner = body.get("message") or body.get("error") or body.get("detail") or dict(body)
        body = inner if isinstance(inner, str) else json.dumps(inner, default=str)
    return "" if body is None else str(body)[:LONGEST_QUOTE]


def _text(body: bytes | str) -> str:
    return body if isinstance(body, str) else body.decode("utf-8", "replace")


def load_json(body: bytes | str) -> Any:
    """The JSON value of ``body``, its strings clean; ``None`` if it is none."""
    from pydantic_core import from_json

    if body[:3] == codecs.BOM_UTF8:
        body = body[3:]
    try:
        return from_json(body)
    except ValueError:
        pass  # no JSON; or some that Python's own parser takes: surrogate escapes, deep nesting
    try:
        text = _text(body)
        value = json.loads(text, parse_int=_integer)
        if "\\ud" in text or "\\uD" in text:  # surrogate escapes, paired or not
            value = json.loads(mend_surrogates(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return value


def _integer(digits: str) -> int | None:
    """One that Python reads without complaint; nothing that a reply means has more digits."""
    return int(digits) if len(digits) <= _MOST_DIGITS else None
