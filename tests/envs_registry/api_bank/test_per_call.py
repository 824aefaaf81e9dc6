"""Upstream's per-call protocol, held against the counts of APIS.md section 9 and upstream's own samples."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from envs_registry.api_bank.call_text import find_call, write_call
from envs_registry.api_bank.per_call import CallSample, call_samples, per_call_accuracy
from envs_registry.api_bank.subsets import Level
from toolenv.errors import ServerError
from toolenv.types import Action, Malformed, Message, Observation, ToolCall, ToolCalls

NOT_COMPARED = {"Dictionary", "Translate", "ToolSearcher"}


def knowing(
    samples: list[CallSample], answer: Callable[[CallSample], Action]
) -> Callable[[Observation], Action]:
    """A policy that knows which sample an observation belongs to."""
    known = {id(sample.observation): sample for sample in samples}
    return lambda observation: answer(known[id(observation)])


def in_text(sample: CallSample) -> Action:
    return Message(f"API-Request: {write_call(ToolCall(sample.gold.name, sample.gold.given))}")


def natively(sample: CallSample) -> Action:
    return ToolCalls((ToolCall(sample.gold.name, sample.gold.arguments),))


@pytest.mark.parametrize(("level", "right", "of"), [(1, 329, 380), (2, 64, 74), (3, 121, 131)])
def test_what_upstreams_evaluator_gives_to_perfect_answers(level: Level, right: int, of: int) -> None:
    """APIS.md 9: the recorded calls as text, on fresh worlds by the implementations alone."""
    samples = [one for one in call_samples(level) if one.gold.name not in NOT_COMPARED]
    report = per_call_accuracy(knowing(samples, in_text), level, samples=samples, replay=False)
    assert (report.accuracy.count, report.accuracy.n) == (right, of)


@pytest.mark.parametrize(("level", "calls", "never_right"), [(1, 389, 1), (2, 119, 2), (3, 245, 0)])
def test_perfect_native_calls_are_right_but_where_upstreams_rule_never_holds(
    level: Level, calls: int, never_right: int
) -> None:
    samples = list(call_samples(level))
    policy = knowing(samples, natively)
    literal = per_call_accuracy(policy, level, samples=samples)
    assert (literal.accuracy.count, literal.accuracy.n) == (calls - never_right, calls)
    wrong = [sample.gold.name for sample, kind in literal.outcomes if kind != "right"]
    assert wrong == ["DeleteMeeting"] * never_right
    mended = per_call_accuracy(policy, level, samples=samples, mended=True)
    assert mended.accuracy.value == mended.dialogue_accuracy.value == 1.0


def test_kinds_of_error() -> None:
    """Upstream's kinds (APIS.md 7.3), by hand on one sample of AddAlarm."""
    sample = next(one for one in call_samples(1) if one.gold.name == "AddAlarm")
    told = dict(sample.gold.arguments)

    def alarm(**changes: str) -> Action:
        return ToolCalls((ToolCall("AddAlarm", told | changes),))

    assert sample.judge(Message("What time?")) == "no_call"
    assert sample.judge(Malformed("[", "x")) == "no_call"
    assert sample.judge(ToolCalls((ToolCall("GetToday"),))) == "wrong_api"
    assert sample.judge(ToolCalls((ToolCall("AddAlarm", {"time": "x"}),))) == "refused"
    assert sample.judge(alarm(zone="UTC")) == "refused"
    assert sample.judge(alarm(token="x")) == "exception"
    assert sample.judge(alarm(time="2001-01-01 00:00:00")) == "wrong_input"
    assert sample.judge(alarm()) == "right"
    stock = next(one for one in call_samples(1) if one.gold.name == "QueryStock")
    other = ToolCall("QueryStock", dict(stock.gold.arguments) | {"stock_code": "GOOG"})
    assert stock.judge(ToolCalls((other,))) in ("wrong_output", "exception")


def test_a_servers_failure_is_no_outcome() -> None:
    samples = list(call_samples(1))[:3]

    def failing(observation: Observation) -> Action:
        if observation is samples[0].observation:
            raise ServerError("gone")
        return Message("Hm.")

    report = per_call_accuracy(failing, samples=samples)
    assert report.kinds == Counter({"no_call": 2, "invalid": 1})
    assert (report.accuracy.count, report.accuracy.n) == (0, 2)


