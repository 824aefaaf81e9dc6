"""Planner and executor: the protocol, and the numbers of a small study worked out by hand."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from tests.agents.parts import ByTask, Watched, balance, notes, pay, say, stop
from tests.support.toy import TOOLS, toy_source
from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, plain, play, toy_ids
from toolenv import Rollout, ToolEnv, rollout
from toolenv.agents.oracle import Oracle
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.planner_prompts import CHECK_PROMPT
from toolenv.agents.prompts import SelfContained
from toolenv.agents.registry import make_agent
from toolenv.errors import ContextWindowError, ServerError, UsageError
from toolenv.metrics.rates import false_stop_rate, fass, fcr_strict, sr
from toolenv.metrics.roles import role_usage, tc_early_stop_by_role
from toolenv.metrics.tokens import tc_early_stop, tc_task_failure
from toolenv.policy import Privileged
from toolenv.runner.plan import RunConfig
from toolenv.types import (
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    Usage,
)

ASKED = Observation((ChatMessage("system", "A bank."), ChatMessage("user", "Pay 7.")), TOOLS, 4)

NAME_IT = say("1. pay 7 (payment)", 100, 20)
GO: list[Action] = [NAME_IT, say("1. call pay", 150, 10)]
NO: list[Action] = [NAME_IT, stop("payment", 150, 5)]

STUDY = RunConfig(envs=(CLEAN, INFEASIBLE), agent="pair", tasks=("pay-7", "pay-30", "two-turns"))


@pytest.fixture(autouse=True, scope="module")
def _ids() -> Iterator[None]:
    with toy_ids():
        yield


def study_pair() -> PlannerExecutor:
    """Stops on 2 of 3 infeasible tasks, once by the planner and once by the executor; and on one feasible."""
    planner = ByTask(
        "P",
        {
            "feasible pay-7": GO,
            "feasible pay-30": NO,
            "feasible two-turns": GO,
            "infeasible pay-7": NO,
            "infeasible pay-30": GO,
            "infeasible two-turns": GO,
        },
    )
    executor = ByTask(
        "E",
        {
            "feasible pay-7": [pay(7, 200, 15), say("Paid.", 230, 5)],
            "feasible pay-30": [],
            "feasible two-turns": [say("Not yet.", 210, 4), pay(7, 300, 15), say("Paid.", 330, 5)],
            "infeasible pay-7": [],
            "infeasible pay-30": [stop("payment", 220, 6)],
            "infeasible two-turns": [say("Not yet.", 210, 4), say("Done.", 310, 3)],
        },
    )
    return PlannerExecutor(planner, executor)


def totals(one: Rollout) -> dict[str, int | None]:
    return {role: usage.total_tokens for role, usage in role_usage(one.trace).items()}


def test_a_study_by_hand() -> None:
    """A planning costs 120 + 160 = 280 tokens, or 120 + 155 = 275 where it ends in a stop.

    two-turns has two user turns and so two plannings: 560. The executor's tokens are the sums of the
    scripts above. FASS: pay-7 and two-turns done, pay-7 and pay-30 rightly stopped, of 6.
    """
    rollouts = play(STUDY, study_pair())
    episodes = [one.episode for one in rollouts]
    assert {(one.episode.env, one.episode.task_id): totals(one) for one in rollouts} == {
        (CLEAN, "pay-7"): {"planner": 280, "executor": 450},
        (CLEAN, "pay-30"): {"planner": 275},
        (CLEAN, "two-turns"): {"planner": 560, "executor": 214 + 315 + 335},
        (INFEASIBLE, "pay-7"): {"planner": 275},
        (INFEASIBLE, "pay-30"): {"planner": 280, "executor": 226},
        (INFEASIBLE, "two-turns"): {"planner": 560, "executor": 214 + 313},
    }
    assert {one.agent for one in episodes} == {"planner(P)->executor(E)"}
    rates = [one(episodes).value for one in (fcr_strict, false_stop_rate, sr, fass)]
    assert rates == pytest.approx([1 / 3, 1 / 3, 2 / 3, 4 / 6])
    assert tc_early_stop(episodes).value == (275 + 506) / 2
    assert tc_task_failure(episodes).value == 560 + 527
    split = tc_early_stop_by_role(rollouts)
    assert {role: (one.value, one.n) for role, one in split.items()} == {
        "planner": ((275 + 280) / 2, 2),
        "executor": (226 / 2, 2),
    }


def test_the_same_at_any_concurrency() -> None:
    many = RunConfig(**{**{name: getattr(STUDY, name) for name in ("envs", "agent", "tasks")}, "trials": 4})
    alone = plain(play(many, study_pair(), concurrency=1))
    assert len(alone) == 24
    assert plain(play(many, study_pair(), concurrency=8)) == alone


def act(policy: PlannerExecutor, observation: Observation = ASKED, memory: Any = None) -> tuple[Action, Any]:
    return policy.act(observation, memory)


def test_the_two_rounds() -> None:
    planner, executor = Watched(*GO), Watched(pay(7, 200, 15))
    action, _ = act(PlannerExecutor(planner, executor))
    first, second = planner.seen
    assert isinstance(first, SelfContained)
    assert first.tools == second.tools == ()
    assert first.messages[:2] == ASKED.messages
    decompose = first.messages[2].content
    assert "- accounts_balance(account: string): The balance of an account." in decompose
    assert "- pay(account: string, amount: integer): Pay an amount from an account." in decompose
    assert "capability" in decompose
    assert second.messages[:3] == first.messages
    assert second.messages[3:] == (
        ChatMessage("assistant", "1. pay 7 (payment)"),
        ChatMessage("user", CHECK_PROMPT),
    )
    assert "STOP:" in CHECK_PROMPT
    assert planner.memories == [None, 0]
    assert action == pay(7)
    assert action.usage == Usage(450, 45, generations=3)
    assert notes(action)["planning"] == ["1. pay 7 (payment)", "1. call pay"]


def test_the_executor_gets_the_plan_behind_the_request_and_keeps_it_there() -> None:
    executor = Watched(balance(), say("Done."))
    pair = PlannerExecutor(Watched(*GO), executor)
    _, memory = act(pair)
    later = (*ASKED.messages, ChatMessage("assistant", "", balance().calls), ChatMessage("tool", "100"))
    action, _ = act(pair, Observation(later, TOOLS, 3), memory)
    for seen in executor.seen:
        assert seen.tools == TOOLS
        assert seen.messages[:2] == ASKED.messages
        assert seen.messages[2].role == "user"
        assert "1. call pay" in seen.messages[2].content
        assert "(payment)" not in seen.messages[2].content
    assert executor.seen[1].messages[3:] == later[2:]
    assert executor.memories == [None, 0]
    assert "planning" not in notes(action)


@pytest.mark.parametrize("said", [stop("payment", 150, 5), say("STOP: payment", 150, 5)])
def test_the_planner_s_stop_is_the_pair_s_with_the_usage_of_both_rounds(said: Action) -> None:
    executor = Watched(pay(7))
    action, _ = act(PlannerExecutor(Watched(NAME_IT, said), executor))
    assert action == Stop("payment")
    assert action.usage == Usage(250, 25, generations=2)
    assert set(notes(action)["roles"]) == {"planner"}
    assert notes(action)["planning"][1].startswith("STOP:")
    assert executor.seen == []


def test_a_stop_in_the_first_round_is_one_too() -> None:
    planner = Watched(stop("payment", 100, 5))
    action, _ = act(PlannerExecutor(planner, Watched(pay(7))))
    assert (action, action.usage) == (Stop("payment"), Usage(100, 5))
    assert len(planner.seen) == 1


def test_the_executor_may_stop() -> None:
    action, _ = act(PlannerExecutor(Watched(*GO), Watched(stop("payment", 220, 6))))
    assert action == Stop("payment")
    assert set(notes(action)["roles"]) == {"planner", "executor"}


@pytest.mark.parametrize(
    "answer",
    [pay(7), Malformed("<tool_call>{", "not valid JSON"), Message("  "), ToolCalls(())],
    ids=["calls", "malformed", "blank", "no calls"],
)
def test_without_words_there_is_no_plan_and_nothing_is_called(answer: Action) -> None:
    executor = Watched(say("Done."))
    action, _ = act(PlannerExecutor(Watched(NAME_IT, answer), executor))
    assert action == Message("Done.")
    assert executor.seen[0].messages == ASKED.messages


@pytest.mark.parametrize(
    ("answer", "plan"),
    [
        (ToolCalls(pay(7).calls, "1. pay it"), "1. pay it"),
        (Malformed("1. pay, and the", "cut off", "length"), "1. pay, and the"),
        (Malformed("STOP: no tool for", "cut off", "length"), "STOP: no tool for"),
    ],
    ids=["beside calls", "cut off", "a stop cut off is none"],
)
def test_words_are_a_plan_wherever_they_stand(answer: Action, plan: str) -> None:
    executor = Watched(say("Done."))
    action, _ = act(PlannerExecutor(Watched(NAME_IT, answer), executor))
    assert action == Message("Done.")
    assert plan in executor.seen[0].messages[2].content


def test_a_silent_first_round_is_asked_on() -> None:
    planner = Watched(Malformed("{", "not JSON"), say("1. call pay"))
    act(PlannerExecutor(planner, Watched(say("Done."))))
    assert planner.seen[1].messages[3] == ChatMessage("assistant", "(no answer)")


def test_the_executor_has_eight_decisions_and_the_pair_then_closes_without_stopping() -> None:
    """Appendix C: max_executor_turns=8."""
    executor = Watched(balance(10, 1))
    env = ToolEnv(toy_source(max_turns=20))
    played = rollout(env, PlannerExecutor(Watched(*GO), executor), seed=0, task_id="pay-7")
    kinds = [type(step.action) for step in played.trace.steps]
    assert kinds == [ToolCalls] * 8 + [Message]
    assert [seen.turns_left for seen in executor.seen] == [8, 7, 6, 5, 4, 3, 2, 1]
    last = played.trace.steps[-1].action
    assert last == Message("")
    assert last.usage == Usage(0, 0, generations=0)
    assert notes(last)["closed"] == "max_executor_turns"
    assert (played.episode.decision, played.episode.decided_by) == ("feasible", "message")
    assert totals(played) == {"planner": 280, "executor": 88}


def test_the_environment_s_own_cap_comes_first() -> None:
    env = ToolEnv(toy_source())  # 4 decisions
    played = rollout(env, PlannerExecutor(Watched(*GO), Watched(balance())), seed=0, task_id="pay-7")
    assert played.trace.ending == "truncated"
    assert len(played.trace.steps) == 4


def test_a_new_user_turn_is_planned_anew_with_fresh_decisions() -> None:
    planner = Watched(*GO[:1], GO[1], say("again"), say("2. call pay now"))
    executor = Watched(balance(), balance(), pay(7), say("Paid."))
    pair = PlannerExecutor(planner, executor, max_executor_turns=2)
    played = rollout(ToolEnv(toy_source()), pair, seed=0, task_id="two-turns")
    assert played.episode.success
    assert [step.action for step in played.trace.steps] == [
        balance_as_taken(0),
        balance_as_taken(1),
        Message(""),
        ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}, "call00002"),)),
        Message("Paid."),
    ]
    assert len(planner.seen) == 4
    assert planner.memories == [None, 0, None, 2]
    told = [planner.seen[number].messages[-1].content for number in (0, 2)]
    assert ["- pay(" in text for text in told] == [False, True]  # the tool comes with the second turn
    assert not any(message.calls or message.role == "tool" for message in planner.seen[2].messages)
    texts = [message.content for message in planner.seen[2].messages]
    assert 'Called accounts.balance with {"account": "A1"}' in texts
    heard = [message.content for message in executor.seen[-1].messages]
    first, second = (text for text in heard if "gives you this plan" in text)
    assert "1. call pay" in first
    assert "2. call pay now" in second


def balance_as_taken(number: int) -> ToolCalls:
    return ToolCalls((ToolCall("accounts.balance", {"account": "A1"}, f"call{number:05d}"),))


def test_a_simulated_user_s_answer_is_no_new_turn() -> None:
    """There the cap on decisions runs on (toolenv.user), and so does the plan."""
    planner, executor = Watched(*GO), Watched(say("Which account?"), say("Done."))
    pair = PlannerExecutor(planner, executor)
    _, memory = act(pair)
    answered = (*ASKED.messages, ChatMessage("assistant", "Which account?"), ChatMessage("user", "A1"))
    act(pair, Observation(answered, TOOLS, 3), memory)
    assert len(planner.seen) == 2


def test_one_decision_a_turn_still_tells_turns_apart() -> None:
    planner = Watched(*GO)
    pair = PlannerExecutor(planner, Watched(say("Not yet."), balance(), balance()))
    _, memory = act(pair, Observation(ASKED.messages, TOOLS, 1))
    _, memory = act(pair, Observation(ASKED.messages, TOOLS, 1), memory)
    assert len(planner.seen) == 4
    act(pair, Observation(ASKED.messages, TOOLS, 1), memory)  # asked again, as by a retry around the pair
    assert len(planner.seen) == 4


@pytest.mark.parametrize("kind", [ServerError, ContextWindowError])
@pytest.mark.parametrize(("failing", "spent"), [(1, Usage(100, 20)), (2, Usage(250, 30, generations=2))])
def test_field_011_a_failure_keeps_what_was_spent_before_it(kind: Any, failing: int, spent: Usage) -> None:
    def fail() -> Action:
        raise kind("busy", Usage(7, 0, generations=1))

    parts: list[Any] = [*GO, balance()]
    parts[failing] = fail
    pair = PlannerExecutor(Watched(*parts[:2]), Watched(parts[2]))
    with pytest.raises(kind, match="busy") as raised:
        act(pair)
    assert raised.value.usage == spent + Usage(7, 0)


def test_unknown_tokens_stay_unknown() -> None:
    action, _ = act(PlannerExecutor(Watched(Message("1. pay")), Watched(pay(7, 200, 15))))
    assert action.usage is not None
    assert not action.usage.known
    assert notes(action)["roles"]["planner"]["input_tokens"] is None
    assert notes(action)["roles"]["executor"]["input_tokens"] == 200


def test_only_those_who_may_are_told_the_truth() -> None:
    assert not isinstance(PlannerExecutor(Watched(*GO), Watched(pay(7))), Privileged)
    told = PlannerExecutor(Oracle(), Watched(say("Done.")))
    assert isinstance(told, Privileged)
    env = ToolEnv(toy_source("infeasible"))
    assert rollout(env, told, seed=0, task_id="pay-7").episode.decided_by == "stop_signal"
    oracles = make_agent("planner(oracle)->executor(oracle)")
    for condition in ("clean", "infeasible"):
        played = rollout(ToolEnv(toy_source(condition)), oracles, seed=0, task_id="two-turns")
        assert played.episode.reward == 1.0


def test_pairs_and_their_memories_can_be_pickled() -> None:
    pair = pickle.loads(pickle.dumps(study_pair()))
    assert plain(play(STUDY, pair)) == plain(play(STUDY, study_pair()))
    _, memory = act(PlannerExecutor(Watched(*GO), Watched(pay(7))))
    assert pickle.loads(pickle.dumps(memory)) == memory


def test_functions_are_parts_too() -> None:
    def careful(observation: Observation) -> Action:
        return Stop("careful")

    def careless(observation: Observation) -> Action:
        return Message("Done.")

    action, _ = act(PlannerExecutor(careless, careful))
    assert action == Stop("careful")


def test_bad_settings_and_bad_parts_are_named() -> None:
    with pytest.raises(UsageError, match="max_executor_turns=0"):
        PlannerExecutor(Oracle(), Oracle(), max_executor_turns=0)
    with pytest.raises(UsageError, match="7 is no policy"):
        PlannerExecutor(7, Oracle())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="policy 'wrong' gave no action: str"):
        act(PlannerExecutor(Watched(lambda: "plan", name="wrong"), Oracle()))  # type: ignore[arg-type, return-value]
