"""Where requests go and what they bear, as the openai client has it: its variables, its headers.

But for those in which it describes itself: the requests are not its own, and each costs time at both ends.
"""

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


NO_KEY = "none"
"""What is sent to servers that want no key."""


def key_of(api_key: str | None) -> str:
    """The key that is sent; empty where none is given and ``OPENAI_API_KEY`` has none."""
    return api_key or os.environ.get("OPENAI_API_KEY", "").strip()


def is_named(base_url: str | None, api_key: str | None) -> bool:
    """Whether anything says which server is meant: an address, or a key, which is for OpenAI's own.

    Args:
        base_url, api_key: see :func:`endpoint_of`.
    """
    given = key_of(None if api_key == NO_KEY else api_key)
    return bool(base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or given)


def endpoint_of(base_url: str | None, api_key: str | None) -> Endpoint:
    """The server that the openai client would ask; its import takes longer than all of toolenv's.

    Args:
        base_url: ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        api_key: ``None`` is ``OPENAI_API_KEY``, or ``"none"`` for servers that want no key.
    """
    import openai

    key = key_of(api_key) or NO_KEY
    with openai.OpenAI(base_url=base_url, api_key=key) as client:
        headers = {"Authorization": f"Bearer {client.api_key}", **client.default_headers}
        headers |= {"User-Agent": "toolenv"}
        lines = [
            f"{name}: {value}"
            for name, value in headers.items()
            if isinstance(value, str) and not name.startswith("X-Stainless-")
        ]
        return Endpoint(str(client.base_url).rstrip("/"), lines)
