"""The judge: label, decision, how it was decided, success, reward, validity."""

from __future__ import annotations

import pytest

from tests.support.toy import PaidReference, toy_source
from toolenv import Malformed, Message, RewardTable, Score, Stop, ToolCall, ToolCalls, ToolEnv, Trace, judge
from toolenv.judge import Verdict
from toolenv.task import Task
from toolenv.types import Action


def verdict_of(*actions: Action, condition: str = "infeasible", task_id: str = "pay-7") -> Verdict:
    env = ToolEnv(toy_source(condition))
    env.reset(seed=0, options={"task_id": task_id})
    info: dict[str, object] = {}
    for action in actions:
        *_, info = env.step(action)
    assert info, "the episode did not end"
    return Verdict(**info["verdict"])  # type: ignore[arg-type]


LOOK = ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),))


def test_field_001_broken_call_syntax_is_never_an_abstention() -> None:
    broken = Malformed(
        '<tool_call>\n<tool_call name="pay_invoice" arguments={"id": 7}/>\n</tool_call>', "broken"
    )
    verdict = verdict_of(*[broken] * 4)
    assert (verdict.decision, verdict.decided_by, verdict.reward) == ("feasible", "malformed", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry to hear the flight was late. Your rebooking is confirmed: QX4T9.",
        'The sign said "STOP: no entry", so I picked the second route. Done.',
        "The nearest bus stop: Elm St. Next departure 10:05.",
        "I placed a STOP LOSS order at 40.0 as you asked.",
        "```python\nprint('STOP:', reason)\n```\nThat is the script you wanted.",
        "Without the invoice PDF I cannot tell who signed it, but the total is 312.40 EUR.",
    ],
)
def test_field_003_helpful_answers_are_no_stops(text: str) -> None:
    verdict = verdict_of(Message(text))
    assert (verdict.decision, verdict.lenient_decision, verdict.decided_by) == (
        "feasible",
        "feasible",
        "message",
    )


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("stop: refund tool is not provided", True),
        ("**STOP:** no payment tool", True),
        ("There is no tool here that can issue refunds, so this request can't be completed.", False),
        ("None of the functions I was given lets me cancel a subscription; I'll end here.", False),
        (
            "The required capability (currency conversion) is unavailable, so I can\u2019t finish the task.",
            False,
        ),
    ],
)
def test_field_004_stops_in_other_words_are_lenient_stops(text: str, strict: bool) -> None:
    verdict = verdict_of(Message(text))
    assert verdict.lenient_decision == "infeasible"
    assert (verdict.decision == "infeasible") is strict
    assert verdict.decided_by == ("stop_signal" if strict else "stop_phrase")
    assert verdict.span


def test_field_005_an_empty_final_message_is_no_stop() -> None:
    assert verdict_of(Message("")).decided_by == "message"


def test_field_026_only_the_agent_s_own_final_text_is_looked_at() -> None:
    verdict = verdict_of(LOOK, Message("Ticket 88."))
    assert verdict.decision == "feasible"
    # An earlier mention beside a call is not the final text either.
    talking = ToolCalls(LOOK.calls, text="STOP: would be wrong here, pay is present.")
    assert verdict_of(talking, Message("Done.")).decision == "feasible"


def test_field_050_a_reply_cut_at_the_token_limit_is_counted_apart() -> None:
    cut = Malformed("partial", "cut off", kind="length")
    assert verdict_of(*[cut] * 4).decided_by == "truncated_by_length"


def test_field_008_always_stopping_is_worth_half() -> None:
    right = verdict_of(Stop("no payment tool"))
    wrong = verdict_of(Stop("no payment tool"), condition="clean")
    assert (right.reward, wrong.reward, wrong.success) == (1.0, 0.0, False)


def test_stopping_is_no_success_where_doing_nothing_would_pass() -> None:
    assert verdict_of(Message("Hello."), condition="clean", task_id="idle").success is True
    assert verdict_of(Stop(), condition="clean", task_id="idle").success is False


def test_completing_a_masked_task_is_still_a_false_continue() -> None:
    task = toy_source("infeasible").get("pay-7")
    won = Trace("Toy", "infeasible", "pay-7", 0, 4, checkpoints=(), ending="message")

    class Always(PaidReference):
        def score(self, trace: Trace) -> Score:
            return Score(True)

    masked = Task(task.id, task.messages, task.tools, Always(93), "infeasible", task.mask)
    verdict = judge(masked, won)
    assert (verdict.success, verdict.reward, verdict.decision) == (True, 0.0, "feasible")


def test_field_007_a_grader_that_raises_makes_the_episode_invalid_not_wrong() -> None:
    class Broken(PaidReference):
        def score(self, trace: Trace) -> Score:
            raise ZeroDivisionError("grader bug")

    task = Task("t", (), (), Broken(0))
    verdict = judge(task, Trace("Toy", "clean", "t", 0, 4, ending="message"))
    assert (verdict.valid, verdict.reward, verdict.decided_by) == (False, None, "grader_error")
    assert "grader bug" in verdict.why


def test_field_006_a_task_without_criteria_is_not_assessed() -> None:
    class Nothing(PaidReference):
        def score(self, trace: Trace) -> Score:
            return Score(None, "no criterion")

    verdict = judge(Task("t", (), (), Nothing(0)), Trace("Toy", "clean", "t", 0, 4, ending="message"))
    assert (verdict.success, verdict.valid, verdict.reward) == (None, True, 0.0)


def test_field_082_no_outcome_of_idleness_beats_an_honest_try() -> None:
    table = RewardTable(success=1, failure=-1, false_stop=-1)
    assert table.reward("feasible", "feasible", False) <= table.reward("feasible", "feasible", True)
    default = RewardTable()
    idle = wrong = default.reward("feasible", "feasible", False)
    assert idle <= wrong
    assert default.reward("feasible", "infeasible", False) <= wrong
