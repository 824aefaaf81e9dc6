"""Runs upstream's own multi-turn checker, alone in a process; ``test_multi_turn_differential.py`` starts it.

Reads ``{"entries": {id: entry}, "jobs": [{"id", "truth", "model"}]}``, writes one answer a job: the checker's
verdict, and the text of every model call, from a second run that does not stop at the first failure.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import operator
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker, multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.func_source_code import long_context, math_api, posting_api

math_api.sum = lambda values: functools.reduce(operator.add, values, 0)  # as before Python 3.12

SHARED = [
    long_context.CREDIT_CARD_EXTENSION,
    long_context.BOOKING_RECORD_EXTENSION,
    long_context.LONG_WEATHER_EXTENSION,
    *posting_api.TwitterAPI.post_tweet.__defaults__,
]
PRISTINE = copy.deepcopy(SHARED)


@contextmanager
def as_at_start() -> Iterator[None]:
    """Run as the first thing in a fresh process: no instances yet, and shared state untouched."""
    for shared, pristine in zip(SHARED, PRISTINE, strict=True):
        shared.clear()
        (shared.update if isinstance(shared, dict) else shared.extend)(copy.deepcopy(pristine))
    yield
    for name in [name for name in vars(multi_turn_utils) if name.endswith("_instance")]:
        delattr(multi_turn_utils, name)


def verdict(entry: Mapping[str, Any], job: Mapping[str, Any], name: str) -> dict[str, Any]:
    with as_at_start():
        return multi_turn_checker.multi_turn_checker(
            job["model"], job["truth"], entry, entry["id"].rsplit("_", 1)[0], name
        )


def texts(entry: Mapping[str, Any], job: Mapping[str, Any], name: str) -> list[list[str]]:
    long = "long_context" in entry["id"]
    with as_at_start():
        return [
            [shortened(text) for calls in turn for text in execute(calls, entry, name, long)]
            for turn in job["model"]
        ]


def execute(calls: list[str], entry: Mapping[str, Any], name: str, long: bool) -> list[str]:
    return multi_turn_utils.execute_multi_turn_func_call(
        calls, entry["initial_config"], entry["involved_classes"], name, entry["id"], long
    )[0]


def shortened(text: str) -> str:
    """Enough to compare: long contexts make for texts of a hundred kilobytes."""
    return text if len(text) <= 1000 else text[:1000] + hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    work = json.load(sys.stdin)
    for index, job in enumerate(work["jobs"]):
        entry = work["entries"][job["id"]]
        found = verdict(entry, job, f"model{index}")
        answer = {
            "valid": found["valid"],
            "error": found.get("error_type", ""),
            "message": found.get("error_message", ""),
            "texts": texts(entry, job, f"again{index}"),
        }
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
