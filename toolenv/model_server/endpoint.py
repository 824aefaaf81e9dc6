"""Where requests go and what they bear, as the openai client has it: its variables, its headers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server.

    Attributes:
        url: without a slash at its end.
        headers: lines of every request.
    """

    url: str
    headers: Sequence[str]


def endpoint_of(base_url: str | None, api_key: str | None) -> Endpoint:
    """The server that the openai client would ask; its import takes longer than all of toolenv's.

    Args:
        base_url: ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        api_key: ``None`` is ``OPENAI_API_KEY``, or ``"none"`` for servers that want no key.
    """
    import openai

    key = api_key or os.environ.get("OPENAI_API_KEY", "").strip() or "none"
    with openai.OpenAI(base_url=base_url, api_key=key) as client:
        headers = {"Authorization": f"Bearer {client.api_key}", **client.default_headers}
        return Endpoint(
            str(client.base_url).rstrip("/"),
            [f"{name}: {value}" for name, value in headers.items() if isinstance(value, str)],
        )
