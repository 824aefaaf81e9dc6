"""Which final texts a page shows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from toolenv.episode import Episode
from toolenv.errors import StoreError
from toolenv.report.page import render_page
from toolenv.report.samples import MOST_SAMPLES, pick_samples
from toolenv.runner.reading import EPISODES_FILE
from toolenv.trace import Step, Trace
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, ToolResult

ENV = "ToolFeas/BFCL-infeasible-v0"
KINDS = {
    "false continue": ("infeasible", "feasible"),
    "false stop": ("feasible", "infeasible"),
    "right": ("infeasible", "infeasible"),
}


def record(task_id: str, kind: str, action: Action | None, agent: str = "a", **more: Any) -> dict[str, Any]:
    label, decision = KINDS[kind]
    fields: dict[str, Any] = {
        "env": ENV,
        "agent": agent,
        "task_id": task_id,
        "trial": 0,
        "seed": 0,
        "label": label,
        "decision": decision,
        "lenient_decision": decision,
        "decided_by": "message",
        "success": None,
        "reward": 0.0,
        "valid": True,
        "turns": 1,
        "calls": 0,
        "input_tokens": 0,
        "output_tokens": 0,
    }
    results = tuple(ToolResult("ok") for _ in action.calls) if isinstance(action, ToolCalls) else ()
    steps = () if action is None else (Step(0, Message("before")), Step(0, action, results))
    return {
        "episode": Episode(**{**fields, **more}).to_json(),
        "trace": Trace("BFCL", "infeasible", task_id, 0, 10, steps).to_json(),
    }


def run(folder: Path, records: Iterable[dict[str, Any]]) -> Path:
    folder.mkdir()
    lines = "".join(json.dumps(one) + "\n" for one in records)
    (folder / EPISODES_FILE).write_text(lines, encoding="utf-8")
    return folder


def test_false_continues_come_first_and_agents_take_turns(tmp_path: Path) -> None:
    first = run(
        tmp_path / "first",
        [
            record("r1", "right", Stop("no tool")),
            record("s1", "false stop", Stop("no tool")),
            *(record(f"c{number}", "false continue", Message("Done.")) for number in range(3)),
        ],
    )
    second = run(tmp_path / "second", [record("c9", "false continue", Message("Sure."), agent="b")])
    found = pick_samples([first, second])
    assert [one.task_id for one in found] == ["c0", "c9", "c1", "c2", "s1", "r1"]
    assert (found[1].env, found[1].agent, found[1].text) == (ENV, "b", "Sure.")
    assert (found[4].label, found[4].decision, found[4].decided_by) == ("feasible", "infeasible", "message")
    assert [one.task_id for one in pick_samples([first, second], most=2)] == ["c0", "c9"]


def test_no_more_are_shown_than_fifty_and_no_more_traces_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = Trace.from_json

    def reading(data: Any) -> Trace:
        read.append(data["task_id"])
        return whole(data)

    monkeypatch.setattr(Trace, "from_json", reading)
    records = (record(f"c{number}", "false continue", Message("Done.")) for number in range(200))
    found = pick_samples([run(tmp_path / "run", records)])
    assert [one.task_id for one in found] == [f"c{number}" for number in range(50)]
    assert len(read) == MOST_SAMPLES == 50


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Message("The end."), "The end."),
        (Stop("no tool fits"), "no tool fits"),
        (Malformed("{call", "no JSON"), "{call"),
        (ToolCalls((ToolCall("pay", {"to": "Zoë"}),)), 'pay({"to": "Zoë"})'),
        (ToolCalls((ToolCall("a"), ToolCall("b")), "Both."), "Both.\na({})\nb({})"),
    ],
)
def test_the_text_is_the_last_thing_an_agent_wrote(action: Action, text: str, tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [record("t", "right", action)])
    assert [one.text for one in pick_samples([folder])] == [text]


def test_invalid_episodes_and_empty_texts_are_no_samples(tmp_path: Path) -> None:
    folder = run(
        tmp_path / "run",
        [
            record("invalid", "false continue", Message("Done."), valid=False),
            record("empty", "false continue", Message(" \n")),
            record("none", "false continue", None),
        ],
    )
    assert pick_samples([folder]) == []


def test_hostile_texts_of_a_run_are_inert_in_a_page(tmp_path: Path) -> None:
    hostile = "</pre><script>alert(1)</script>\x1b[2J"
    folder = run(tmp_path / "run", [record("t", "false continue", Message(hostile))])
    page = render_page([], pick_samples([folder]), {"versions": hostile})
    assert "<script" not in page
    assert "\x1b" not in page
    assert page.count("&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J") == 2


def test_a_record_that_is_none_is_named_by_its_line(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", [record("t", "right", Stop("x")), {"episode": {}}])
    with pytest.raises(StoreError, match="line 2: not a record"):
        pick_samples([folder])
