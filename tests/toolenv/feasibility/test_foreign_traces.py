"""Trajectories made elsewhere: read, played through the clean environment, and judged there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy import Toy
from tests.toolenv.feasibility.office import SUITE, TASKS
from tests.toolenv.feasibility.real_suites import real_source
from toolenv.errors import DataCorruptError, DataMissingError
from toolenv.feasibility import foreign_traces
from toolenv.feasibility.foreign_traces import as_played, read_foreign, read_trajectory
from toolenv.feasibility.successful_traces import Traces
from toolenv.task import Task
from toolenv.types import Message, ToolCall, ToolCalls
from toolenv.user import User

OFFICE: Mapping[str, Task] = {task.id: task for task in TASKS}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: tuple[str, Any]) -> dict[str, Any]:
    """Arguments are JSON text unless they are text already."""
    items = [
        {
            "id": f"c{at}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for at, (name, given) in enumerate(calls)
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": items} if items else {})}


def tool(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c0", "content": text}


MOVE = ("mv", {"source": "log.txt", "destination": "archive/log.txt"})
MOVED = [user("Put log.txt away."), assistant(None, MOVE), tool("ok"), assistant("Done.")]


def line(messages: Any = MOVED, task_id: Any = "put-away", agent: Any = "their-model", **more: Any) -> str:
    return json.dumps({"task_id": task_id, "agent": agent, "messages": messages, **more})


def read(tmp_path: Path, *lines: str) -> Traces:
    path = tmp_path / "theirs.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return read_foreign([path], SUITE, OFFICE)


def test_a_trajectory_is_played_and_judged(tmp_path: Path) -> None:
    traces = read(tmp_path, line(), "", line(agent="another"))
    found = traces.successes["put-away"]
    assert [(one.agent, one.trial, one.tools, one.origin) for one in found] == [
        ("another", 0, {"mv"}, "theirs.jsonl"),
        ("their-model", 0, {"mv"}, "theirs.jsonl"),
    ]
    assert found[0].trace.calls("ok")[0][1].content == "done", "what our tool said, not what the line says"
    assert traces.attempts == {"put-away": {"their-model": 1, "another": 1}}
    (source,) = traces.sources
    assert (source.kind, source.name, source.episodes, source.successful) == ("foreign", "theirs.jsonl", 2, 2)


def test_claimed_success_is_not_believed(tmp_path: Path) -> None:
    failing = [user("Put log.txt away."), assistant(None, ("ls", {})), assistant("All done!")]
    traces = read(tmp_path, line(failing, success=True, reward=1.0))
    assert traces.successes == {}
    assert traces.attempts == {"put-away": {"their-model": 1}}


def test_claimed_failure_is_not_believed_either(tmp_path: Path) -> None:
    assert "put-away" in read(tmp_path, line(success=False, reward=0.0)).successes


def test_several_lines_of_an_agent_are_its_trials(tmp_path: Path) -> None:
    found = read(tmp_path, line(), line(), line()).successes["put-away"]
    assert [one.trial for one in found] == [0, 1, 2]


def test_field_091_the_older_form_of_calls_is_read(tmp_path: Path) -> None:
    older = [
        user("Put log.txt away."),
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": MOVE[0], "arguments": json.dumps(MOVE[1])},
        },
        {"role": "function", "name": "mv", "content": "ok"},
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ]
    assert "put-away" in read(tmp_path, line(older)).successes


def test_wire_names_and_listed_tools_are_understood(tmp_path: Path) -> None:
    toy = Toy()
    tasks = {task.id: task for task in toy.tasks("default")}
    look = ("accounts_balance", {"account": "A1"})
    pay = ("pay", {"account": "A1", "amount": 7})
    path = tmp_path / "t.jsonl"
    listed = [{"type": "function", "function": {"name": "accounts_balance"}}, {"name": "pay"}, "crash"]
    path.write_text(line([user("Pay."), assistant(None, look, pay)], "pay-7", tools=listed))
    (found,) = read_foreign([path], toy, tasks).successes["pay-7"]
    assert found.tools == {"accounts.balance", "pay"}


def test_in_a_task_of_one_turn_what_was_said_on_the_way_is_said_at_the_end() -> None:
    messages = [
        {"role": "system", "content": "Be good."},
        user("What did my order #W100 cost?"),
        assistant("Let me look.", ("get_order", {"order_id": "#W100"})),
        tool("…"),
        assistant("It was 1,250.50. Anything else?"),
        user("No."),
        assistant("Bye."),
    ]
    actions, lines = as_played(messages, OFFICE["price"], False, "here")
    assert actions == (
        ToolCalls((ToolCall("get_order", {"order_id": "#W100"}),)),
        Message("Let me look.\nIt was 1,250.50. Anything else?\nBye."),
    )
    assert lines == ("What did my order #W100 cost?\nNo.",)


def test_in_a_task_of_several_turns_each_user_message_begins_one() -> None:
    two = next(task for task in Toy().tasks("default") if task.id == "two-turns")
    messages = [
        user("Pay 7 from A1."),
        assistant("Let me see."),
        assistant(None, ("accounts.balance", {"account": "A1"})),
        tool("100"),
        user("Now you can pay."),
        assistant(None, ("pay", {"account": "A1", "amount": 7})),
    ]
    actions, _ = as_played(messages, two, False, "here")
    assert actions == (
        ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),), "Let me see."),
        Message(""),
        ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),)),
        Message(""),
    )


def test_a_conversation_with_a_user_is_held_again(tmp_path: Path) -> None:
    class Speaks:
        name = "nobody"

        def reply(self, task: Task, said: Any, seed: int) -> str | None:
            raise AssertionError("the recorded user speaks")

    class Talking(Toy):
        user: User = Speaks()

    toy = Talking()
    tasks = {task.id: replace(task, messages=()) for task in toy.tasks("default")}
    messages = [
        user("I want to pay."),
        assistant("How much?"),
        user("7, from A1."),
        assistant(None, ("pay", {"account": "A1", "amount": 7})),
        tool("93"),
        assistant("Paid."),
    ]
    path = tmp_path / "t.jsonl"
    path.write_text(line(messages, "pay-7"))
    (found,) = read_foreign([path], toy, tasks).successes["pay-7"]
    assert found.trace.opening == "I want to pay."
    assert [step.reply for step in found.trace.steps] == ["7, from A1.", None, None]


def test_calls_that_cannot_be_read_get_an_error_and_are_no_use(tmp_path: Path) -> None:
    messages = [
        user("Put log.txt away."),
        assistant(None, ("mv", '{"source": "log.txt", '), ("mv", "[1]"), ("ls", ""), ("no_tool", "{}")),
        assistant(None, MOVE),
    ]
    (found,) = read(tmp_path, line(messages)).successes["put-away"]
    assert [result.kind for _, result in found.trace.calls()] == [
        "invalid_arguments",
        "invalid_arguments",
        "ok",
        "unknown_tool",
        "ok",
    ]


def test_a_published_trajectory_of_bfcl() -> None:
    source = real_source("BFCL", "multiple")
    calls = assistant(None, ("triangle_properties_get", {"side1": 5, "side2": 4, "side3": 3}))
    task = source.get("multiple_0")
    actions, _ = as_played([user("…"), calls], task, False, "here")
    played = foreign_traces.play(source.suite, task, actions)
    assert played.episode.success is True


DEEP = '{"task_id": "put-away", "agent": "x", "messages": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", r"theirs\.jsonl, line 2: not JSON"),
        (
            "[1, 2]",
            r"line 2: a list, and no object with task_id, agent, messages",
        ),
        (DEEP, r"line 2: "),
        (line(task_id=""), r"line 2: task_id is '', not a str"),
        (line(agent=None), r"line 2: agent is None, not a str"),
        (line(messages="hello"), r"line 2: messages is 'hello', not a list"),
        (line(messages=[]), r"line 2: messages is \[\], not a list"),
        (line(messages=[1]), r"line 2, message 1: a int, and no message"),
        (
            line(messages=[{"role": "asistant"}]),
            r"message 1: unknown role 'asistant'; did you mean 'assistant'",
        ),
        (
            line(messages=[{"role": "assistant", "tool_calls": "mv"}]),
            r"message 1: tool_calls is 'mv', not a list",
        ),
        (line(messages=[{"role": "assistant", "tool_calls": [{}]}]), r"message 1: \{\} names no tool"),
        (
            line(task_id="put-awy"),
            r"line 2: unknown task id 'put-awy' in suite Office; did you mean 'put-away'",
        ),
        (
            line(tools=["mv", "move"]),
            r"line 2: unknown tool 'move' in the pool of task 'put-away'",
        ),
        (line(tools=[{"x": 1}]), r"line 2: tools holds .* which names no tool"),
    ],
)
def test_what_is_no_trajectory_is_named_by_file_and_line_and_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(DataCorruptError, match=complaint):
        read(tmp_path, line(), text)


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataCorruptError, match="2001 messages, more than 2000"):
        read_trajectory(line([user("x")] * 2001), "here")
    many = [assistant(None, *[("ls", {})] * 501)] * 2
    with pytest.raises(DataCorruptError, match="more than 1000 calls"):
        read(tmp_path, line(many))
    monkeypatch.setattr(foreign_traces, "MAX_LINE", 100)
    with pytest.raises(DataCorruptError, match="longer than 100 bytes"):
        read(tmp_path, line())


def test_files_that_are_absent_or_empty_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="no file of trajectories at"):
        read_foreign([tmp_path / "none.jsonl"], SUITE, OFFICE)
    with pytest.raises(DataCorruptError, match="holds no trajectory"):
        read(tmp_path, "")
