"""The chat agent over a real HTTP connection: what it asks, and how it reads the answers."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import MODEL, Answer, FakeServer, Request, Script, call, completion, in_order
from toolenv.agents.chat import ChatPolicy, make
from toolenv.agents.prompts import NO_TOOLS_NOTE
from toolenv.agents.settings import ChatSettings
from toolenv.errors import UnknownNameError
from toolenv.names import with_wire_names
from toolenv.policy import Policy
from toolenv.types import (
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolSpec,
    Usage,
)

ADD = ToolSpec("math.add", "Sum.", {"type": "object", "properties": {"a": {"type": "integer"}}})
TRANSFER = ToolSpec("transfer_funds", "Send money.")
ASKED = Observation((ChatMessage("user", "Add 1."),), with_wire_names([ADD, TRANSFER]), 5)


@contextmanager
def chat(script: Script | Answer, **settings: Any) -> Iterator[tuple[ChatPolicy, FakeServer]]:
    with FakeServer(script) as server:
        settings = {"model": MODEL, "base_url": server.base_url, "timeout": 10.0, **settings}
        policy = ChatPolicy(ChatSettings(**settings), clock=FakeClock().clock)
        yield policy, server
        policy.close()


def ask(answer: Answer, observation: Observation = ASKED, **settings: Any) -> Action:
    with chat(answer, **settings) as (policy, _):
        action, memory = policy.act(observation, None)
        assert not memory.reasoning
        return action


def request_of(observation: Observation = ASKED, **settings: Any) -> Request:
    with chat(completion("hi"), **settings) as (policy, server):
        policy.act(observation, None)
        (request,) = server.requests
        return request


# -- what is asked ---------------------------------------------------------------------------------------


def test_the_request_holds_what_the_paper_fixes_and_nothing_else() -> None:
    body = request_of().body
    assert set(body) == {"model", "messages", "tools", "tool_choice", "temperature", "max_tokens"}
    assert body["model"] == MODEL
    assert body["temperature"] == 0.0
    assert body["max_tokens"] == 4096
    assert body["tool_choice"] == "auto"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["math_add", "transfer_funds"]
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_the_system_message_states_the_protocol_of_appendix_f_before_the_tasks_own() -> None:
    told = Observation((ChatMessage("system", "Today is Monday."), *ASKED.messages), ASKED.tools, 5)
    system = request_of(told).body["messages"][0]["content"]
    assert "STOP: <" in system
    for demand in (
        "decide whether",
        "missing or unavailable",
        "own knowledge",
        "get around",
        "final message",
    ):
        assert demand in system
    assert system.endswith("Today is Monday.")
    assert NO_TOOLS_NOTE not in system


def test_field_016_stop_is_never_sent_as_a_stop_sequence() -> None:
    assert "stop" not in request_of().body


def test_field_017_without_tools_the_keys_are_left_out_and_the_prompt_says_so() -> None:
    body = request_of(Observation(ASKED.messages, (), 5)).body
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & set(body)
    assert "No tools are offered" in body["messages"][0]["content"]


def test_further_settings_reach_the_server() -> None:
    body = request_of(
        seed=7,
        enable_thinking=False,
        reasoning_effort="low",
        temperature=None,
        max_tokens=5,
        protocol="Be brief.",
        extra_body={"top_k": 1},
    ).body
    assert body["seed"] == 7
    assert body["max_tokens"] == 5
    assert body["top_k"] == 1
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["reasoning_effort"] == "low"
    assert "temperature" not in body
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}


def test_the_key_comes_from_the_environment_or_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert request_of().headers["authorization"] == "Bearer none"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-env\n")
    assert request_of().headers["authorization"] == "Bearer sk-env"
    assert request_of(api_key="sk-own").headers["authorization"] == "Bearer sk-own"


def test_field_079_a_lone_surrogate_in_a_tool_result_does_not_break_the_request() -> None:
    history = (*ASKED.messages, ChatMessage("assistant", "", (ToolCall("math.add", {}, "1"),)))
    seen = Observation((*history, ChatMessage("tool", "ok \ud83c end", call_id="1")), ASKED.tools, 4)
    request = request_of(seen)
    assert request.body["messages"][-1]["content"] == "ok � end"
    request.raw.decode("utf-8")


# -- how answers are read --------------------------------------------------------------------------------


def test_native_calls_come_back_with_usage() -> None:
    action = ask(
        completion(None, tool_calls=[call("math_add", '{"a": 1}', "c9")], finish_reason="tool_calls")
    )
    assert action == ToolCalls((ToolCall("math_add", {"a": 1}, "c9"),))
    assert action.usage == Usage(11, 7)


def test_a_message_and_a_stop() -> None:
    assert ask(completion("It is 3.")) == Message("It is 3.")
    assert ask(completion("STOP: no addition")) == Stop("no addition")


def test_field_016_reasoning_is_never_taken_for_the_answer() -> None:
    reasoning = (
        "The rules say to answer STOP: if a tool is missing. transfer_funds is present, so I should not STOP."
    )
    native = [call("transfer_funds", '{"to":"B2","amount":5}', "c1")]
    for name in ("reasoning_content", "reasoning"):
        action = ask(completion("", tool_calls=native, **{name: reasoning}))
        assert action == ToolCalls((ToolCall("transfer_funds", {"to": "B2", "amount": 5}, "c1"),))
        assert not isinstance(action, Malformed)
        assert action.raw[name] == reasoning


def test_field_050_a_reply_cut_at_the_limit_is_no_answer() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4096}
    action = ask(completion("", reasoning_content="long ...", finish_reason="length", usage=usage))
    assert isinstance(action, Malformed)
    assert action.kind == "length"
    assert action.usage == Usage(9, 4096)


@pytest.mark.parametrize("calls", [None, []])
def test_field_052_the_finish_reason_alone_makes_no_call(calls: object) -> None:
    assert ask(completion("Hello!", tool_calls=calls, finish_reason="tool_calls")) == Message("Hello!")


def test_field_056_null_content_is_kept_as_null_in_the_record() -> None:
    action = ask(completion(None, tool_calls=[call("math_add")]))
    assert isinstance(action, ToolCalls)
    assert action.text == ""
    assert action.raw["content"] is None


def test_field_091_the_older_function_call_is_read() -> None:
    action = ask(completion(None, function_call={"name": "math_add", "arguments": '{"a": 2}'}))
    assert isinstance(action, ToolCalls)
    assert [(one.name, one.arguments) for one in action.calls] == [("math_add", {"a": 2})]


def test_content_in_parts_and_refusals_are_text() -> None:
    parts = [{"type": "thinking", "thinking": "STOP: ?"}, {"type": "text", "text": "It is "}, {"text": "3."}]
    assert ask(completion(parts)) == Message("It is 3.")
    assert ask(completion(None, refusal="I can't.")) == Message("I can't.")


def test_text_calls_can_be_turned_off() -> None:
    written = completion('<tool_call>\n{"name": "math_add", "arguments": {"a": 1}}\n</tool_call>')
    on, off = ask(written), ask(written, text_calls=False)
    assert isinstance(on, ToolCalls)
    assert on.calls[0].arguments == {"a": 1}
    assert isinstance(off, Malformed)


# -- tokens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("usage", [None, {}, "many", {"prompt_tokens": None, "completion_tokens": None}])
def test_field_012_missing_usage_is_unknown_and_never_0(usage: object) -> None:
    action = ask(completion("hi", usage=usage))
    assert action.usage is not None
    assert action.usage.input_tokens is None
    assert action.usage.total_tokens is None


def test_field_033_cached_and_reasoning_tokens_mean_the_same_for_every_server() -> None:
    first = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}, "completion_tokens": 50}
    second = {
        "input_tokens": 200,
        "cache_read_input_tokens": 800,
        "output_tokens": 50,
        "reasoning_tokens": 30,
    }
    assert ask(completion("hi", usage=first)).usage == Usage(1000, 50, cached_input_tokens=800)
    assert ask(completion("hi", usage=second)).usage == Usage(
        1000, 50, cached_input_tokens=800, reasoning_tokens=30
    )


# -- memory, threads, pickling ---------------------------------------------------------------------------


def test_field_113_reasoning_is_sent_back_only_by_option_and_recorded() -> None:
    answer = completion(
        "I'll check.", reasoning_content="need tool", tool_calls=[call("math_add", "{}", "1")]
    )
    history = (*ASKED.messages, ChatMessage("assistant", "I'll check.", (ToolCall("math.add", {}, "1"),)))
    later = Observation((*history, ChatMessage("tool", "1", call_id="1")), ASKED.tools, 4)
    for field, sent in (("", False), ("reasoning_content", True)):
        with chat(in_order(answer), reasoning_field=field) as (policy, server):
            action, memory = policy.act(ASKED, None)
            policy.act(later, memory)
            assistant = server.bodies[1]["messages"][2]
        assert not isinstance(action, Malformed)
        assert action.raw["reasoning_sent_back"] is sent
        assert assistant.get("reasoning_content") == ("need tool" if sent else None)
        assert bool(memory.reasoning) is sent


def test_one_policy_serves_many_threads() -> None:
    def echo(request: Request) -> Answer:
        return completion(request.body["messages"][-1]["content"])

    with chat(echo) as (policy, server), ThreadPoolExecutor(8) as pool:
        seen = [Observation((ChatMessage("user", f"task {n}"),), (), 5) for n in range(40)]
        actions = list(pool.map(lambda one: policy.act(one, None)[0], seen))
        assert actions == [Message(f"task {n}") for n in range(40)]
        assert len(server.requests) == 40


def test_a_policy_survives_pickling_and_closing() -> None:
    with FakeServer(completion("hi")) as server:
        policy = ChatPolicy(ChatSettings(model=MODEL, base_url=server.base_url), name="mine")
        policy.act(ASKED, None)
        twin = pickle.loads(pickle.dumps(policy))
        assert (twin.name, twin.settings) == ("mine", policy.settings)
        policy.close()
        for one in (policy, twin):
            assert one.act(ASKED, None)[0] == Message("hi")
            one.close()


def test_the_spec_makes_a_policy_and_names_what_it_does_not_know() -> None:
    policy = make("qwen3.5", {"base_url": "http://127.0.0.1:1/v1", "attempts": 2})
    assert isinstance(policy, Policy)
    assert policy.name == "chat:qwen3.5"
    assert policy.settings.attempts == 2
    with pytest.raises(UnknownNameError, match=r"'base_ulr' in agent chat:m; did you mean 'base_url'"):
        make("m", {"base_ulr": "http://x"})


def test_importing_the_agent_does_not_import_openai() -> None:
    heavy = "('openai', 'httpx2', 'pycurl')"
    code = f"import sys, toolenv.agents.chat; print(any(name in sys.modules for name in {heavy}))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
