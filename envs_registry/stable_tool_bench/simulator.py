"""A language model that plays an API for which nothing else says what it returns."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.model_server import ModelServer
from toolenv.canonical import digest
from toolenv.model_server.circumstances import for_all_episodes

ANSWERS_KEPT = 10_000
"""Answers kept in memory, the oldest dropped first."""

QUESTION = """\
You stand in for one web API in a test of tool-using programs. You get its documentation and one request, \
and write what the API would send back.

Rules:
- Keep to what this API is documented to do; invent concrete values where it would look data up.
- Agree with the request: repeat its identifiers, places, dates and limits as they are.
- Be brief: at most three items in a list, at most 150 words in all.
- A request that the API could serve is served. Only where a required value is plainly unusable, say so in \
"error" and leave "response" null; otherwise "error" is the empty string.
- Say nothing about being a simulation, and nothing to whoever sent the request.

Answer with one JSON object: {"error": "", "response": …}."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "response": {}},
    "required": ["error", "response"],
    "additionalProperties": False,
}


class Simulator:
    """Answers calls by asking a model, each call once; may be shared by threads.

    Args:
        server: the model, at temperature 0.
    """

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self._answers: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def answer(self, api: Api, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """``{"error": …, "response": …}``; the same for a call that was answered before.

        Raises:
            ServerError: the model gave no answer.
        """
        key = f"{api.spec.name} {digest(dict(arguments))}"
        with self._lock:
            known = self._answers.get(key)
        if known is None:
            with for_all_episodes():  # whichever asks first
                made = self.server.ask(QUESTION, _request(api, arguments), SCHEMA, name="api_response")
            with self._lock:
                known = self._answers.setdefault(key, made)  # another thread may have been first
                while len(self._answers) > ANSWERS_KEPT:
                    del self._answers[next(iter(self._answers))]
        return known


def _request(api: Api, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool": api.identity.tool,
        "api": api.identity.api,
        "category": api.identity.category,
        "description": api.spec.description,
        "parameters": api.spec.parameters["properties"],
        "request": dict(arguments),
    }
