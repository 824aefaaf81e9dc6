"""The chat agent's settings: the paper's caps, and bad values refused before any work."""

from __future__ import annotations

from typing import Any

import pytest

from toolenv.agents.settings import ChatSettings, key_of, max_tokens_for, sampling
from toolenv.errors import UsageError


@pytest.mark.parametrize(
    ("model", "thinking", "cap"),
    [
        ("Qwen/Qwen3.5-397B-A17B", None, 8192),
        ("qwen3.5-9b", True, 8192),
        ("Qwen3.5-122B-A10B", False, 2048),
        ("openai/gpt-oss-120b", None, 2048),
        ("meta-llama/Llama-3.1-405B-Instruct", None, 4096),
        ("gpt-5.5", None, 4096),
        ("DeepSeek-V4-Pro", None, 4096),
        ("some-other-model", None, 4096),
    ],
)
def test_caps_are_those_of_appendix_c(model: str, thinking: bool | None, cap: int) -> None:
    assert max_tokens_for(model, thinking) == cap


def test_an_effort_of_none_is_the_variant_that_does_not_reason() -> None:
    assert ChatSettings(model="Qwen3.5-9B", reasoning_effort="none").cap == 2048
    assert ChatSettings(model="Qwen3.5-9B", reasoning_effort="low").cap == 8192


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("gpt-5.5", "max_completion_tokens"),
        ("openai/gpt-5-mini", "max_completion_tokens"),
        ("o3", "max_completion_tokens"),
        ("gpt-4o", "max_tokens"),
        ("Qwen3.5-9B", "max_tokens"),
        ("gpt-oss-120b", "max_tokens"),
        ("yolo-o3", "max_tokens"),
    ],
)
def test_openais_reasoning_models_take_the_cap_under_its_newer_name(model: str, key: str) -> None:
    assert key in sampling(ChatSettings(model=model))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"model": " "}, "model=' '"),
        ({"base_url": "localhost:8000"}, r"base_url='localhost:8000'; give an address such as"),
        ({"base_url": "http://"}, "base_url="),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"attempts": 0}, "attempts=0"),
        ({"max_tokens": 0}, "max_tokens=0"),
        ({"extra_body": {"stream": True, "n": 2}}, r"\['n', 'stream'\]"),
    ],
)
def test_bad_values_are_refused_by_name(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ChatSettings(**{"model": "m", **bad})


@pytest.mark.parametrize("stop", ["STOP", "STOP:", ["\n\n", "STOP:"], "TOP"])
def test_field_016_no_stop_sequence_may_cut_the_signal(stop: object) -> None:
    with pytest.raises(UsageError, match="STOP signal"):
        ChatSettings(model="m", extra_body={"stop": stop})


def test_other_stop_sequences_are_the_users_own() -> None:
    settings = ChatSettings(model="m", extra_body={"stop": ["</s>"]})
    assert sampling(settings)["extra_body"] == {"stop": ["</s>"]}


def test_a_key_is_never_shown_or_stored() -> None:
    settings = ChatSettings(model="m", api_key="sk-secret")
    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in str(settings.to_json())
    assert key_of(settings) == "sk-secret"
    with pytest.raises(UsageError) as raised:
        key_of(ChatSettings(model="m", api_key="sk-schlüssel"))
    assert "schlüssel" not in str(raised.value)


def test_the_record_holds_the_resolved_cap_and_the_prompts_version() -> None:
    record = ChatSettings(model="gpt-oss-120b").to_json()
    assert record["max_tokens"] == 2048
    assert record["prompt_version"] == 1
    assert record["reasoning_field"] == ""


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("timeout", "abc", "a valid number"),
        ("temperature", "hot", "a valid number"),
        ("max_tokens", 1.5, "a valid integer"),
        ("text_calls", "yes", "a valid boolean"),
        ("reasoning_field", "thoughts", "'reasoning_content'"),
        ("extra_body", 7, "a valid dictionary"),
    ],
)
def test_a_setting_of_the_wrong_type_is_named(name: str, value: object, wanted: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}=.*{wanted}"):
        ChatSettings(model="m", **{name: value})  # type: ignore[arg-type]
