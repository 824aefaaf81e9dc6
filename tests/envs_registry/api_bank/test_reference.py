"""When an episode counts as a success."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.types import Action, Message, ToolCall, ToolCalls

SUBSETS = ("default", "level-1-dialogue", "level-1-open", "level-2", "level-2-all", "level-3", "level-3-all")


def environment(subset: str = "default") -> ToolEnv:
    return ToolEnv(make_source(envs_registry.get_suite("APIBank"), subset=subset))


def solution(env: ToolEnv, task_id: str) -> list[Action]:
    return list(env.source.get(task_id).reference.solution())


def verdict(env: ToolEnv, task_id: str, actions: Sequence[Action]) -> dict[str, Any]:
    env.reset(seed=0, options={"task_id": task_id})
    info: dict[str, Any] = {}
    for action in actions:
        *_, info = env.step(action)
    found: dict[str, Any] = info["verdict"]
    return found


def call(name: str, **arguments: Any) -> ToolCalls:
    return ToolCalls((ToolCall(name, arguments),))


def places(actions: Sequence[Action]) -> list[int]:
    return [at for at, action in enumerate(actions) if isinstance(action, ToolCalls)]


@pytest.mark.parametrize("subset", SUBSETS)
def test_the_oracle_passes_and_doing_nothing_does_not(subset: str) -> None:
    """FIELD-006: a dialogue without a call is not assessed rather than passed; there is one in two levels."""
    env = environment(subset)
    outcomes = {
        name: [
            rollout(env, make_agent(name), seed=0, task_id=task_id).episode.success
            for task_id in env.source.task_ids
        ]
        for name in ("oracle", "noop")
    }
    not_assessed = 1 if subset.startswith(("default", "level-1-d", "level-2")) else 0
    count = len(env.source.task_ids)
    assert outcomes["oracle"].count(True) == count - not_assessed
    assert outcomes["noop"].count(False) == count - not_assessed
    assert outcomes["noop"].count(None) == outcomes["oracle"].count(None) == not_assessed


def test_a_call_that_is_missing_or_wrong_fails() -> None:
    env = environment()
    task_id = "AddAgenda-AddAlarm-GetUserToken-level-2-1"
    actions = solution(env, task_id)
    for at in places(actions):
        without = [*actions[:at], *actions[at + 1 :]]
        found = verdict(env, task_id, without)
        assert (found["success"], found["why"][:16]) == (False, "no call is right")
    assert verdict(env, task_id, actions)["success"] is True


def test_words_may_differ_where_upstreams_rule_lets_them() -> None:
    """AddAgenda: more than half of the words in common, the rest equal."""
    env = environment()
    task_id = "AddAgenda-AddAlarm-GetUserToken-level-2-1"
    actions = solution(env, task_id)
    at = places(actions)[1]
    agenda = actions[at]
    assert isinstance(agenda, ToolCalls)
    told = dict(agenda.calls[0].arguments)
    assert told["content"] == "Meeting with John at the office"
    for content, passes in (("Meeting with John at office", True), ("Meeting John", False)):
        actions[at] = call("AddAgenda", **(told | {"content": content}))
        assert verdict(env, task_id, actions)["success"] is passes
    actions[at] = call("AddAgenda", **(told | {"location": "elsewhere"}))
    assert verdict(env, task_id, actions)["success"] is False


def test_order_counts_where_it_changes_a_result() -> None:
    env = environment()
    task_id = "ForgotPassword-level-1-1"
    actions = solution(env, task_id)
    first, second = places(actions)
    actions[first], actions[second] = actions[second], actions[first]
    assert verdict(env, task_id, actions)["success"] is False


def test_order_does_not_count_where_it_changes_nothing() -> None:
    env = environment()
    task_id = "AddAgenda-AddAlarm-GetUserToken-level-2-1"
    actions = solution(env, task_id)
    _, second, third = places(actions)
    actions[second], actions[third] = actions[third], actions[second]
    assert verdict(env, task_id, actions)["success"] is True


ALARM = "AddAlarm-level-1-1"


def alarm_solution(env: ToolEnv) -> tuple[list[Action], str, str]:
    """The solution, the token, and the time of the alarm."""
    actions = solution(env, ALARM)
    made = actions[places(actions)[-1]]
    assert isinstance(made, ToolCalls)
    assert made.calls[0].name == "AddAlarm"
    return actions, made.calls[0].arguments["token"], made.calls[0].arguments["time"]


def test_other_calls_may_look_things_up_and_fail() -> None:
    env = environment()
    actions, token, _ = alarm_solution(env)
    at = places(actions)[-1]
    actions[at:at] = [
        call("GetToday"),
        call("QueryAlarm", token=token, time="2001-01-01 00:00:00"),
        call("AddAlarm", token="wrong", time="2001-01-01 00:00:00"),
        call("AddAlarm", tokens=token),
    ]
    assert verdict(env, ALARM, actions)["success"] is True


def test_other_changes_may_not_last() -> None:
    env = environment()
    actions, token, time = alarm_solution(env)
    wrong = "2001-01-01 00:00:00"
    at = places(actions)[-1]
    slip = call("AddAlarm", token=token, time=wrong)
    found = verdict(env, ALARM, [*actions[:at], slip, *actions[at:]])
    assert (found["success"], found["why"]) == (False, "other calls changed Alarm")
    mended = [slip, call("DeleteAlarm", token=token, time=wrong)]
    assert verdict(env, ALARM, [*actions[:at], *mended, *actions[at:]])["success"] is True
    undone = call("DeleteAlarm", token=token, time=time)
    assert verdict(env, ALARM, [*actions[: at + 1], undone, *actions[at + 1 :]])["success"] is False


def test_an_episode_that_is_cut_short_fails() -> None:
    env = environment()
    actions, _, _ = alarm_solution(env)
    at = places(actions)[-1]
    found = verdict(env, ALARM, [*actions[: at + 1], *[call("GetToday")] * (12 - 1)])
    assert found["decided_by"] == "truncated"
    assert (found["success"], found["why"]) == (False, "the decisions ran out")


def test_a_mended_rule_lets_deletions_of_meetings_pass() -> None:
    """Upstream's never does: it compares an argument that meetings do not have (NOTES.md)."""
    env = environment()
    task_id = "DeleteMeeting-level-1-1"
    actions = solution(env, task_id)
    assert verdict(env, task_id, actions)["success"] is True
    made = actions[places(actions)[-1]]
    assert isinstance(made, ToolCalls)
    other = dict(made.calls[0].arguments) | {"start_time": "2023-03-28 09:00:00"}
    actions[places(actions)[-1]] = call("DeleteMeeting", **other)
    assert verdict(env, task_id, actions)["success"] is False


def test_a_masked_task_is_failed_by_going_on() -> None:
    env = ToolEnv(make_source(envs_registry.get_suite("APIBank"), "infeasible"))
    found = verdict(env, ALARM, solution(env, ALARM))
    assert (found["label"], found["decision"], found["reward"]) == ("infeasible", "feasible", 0.0)
    assert all(result.kind == "masked_tool" for _, result in env.trace.calls())


def test_a_judgement_needs_the_trace_alone() -> None:
    """A trace read back from JSON gets the same verdict, on worlds of its own."""
    from toolenv.judge import judge
    from toolenv.trace import Trace

    env = environment()
    played = rollout(env, make_agent("oracle"), seed=7, task_id=ALARM)
    again = Trace.from_json(played.trace.to_json())
    assert judge(env.source.get(ALARM), again).success is True
    silent = rollout(env, lambda observation: Message("No."), seed=7, task_id=ALARM)
    assert judge(env.source.get(ALARM), silent.trace).success is False