def test_upstreams_own_samples_are_these(data: Path) -> None:
    """``test-data``: 399 and 135 samples, 10 and 16 of them repeats (APIS.md 7.1), each with its call."""
    for level, file, count in ((1, "level-1-api", 399), (2, "level-2-api", 135)):
        theirs = json.loads((data / f"test-data/{file}.json").read_text(encoding="utf-8"))
        assert len(theirs) == count
        by_file: dict[str, list[str]] = {}
        for one in theirs:
            by_file.setdefault(one["file"].removesuffix(".jsonl"), []).append(one["expected_output"])
        ours: dict[str, list[CallSample]] = {}
        for sample in call_samples(1 if level == 1 else 2):
            ours.setdefault(sample.setting.dialogue.id, []).append(sample)
        assert ours.keys() == by_file.keys()
        for name, samples in ours.items():
            written = [
                f"API-Request: {write_call(ToolCall(one.gold.name, one.gold.given))}" for one in samples
            ]
            assert set(written) == set(by_file[name])


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_recorded_history_has_roles_in_the_order_strict_templates_take(level: Level) -> None:
    """FIELD-099: calls are tool calls with replies; the other roles alternate, the user first."""
    for sample in call_samples(level):
        messages = [one for one in sample.observation.messages if one.role != "system"]
        spoken = [
            one.role for one in messages if one.role == "user" or (one.role == "assistant" and not one.calls)
        ]
        # An assistant's words right before the sampled call stand at the end.
        assert spoken == ["user", "assistant"] * (len(spoken) // 2) + ["user"] * (len(spoken) % 2)
        for before, after in pairwise(messages):
            assert (after.role == "tool") == bool(before.calls)
            if before.calls:
                assert after.call_id == before.calls[0].id


def test_the_tools_are_those_upstream_shows() -> None:
    """APIS.md 7.2: the dialogue's own; at level 2, ToolSearcher, and what it has found."""
    for sample in call_samples(1):
        names = {tool.name for tool in sample.observation.tools}
        assert names == {call.name for call in sample.setting.dialogue.calls}
    firsts = [sample for sample in call_samples(2) if sample.gold.name == "ToolSearcher"]
    assert [tool.name for tool in firsts[0].observation.tools] == ["ToolSearcher"]
    later = [one for one in call_samples(2) if one.gold.name not in ("ToolSearcher", "GetUserToken")]
    shown = [{tool.name for tool in sample.observation.tools} for sample in later]
    assert all("ToolSearcher" in names for names in shown)
    assert any(sample.gold.name in names for sample, names in zip(later, shown, strict=True))


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("[A(k='v', n=\"w\")]", {"k": "v", "n": "w"}),
        ("say [A(k='Mom's cake')] now", {"k": "Mom"}),
        ("[A(k=\"['A', 'B']\")]", {"k": "["}),
        ("[A(a='', b='x')]", {"a": "', b="}),
        ("[A(k=[1, 2], n=[3])]", {"k": "[1, 2], n=[3]"}),
        ("[A(k=3.5, n=-3)]", {"k": "3"}),
        ("[A(k='v', k='w')]", {"k": "w"}),
        ("[A()]", {}),
        ("[A(k='v')] and [B(k='w')]", {"k": "w"}),
        ("[A (x)]\n[A(k='v')]", {"k": "v"}),
    ],
)
def test_the_grammar_of_calls(text: str, arguments: dict[str, str]) -> None:
    """APIS.md 3, each consequence."""
    assert find_call(text) == ToolCall("A", arguments)


@pytest.mark.parametrize(
    "text", ["", "A(k='v')", "[A(k='v')", "[A(k=\n'v')]", ")][A(", "[A(" + "a" * 5000 + ")]"]
)
def test_no_call(text: str) -> None:
    assert find_call(text) is None


def test_hostile_text_is_read_quickly() -> None:
    """No pattern here may take time that grows faster than the text."""
    for text in (
        "[A(" * 50_000 + ")]",
        "[a" * 50_000,
        "[A(" + "a=" * 1_900 + ")]",
        "[A(" + "a" * 3_900 + ")]",
    ):
        find_call(text)
