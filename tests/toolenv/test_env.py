"""The environment: gymnasium's contract, replies, isolation, and what never leaks."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from tests.support.toy import Toy, toy_source
from toolenv import (
    Action,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolEnv,
    Trace,
    Usage,
)
from toolenv.errors import UnknownNameError, UsageError


def env(condition: str = "clean", **keywords: object) -> ToolEnv:
    return ToolEnv(toy_source(condition, **keywords))


def call(name: str, call_id: str = "", **arguments: object) -> ToolCalls:
    return ToolCalls((ToolCall(name, arguments, call_id),))


@pytest.mark.parametrize("condition", ["clean", "infeasible", "mixed"])
def test_check_env_passes(condition: str) -> None:
    check_env(env(condition), skip_render_check=True)


def test_solving_a_task() -> None:
    made = env()
    made.reset(seed=1, options={"task_id": "pay-7"})
    observation, reward, terminated, truncated, info = made.step(call("pay", account="A1", amount=7))
    assert (reward, terminated, truncated, info) == (0.0, False, False, {})
    assert json.loads(observation.messages[-1].content) == {"account": "A1", "balance": 93}
    assert made.world_state() == {"A1": 93, "B2": 5}
    _, reward, terminated, truncated, info = made.step(Message("Paid."))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["verdict"] == {
        "label": "feasible",
        "decision": "feasible",
        "lenient_decision": "feasible",
        "decided_by": "message",
        "span": "",
        "success": True,
        "reward": 1.0,
        "valid": True,
        "why": "",
        "accurate": None,
    }


def test_a_masked_task_rewards_stopping() -> None:
    made = env("infeasible")
    observation, _ = made.reset(seed=1, options={"task_id": "pay-7"})
    assert [tool.name for tool in observation.tools] == ["accounts.balance", "crash"]
    _, reward, terminated, _, info = made.step(Stop("no way to pay"))
    assert (reward, terminated, info["verdict"]["decided_by"]) == (1.0, True, "stop_signal")


def test_field_013_unknown_and_masked_tools_read_the_same() -> None:
    made = env("infeasible")
    made.reset(options={"task_id": "pay-7"})
    observation, reward, terminated, truncated, _ = made.step(
        ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}), ToolCall("never_was", {})))
    )
    masked, unknown = (message.content for message in observation.messages[-2:])
    assert masked.replace("'pay'", "'never_was'") == unknown
    assert "accounts_balance" in masked
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert [result.kind for _, result in made.trace.calls()] == ["masked_tool", "unknown_tool"]
    assert made.world_state() == {"A1": 100, "B2": 5}


def test_field_018_every_call_gets_one_reply_in_order() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    calls = (
        ToolCall("accounts.balance", {"account": "A1"}, "a"),
        ToolCall("accounts.balance", {"account": "nobody"}, "b"),
        ToolCall("not_offered", {}, "c", problem="broken JSON"),
    )
    observation, *_ = made.step(ToolCalls(calls))
    replies = observation.messages[-3:]
    assert [reply.call_id for reply in replies] == ["a", "b", "c"]
    assert all(reply.content for reply in replies)
    assert [result.kind for _, result in made.trace.calls()] == ["ok", "tool_error", "unknown_tool"]


def test_field_018_replies_also_when_a_call_ends_the_episode() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    observation, _, _, truncated, info = made.step(
        ToolCalls((ToolCall("crash", {}, "a"), ToolCall("pay", {}, "b")))
    )
    assert truncated
    assert [reply.call_id for reply in observation.messages[-2:]] == ["a", "b"]
    assert info["verdict"]["valid"] is False


def test_field_039_and_023_a_bug_in_a_tool_makes_the_episode_invalid() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    observation, reward, terminated, truncated, info = made.step(call("crash"))
    assert math.isnan(reward)
    assert (terminated, truncated) == (False, True)
    assert info["verdict"]["reward"] is None
    assert info["verdict"]["decided_by"] == "environment_error"
    assert "a bug inside the tool" in made.trace.error
    assert "bug" not in observation.messages[-1].content


def test_wire_names_are_accepted_and_traces_hold_the_originals() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    made.step(call("accounts_balance", account="A1"))
    (answered,) = made.trace.calls("ok")
    assert answered[0].name == "accounts.balance"


def test_call_ids_are_unique() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    balance = {"account": "A1"}
    made.step(
        ToolCalls(
            tuple(ToolCall("accounts.balance", balance, given) for given in ("", "x", "x", "call00001"))
        )
    )
    made.step(call("accounts.balance", "x", account="A1"))
    ids = [made_call.id for made_call, _ in made.trace.calls()]
    assert len(set(ids)) == 5
    assert ids[1] == "x"


def test_malformed_output_is_answered_and_never_a_stop() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    observation, _, terminated, truncated, _ = made.step(Malformed("<tool_call>{", "broken JSON"))
    assert (terminated, truncated) == (False, False)
    assert observation.messages[-2].content == "<tool_call>{"
    assert "broken JSON" in observation.messages[-1].content
    observation, *_ = made.step(ToolCalls(()))
    assert "without any call" in observation.messages[-1].content


def test_field_005_running_out_of_turns_is_a_false_continue() -> None:
    made = env("infeasible")
    made.reset(options={"task_id": "pay-7"})
    for left in (3, 2, 1):
        observation, _, terminated, truncated, _ = made.step(call("accounts.balance", account="A1"))
        assert (observation.turns_left, terminated, truncated) == (left, False, False)
    _, reward, terminated, truncated, info = made.step(call("accounts.balance", account="A1"))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["verdict"]["decision"], info["verdict"]["decided_by"]) == ("feasible", "truncated")


def test_a_later_turn_brings_its_tools_and_its_own_budget() -> None:
    made = env()
    observation, _ = made.reset(options={"task_id": "two-turns"})
    assert [tool.name for tool in observation.tools] == ["accounts.balance", "crash"]
    made.step(call("accounts.balance", account="A1"))
    observation, _, terminated, _, _ = made.step(Message("There is nothing I can pay with yet."))
    assert not terminated
    assert observation.messages[-1].content == "Now you can pay."
    assert [tool.name for tool in observation.tools] == ["accounts.balance", "pay", "crash"]
    assert observation.turns_left == 4
    made.step(call("pay", account="A1", amount=7))
    *_, info = made.step(Message("Paid."))
    assert info["verdict"]["success"] is True
    assert len(made.trace.checkpoints) == 2


def test_a_stop_signal_in_a_message_ends_the_episode_in_any_turn() -> None:
    made = env()
    made.reset(options={"task_id": "two-turns"})
    _, reward, terminated, _, info = made.step(Message("STOP: no payment tool"))
    assert (terminated, reward, info["verdict"]["decision"]) == (True, 0.0, "infeasible")


def test_field_015_episodes_share_nothing() -> None:
    first, second = env(), env()
    first.reset(options={"task_id": "pay-7"})
    second.reset(options={"task_id": "pay-7"})
    first.step(call("pay", account="A1", amount=100))
    observation, *_ = second.step(call("accounts.balance", account="A1"))
    assert json.loads(observation.messages[-1].content)["balance"] == 100
    first.reset(options={"task_id": "pay-7"})
    observation, *_ = first.step(call("accounts.balance", account="A1"))
    assert json.loads(observation.messages[-1].content)["balance"] == 100


def test_field_047_observations_and_infos_are_never_changed_afterwards() -> None:
    made = env()
    observation, info = made.reset(seed=3, options={"task_id": "pay-7"})
    kept = copy.deepcopy((observation, info))
    made.step(call("pay", account="A1", amount=7))
    *_, last = made.step(Message("Paid."))
    last["verdict"]["decision"] = "changed by a caller"
    made.reset()
    assert (observation, info) == kept
    made.reset(seed=3, options={"task_id": "pay-7"})
    *_, again = made.step(Message(""))
    assert again["verdict"]["decision"] == "feasible"


def test_field_046_the_episodes_after_a_seeded_reset_are_reproducible() -> None:
    def play() -> list[object]:
        made = env("mixed")
        seen: list[object] = [made.reset(seed=7), made.step(Message("a"))]
        seen += [made.reset(), made.step(Message("b")), made.reset(), made.step(Stop("c"))]
        return seen

    assert play() == play()


def test_an_episode_can_be_replayed_from_its_trace_s_seed() -> None:
    made = env("mixed")
    for _ in range(5):
        made.reset(seed=None)
        task, seed = made.task, made.trace.seed
        made.reset(seed=seed, options={"task_id": task.id})
        assert made.task == task


def test_mixed_draws_labels_by_the_prior() -> None:
    made = env("mixed", prior=0.25)
    labels = []
    for seed in range(400):
        made.reset(seed=seed)
        labels.append(made.task.label)
    # 400 draws with p = 0.25: mean 100, standard deviation 8.66; four of them either way.
    assert 65 <= labels.count("infeasible") <= 135


def test_field_040_arguments_are_coerced_or_refused_and_the_episode_goes_on() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    made.step(call("pay", account="A1", amount="3"))
    made.step(call("pay", account="A1", amount="3.7"))
    (first, _), (_, second) = made.trace.calls()
    assert made.world_state()["A1"] == 97
    assert first.arguments == {"account": "A1", "amount": "3"}
    assert made.trace.calls()[0][1].record == {"coerced": ["amount"]}
    assert second.kind == "invalid_arguments"


def test_field_043_long_results_are_cut_for_the_agent_only() -> None:
    made = ToolEnv(toy_source(suite=Toy(limit=20)))
    made.reset(options={"task_id": "pay-7"})
    observation, *_ = made.step(call("accounts.balance", account="A1"))
    assert len(observation.messages[-1].content) <= 20
    ((_, result),) = made.trace.calls()
    assert json.loads(result.text) == {"account": "A1", "balance": 100}


def test_field_079_surrogates_and_nul_are_kept_as_valid_text() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    made.step(call("accounts.balance", account="ok \ud83c end \ud83c\udf78 \x00\u2028"))
    *_, _ = made.step(Message("lone \ud83c, pair \ud83c\udf78"))
    line = json.dumps(made.trace.to_json(), ensure_ascii=False)
    line.encode("utf-8")
    assert "\n" not in line
    assert made.trace.calls()[0][1].record == {"mended_text": True}
    assert made.trace.calls()[0][0].arguments["account"] == "ok \ufffd end \U0001f378 \x00\u2028"
    assert made.trace.steps[-1].action == Message("lone \ufffd, pair \U0001f378")
    assert Trace.from_json(json.loads(line)) == made.trace


@pytest.mark.parametrize("text", ["Привет ✈ 東京 🎉", "", "a\nb\t\x00", "x" * 200_000])
def test_field_044_any_text_is_in_the_observation_space(text: str) -> None:
    made = env()
    made.reset(options={"task_id": "two-turns"})
    observation, *_ = made.step(Message(text))
    assert isinstance(observation, Observation)
    assert observation in made.observation_space


def test_wrong_values_are_named() -> None:
    made = env()
    with pytest.raises(UnknownNameError, match=r"'pay-8'.*did you mean 'pay-7'"):
        made.reset(options={"task_id": "pay-8"})
    with pytest.raises(UnknownNameError, match=r"reset option 'task'.*task_id"):
        made.reset(options={"task": "pay-7"})
    with pytest.raises(UsageError, match="seed=-1"):
        made.reset(seed=-1)
    made.reset(options={"task_id": "pay-7"})
    with pytest.raises(UsageError, match="dict"):
        made.step({"name": "pay"})  # type: ignore[arg-type]
    made.step(Stop())
    with pytest.raises(gymnasium.error.ResetNeeded):
        made.step(Stop())
    with pytest.raises(UnknownNameError, match="human"):
        ToolEnv(toy_source(), render_mode="human")


def test_render_prints_the_conversation_without_obeying_it() -> None:
    made = ToolEnv(toy_source(), render_mode="ansi")
    made.reset(options={"task_id": "two-turns"})
    made.step(Message("\x1b[31mred"))
    text = made.render()
    assert text is not None
    assert "[user] Pay 7 from A1." in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("action", "part"),
    [
        (Message(None), "Message.text is NoneType"),  # type: ignore[arg-type]
        (ToolCalls(({"name": "pay"},)), r"calls\[0\] is dict"),  # type: ignore[arg-type]
        (ToolCalls((ToolCall(7, {}),)), r"calls\[0\].name is int"),  # type: ignore[arg-type]
        (ToolCalls((ToolCall("pay", '{"amount": 1}'),)), "the arguments of .* are str"),  # type: ignore[arg-type]
        (ToolCalls((ToolCall("pay", None),)), "the arguments of .* are NoneType"),  # type: ignore[arg-type]
        (ToolCalls((ToolCall("pay", {}, id={}),)), r"calls\[0\].id is dict"),  # type: ignore[arg-type]
        (ToolCalls(ToolCall("pay", {})), "ToolCalls.calls is ToolCall"),  # type: ignore[arg-type]
        (ToolCalls(iter(())), "ToolCalls.calls is <tuple_iterator object"),  # type: ignore[arg-type]
        (Stop(confidence=float("nan")), "Stop.confidence is float"),
        (Stop(confidence=1.5), "Stop.confidence is float"),
        (Stop(confidence="high"), "Stop.confidence is str"),  # type: ignore[arg-type]
        (Malformed("text", None), "Malformed.why is NoneType"),  # type: ignore[arg-type]
        (Message("", usage={"input_tokens": 3}), "the usage is dict"),  # type: ignore[arg-type]
        (Message("", usage=Usage(-7, 2)), "Usage.input_tokens is int -7"),
        (Message("", usage=Usage(1, 1.5)), "Usage.output_tokens is float"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_part_of_an_action_is_named_and_nothing_has_happened(action: Action, part: str) -> None:
    made = env()
    observation, _ = made.reset(options={"task_id": "pay-7"})
    assert action not in made.action_space
    with pytest.raises(UsageError, match=part):
        made.step(action)
    assert made.trace.steps == ()
    assert made.step(call("nothing"))[0].turns_left == observation.turns_left - 1


def test_what_a_policy_does_to_an_observation_changes_nothing() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    observation, *_ = made.step(call("pay", account="A1", amount=99))
    with pytest.raises(TypeError, match="read-only"):
        observation.messages[-2].calls[0].arguments.update(amount=7)  # type: ignore[attr-defined]
    observation.tools[0].to_openai()["function"]["parameters"]["properties"].clear()
    assert made.trace.calls()[0][0].arguments == {"account": "A1", "amount": 99}
    assert made.tools[0].parameters["properties"]
    assert made.step(Message("Paid."))[1] == 0.0


def test_too_many_or_too_long_calls_are_bounded() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    observation, *_ = made.step(ToolCalls((ToolCall("nothing"),) * 129))
    assert "more than 128 calls" in observation.messages[-1].content
    made.step(ToolCalls((ToolCall("x" * 3_000_000, {}, "\ud83c" * 3_000_000),)))
    ((kept, _),) = made.trace.calls()
    assert (len(kept.name), len(kept.id)) == (500, 500)
    json.dumps(made.trace.to_json(), ensure_ascii=False).encode()


def test_running_out_of_decisions_is_no_success_even_after_the_right_call() -> None:
    made = env()
    made.reset(options={"task_id": "pay-7"})
    made.step(call("pay", account="A1", amount=7))
    for _ in range(2):
        made.step(Malformed("<", "broken"))
    *_, info = made.step(Malformed("<", "broken"))
    assert (info["verdict"]["success"], info["verdict"]["why"]) == (False, "the decisions ran out")


@pytest.mark.parametrize("options", [3, "pay-7", ["task_id"]])
def test_reset_options_that_are_no_dict_are_refused(options: Any) -> None:
    with pytest.raises(UsageError, match=r"options=.*: give a dict such as"):
        env().reset(options=options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"task_id": ["pay-7"]}, r"task_id is list \['pay-7'\]; give the id of one task"),
        ({"task_id": None}, "task_id is NoneType None; give the id of one task"),
        ({"trace": None}, r"trace is NoneType None; give a toolenv.Trace, such as Trace.from_json"),
        ({"trace": {}}, r"trace is dict \{\}; give a toolenv.Trace, such as Trace.from_json"),
        ({"trace": {}, "task_id": "pay-7"}, "give either task_id or trace"),
        ({"tasks": "pay-7"}, "unknown reset option 'tasks'; did you mean 'task_id'"),
        ([("task_id", "pay-7")], r"give a dict such as \{'task_id': …\}"),
    ],
    ids=["ids", "no id", "no trace", "empty trace", "both", "unknown", "list"],
)
def test_options_that_name_nothing_are_refused(options: Any, told: str) -> None:
    made = ToolEnv(toy_source())
    first, _ = made.reset(seed=3)
    with pytest.raises(UsageError, match=told):
        made.reset(options=options)
    assert made.task.messages == first.messages  # the episode goes on, and the next one is the one it was
    made.reset()
    told_next = made.task.id
    other = ToolEnv(toy_source())
    other.reset(seed=3)
    other.reset()
    assert other.task.id == told_next


def test_a_trace_out_of_a_run_is_given_as_a_trace() -> None:
    made = ToolEnv(toy_source())
    made.reset(seed=3, options={"task_id": "pay-7"})
    made.step(Message("Done."))
    record = json.loads(json.dumps({"trace": made.trace.to_json()}))
    with pytest.raises(UsageError, match=r"Trace.from_json\(record\['trace'\]\)"):
        made.reset(options={"trace": record["trace"]})
    made.reset(options={"trace": Trace.from_json(record["trace"])})
    assert made.trace == Trace.from_json(record["trace"])
