"""Our world and rules against upstream's executor and checker, on ground truth and mutations of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_world import parameter_names
from tests.envs_registry.bfcl.multi_turn_cases import Entry, Played, play, solved
from tests.envs_registry.bfcl.multi_turn_mutations import Mutator
from toolenv.types import ToolCall

MUTATIONS_PER_ENTRY = 3
CHECKS = {
    "": "",
    "multi_turn:empty_turn_model_response": "no call was made",
    "multi_turn:instance_state_mismatch": "the state differs",
    "multi_turn:execution_response_mismatch": "no call returned",
}
"""Upstream's types of failure, and our words for them."""

ORDERED_BY_HASH = ("Invalid travel class. Must be one of", "Invalid fields for update")
"""Upstream's texts that list a set, in an order that differs from process to process; ours is fixed."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def played(entries: list[Entry], backends: Backends) -> list[Played]:
    mutator = Mutator(entries, backends)
    return [play(entry, mutator.mutated(entry)) for entry in entries for _ in range(MUTATIONS_PER_ENTRY)]


@pytest.fixture(scope="module")
def answers(bfcl_package: Path, played: list[Played]) -> list[dict[str, Any]]:
    return upstream(bfcl_package, played)


def test_all_ground_truth_passes(entries: list[Entry]) -> None:
    failed = {entry.id: one.score.why for entry in entries if (one := play(entry, solved(entry))).score.why}
    assert (len(entries), failed) == (800, {})


def test_upstream_passes_the_same_ground_truth(bfcl_package: Path, entries: list[Entry]) -> None:
    plays = [play(entry, solved(entry)) for entry in entries]
    found = upstream(bfcl_package, plays)
    assert all(answer["valid"] for answer in found)
    assert disagreeing_texts(plays, found) == []


def test_mutated_calls_get_upstreams_verdict(played: list[Played], answers: list[dict[str, Any]]) -> None:
    ours = [one.score.success for one in played]
    theirs = [answer["valid"] for answer in answers]
    different = [one.entry.id for one, mine, its in zip(played, ours, theirs, strict=True) if mine != its]
    assert len(played) >= 2_000
    assert different == []


def test_mutated_calls_fail_upstreams_check(played: list[Played], answers: list[dict[str, Any]]) -> None:
    for one, answer in zip(played, answers, strict=True):
        assert CHECKS[answer["error"]] in one.score.why
        assert (turn := re.search(r"turn (\d+)", answer["message"])) is None or turn[0] in one.score.why


def test_mutated_calls_return_upstreams_texts(played: list[Played], answers: list[dict[str, Any]]) -> None:
    assert disagreeing_texts(played, answers) == []


def test_mutations_reach_every_check_and_nearly_every_tool(
    played: list[Played], answers: list[dict[str, Any]], backends: Backends
) -> None:
    verdicts = Counter(answer["error"] for answer in answers)
    called = {call.name for one in played for turn in one.model for calls in turn for call in calls}
    assert min(verdicts[kind] for kind in CHECKS) >= 300
    assert len(called & parameter_names(backends).keys()) >= 120  # of 128


def disagreeing_texts(
    plays: Sequence[Played], answers: Sequence[dict[str, Any]]
) -> list[tuple[str, ToolCall, str, str]]:
    return [
        (one.entry.id, call, mine, its)
        for one, answer in zip(plays, answers, strict=True)
        for calls, ours, theirs in zip(one.model, one.texts, answer["texts"], strict=True)
        for call, mine, its in zip((call for step in calls for call in step), ours, theirs, strict=True)
        if comparable(shortened(mine)) != comparable(its)
    ]


def comparable(text: str) -> str | list[str]:
    return sorted(text) if any(mark in text for mark in ORDERED_BY_HASH) else text


# ---- upstream's side ----


def upstream(package: Path, played: Sequence[Played]) -> list[dict[str, Any]]:
    """What upstream's checker and executor say to the same calls, in a process of their own."""
    work = {
        "entries": {one.entry.id: one.entry.record for one in played},
        "jobs": [
            {
                "id": one.entry.id,
                "truth": one.entry.answers,
                "model": [[[written(call) for call in calls] for calls in turn] for turn in one.model],
            }
            for one in played
        ],
    }
    done = subprocess.run(
        [sys.executable, "-B", str(Path(__file__).parent / "upstream_multi_turn.py")],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(package.parent), "TZ": "UTC"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def written(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def shortened(text: str) -> str:
    return text if len(text) <= 1000 else text[:1000] + hashlib.sha256(text.encode()).hexdigest()
