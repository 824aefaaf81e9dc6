"""Specs of agents made of others: what they mean, and where a bad one is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.parts import notes
from tests.support.fake_server import MODEL, FakeServer, Request, call, completion
from tests.support.toy import TOOLS, toy_source
from toolenv import ToolEnv, rollout
from toolenv.agents.budget import Budget
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.prompts import FEASIBILITY_PROMPT, NO_TOOLS_NOTE
from toolenv.agents.registry import agent_names, combinator_names, make_agent
from toolenv.agents.retry import Retry
from toolenv.agents.specs import Combined, Name, Pair, parse_spec
from toolenv.agents.stop_gate import StopGate
from toolenv.agents.vote import Vote
from toolenv.errors import UnknownNameError, UsageError
from toolenv.types import ChatMessage, Message, Observation


def test_the_grammar() -> None:
    assert parse_spec("vote( 3 , planner(chat:a) -> executor(retry(my:b)))") == Combined(
        "vote", ("3",), Pair(Name("chat:a", 18), Combined("retry", (), Name("my:b", 44), 38), 10), 0
    )


@pytest.mark.parametrize("spec", ["oracle", "chat:org/model-1.5:free", "chat:a,b", "chat:odd(name)", "a b"])
def test_plain_specs_are_names_as_they_stand(spec: str) -> None:
    assert parse_spec(spec) == Name(spec, 0)


def test_names_may_hold_parentheses_of_their_own() -> None:
    assert parse_spec("retry(chat:odd(a,b)c)") == Combined("retry", (), Name("chat:odd(a,b)c", 6), 0)


def test_what_is_built() -> None:
    spec = "stop-gate(0.5,budget(20000,stop,vote(3,retry(2,planner(oracle)->executor(random:7)))))"
    gate = make_agent(spec)
    assert isinstance(gate, StopGate)
    budget = gate.inner
    assert isinstance(budget, Budget)
    vote = budget.inner
    assert isinstance(vote, Vote)
    retry = vote.voters[0]
    assert isinstance(retry, Retry)
    assert isinstance(retry.inner, PlannerExecutor)
    assert (gate.threshold, budget.tokens, budget.ending, len(vote.voters), retry.times) == (
        *(0.5, 20000, "stop", 3, 2),
    )
    assert gate.name == spec


def test_nested_ones_play() -> None:
    nested = make_agent("budget(9,vote(3,planner(retry(oracle))->executor(stop-gate(1,oracle))))")
    for condition in ("clean", "infeasible"):
        for task_id in ("pay-7", "pay-30", "two-turns"):
            played = rollout(ToolEnv(toy_source(condition)), nested, seed=0, task_id=task_id)
            assert played.episode.reward == 1.0


def test_the_names_there_are() -> None:
    assert combinator_names() == ("budget", "retry", "stop-gate", "vote")
    assert not {*combinator_names(), "planner", "executor"} & set(agent_names())


@pytest.mark.parametrize(
    ("spec", "character", "problem"),
    [
        ("planner(oracle)", 16, r"'->executor\(SPEC\)' is expected here"),
        ("planner(oracle)->exec(noop)", 16, r"'->executor\(SPEC\)' is expected here"),
        ("planner(oracle)->executor", 16, r"'->executor\(SPEC\)' is expected here"),
        ("planner(oracle)=>executor(noop)", 16, r"'->executor\(SPEC\)' is expected here"),
        ("executor(oracle)", 1, "needs a planner"),
        ("planner(noop,noop)->executor(noop)", 14, r"planner\(…\) takes one agent, 2 are given"),
        ("planner(noop)->executor(8,noop)", 27, r"executor\(…\) takes one agent, 2 are given"),
        ("retry(oracle", 6, r"retry\( is never closed"),
        ("planner(noop)->executor(noop", 24, r"executor\( is never closed"),
        ("retry(oracle))", 14, r"the spec has ended, but '\)' follows"),
        ("retry(oracle) x", 15, "the spec has ended, but 'x' follows"),
        ("retry(vote(3,noop)x)", 19, r"expected ',' or '\)', found 'x\)'"),
        ("retry()", 7, "an agent or a value is missing here"),
        ("vote(3, )", 9, "an agent or a value is missing here"),
        ("vote(retry(noop),noop)", 6, "only the last part of vote"),
        (
            "planer(noop)->executor(noop)",
            1,
            "unknown agent 'planer' in front of '->'; did you mean 'planner'",
        ),
        ("vote(3,Planner(noop)->executor(noop))", 8, "unknown agent 'Planner' in front .* mean 'planner'"),
        ("vote(3,noop)->executor(noop)", 1, "unknown agent 'vote' in front of '->'; known: planner"),
        ("VOTE(3,oracle)", 1, "unknown agent made of others 'VOTE'; did you mean 'vote'"),
        ("vot(3,oracle)", 1, "unknown agent made of others 'vot'; did you mean 'vote'"),
        ("vote(oracle)", 1, r"one K stands before the agent, it is missing; write vote\(K,SPEC\)"),
        ("vote(1,2,oracle)", 1, "2 are given"),
        ("vote(three,oracle)", 1, "K is 'three'; give a number"),
        ("vote(2.5,oracle)", 1, "K is '2.5'; give a whole number"),
        ("vote(0,oracle)", 1, "K is '0'; give a whole number of at least 1"),
        ("stop-gate(nan,noop)", 1, "THRESHOLD is 'nan'; give a number"),
        ("stop-gate(2,noop)", 1, "threshold 2"),
        ("budget(9,halt,noop)", 1, "unknown ending 'halt'"),
        ("retry(planner(noop)->executor(orakle))", 31, "unknown agent 'orakle'; did you mean 'oracle'"),
        ("planner(random:x)->executor(noop)", 9, "random:x"),
        ("planner(noop)->executor(no_such_module:x)", 25, "unknown agent or module 'no_such_module'"),
        ("retry(" * 17 + "noop" + ")" * 17, 97, "more than 16 agents within agents"),
    ],
)
def test_a_bad_spec_is_quoted_with_the_place_that_is_wrong(spec: str, character: int, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as raised:
        make_agent(spec)
    assert str(raised.value).startswith(f"agent spec {spec!r}, character {character}: ")


@pytest.mark.parametrize("spec", ["planner", "executor", "planner:chat", "vote", "stop-gate:0.5"])
def test_agents_made_of_others_say_how_they_are_written(spec: str) -> None:
    with pytest.raises(UsageError, match=r"is made of others: write (planner|vote|stop-gate)\("):
        make_agent(spec)


@pytest.mark.parametrize(
    ("spec", "near"), [("planer", "planner"), ("Retry", "retry"), ("budgett:9", "budget")]
)
def test_agents_made_of_others_are_among_the_known_ones(spec: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean '{near}'"):
        make_agent(spec)
    with pytest.raises(UnknownNameError) as raised:
        make_agent("xyzzy")
    named = {*str(raised.value).partition("known: ")[2].split(", ")}
    assert named == {*agent_names(), *combinator_names(), "planner", "module:attribute"}


def test_an_unknown_name_keeps_its_type() -> None:
    with pytest.raises(UnknownNameError):
        make_agent("retry(orakle)")


def test_options_reach_both_or_one() -> None:
    options: dict[str, Any] = {
        "base_url": "http://127.0.0.1:1/v1",
        "max_tokens": 64,
        "planner.max_tokens": 32,
        "executor.base_url": "http://127.0.0.1:2/v1",
    }
    pair = make_agent("vote(2,planner(chat:a)->executor(retry(chat:b)))", options)
    settings = pair.settings.to_json()  # type: ignore[attr-defined]
    assert {name: settings[name] for name in settings if "max_tokens" in name or "base_url" in name} == {
        "planner.max_tokens": 32,
        "planner.base_url": "http://127.0.0.1:1/v1",
        "executor.max_tokens": 64,
        "executor.base_url": "http://127.0.0.1:2/v1",
    }
    assert (settings["planner.model"], settings["executor.model"]) == ("a", "b")
    assert {"max_executor_turns", "planner_prompt_version", "executor.retry_prompt_version"} <= set(settings)
    assert not any("api_key" in name for name in settings)
    with pytest.raises(UnknownNameError, match=r"character 9: unknown option 'max_token'"):
        make_agent("planner(chat:a)->executor(noop)", {"planner.max_token": 3})


def answer(request: Request) -> Any:
    """Plans in the planner's rounds, calls a tool where there are any; one usage for each kind."""
    if "tools" in request.body:
        usage = {"prompt_tokens": 300, "completion_tokens": 9}
        return completion(None, tool_calls=[call("pay", '{"account": "A1", "amount": 7}')], usage=usage)
    if len(request.body["messages"]) == 2:
        return completion("1. pay (payment)", usage={"prompt_tokens": 100, "completion_tokens": 20})
    return completion("1. call pay", usage={"prompt_tokens": 150, "completion_tokens": 10})


