"""Armed, fired, seen: what an episode met of its hazard."""

from __future__ import annotations

from tests.toolenv.hazards.depot_cases import FREIGHT, RECOVER, SUITE, TASK, WEIGH, armed
from toolenv.agents.scripted import Scripted
from toolenv.hazards import Exposure, exposure
from toolenv.recoverability.proving import play
from toolenv.types import Action, Message, ToolCall, ToolCalls

FAILING = armed("execution-failure", "transient-timeout", "weigh", failures=1)


def met(*actions: Action) -> Exposure:
    return exposure(play(SUITE, TASK, Scripted(actions), FAILING).trace)


def test_a_hazard_that_was_not_reached_has_not_fired() -> None:
    """FIELD-021: the right answer without ever calling the failing tool is no recovery."""
    found = met(
        ToolCalls((ToolCall("find_item", {"item_name": "lamp"}),)), Message("The freight is 5002.0 EUR.")
    )
    assert found == Exposure("execution-failure", "transient-timeout", "weigh", armed=True, fired=0, seen=0)


def test_fired_and_seen() -> None:
    found = met(ToolCalls((WEIGH,)), ToolCalls((WEIGH,)), Message("done"))
    assert (found.fired, found.seen) == (1, 1)


def test_what_fires_on_the_last_decision_is_not_seen() -> None:
    found = met(*[ToolCalls((FREIGHT,))] * (SUITE.max_turns - 1), ToolCalls((WEIGH,)))
    assert (found.armed, found.fired, found.seen) == (True, 1, 0)


def test_a_clean_episode_has_nothing_armed() -> None:
    assert exposure(play(SUITE, TASK, RECOVER).trace) == Exposure()


def test_without_any_call_the_condition_tells_that_something_was_armed() -> None:
    assert met(Message("done")) == Exposure(armed=True)


def test_a_trace_read_back_tells_the_same() -> None:
    from toolenv.trace import Trace

    trace = play(SUITE, TASK, RECOVER, FAILING).trace
    assert exposure(Trace.from_json(trace.to_json())) == exposure(trace)
    assert exposure(trace).fired == 1
