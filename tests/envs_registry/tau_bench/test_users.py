"""User mode: who speaks when, what is recorded, and what a failing user's model means."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

import envs_registry
from envs_registry.tau_bench import SUITE
from envs_registry.tau_bench.users import GREETING, STOP_MARK, ModelUser, ScriptedUser, make_user
from tests.support.fake_server import (
    HANG,
    Answer,
    FakeServer,
    Request,
    as_json,
    completion,
    error,
    in_order,
    raw,
)
from toolenv import ChatMessage, Message, Rollout, Stop, ToolCall, ToolCalls, rollout
from toolenv.agents.noop import make as make_noop
from toolenv.agents.oracle import Oracle
from toolenv.agents.scripted import Scripted
from toolenv.env import ToolEnv
from toolenv.errors import PreflightError, ServerError, UnknownNameError, UsageError
from toolenv.judge import judge
from toolenv.source import make_source
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action, Usage
from toolenv.user import User, conversation
from toolenv.validation import summarise, validate_source

TASK = "retail_test_10"  # doing nothing passes it, so that only the talk matters


def environment(user: User | str, task_id: str = TASK, **options: Any) -> ToolEnv:
    return ToolEnv(make_source(SUITE.configured(user=user), tasks=task_id, **options))


def play(user: User | str, *actions: Action, **options: Any) -> Rollout:
    return rollout(environment(user, **options), Scripted(actions), seed=0)


def think() -> ToolCalls:
    return ToolCalls((ToolCall("think", {"thought": "t"}),))


def test_the_user_speaks_first_and_after_every_message() -> None:
    env = environment(ScriptedUser(["Hello.", "It is #W1.", "Thanks."]))
    observation, _ = env.reset(seed=0)
    assert [message.role for message in observation.messages] == ["system", "user"]
    assert observation.messages[-1] == ChatMessage("user", "Hello.")
    observation, _, over, _, info = env.step(Message("Which order?"))
    assert (over, info) == (False, {})
    assert observation.messages[-2:] == (
        ChatMessage("assistant", "Which order?"),
        ChatMessage("user", "It is #W1."),
    )
    observation, *_ = env.step(think())
    assert observation.messages[-1].role == "tool"
    env.step(Message("Done."))
    *_, reward, over, cut, info = env.step(Message("You are welcome."))
    assert (reward, over, cut, info["verdict"]["decided_by"]) == (1.0, True, False, "message")


def test_the_instruction_is_the_users_alone() -> None:
    env = environment(ScriptedUser(["Hello."]))
    instruction = env.source.get(TASK).metadata["instruction"]
    observation, _ = env.reset(seed=0)
    assert all(instruction not in message.content for message in observation.messages)
    assert env.task.tools == SUITE.tasks("retail")[0].tools


def test_what_was_said_is_in_the_trace_and_judged_again_from_it() -> None:
    played = play(
        ScriptedUser(["Hello.", "No, nothing else."]), Message("Anything else?"), think(), Message("Bye.")
    )
    trace = Trace.from_json(json.loads(json.dumps(played.trace.to_json())))
    assert trace == played.trace
    assert trace.opening == "Hello."
    assert [step.reply for step in trace.steps] == ["No, nothing else.", None, None]
    assert [message.content for message in conversation(trace.opening, trace.steps)] == [
        "Hello.",
        "Anything else?",
        "No, nothing else.",
        "Bye.",
    ]
    source = make_source(SUITE.configured(user="scripted"), tasks=TASK)
    assert judge(source.get(TASK), trace).success is True
    assert played.episode.success is True


def test_traces_from_before_there_were_users_can_still_be_read() -> None:
    stored = play("scripted", Message("Bye.")).trace.to_json()
    del stored["opening"]
    for step in stored["steps"]:
        del step["reply"]
    trace = Trace.from_json(stored)
    assert (trace.opening, trace.steps[0].reply) == ("", None)


def test_the_cap_holds_for_the_whole_conversation() -> None:
    """Upstream's is 30 decisions, and a conversation cut off there pays nothing (TOOLS.md, section 7)."""
    endless = ScriptedUser(["And?"] * 100)
    played = play(endless, *[Message("Yes?")] * 100)
    assert (len(played.trace.steps), played.trace.ending, played.episode.success) == (30, "truncated", False)
    assert len(play(endless, *[Message("Yes?")] * 100, max_turns=4).trace.steps) == 4
    # The last decision may still be the one that ends it.
    assert play(ScriptedUser(["a"] * 4), *[Message("Yes?")] * 100, max_turns=4).episode.success is True


