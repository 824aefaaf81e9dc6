"""A bug in a suite's own code costs its episode, never the run."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy
import pytest

from tests.support.toy import Bank, PaidReference, Toy, toy_source
from toolenv import Message, Score, ToolCall, ToolCalls, ToolEnv, Trace, rollout
from toolenv.errors import ToolError, ToolFault
from toolenv.kernel import Noted
from toolenv.task import Task
from toolenv.types import Action, ChatMessage, Observation
from toolenv.validation import validate_source
from toolenv.wrappers import RecordReward

LOOK = ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),))


class UnwritableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class UnwritableToolError(ToolError):
    def __str__(self) -> str:
        raise ValueError("no text")


def leave(*_: object) -> Any:
    sys.exit(3)


def throw(error: BaseException) -> Callable[..., Any]:
    def thrown(*_: object) -> Any:
        raise error

    return thrown


def look(observation: Observation) -> Action:
    return LOOK if observation.messages[-1].role == "user" else Message("Done.")


def rounds(task_id: str = "pay-7") -> tuple[Any, Any]:
    """How the episode ended in a rollout, and what the last step of an environment said."""
    played = rollout(ToolEnv(toy_source()), look, seed=0, task_id=task_id)
    json.dumps((played.trace.to_json(), played.episode.to_json()), allow_nan=False)
    env = RecordReward(ToolEnv(toy_source()))
    observation, _ = env.reset(seed=0, options={"task_id": task_id})
    last: Any = (observation, 0.0, False, False, {})
    while not (last[2] or last[3]):
        last = env.step(look(last[0]))
    return played, last


def is_broken(found: tuple[Any, Any], kind: str, why: str) -> None:
    played, (_, reward, terminated, truncated, info) = found
    episode = played.episode
    assert (episode.valid, episode.decided_by, episode.reward) == (False, kind, None)
    assert why in episode.error
    assert math.isnan(reward)
    assert (terminated, truncated) == (False, True)
    assert (info["verdict"]["valid"], info["verdict"]["decided_by"]) == (False, kind)
    assert math.isnan(info["is_success"])


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (leave, "SystemExit: 3"),
        (throw(GeneratorExit()), "GeneratorExit"),
        (throw(UnwritableError()), "UnwritableError, whose str() raises ValueError"),
        (throw(UnwritableToolError()), "ValueError: no text"),
        (lambda *_: Noted(1, None), "not a mapping"),  # type: ignore[arg-type]
        (lambda *_: Noted(1, {"source": object()}), "UnusableValueError"),
        (lambda *_: (one for one in "ab"), "read only once"),
    ],
)
def test_a_tool_that_breaks(monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any], why: str) -> None:
    monkeypatch.setattr(Bank, "call", call)
    is_broken(rounds(), "environment_error", why)


def test_ctrl_c_in_a_tool_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bank, "call", throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        rollout(ToolEnv(toy_source()), look, seed=0, task_id="pay-7")


def test_an_integer_that_python_does_not_write_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bank, "call", lambda *_: 10**5000)
    played, _ = rounds()
    assert played.episode.valid
    assert int(played.trace.calls()[0][1].content, 16) == 10**5000


@pytest.mark.parametrize("task_id", ["pay-7", "two-turns"])
@pytest.mark.parametrize(
    ("digest", "why"),
    [
        (throw(ZeroDivisionError("no state")), "ZeroDivisionError: no state"),
        (leave, "SystemExit: 3"),
        (lambda _: None, "returned NoneType None, expected a str"),
        (lambda _: 3, "returned int 3, expected a str"),
    ],
)
def test_a_world_without_a_digest(
    monkeypatch: pytest.MonkeyPatch, digest: Callable[..., Any], why: str, task_id: str
) -> None:
    monkeypatch.setattr(Bank, "digest", digest)
    is_broken(rounds(task_id), "environment_error", why)


def test_what_failed_first_is_what_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bank, "digest", throw(ZeroDivisionError()))
    played = rollout(ToolEnv(toy_source()), throw(RuntimeError("mine")), seed=0, task_id="pay-7")
    assert (played.episode.decided_by, played.trace.ending) == ("agent_error", "agent_error")
    assert "mine" in played.episode.error


@pytest.mark.parametrize(
    "world",
    [leave, throw(ZeroDivisionError()), throw(UnwritableError())],
    ids=["leaves", "raises", "unwritable"],
)
def test_a_world_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, world: Callable[..., Any]) -> None:
    monkeypatch.setattr(Toy, "world", world)
    env = ToolEnv(toy_source())
    with pytest.raises(ToolFault, match="the world of task 'pay-7' raised"):
        env.reset(seed=0, options={"task_id": "pay-7"})
    for task_id in ("pay-7", "idle"):  # the second in the place of the first
        episode = rollout(env, look, seed=0, task_id=task_id).episode
        assert (episode.task_id, episode.decided_by, episode.valid) == (task_id, "environment_error", False)
        assert f"the world of task {task_id!r} raised" in episode.error


def test_validation_goes_on_after_a_world_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toy.world
    monkeypatch.setattr(
        Toy, "world", lambda suite, task, seed: leave() if task.id == "pay-7" else made(suite, task, seed)
    )

    class Solve:
        name = "solve"

        def brief(self, task: Task) -> Any:
            return list(task.reference.solution())

        def act(self, observation: Observation, memory: Any) -> Any:
            return (memory[0], memory[1:]) if memory else (Message("Done."), memory)

    class Idle:
        name = "idle"

        def act(self, observation: Observation, memory: Any) -> Any:
            return Message("Done."), memory

    found = {task.id: problems for task, problems in validate_source(toy_source(), Solve(), Idle())}
    assert {one.check for one in found["pay-7"]} == {"oracle"}
    assert found["pay-30"] == []


@pytest.mark.parametrize("listed", [throw(ZeroDivisionError()), leave], ids=["raises", "leaves"])
def test_a_world_that_cannot_tell_its_tools(
    monkeypatch: pytest.MonkeyPatch, listed: Callable[..., Any]
) -> None:
    told = []

    def at_first(world: Bank) -> Any:
        told.append(world)
        return {tool.name for tool in toy_source().get("pay-7").tools} if len(told) < 3 else listed()

    monkeypatch.setattr(Bank, "listed", property(at_first), raising=False)
    episode = rollout(ToolEnv(toy_source()), look, seed=0, task_id="pay-7").episode
    assert (episode.decided_by, episode.calls) == ("environment_error", 1)
    assert "what tells the tools raised" in episode.error


@pytest.mark.parametrize(
    ("score", "why"),
    [
        (leave, "SystemExit: 3"),
        (throw(UnwritableError()), "UnwritableError"),
        (lambda *_: None, "score() returned NoneType None, expected a Score"),
        (lambda *_: True, "score() returned bool True, expected a Score"),
        (lambda *_: Score("yes", "x"), "whose success is str 'yes'"),  # type: ignore[arg-type]
        (lambda *_: Score(True, None), "whose why is NoneType None"),  # type: ignore[arg-type]
    ],
)
def test_a_grader_that_breaks(monkeypatch: pytest.MonkeyPatch, score: Callable[..., Any], why: str) -> None:
    monkeypatch.setattr(PaidReference, "score", score)
    is_broken(rounds(), "grader_error", why)


def test_a_grader_may_tell_a_truth_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaidReference, "score", lambda *_: Score(numpy.bool_(True)))  # type: ignore[arg-type]
    assert rounds()[0].episode.success is True


def test_accuracy_that_is_no_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaidReference, "is_accurate", lambda *_: "yes", raising=False)
    is_broken(rounds(), "grader_error", "is_accurate() returned str 'yes'")


def test_a_solution_that_cannot_be_told_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaidReference, "solution", leave)
    assert rounds()[0].episode.task.reference_calls is None


class _Caller:
    name = "caller"

    def __init__(self, *said: object) -> None:
        self.said = said

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> Any:
        one = self.said[len(said) // 2]
        return one() if callable(one) else one


@pytest.mark.parametrize(
    ("said", "decisions"), [((leave,), 0), ((5,), 0), (("Hello.", leave), 2), (("Hello.", 5), 2)]
)
def test_a_simulated_user_that_breaks(said: tuple[object, ...], decisions: int) -> None:
    source = toy_source()
    source.user = _Caller(*said)
    played = rollout(ToolEnv(source), look, seed=0, task_id="pay-7")
    assert (played.episode.decided_by, len(played.trace.steps)) == ("environment_error", decisions)
    assert "the simulated user" in played.episode.error


def test_a_hazard_with_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolenv.kernel import CleanKernel

    def call(*_: object) -> Any:
        raise KeyError("no such field")

    monkeypatch.setattr(CleanKernel, "call", call)
    is_broken(rounds(), "environment_error", "no such field")


def test_facts_that_tools_note_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    facts: Mapping[str, Any] = {"source": "recorded", "parts": [1, {"a": None}]}
    monkeypatch.setattr(Bank, "call", lambda *_: Noted(1, facts))
    assert rounds()[0].trace.calls()[0][1].record == facts


def test_traces_keep_what_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bank, "call", leave)
    trace = rounds()[0].trace
    assert "SystemExit: 3" in trace.error
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
