"""What follows the first failed call, in traces small enough to be counted by hand."""

from __future__ import annotations

import pytest

from toolenv.facts.reaction import FirstAction, reaction
from toolenv.trace import Continuation, Ending, Step, Trace
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, ToolResult

FIRED = {"hazard": {"name": "output-drift", "mode": "units", "tool": "a", "seed": 0, "fired": True}}
PASSED = {"hazard": {**FIRED["hazard"], "fired": False}}
OK, BAD, ODD = (
    ToolResult("1", record=PASSED),
    ToolResult("Error: no", "tool_error"),
    ToolResult("{}", record=FIRED),
)


def called(*calls: tuple[str, ToolResult]) -> Step:
    """One decision that calls tools."""
    return Step(
        0, ToolCalls(tuple(ToolCall(name) for name, _ in calls)), tuple(result for _, result in calls)
    )


def trace(*steps: Step | Action, ending: Ending = "message") -> Trace:
    made = tuple(step if isinstance(step, Step) else Step(0, step) for step in steps)
    return Trace("Toy", "hazard", "t", 0, 9, made, ending=ending)


def test_no_failure() -> None:
    found = reaction(trace(called(("a", OK)), Message("5")))
    assert (found.failure, found.first_action, found.calls_after, found.answered) == ("", "none", 0, True)


@pytest.mark.parametrize(
    ("after", "ending", "first", "calls"),
    [
        ((called(("a", OK)), Message("5")), "message", "retry", 1),
        ((called(("b", OK)), called(("a", OK), ("c", OK)), Message("5")), "message", "switch", 3),
        ((called(("b", OK), ("a", BAD)), Message("5")), "message", "retry", 2),
        ((Message("5"),), "message", "stop", 0),
        ((Stop("no"),), "stop", "stop", 0),
        ((called(("transfer", OK)),), "terminal_tool", "stop", 1),
        ((called(("a", OK)),), "terminal_tool", "retry", 1),
        ((Malformed("{", "cut"), called(("a", OK)), Message("5")), "message", "other", 1),
        ((Message("Which?"), called(("b", OK)), Message("5")), "message", "other", 1),  # a later user turn
        ((), "truncated", "none", 0),
        ((called(("b", OK)),), "truncated", "switch", 1),
    ],
)
@pytest.mark.parametrize("failed", [BAD, ODD])
def test_the_first_action_is_the_next_decision(
    after: tuple[Step | Action, ...], ending: Ending, first: FirstAction, calls: int, failed: ToolResult
) -> None:
    found = reaction(trace(called(("z", OK)), called(("a", failed)), *after, ending=ending))
    assert (found.first_action, found.calls_after) == (first, calls)
    assert found.failure == ("error" if failed is BAD else "perturbed")


def test_calls_made_in_the_same_decision_are_no_reaction() -> None:
    found = reaction(trace(called(("a", BAD), ("a", OK), ("b", OK)), Message("5")))
    assert (found.first_action, found.calls_after) == ("stop", 0)


def test_any_tool_that_failed_in_the_decision_may_be_retried() -> None:
    found = reaction(trace(called(("a", BAD), ("b", ODD)), called(("b", OK)), Message("5")))
    assert (found.failure, found.first_action) == ("error", "retry")


@pytest.mark.parametrize(
    ("last", "ending", "answered"),
    [
        (Message("5"), "message", True),
        (Message(" \n"), "message", False),
        (Stop("no"), "stop", False),
        (Malformed("{", "cut"), "message", False),
        (called(("a", OK)), "truncated", False),
        (called(("transfer", OK)), "terminal_tool", True),
        (Message("5"), "agent_error", False),
    ],
)
def test_an_answer_is_a_message_that_says_something(
    last: Step | Action, ending: Ending, answered: bool
) -> None:
    assert reaction(trace(called(("a", OK)), last, ending=ending)).answered is answered
    assert reaction(trace(ending=ending)).answered is (ending == "terminal_tool")


def test_an_episode_that_went_on_counts_as_ended_there() -> None:
    """Arms Hint and TTS: the answer was its reaction; what it did when it was told to go on is not."""
    told = Continuation("hint", 2, "message", "The tool fails at first.", 9)
    steps = (called(("a", BAD)), Step(0, Message("5")), called(("a", OK)), Step(0, Message("6")))
    assert reaction(
        Trace("Toy", "hazard", "t", 0, 9, steps, ending="message", continuation=told)
    ).first_action == ("stop")
    cut = Continuation("tts", 1, "truncated", "Go on.", 9)
    went_on = Trace("Toy", "hazard", "t", 0, 9, (steps[0], *steps[2:]), ending="message", continuation=cut)
    assert reaction(went_on).first_action == "none"
