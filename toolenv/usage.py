"""Token usage as servers report it, in one form for all.

``input_tokens`` holds all input, cached or not, and ``output_tokens`` all output, reasoning included, for
every provider alike; what a server does not say is ``None``, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolenv.types import LARGEST_COUNT, Usage


def normalise_usage(report: Mapping[str, Any] | None) -> Usage:
    """The usage of one generation from a server's ``usage`` object.

    Two conventions are understood. With ``prompt_tokens``, or with ``input_tokens_details``, cached tokens
    are part of the input count. With ``cache_read_input_tokens`` or ``cache_creation_input_tokens`` beside
    ``input_tokens`` they are not, and are added. Reasoning tokens are part of the output count, unless they
    exceed it or the server's own total shows that they come on top.

    Args:
        report: the parsed JSON object, or ``None``. Anything in it may be missing or of a wrong type.

    Returns:
        Usage of one generation. An input count of 0 is what servers say that do not count (no prompt is
        empty): both totals are then unknown.
    """
    if not isinstance(report, Mapping):
        return Usage()
    total_input, reasoning = _input(report), _reasoning(report)
    if not total_input:
        return Usage()
    return Usage(
        input_tokens=total_input,
        output_tokens=_output(report, total_input, reasoning),
        cached_input_tokens=min(_cached(report), total_input),
        reasoning_tokens=reasoning,
    )


def as_retried(usage: Usage) -> Usage:
    """``usage`` marked as spent on an attempt that was thrown away; totals still hold it."""
    return replace(
        usage,
        retried_input_tokens=usage.input_tokens or 0,
        retried_output_tokens=usage.output_tokens or 0,
    )


def as_recalled(usage: Usage) -> Usage:
    """``usage`` of a reply that came out of the response cache: known, and spent by an earlier run."""
    return replace(
        usage,
        recalled_input_tokens=usage.input_tokens or 0,
        recalled_output_tokens=usage.output_tokens or 0,
    )


def _input(report: Mapping[str, Any]) -> int | None:
    prompt = _count(report, "prompt_tokens")
    if prompt is not None:
        return prompt
    fresh = _count(report, "input_tokens")
    if fresh is None:
        return None
    apart = (_count(report, name) or 0 for name in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    return fresh + sum(apart)


def _cached(report: Mapping[str, Any]) -> int:
    inside = _within(report, ("prompt_tokens_details", "input_tokens_details"), "cached_tokens")
    if inside is not None:
        return inside
    return _count(report, "cache_read_input_tokens") or _count(report, "prompt_cache_hit_tokens") or 0


def _output(report: Mapping[str, Any], total_input: int, reasoning: int) -> int | None:
    visible = _count(report, "completion_tokens")
    visible = _count(report, "output_tokens") if visible is None else visible
    if visible is None or not reasoning:
        return visible
    on_top = reasoning > visible or _count(report, "total_tokens") == total_input + visible + reasoning
    return visible + reasoning if on_top else visible


def _reasoning(report: Mapping[str, Any]) -> int:
    details = "completion_tokens_details", "output_tokens_details"
    inside = _within(report, details, "reasoning_tokens")
    return (_count(report, "reasoning_tokens") or 0) if inside is None else inside


def _within(report: Mapping[str, Any], places: tuple[str, ...], name: str) -> int | None:
    """The count in the first of some objects in the report that holds it."""
    for place in places:
        details = report.get(place)
        inside = _count(details, name) if details and isinstance(details, Mapping) else None
        if inside is not None:
            return inside
    return None


def _count(report: Mapping[str, Any], name: str) -> int | None:
    """A count; anything else than a whole number from 0 to :data:`LARGEST_COUNT` is none."""
    value = report.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT
        else None
    )
