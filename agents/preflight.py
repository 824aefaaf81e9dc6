"""The one request made before a run, so that a bad set-up is one error and not a thousand failures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from toolenv.errors import PreflightError, nearest
from toolenv.model_server import ChatServer, Failure
from toolenv.types import NO_TOKENS, ChatMessage, Observation, ToolSpec, Usage

PROBE = Observation(
    messages=(ChatMessage("user", "Reply with the single word: ready"),),
    tools=(
        ToolSpec(
            name="get_time",
            description="The current time of a city.",
            parameters={
                "type": "object",
                "properties": {"city": {"type": "string", "description": "The city's name."}},
                "required": ["city"],
            },
        ),
    ),
    turns_left=1,
)
"""What is asked: anything that shows whether the server takes a request with a tool."""

LISTING_SECONDS = 10.0
"""How long a server may take to list its models."""

REQUEST_SECONDS = 60.0
"""How long it may take to answer the request; less if the agent's own timeout is."""

_KEY = "OPENAI_API_KEY"
_ANOTHER = "--base-url (option base_url) or OPENAI_BASE_URL"

_UNNAMED = (
    "no model server is named: neither --base-url (option base_url), OPENAI_BASE_URL nor OPENAI_API_KEY is"
    " given. For a server of your own (vLLM, SGLang, llama.cpp) add its address, e.g. --base-url"
    " http://127.0.0.1:8000/v1; for OpenAI's, set OPENAI_API_KEY"
)

_REMEDIES = (
    (
        r"tool|jinja|function call",
        "the server must take requests with tools: start vLLM with --enable-auto-tool-choice and"
        " --tool-call-parser NAME, SGLang with --tool-call-parser NAME, llama.cpp with --jinja and a chat"
        " template that renders tools, or choose a model that supports tools",
    ),
    (r"temperature", "leave the temperature to the model: temperature=None"),
    (r"max_(completion_)?tokens", "choose another cap on tokens: max_tokens=…"),
)


def preflight(server: ChatServer, model: str, request: Callable[[Observation], Mapping[str, Any]]) -> Usage:
    """Make one request as a run would make it.

    Args:
        server: the server.
        model: the model's name, for the error.
        request: builds the request of an observation.

    Returns:
        What it cost; unknown if the server reports no usage.

    Raises:
        PreflightError: it failed; the message quotes the server and says what to do.
    """
    kept = server.recall(request(PROBE))
    if kept is not None:  # a run made again from the response cache needs no server
        return NO_TOKENS
    listed = listed_models(server)
    asked = server.hurried(REQUEST_SECONDS)
    outcome = asked.try_complete(request(PROBE))
    if isinstance(outcome, Failure):
        late = outcome.trouble == "server/timeout"
        patience = f"; it had {asked.timeout:g} s to answer one request" if late else ""
        advice = _advice(outcome, model, listed)
        raise PreflightError(f"{server.url}: {advice}{patience}", outcome.usage)
    # A server with one model often answers under any name; the scores would then bear the wrong one.
    if len(listed) == 1 and not _same_model(model, listed[0]):
        raise PreflightError(f"{server.url}: {_unknown(model, listed)}", outcome.usage)
    return outcome.usage


def listed_models(server: ChatServer) -> tuple[str, ...]:
    """The models that a server lists; none where it lists nothing.

    Raises:
        PreflightError: no server is named, or none answers.
    """
    if not server.is_named:
        raise PreflightError(_UNNAMED)
    lister = server.hurried(LISTING_SECONDS)
    listed = lister.models()
    if not isinstance(listed, Failure):
        return listed
    if listed.status is None:
        raise PreflightError(
            f"no model server answers at {server.url}: {listed.message}; is it running there?"
            f" It had {lister.timeout:g} s to list its models. {_ANOTHER} names another server"
        )
    return ()


def _advice(failure: Failure, model: str, listed: tuple[str, ...]) -> str:
    """The server's words and what to do about them."""
    quoted = failure.message
    refused = _refused_account(failure, model)
    if refused:
        return f"{quoted}; {refused}; {_ANOTHER} names another server"
    missing = failure.trouble == "server/unknown_model"
    if missing or (failure.status == 404 and listed and not any(_same_model(model, one) for one in listed)):
        return f"{quoted}; {_unknown(model, listed)}"
    if failure.status == 404:
        return f"{quoted}; is the address complete? It mostly ends in /v1"
    if failure.context_window:
        return f"{quoted}; the model's context must hold a conversation and max_tokens more"
    remedies = (remedy for pattern, remedy in _REMEDIES if re.search(pattern, quoted, re.IGNORECASE))
    remedy = next(remedies, "") if failure.status and 400 <= failure.status < 500 else ""
    return f"{quoted}; {remedy}" if remedy else quoted


def _refused_account(failure: Failure, model: str) -> str:
    """What to check where a server refuses the one who asks; empty where it does not."""
    if failure.trouble == "server/quota":
        return (
            f"the account behind {_KEY} is exhausted, or has no credit for this: check its balance, billing"
            " and limits with the provider, ask for less (max_tokens=…), or give another account's key"
        )
    if failure.status == 401:
        return f"set {_KEY} to a key that it takes"
    if failure.status == 403:
        return (
            f"it does not allow this: check that {_KEY} is the key you mean, that its account and project may"
            f" use {model!r}, and that neither provider nor proxy bars this address or region"
        )
    return ""


def _unknown(model: str, listed: tuple[str, ...]) -> str:
    if model in listed:
        return f"it lists {model!r} all the same: does it take chat requests for it?"
    near = nearest(model, listed, cutoff=0.4)
    if near:
        return f"unknown model {model!r}: did you mean {' or '.join(repr(one) for one in near)}?"
    shown = ", ".join(repr(one) for one in listed[:12]) + (", …" if len(listed) > 12 else "")
    return f"unknown model {model!r}" + (f": the server offers {shown}" if listed else "")


def _same_model(asked: str, listed: str) -> bool:
    """Whether a listed name is the one asked for, give or take a tag or a folder."""
    tail = listed.rsplit("/", 1)[-1]
    return asked in (listed, tail) or listed.startswith(f"{asked}:") or asked.startswith(f"{listed}:")