def test_a_stop_ends_the_conversation_whatever_the_user_would_say() -> None:
    for action in (Stop("no tool"), Message("STOP: no tool to cancel")):
        played = play(ScriptedUser(["a", "b", "c"]), action)
        assert (len(played.trace.steps), played.episode.decision) == (1, "infeasible")


def test_a_transfer_ends_the_conversation() -> None:
    transfer = ToolCalls((ToolCall("transfer_to_human_agents", {"summary": "s"}),))
    played = play(ScriptedUser(["a", "b", "c"]), Message("Hm."), transfer)
    assert (played.trace.ending, played.episode.success) == ("terminal_tool", True)


def test_outputs_may_be_said_in_any_message() -> None:
    task = SUITE.tasks("retail")[2]
    (calls, _) = task.reference.solution()
    user = ScriptedUser(["How many?", "Thanks.", "Bye."])
    played = play(user, Message("10 of them."), calls, Message("Done."), Message("Bye."), task_id=task.id)
    assert played.episode.success is True


def test_the_oracle_passes_in_user_mode_through_gymnasium() -> None:
    env = gymnasium.make("ToolFeas/TauBench-clean-v0", user="scripted")
    names = ["retail_test_0", "retail_test_12", "airline_test_2", "airline_test_36"]
    played = [rollout(env, Oracle(), seed=0, task_id=name) for name in names]
    assert all(one.episode.success for one in played)
    tasks = {task.id: task for task in SUITE.tasks("default")}
    assert [one.trace.opening for one in played] == [tasks[name].messages[-1].content for name in names]


@pytest.mark.parametrize("condition", ["clean", "infeasible", "mixed"])
def test_validate_finds_nothing_wrong_in_user_mode(condition: str) -> None:
    source = make_source(SUITE.configured(user="scripted"), condition, subset="airline")
    found = summarise(validate_source(source, Oracle(), make_noop("", {})))
    assert (found.findings, found.tasks) == ((), len(source.task_ids))


# ---- a model as the user ----


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeServer(request.param if hasattr(request, "param") else echo) as running:
        yield running


def echo(request: Request) -> Answer:
    return completion(f"message {len(request.body['messages'])}")


def with_script(*answers: Answer) -> Any:
    return pytest.mark.parametrize("server", [in_order(*answers)], indirect=True)


def model_user(server: FakeServer, **options: Any) -> ModelUser:
    return ModelUser("m", server.base_url, attempts=1, **options)


def test_the_model_sees_the_talk_and_nothing_else(server: FakeServer) -> None:
    play(model_user(server), think(), Message("Which order?"), Stop("x"))
    first, second = (request.body for request in server.requests)
    instruction = SUITE.tasks("retail")[10].metadata["instruction"]
    assert first["messages"][0]["role"] == "system"
    assert f"Instruction: {instruction}" in first["messages"][0]["content"]
    assert STOP_MARK in first["messages"][0]["content"]
    assert first["messages"][1:] == [{"role": "user", "content": GREETING}]
    assert (first["model"], first["temperature"]) == ("m", 0.0)
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": "message 2"},
        {"role": "user", "content": "Which order?"},
    ]


def test_without_a_temperature_none_is_sent(server: FakeServer) -> None:
    play(model_user(server, temperature=None), Stop("x"))
    assert "temperature" not in server.requests[0].body


@with_script(completion(f"Hi {STOP_MARK}"), completion(f"Thank you! {STOP_MARK}"))
def test_the_stop_mark_ends_the_conversation_but_not_before_it_began(server: FakeServer) -> None:
    """TOOLS.md, section 3: the first message is not looked through; later the mark counts anywhere."""
    played = play(model_user(server), Message("Done."), Message("never said"))
    assert (played.trace.opening, played.trace.ending) == (f"Hi {STOP_MARK}", "message")
    assert [step.reply for step in played.trace.steps] == [None]


@with_script(completion(f"<think>{STOP_MARK}?</think>\n\nHi."), completion(f"<think>{STOP_MARK}?</think>No."))
def test_reasoning_is_not_said(server: FakeServer) -> None:
    played = play(model_user(server), Message("Yes?"), Stop("x"))
    assert (played.trace.opening, played.trace.steps[0].reply) == ("Hi.", "No.")


