"""A model asked for JSON until its answer can be read, or for the last time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envs_registry.tool_bench_x.generation.prompts import AGAIN, REMINDER, Stage
from toolenv.errors import ServerError, UsageError
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.model_server import ChatServer, Failure, visible_text
from toolenv.types import NO_TOKENS, Usage

LONGEST_ANSWER = 200_000
"""Characters of an answer that is read."""

LONGEST_QUOTE = 4_000
"""Characters of a bad answer that the model is shown again."""

# White space before the closing fence is left to the parser: to look for it here takes quadratic time.
_FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)


class UnreadableError(Exception):
    """No answer could be used; its text is what was wrong with the last."""


@dataclass(frozen=True, slots=True)
class AskingSettings:
    """How a model is asked.

    Attributes:
        model: the server's name of it.
        attempts: answers that are asked for at one stage, the first included.
        temperature: ``None`` is not sent, for models that refuse it.
        max_tokens: the cap on an answer.
    """

    model: str
    attempts: int = 3
    temperature: float | None = 1.0
    max_tokens: int = 8_192

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise UsageError(f"model={self.model!r}: give the server's name of a model")
        for name in ("attempts", "max_tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)!r}: give at least 1")


class Asker:
    """Asks for the parts of one candidate; not for several threads at once.

    Args:
        server: where the model is.
        settings: how it is asked.
        seed: of the sampling; each further attempt has the next.

    Attributes:
        usage: what all answers so far have cost.
        answers, unreadable: how many answers came, and how many of them could not be used.
    """

    def __init__(self, server: ChatServer, settings: AskingSettings, seed: int) -> None:
        self._server, self._settings, self._seed = server, settings, seed
        self._with_schema = True
        self.usage: Usage = NO_TOKENS
        self.answers = self.unreadable = 0

    def ask(self, stage: Stage, data: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one stage's question about ``data``.

        Raises:
            UnreadableError: none of the attempts gave one.
            ServerError: the server failed.
        """
        opening = [
            {"role": "system", "content": stage.question},
            {"role": "user", "content": f"{quoted(data)}\n\n{REMINDER}"},
        ]
        messages, problem = opening, ""
        for _ in range(self._settings.attempts):
            text = self._say(stage, messages)
            answer, problem = read_object(text, stage.schema)
            if answer is not None:
                return answer
            self.unreadable += 1
            said = {"role": "assistant", "content": text[:LONGEST_QUOTE] or "(nothing)"}
            messages = [*opening, said, {"role": "user", "content": AGAIN.format(problem=problem)}]
        raise UnreadableError(problem)

    def _say(self, stage: Stage, messages: list[dict[str, str]]) -> str:
        outcome = self._server.try_complete(self._request(stage, messages))
        if isinstance(outcome, Failure) and outcome.status in (400, 422) and self._with_schema:
            # Not every server keeps to schemas; the answer is checked here in any case.
            self.usage, self._with_schema = self.usage + outcome.usage, False
            outcome = self._server.try_complete(self._request(stage, messages))
        self.usage += outcome.usage
        self._seed += 1
        if not isinstance(outcome, Failure):
            self.answers += 1
            return visible_text(outcome)
        if outcome.context_window:
            raise UnreadableError("the conversation is longer than the model's context window")
        raise ServerError(f"{self._server.url}: {outcome.message}", outcome.usage)

    def _request(self, stage: Stage, messages: list[dict[str, str]]) -> dict[str, Any]:
        settings = self._settings
        request: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            "max_completion_tokens": settings.max_tokens,  # reasoning models refuse the older name
            "seed": self._seed,
        }
        if settings.temperature is not None:
            request["temperature"] = settings.temperature
        if self._with_schema:
            schema = {"name": stage.name, "schema": dict(stage.schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": schema}
        return request


def quoted(data: Mapping[str, Any]) -> str:
    """Data as one line of JSON that nobody takes for anything else: no ``<``, with which roles are marked."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def read_object(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The object in a model's answer, or ``None`` and what is wrong.

    The whole text is tried first, then what stands in code fences, then what stands between the first and the
    last brace. It counts only if it meets the schema.
    """
    import jsonschema_rs

    if len(text) > LONGEST_ANSWER:
        return None, f"it is longer than {LONGEST_ANSWER:,} characters"
    problem = "it holds no JSON object"
    for candidate in _candidates(text):
        value = _parsed(candidate)
        if not isinstance(value, dict):
            continue
        if jsonschema_rs.is_valid(dict(schema), value):
            return value, ""
        error = next(iter(jsonschema_rs.validator_for(dict(schema)).iter_errors(value)))
        place = "/".join(map(str, error.instance_path)) or "the object"
        problem = f"{place}: {error.message[:300]}"
    return None, problem


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    yield from (match[1] for match in _FENCE.finditer(text))
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]


def _parsed(text: str) -> Any:
    try:
        return clean_json(json.loads(text))[0]
    except (ValueError, RecursionError, UnusableValueError):
        return None
