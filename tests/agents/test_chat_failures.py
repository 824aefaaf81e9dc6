"""What the chat agent does when the server fails: what is tried again, what it costs, what is raised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import (
    CUT,
    DROP,
    HANG,
    MODEL,
    Answer,
    FakeServer,
    as_json,
    completion,
    error,
    in_order,
    raw,
)
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.settings import ChatSettings
from toolenv.errors import ContextWindowError, ServerError
from toolenv.model_server.retry_after import requested_delay
from toolenv.types import NO_TOKENS, Action, ChatMessage, Message, Observation, Usage

ASKED = Observation((ChatMessage("user", "Add 1."),), (), 5)
FINE = completion("hi", usage={"prompt_tokens": 150, "completion_tokens": 30})


class Run:
    """One decision against a scripted server, and what it led to."""

    def __init__(self, *answers: Answer, **settings: Any) -> None:
        clock = FakeClock()
        self.sleeps = clock.sleeps
        self.action: Action | None = None
        self.error: Exception | None = None
        with FakeServer(in_order(*answers)) as server:
            given = ChatSettings(**{"model": MODEL, "base_url": server.base_url, "timeout": 10.0, **settings})
            policy = ChatPolicy(given, clock=clock.clock)
            try:
                self.action, _ = policy.act(ASKED, None)
            except (ServerError, ContextWindowError) as raised:
                self.error = raised
            policy.close()
            self.requests = len(server.requests)

    @property
    def usage(self) -> Usage | None:
        if isinstance(self.error, ServerError | ContextWindowError):
            usage = self.error.usage
            assert usage is None or isinstance(usage, Usage)
            return usage
        return None if self.action is None else self.action.usage


# -- what is tried again ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_a_busy_or_broken_server_is_asked_again(status: int) -> None:
    run = Run(error(status, "try later"), FINE)
    assert run.action == Message("hi")
    assert run.requests == 2
    (wait,) = run.sleeps
    assert 0.5 <= wait <= 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_field_103_other_refusals_are_not_tried_again(status: int) -> None:
    run = Run(error(status, "no such thing"), FINE)
    assert isinstance(run.error, ServerError)
    assert run.requests == 1
    assert run.sleeps == []
    assert f"HTTP {status}: no such thing" in str(run.error)


def test_an_exhausted_account_is_not_tried_again() -> None:
    run = Run(error(429, "You exceeded your current quota", code="insufficient_quota"), FINE)
    assert isinstance(run.error, ServerError)
    assert run.requests == 1


def test_waits_double_up_to_a_minute_and_end_with_the_last_attempt() -> None:
    run = Run(error(500, "boom"), attempts=9)
    full = [1, 2, 4, 8, 16, 32, 60, 60]
    assert all(most / 2 <= wait <= most for wait, most in zip(run.sleeps, full, strict=True))
    assert len({wait / most for wait, most in zip(run.sleeps, full, strict=True)}) == 8, "no two alike"
    assert run.requests == 9
    assert "after 9 attempts: HTTP 500: boom" in str(run.error)


def test_one_attempt_means_one_request() -> None:
    assert Run(error(500, "boom"), attempts=1).requests == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"retry-after-ms": "soon", "Retry-After": "7"}, 7.0),
        ({"Retry-After": "86400"}, 600.0),
    ],
)
def test_the_server_says_how_long_to_wait(headers: dict[str, str], wait: float) -> None:
    (waited,) = Run(error(429, "slow down", headers=headers), FINE).sleeps
    assert wait <= waited <= 1.1 * wait, "at least that long, and clients come back one after the other"


@pytest.mark.parametrize("nonsense", ["-1", "nan", "soon", "0", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_wait_that_cannot_be_read_or_is_over_is_our_own(nonsense: str) -> None:
    (waited,) = Run(error(429, "slow down", headers={"Retry-After": nonsense}), FINE).sleeps
    assert 0.5 <= waited <= 1.0


def test_a_date_to_wait_for_is_measured_by_the_servers_own_clock() -> None:
    headers = {"retry-after": "Fri, 31 Dec 2027 23:59:59 GMT", "date": "Fri, 31 Dec 2027 23:59:17 GMT"}
    assert requested_delay(headers) == 42.0
    assert requested_delay({**headers, "date": "Sat, 01 Jan 2028 00:00:09 GMT"}) == 0.0


def test_a_date_from_a_server_that_does_not_tell_the_time_is_measured_by_ours() -> None:
    assert requested_delay({"retry-after": "Fri, 31 Dec 9998 23:59:59 GMT"}) == 600.0
    assert requested_delay({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}) == 0.0
    assert requested_delay({}) is None


@pytest.mark.parametrize("fault", [DROP, CUT])
def test_a_broken_connection_is_tried_again_and_its_tokens_are_unknown(fault: Answer) -> None:
    run = Run(fault, FINE)
    assert run.action == Message("hi")
    assert run.usage is not None
    assert run.usage.generations == 2
    assert run.usage.total_tokens is None


def test_a_reply_that_does_not_come_is_given_up() -> None:
    run = Run(HANG, timeout=0.2, attempts=2)
    assert isinstance(run.error, ServerError)
    assert "after 2 attempts: Request timed out" in str(run.error)


def test_no_server_at_all_costs_no_tokens() -> None:
    with FakeServer(FINE) as server:
        gone = server.base_url
    policy = ChatPolicy(ChatSettings(model=MODEL, base_url=gone, attempts=3), clock=FakeClock().clock)
    with pytest.raises(ServerError, match="after 3 attempts: Connection error") as raised:
        policy.act(ASKED, None)
    assert raised.value.usage == NO_TOKENS
    policy.close()


@pytest.mark.parametrize(
    "garbage",
    [
        raw("<html>gateway</html>"),
        raw(b"\xff\xfe\x00"),
        raw(""),
        as_json([]),
        as_json({}),
        as_json({"choices": []}),
        as_json({"choices": None}),
        as_json({"choices": [{}]}),
        as_json({"choices": [{"message": None}]}),
        as_json({"choices": [{"message": "hi"}]}),
        as_json({"error": {"message": "Provider returned error", "code": 502}}),
        completion("half a sen", finish_reason="error", usage=None),
    ],
)
def test_a_200_without_a_message_is_a_failed_attempt(garbage: Answer) -> None:
    run = Run(garbage, FINE)
    assert run.action == Message("hi")
    assert run.requests == 2
    assert run.usage is not None
    assert run.usage.input_tokens is None, "nobody knows what the first attempt cost"
    lost = Run(garbage, attempts=2)
    assert isinstance(lost.error, ServerError)
    assert lost.action is None


# -- tokens of failed attempts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason", ["error", "abort", "ABORTED", "cancelled", "insufficient_system_resource", "content_filter"]
)
@pytest.mark.parametrize("said", [None, "STOP: partial"])
def test_what_a_broken_off_generation_has_said_is_no_decision(reason: str, said: str | None) -> None:
    """vLLM and SGLang abort when they are paused, DeepSeek when it has no room: HTTP 200 all the same."""
    usage = {"prompt_tokens": 150, "completion_tokens": 7}
    run = Run(completion(said, finish_reason=reason, usage=usage), FINE)
    if reason == "content_filter":  # another try would meet it again
        assert run.requests == 1
        assert "filter withheld the reply or part of it (finish_reason content_filter)" in str(run.error)
        assert run.usage is not None
        assert (run.usage.input_tokens, run.usage.output_tokens) == (150, 7)
        return
    assert (run.action, run.requests) == (Message("hi"), 2)
    assert run.usage is not None
    assert (run.usage.input_tokens, run.usage.retried_output_tokens) == (300, 7)


def test_field_011_failed_attempts_are_counted_and_can_be_subtracted() -> None:
    wasted = as_json({"choices": [], "usage": {"prompt_tokens": 150, "completion_tokens": 10}})
    usage = Run(wasted, FINE).usage
    assert usage == Usage(300, 40, retried_input_tokens=150, retried_output_tokens=10, generations=2)
    assert usage.total_tokens == 160 + 180


def test_field_011_tokens_survive_the_final_failure() -> None:
    wasted = as_json({"choices": [], "usage": {"prompt_tokens": 150, "completion_tokens": 10}})
    usage = Run(wasted, attempts=2).usage
    assert usage == Usage(300, 20, retried_input_tokens=300, retried_output_tokens=20, generations=2)


def test_a_refused_attempt_is_no_generation_unless_the_server_bills_it() -> None:
    assert Run(error(429, "slow down"), FINE).usage == Usage(150, 30)
    body = {"error": {"message": "lost"}, "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    billed = Run(as_json(body, 500), FINE).usage
    assert billed == Usage(155, 32, retried_input_tokens=5, retried_output_tokens=2, generations=2)


# -- what is raised --------------------------------------------------------------------------------------


def test_field_022_an_error_text_never_becomes_an_answer() -> None:
    run = Run(error(400, "model 'm' not found"))
    assert run.action is None
    assert isinstance(run.error, ServerError)
    assert "model 'm' not found" in str(run.error)


OVERFLOWS = [
    error(
        400,
        "request (70000 tokens) exceeds the available context size (32768 tokens), try increasing it",
        code=400,
        type="exceed_context_size_error",
        n_prompt_tokens=70000,
        n_ctx=32768,
    ),
    as_json({"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 32768}}, 400),
    error(400, "maximum context length is 32768 tokens"),
    error(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."),
    error(400, "Your input exceeds the context window of this model.", code="context_length_exceeded"),
    error(400, "prompt is too long: 213462 tokens > 200000 maximum"),
    error(400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."),
    error(400, "The input (70000 tokens) is longer than the model's context length (32768 tokens)."),
    # vLLM's, of several versions.
    error(
        400,
        "You passed 9000 input tokens and requested 4096 output tokens. However, the model's context length"
        " is only 8192 tokens, resulting in a maximum input length of 4096 tokens. Please reduce the length",
    ),
    error(400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
    error(
        400,
        "The decoder prompt (length 2048) plus the number of requested output tokens (at least 1) is longer"
        " than the maximum model length of 2048.",
    ),
    error(400, "Input length 9000 exceeds the maximum allowed length 8192"),
    error(400, "Range of input length should be [1, 30720]"),
    error(413, "Input is too long for requested model."),
    error(422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 512"),
    error(500, "the request exceeds the available context size. try increasing the context size"),
    as_json({"error": {"message": "This endpoint's maximum context length is 131072 tokens"}}),
]


@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_field_074_a_conversation_too_long_is_an_outcome_of_its_own(overflow: Answer) -> None:
    run = Run(overflow)
    assert isinstance(run.error, ContextWindowError)
    assert not isinstance(run.error, ServerError)
    assert run.requests == 1
    assert run.sleeps == []


def test_field_074_the_tokens_before_an_overflow_are_kept() -> None:
    wasted = as_json({"choices": [], "usage": {"prompt_tokens": 150, "completion_tokens": 10}})
    run = Run(wasted, OVERFLOWS[0])
    assert isinstance(run.error, ContextWindowError)
    assert run.usage is not None
    assert run.usage.total_tokens == 160


@pytest.mark.parametrize(
    "other",
    [
        error(
            429,
            "Rate limit reached: context tokens per min. Limit 30000, requested 40000 exceeds the context",
        ),
        error(400, "'temperature' must be less than or equal to 2"),
        error(400, "Invalid 'tools[0].function.name': string too long. Expected maximum length 64"),
        error(400, "tools[0].function.description exceeds the maximum length of 1024"),
    ],
)
def test_field_074_other_limits_are_no_overflow(other: Answer) -> None:
    assert isinstance(Run(other, attempts=1).error, ServerError)


def test_a_giant_error_page_is_quoted_in_part() -> None:
    run = Run(raw("x" * 1_000_000, 400))
    assert run.error is not None
    assert len(str(run.error)) < 3_000


def test_a_word_about_something_else_is_not_about_the_model() -> None:
    assert trouble_of(error(400, f"Invalid value for {MODEL}: temperature")) == "server/bad_request"
    assert trouble_of(error(400, f"Invalid model: {MODEL}")) == "server/unknown_model"


def test_a_server_that_sends_elsewhere_is_told_with_the_address() -> None:
    run = Run(raw("", 307, {"Location": "https://x.example/v1/chat"}))
    assert run.requests == 1
    assert "it sends elsewhere, to 'https://x.example/v1/chat'" in str(run.error)
    assert trouble_of(raw("", 302)) == "server/not_found"


def test_an_endless_number_beside_a_reply_does_not_spoil_it() -> None:
    body = as_json({"choices": [{"message": {"role": "assistant", "content": "hi"}}], "created": 1})
    long = replace(body, body=body.body.replace(b'"created": 1', b'"created": ' + b"9" * 5000))
    assert Run(long).error is None


def trouble_of(answer: Answer) -> str:
    error = Run(answer, attempts=1).error
    assert isinstance(error, ServerError)
    return error.trouble
