"""Failing tools: bounded or lasting, without effect, and never in place of what is wrong with a call."""

from __future__ import annotations

import pytest

from tests.support.depot import Depot
from tests.toolenv.hazards.depot_cases import WEIGH, WEIGHED, answers, armed, facts, kernel_with
from toolenv.hazards.execution_failure import MOST_FAILURES, ExecutionFailure
from toolenv.kernel import Slot
from toolenv.types import ToolCall

CAUSES = ("timeout", "connection", "runtime", "parse")


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("failures", [1, 2])
def test_transient_failures_end_after_their_number(cause: str, failures: int) -> None:
    """FIELD-021's ``fail_calls``: calls of the tool are counted, not calls of the episode."""
    instance = armed("execution-failure", f"transient-{cause}", "weigh", failures=failures)
    other = ToolCall("find_item", {"item_name": "lamp"})
    results = answers(instance, other, *[WEIGH] * (failures + 2))
    assert [result.kind for result in results] == ["ok"] + ["tool_error"] * failures + ["ok", "ok"]
    assert results[-1].content == WEIGHED
    assert [facts(result)["fired"] for result in results] == [False] + [True] * failures + [False, False]


@pytest.mark.parametrize("cause", CAUSES)
def test_persistent_failures_do_not_end_and_the_other_source_works(cause: str) -> None:
    instance = armed("execution-failure", f"persistent-{cause}", "weigh")
    register = ToolCall("register_entry", {"item_code": "LMP-104"})
    *failed, told = answers(instance, *[WEIGH] * 9, register)
    assert {result.kind for result in failed} == {"tool_error"}
    assert told.kind == "ok"


def test_a_failure_has_no_effect_and_its_clean_result_is_recorded() -> None:
    kernel = kernel_with(armed("execution-failure", "transient-timeout", "weigh", failures=1))
    world = kernel.start(0)
    result = kernel.call(world, WEIGH, Slot(0))
    assert isinstance(world.world, Depot)
    assert world.world.called == 0
    assert facts(result)["clean"] == WEIGHED
    assert WEIGHED not in result.content


def test_what_is_wrong_with_a_call_itself_is_said_as_ever() -> None:
    instance = armed("execution-failure", "persistent-timeout", "weigh")
    (result,) = answers(instance, ToolCall("weigh", {}))
    assert result.kind == "invalid_arguments"
    assert facts(result)["fired"] is False


def test_failures_are_bounded() -> None:
    assert MOST_FAILURES == 2
    assert len(ExecutionFailure.modes) == 2 * len(CAUSES)


def test_other_seeds_and_attempts_have_other_texts() -> None:
    texts = {
        result.content
        for seed in range(8)
        for result in answers(armed("execution-failure", "persistent-runtime", "weigh", seed), *[WEIGH] * 3)
    }
    assert len(texts) == 24
