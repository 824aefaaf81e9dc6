"""The one request before a run: every bad set-up is one clear error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import (
    HANG,
    MODEL,
    Answer,
    FakeServer,
    Script,
    as_json,
    completion,
    error,
    in_order,
    raw,
)
from toolenv.agents import preflight as preflight_module
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.settings import ChatSettings
from toolenv.errors import PreflightError
from toolenv.model_server import ChatServer
from toolenv.types import ChatMessage, Message, Observation, Usage

FINE = completion("ready")


def preflight(
    script: Script | Answer, models: Sequence[str] | Answer | None = (MODEL,), **settings: Any
) -> tuple[Usage, list[Any]]:
    with FakeServer(script, models) as server:
        given = ChatSettings(**{"model": MODEL, "base_url": server.base_url, "timeout": 10.0, **settings})
        policy = ChatPolicy(given, clock=FakeClock().clock)
        try:
            return policy.preflight(), server.bodies
        finally:
            policy.close()


def refused(
    script: Script | Answer, models: Sequence[str] | Answer | None = (MODEL,), **settings: Any
) -> str:
    with pytest.raises(PreflightError) as raised:
        preflight(script, models, **settings)
    return str(raised.value)


def test_a_good_server_is_asked_once_with_one_tool_as_a_run_would() -> None:
    usage, bodies = preflight(FINE)
    assert usage == Usage(11, 7)
    (body,) = bodies
    assert len(body["tools"]) == 1
    assert body["max_tokens"] == 4096, "a server refuses a cap that its context cannot hold"


def test_missing_usage_shows_before_the_run() -> None:
    assert not preflight(completion("ready", usage=None))[0].known


@pytest.mark.parametrize("models", [None, (), raw("<html>"), as_json({"data": [1, {"id": 2}]}), raw("", 500)])
def test_a_server_that_lists_no_models_is_as_good(models: Sequence[str] | Answer | None) -> None:
    assert preflight(FINE, models)[0].known


@pytest.mark.parametrize("base_url", ["", "  "])
def test_where_no_server_is_named_the_message_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, base_url: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", base_url)
    with pytest.raises(PreflightError) as raised:
        ChatPolicy(ChatSettings(model="x")).preflight()
    assert str(raised.value) == (
        "no model server is named: neither --base-url (option base_url), OPENAI_BASE_URL nor OPENAI_API_KEY"
        " is given. For a server of your own (vLLM, SGLang, llama.cpp) add its address, e.g. --base-url"
        " http://127.0.0.1:8000/v1; for OpenAI's, set OPENAI_API_KEY"
    )


@pytest.mark.parametrize(
    ("variable", "value", "api_key"),
    [
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1", None),
        ("OPENAI_API_KEY", "sk-1", None),
        ("", "", "sk-1"),
    ],
)
def test_an_address_or_a_key_names_one(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, api_key: str | None
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, value)
    assert ChatServer(api_key=api_key).is_named


def test_no_server_is_named_at_once() -> None:
    with FakeServer(FINE) as server:
        gone = server.base_url
    clock = FakeClock()
    policy = ChatPolicy(ChatSettings(model=MODEL, base_url=gone), clock=clock.clock)
    with pytest.raises(PreflightError, match=f"no model server answers at {gone}.*is it running.*--base-url"):
        policy.preflight()
    assert clock.sleeps == []


@pytest.mark.parametrize(
    "answer",
    [
        error(404, "The model `qwen3.5-72b` does not exist.", type="NotFoundError"),
        error(404, "model 'qwen3.5-72b' not found, try pulling it first"),
        error(400, "Invalid model: qwen3.5-72b"),
        error(400, "qwen3.5-72b is not a valid model ID"),
    ],
)
def test_an_unknown_model_brings_the_nearest(answer: Answer) -> None:
    text = refused(answer, ("qwen3.5-27b", "llama-3.1-8b"), model="qwen3.5-72b")
    assert "unknown model 'qwen3.5-72b': did you mean 'qwen3.5-27b'?" in text
    assert "HTTP 40" in text, "the server's own words are quoted"


def test_an_unknown_model_unlike_any_brings_the_list() -> None:
    text = refused(error(404, "model 'm' not found"), ("qwen3.5-27b", "llama-3.1-8b"), model="m")
    assert "unknown model 'm': the server offers 'qwen3.5-27b', 'llama-3.1-8b'" in text


def test_field_022_an_unknown_model_on_a_server_without_a_list_still_quotes_it() -> None:
    text = refused(error(400, "model 'm' not found"), None, model="m")
    assert "model 'm' not found" in text
    assert "unknown model 'm'" in text


def test_a_server_with_one_model_does_not_answer_under_another_name() -> None:
    text = refused(FINE, ("smollm2-135m-instruct",), model="smollm2-360m-instruct")
    assert "did you mean 'smollm2-135m-instruct'?" in text


@pytest.mark.parametrize(
    ("asked", "listed"),
    [("llama3.2", "llama3.2:latest"), ("gemini-3", "models/gemini-3"), ("x/y:free", "x/y"), ("m", "m")],
)
def test_tags_and_folders_make_no_other_model(asked: str, listed: str) -> None:
    assert preflight(FINE, (listed,), model=asked)[0].known


@pytest.mark.parametrize(
    "message",
    [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
        "registry.ollama.ai/library/fake-model does not support tools",
    ],
)
def test_field_103_refused_tools_bring_the_message_and_the_remedy(message: str) -> None:
    seen: list[int] = []

    def refuse(_: object) -> Answer:
        seen.append(1)
        return error(400, message)

    text = refused(refuse)
    assert message in text
    assert "start vLLM with --enable-auto-tool-choice" in text
    assert len(seen) == 1


def test_a_refused_key_names_the_variable() -> None:
    assert "set OPENAI_API_KEY" in refused(error(401, "Incorrect API key provided"), error(401, "no"))


@pytest.mark.parametrize("models", [(MODEL,), error(402, "Insufficient Balance")])
@pytest.mark.parametrize(
    "answer",
    [
        error(402, "Insufficient Balance"),
        error(402, "This request requires more credits, or fewer max_tokens."),
        error(429, "You exceeded your current quota", type="insufficient_quota"),
    ],
)
def test_an_exhausted_account_says_what_to_check(answer: Answer, models: Any) -> None:
    """The words are DeepSeek's, OpenRouter's and OpenAI's."""
    text = refused(answer, models, attempts=1)
    assert "check its balance, billing and limits with the provider" in text
    assert "OPENAI_API_KEY" in text
    assert "HTTP 4" in text, "the server's own words are quoted"


