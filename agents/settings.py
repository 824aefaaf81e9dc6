"""The settings of the chat agent, checked before any work; caps for all agents that ask a model."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias, get_type_hints

from toolenv.errors import UsageError

from .prompts import PROMPT_VERSION

DEFAULT_MAX_TOKENS = 4096
LONGEST = 1_000_000
"""Seconds that a request may take at most: eleven days."""

OWN_KEYS = frozenset({"messages", "model", "n", "stream", "tool_choice", "tools"})
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
"""How much a model reasons: OpenAI's words; a model knows some of them."""

SERVER_OPTIONS = frozenset({"api_key", "attempts", "base_url", "timeout"})
"""Settings that say how a server is reached: an agent without one takes no notice of them."""

# Appendix C names Llama-3.1, GPT-5.5 and DeepSeek-V4 too: 4096, our default.
_MAX_TOKENS = ((re.compile(r"gpt-oss", re.IGNORECASE), 2048),)
_QWEN = re.compile(r"qwen-?3\.5", re.IGNORECASE)
_QWEN_REASONING, _QWEN_PLAIN = 8192, 2048

# OpenAI's reasoning models refuse the older `max_tokens`.
_NEW_LIMIT = re.compile(r"(^|/)(gpt-5|o[1-9])(?![0-9])", re.IGNORECASE)


def max_tokens_for(model: str, enable_thinking: bool | None = None, effort: Effort | None = None) -> int:
    """The cap on tokens per generation for a model family, as in the paper (Appendix C)."""
    if _QWEN.search(model):
        return _QWEN_PLAIN if enable_thinking is False or effort == "none" else _QWEN_REASONING
    return next((cap for family, cap in _MAX_TOKENS if family.search(model)), DEFAULT_MAX_TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How to reach a model and what to ask of it.

    Attributes:
        model: the server's name of the model.
        base_url: e.g. ``"http://127.0.0.1:8000/v1"``; ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        api_key: ``None`` is ``OPENAI_API_KEY``, or ``"none"`` for servers that want no key. Never stored.
        temperature: 0 as in the paper (Appendix C); ``None`` is not sent, for models that refuse it.
        max_tokens: the cap per generation; ``None`` is :func:`max_tokens_for` the model.
        timeout: seconds to wait for a reply.
        attempts: how often a request is tried when the server is busy or fails.
        text_calls: whether tool calls written out as text count, for servers without a tool parser.
        enable_thinking: switches the reasoning of hybrid models (``chat_template_kwargs``); ``None`` is
            the model's default.
        reasoning_effort: how much a model reasons that takes no switch but a degree, such as gpt-oss;
            ``None`` is the model's default.
        seed: the sampling seed, sent if given. No server promises determinism.
        reasoning_field: the key under which a model's earlier reasoning is sent back to it, e.g.
            ``"reasoning_content"``; ``""`` does not send it (FIELD-113).
        empty_content: the ``content`` beside calls without text: ``""``, or ``None`` for null (FIELD-056).
        protocol: replaces the feasibility-first prompt (Appendix F); ``""`` leaves it out.
        extra_body: further keys of the request.

    Raises:
        UsageError: a value that cannot work.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = 0.0
    max_tokens: int | None = None
    timeout: float = 600.0
    attempts: int = 6
    text_calls: bool = True
    enable_thinking: bool | None = None
    reasoning_effort: Effort | None = None
    seed: int | None = None
    reasoning_field: Literal["", "reasoning_content", "reasoning"] = ""
    empty_content: str | None = ""
    protocol: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_types(self, hidden="api_key")
        _check(bool(self.model.strip()), "model", self.model, "the server's name of a model")
        scheme = self.base_url is None or re.match(r"https?://[^/]", self.base_url)
        _check(bool(scheme), "base_url", self.base_url, 'an address such as "http://127.0.0.1:8000/v1"')
        _check(0 < self.timeout <= LONGEST, "timeout", self.timeout, f"seconds above 0, at most {LONGEST:,}")
        _check(self.attempts >= 1, "attempts", self.attempts, "at least 1")
        _check(self.max_tokens is None or self.max_tokens >= 1, "max_tokens", self.max_tokens, "at least 1")
        own = sorted(OWN_KEYS & self.extra_body.keys())
        _check(not own, "extra_body", own, "keys that the policy does not set itself")
        stops = self.extra_body.get("stop") or ()
        stops = [stops] if isinstance(stops, str) else list(stops)
        # It would cut a model off as soon as it thinks the word (FIELD-016), and hide the signal itself.
        cuts = [stop for stop in stops if stop and ("STOP" in stop or stop in "STOP:")]
        _check(not cuts, "extra_body['stop']", cuts, "sequences that do not cut the STOP signal")

    @property
    def cap(self) -> int:
        """The cap on tokens per generation."""
        return self.max_tokens or max_tokens_for(self.model, self.enable_thinking, self.reasoning_effort)

    def to_json(self) -> dict[str, Any]:
        """All that may move a score, for a run's record; the key is left out."""
        plain = {name: value for name, value in asdict(self).items() if name != "api_key"}
        return {**plain, "max_tokens": self.cap, "prompt_version": PROMPT_VERSION}


def check_types(settings: object, hidden: str = "") -> None:
    """Refuse a field of another type than it is declared with.

    Args:
        settings: an instance of a dataclass.
        hidden: a field whose value no error shows.

    Raises:
        UsageError: it names the field, its value and what to give.
    """
    from pydantic import TypeAdapter, ValidationError

    for name, kind in get_type_hints(type(settings)).items():
        try:
            TypeAdapter(kind).validate_python(getattr(settings, name), strict=True)
        except ValidationError as error:
            shown = "(not shown)" if name == hidden else getattr(settings, name)
            wanted = error.errors()[0]["msg"].removeprefix("Input should be ")
            refuse(settings, name, shown, wanted)


def refuse(settings: object, name: str, value: object, wanted: str) -> NoReturn:
    """Say of a setting what cannot work.

    Raises:
        UsageError: always.
    """
    kind = settings if isinstance(settings, str) else type(settings).__name__
    raise UsageError(f"{kind}: {name}={value!r}; give {wanted}")


def _check(good: bool, name: str, value: object, wanted: str) -> None:
    if not good:
        refuse("ChatSettings", name, value, wanted)


def sampling(settings: ChatSettings) -> dict[str, Any]:
    """The request's keys beside model, messages and tools."""
    limit = "max_completion_tokens" if _NEW_LIMIT.search(settings.model) else "max_tokens"
    asked = {
        "temperature": settings.temperature,
        "seed": settings.seed,
        "reasoning_effort": settings.reasoning_effort,
        limit: settings.cap,
    }
    extra = dict(settings.extra_body)
    if settings.enable_thinking is not None:
        template = {**extra.get("chat_template_kwargs", {}), "enable_thinking": settings.enable_thinking}
        extra["chat_template_kwargs"] = template
    given = {name: value for name, value in asked.items() if value is not None}
    return {**given, "extra_body": extra} if extra else given


def key_of(settings: ChatSettings) -> str:
    """The key to send; ``OPENAI_API_KEY`` is read when the policy is made."""
    key = (settings.api_key or os.environ.get("OPENAI_API_KEY") or "none").strip()
    _check(key.isascii() and key.isprintable(), "api_key", "(not shown)", "a key of printable ASCII")
    return key
