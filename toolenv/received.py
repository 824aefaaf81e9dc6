"""Messages as servers and published trajectories hold them, brought into one form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def normalise_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """An assistant's or a tool's message in today's form, whatever form it came in.

    The older ``function_call`` becomes one of ``tool_calls``, the role ``function`` becomes ``tool`` (paired
    by the function's name). Text parts are joined, reasoning is under ``reasoning``. Keys that are null are
    dropped, but for ``content``, where null means that nothing was said.
    """
    known = {str(key): value for key, value in message.items() if value is not None}
    plain = {"content": None} | known
    older = plain.pop("function_call", None)
    if older and not plain.get("tool_calls"):
        name = older.get("name") if isinstance(older, Mapping) else None
        plain["tool_calls"] = [{"id": f"call_{name}", "type": "function", "function": older}]
    if not plain.get("tool_calls"):
        plain.pop("tool_calls", None)
    if plain.get("role") == "function":
        plain |= {"role": "tool", "tool_call_id": plain.get("tool_call_id") or f"call_{plain.get('name')}"}
    thoughts = [plain.pop(key, "") for key in ("reasoning_content", "reasoning")]
    plain["content"], thought = _parts(plain["content"])
    told = next((text for text in (*thoughts, thought) if text and isinstance(text, str)), "")
    return plain | ({"reasoning": told} if told else {})


def _parts(content: object) -> tuple[str | None, str]:
    """A message's text and the reasoning among its parts; servers send text alone or a list of parts."""
    if content is None or isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list | tuple) else [content]
    typed = [part if isinstance(part, Mapping) else {"text": part} for part in parts]
    text = (part.get("text", part.get("refusal")) for part in typed)
    thoughts = (part.get("thinking", part.get("reasoning")) for part in typed)
    return _strings(text, ""), _strings(thoughts, "\n")


def _strings(texts: Any, between: str) -> str:
    return between.join(text for text in texts if isinstance(text, str))