def test_what_models_are_sent() -> None:
    """The planner gets no tools to call, and is not told that there are none."""
    observation = Observation((ChatMessage("system", "A bank."), ChatMessage("user", "Pay 7.")), TOOLS, 4)
    with FakeServer(answer) as server:
        options = {"base_url": server.base_url, "planner.max_tokens": 32, "executor.max_tokens": 64}
        pair = make_agent(f"planner(chat:{MODEL})->executor(chat:{MODEL})", options)
        action, _ = pair.act(observation, None)
        first, second, third = (request.body for request in server.requests)
        pair.close()  # type: ignore[attr-defined]
    for body in (first, second):
        assert not {"tools", "tool_choice"} & set(body)
        assert body["max_tokens"] == 32
        assert body["messages"][0] == {"role": "system", "content": "A bank."}
    assert [len(body["messages"]) for body in (first, second, third)] == [2, 4, 2]
    assert [tool["function"]["name"] for tool in third["tools"]] == ["accounts_balance", "pay", "crash"]
    assert third["max_tokens"] == 64
    assert third["messages"][0]["content"].startswith(FEASIBILITY_PROMPT)
    assert "1. call pay" in third["messages"][1]["content"]
    assert NO_TOOLS_NOTE not in str((first, second, third))
    roles = notes(action)["roles"]
    assert {role: roles[role]["input_tokens"] for role in roles} == {"planner": 250, "executor": 300}
    assert notes(action)["finish_reason"] == "stop"


def test_preflight_asks_every_part_once() -> None:
    with FakeServer(completion("ready")) as server:
        options = {"base_url": server.base_url}
        pair = make_agent(f"vote(3,planner(chat:{MODEL})->executor(chat:{MODEL}))", options)
        cost = pair.preflight()  # type: ignore[attr-defined]
        assert len(server.requests) == 2
        both = make_agent(f"chat:{MODEL}", options)
        assert PlannerExecutor(both, both).preflight().total_tokens == 18
        assert len(server.requests) == 3
        pair.close()  # type: ignore[attr-defined]
        both.close()  # type: ignore[attr-defined]
    assert cost.total_tokens == 2 * 18
    assert make_agent("planner(oracle)->executor(noop)").preflight().total_tokens == 0  # type: ignore[attr-defined]


def test_a_message_that_ends_a_turn_is_passed_on() -> None:
    action, _ = make_agent("retry(noop)").act(Observation((ChatMessage("user", "Hi."),), TOOLS, 4), None)
    assert action == Message("")