@with_script(completion("Hi."), error(500, "on fire"))
def test_a_failing_server_makes_the_episode_invalid_not_failed(server: FakeServer) -> None:
    played = play(model_user(server), Message("Yes?"))
    assert (played.trace.ending, played.episode.valid, played.episode.success) == (
        "server_error",
        False,
        None,
    )
    assert "on fire" in played.episode.error
    assert [step.action for step in played.trace.steps] == [Message("Yes?")]


@with_script(error(500, "on fire"))
def test_a_server_that_fails_at_once_makes_the_episode_invalid_too(server: FakeServer) -> None:
    played = play(model_user(server), Message("never said"))
    assert (played.trace.ending, played.episode.valid, played.trace.steps) == ("server_error", False, ())
    assert "on fire" in played.episode.error


@with_script(error(500, "on fire"))
def test_reset_says_that_the_server_failed(server: FakeServer) -> None:
    with pytest.raises(ServerError, match="on fire"):
        environment(model_user(server)).reset(seed=0)


NO_TEXTS = {
    "empty": completion(""),
    "null": completion(None),
    "reasoning cut off": completion("<think>The user wants"),
    "no choice": as_json({"choices": []}),
    "no message": as_json({"choices": [{}]}),
    "no object": as_json(["no completion"]),
    "no JSON": raw("<html>"),
}


@pytest.mark.parametrize(
    "server", [in_order(one) for one in NO_TEXTS.values()], ids=[*NO_TEXTS], indirect=True
)
def test_no_text_is_no_reply(server: FakeServer) -> None:
    with pytest.raises(ServerError, match=r"sent no text|holds no message|is no JSON object"):
        environment(model_user(server)).reset(seed=0)


class Broken:
    """A user with a bug."""

    name = "broken"

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        return "Hello." if not said else said[99].content


def test_a_bug_of_a_user_is_the_environments_fault() -> None:
    played = play(Broken(), Message("Yes?"))
    assert (played.trace.ending, played.episode.valid) == ("environment_error", False)
    assert "IndexError" in played.episode.error


# ---- naming a user ----


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("scripted", "scripted"),
        ("llm:gpt-4o", "llm:gpt-4o"),
        ("llm:a/b@c@http://127.0.0.1:1/v1", "llm:a/b@c"),
    ],
)
def test_specs(spec: str, name: str) -> None:
    assert make_user(spec).name == name


@pytest.mark.parametrize(
    ("spec", "error", "problem"),
    [
        ("script", UnknownNameError, "did you mean 'scripted'"),
        ("llm:", UsageError, "name the model"),
        ("llm:@http://x", UsageError, "name the model"),
        ("chat:m", UnknownNameError, "unknown user 'chat:m'"),
    ],
)
def test_bad_specs(spec: str, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        envs_registry.make_env("TauBench", "clean", user=spec)


def test_a_model_user_is_pickled_without_its_connection(server: FakeServer) -> None:
    user = model_user(server)
    task = SUITE.tasks("retail")[0]
    assert user.reply(task, (), 0) == "message 2"
    again = pickle.loads(pickle.dumps(user))
    assert again.reply(task, (), 0) == "message 2"
    assert len(server.requests) == 2


def test_a_suite_without_users_says_so() -> None:
    with pytest.raises(UnknownNameError, match="unknown option 'user' in suite BFCL"):
        envs_registry.make_env("BFCL", "clean", user="scripted")


def test_a_user_s_server_is_asked_once_before_a_run() -> None:
    with FakeServer(completion("hello")) as server:
        assert ModelUser("m", server.base_url).preflight() == Usage(11, 7)
        (body,) = server.bodies
    assert body == {"model": "m", "temperature": 0.0, "messages": [{"role": "user", "content": GREETING}]}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (error(404, "model 'm' not found"), "model 'm': HTTP 404: model 'm' not found"),
        (HANG, "timed out.*it had 0.2 s to answer one request"),
    ],
)
def test_a_user_s_server_that_will_not_do_is_found_before_a_run(answer: Answer, said: str) -> None:
    with FakeServer(answer) as server:
        with pytest.raises(PreflightError, match=f"the simulated user's server at {server.base_url}.*{said}"):
            ModelUser("m", server.base_url, timeout=0.2).preflight()
        assert len(server.requests) == 1


@pytest.mark.parametrize("user", [5, True, ["scripted"], ScriptedUser])
def test_what_is_no_user_is_refused(user: Any) -> None:
    with pytest.raises(UsageError, match=r"user=.*: give 'scripted', 'llm:MODEL'"):
        SUITE.configured(user=user)