def test_a_forbidden_model_says_whose_permission_is_missing() -> None:
    text = refused(error(403, f"Project does not have access to model {MODEL}"), error(403, "no"))
    assert "check that OPENAI_API_KEY is the key you mean" in text
    assert f"its account and project may use {MODEL!r}" in text
    assert "bars this address or region" in text
    assert "set OPENAI_API_KEY to a key" not in text, "it has one"


def test_a_wrong_path_is_guessed() -> None:
    assert "mostly ends in /v1" in refused(raw("404 page not found", 404), None)


def test_a_cap_beyond_the_context_is_found_before_the_run() -> None:
    message = "This model's maximum context length is 2048 tokens. However, you requested 4150 tokens"
    text = refused(error(400, message))
    assert message in text
    assert "max_tokens" in text


def test_a_refused_temperature_brings_the_setting() -> None:
    assert "temperature=None" in refused(error(400, "Unsupported value: 'temperature' does not support 0"))


def test_a_server_that_stays_broken_is_quoted() -> None:
    assert "HTTP 503: Loading model" in refused(error(503, "Loading model"), attempts=2)
    assert "holds no message" in refused(as_json({"choices": []}), attempts=2)


def silent(script: Script | Answer, models: Sequence[str] | Answer | None = (MODEL,)) -> tuple[str, int]:
    """What is said of a server that hangs, with a timeout of 600 s, and how often it was asked."""
    with FakeServer(script, models) as server:
        policy = ChatPolicy(ChatSettings(model=MODEL, base_url=server.base_url), clock=FakeClock().clock)
        with pytest.raises(PreflightError) as raised:
            policy.preflight()
        policy.close()
        return str(raised.value), len(server.requests)


def test_a_server_that_hangs_is_not_waited_for_as_long_as_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (preflight_module.LISTING_SECONDS, preflight_module.REQUEST_SECONDS) == (10.0, 60.0)
    monkeypatch.setattr(preflight_module, "REQUEST_SECONDS", 0.2)
    text, asked = silent(HANG)
    assert "timed out" in text
    assert "it had 0.2 s to answer one request" in text
    assert asked == 1


def test_a_server_that_hangs_over_its_models_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight_module, "LISTING_SECONDS", 0.2)
    text, asked = silent(FINE, HANG)
    assert "timed out" in text
    assert "It had 0.2 s to list its models" in text
    assert asked == 0


def test_a_shorter_timeout_of_the_agent_holds() -> None:
    assert "it had 0.3 s to answer" in refused(HANG, timeout=0.3)


def test_a_run_after_the_preflight_waits_as_it_was_told() -> None:
    policy = ChatPolicy(ChatSettings(model=MODEL, base_url="http://127.0.0.1:9/v1"))
    assert policy._server.hurried(60.0).timeout == 60.0
    assert policy._server.hurried(60.0).url == policy._server.url
    assert policy._server.hurried(60.0).endpoint is policy._server.endpoint
    assert policy._server.timeout == 600.0
    policy.close()


def test_what_the_preflight_learnt_of_a_server_counts_in_the_run() -> None:
    """It has answered under the name it was asked for: a reply under another one is somebody else's."""
    script = in_order(FINE, completion("not yours", model="another-model"), FINE)
    with FakeServer(script) as server:
        settings = ChatSettings(model=MODEL, base_url=server.base_url)
        policy = ChatPolicy(settings, clock=FakeClock().clock)
        policy.preflight()
        action, _ = policy.act(Observation((ChatMessage("user", "Hi."),), (), 5), None)
        policy.close()
        assert len(server.requests) == 3
    assert action == Message("ready")
