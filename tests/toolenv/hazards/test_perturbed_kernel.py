"""The perturbed kernel: what it records, what it leaves alone, and that nothing leaks."""

from __future__ import annotations

import json

import pytest

from tests.support.toy import Toy
from tests.toolenv.hazards.depot_cases import (
    HAZARDS,
    SUITE,
    TASK,
    WEIGH,
    WEIGHED,
    answers,
    armed,
    every_instance,
    facts,
    kernel_with,
)
from toolenv.agents.recovery import make
from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.hazards import Instance, exposure, get_kind, hint, kinds, perturbed
from toolenv.kernel import CleanKernel, Slot
from toolenv.kernel.perturbed import PerturbedWorld
from toolenv.recoverability.proving import play
from toolenv.types import ToolCall, ToolCalls

INSTANCES = every_instance()


NAMES = [f"{number}-{one.hazard}-{one.mode}-{one.tool}" for number, one in enumerate(INSTANCES)]


def test_the_five_hazards_are_found_without_a_list() -> None:
    assert tuple(kinds()) == HAZARDS


def test_every_mode_fits_somewhere_here() -> None:
    found = {(one.hazard, one.mode) for one in INSTANCES}
    modes = {(kind.name, mode) for kind in kinds().values() for mode in kind.modes}
    # The depot documents its outputs, and no two of its parameters have one type.
    assert modes - found == {("specification-drift", "renamed-parameter"), ("invocation-error", "renamed")}


@pytest.mark.parametrize("instance", INSTANCES, ids=NAMES)
def test_what_fires_changes_what_the_agent_sees_and_is_recorded(instance: Instance) -> None:
    """FIELD-071: the observation really differs, and the clean value is in the hidden trace."""
    played = play(SUITE, TASK, make("naive", {}), instance)
    clean = play(SUITE, TASK, make("naive", {}))
    met = exposure(played.trace)
    assert met.fired >= 1
    assert (met.hazard, met.mode, met.tool) == (instance.hazard, instance.mode, instance.tool)
    for number, ((call, result), (_, expected)) in enumerate(
        zip(played.trace.calls(), clean.trace.calls(), strict=True)
    ):
        known = facts(result)
        if known["fired"]:
            assert call.name == instance.tool
            assert result.content != known["clean"]
            if not any(facts(one)["fired"] for _, one in played.trace.calls()[:number]):
                assert known["clean"] == expected.text
        json.dumps(known)


@pytest.mark.parametrize("instance", INSTANCES, ids=NAMES)
def test_no_name_of_a_hazard_reaches_the_agent(instance: Instance) -> None:
    played = play(SUITE, TASK, make("", {}), instance)
    replies = " ".join(result.content for step in played.trace.steps for result in step.results).casefold()
    shown = replies + " ".join(tool.description for tool in kernel_with(instance).tools()).casefold()
    words = [instance.hazard, instance.hazard.replace("-", " "), instance.mode, "hazard", "armed", "perturb"]
    for word in words:
        if word not in ("dropped", "units"):
            assert word not in shown, word
    assert hint(TASK, instance).casefold() not in shown


@pytest.mark.parametrize("instance", INSTANCES, ids=NAMES)
def test_hints_name_the_tool_and_never_the_answer(instance: Instance) -> None:
    """Paper 2, §4: a hint explains the anomaly; its appendix: hints are searched for the answer."""
    text = hint(TASK, instance)
    assert instance.tool in text
    assert "{" not in text
    for secret in ("5002", "1250", "LMP-104"):
        assert secret not in text


def test_calls_before_and_beside_the_hazard_say_what_is_armed() -> None:
    instance = armed("output-drift", "wrapping", "weigh", seed=3)
    before, fired = answers(instance, ToolCall("find_item", {"item_name": "lamp"}), WEIGH)
    name = {"name": "output-drift", "mode": "wrapping", "tool": "weigh", "seed": 3}
    assert facts(before) == {**name, "fired": False}
    assert facts(fired) == {**name, "fired": True, "attempt": 0, "clean": WEIGHED, "clean_kind": "ok"}


def test_records_of_the_wrapped_kernel_are_kept() -> None:
    instance = armed("output-drift", "wrapping", "freight")
    (result,) = answers(instance, ToolCall("freight", {"weight": "2.5", "zone": "north"}))
    assert result.record is not None
    assert result.record["coerced"] == ["weight"]
    assert facts(result)["fired"] is True


def test_a_world_seen_through_a_hazard_is_that_world() -> None:
    kernel = kernel_with(armed("execution-failure", "transient-timeout", "weigh", failures=1))
    world = kernel.start(0)
    assert isinstance(world, PerturbedWorld)
    copy = world.fork()
    kernel.call(world, WEIGH, Slot(0))
    assert kernel.call(world, WEIGH, Slot(1)).kind == "ok"
    assert kernel.call(copy, WEIGH, Slot(0)).kind == "tool_error", "a copy has its own count"
    assert (world.digest(), world.view(), world.listed) == (world.world.digest(), world.world.view(), None)


def test_an_effect_happens_once_under_output_drift_and_not_under_failure() -> None:
    suite = Toy()
    task = suite.tasks("default")[0]
    pay = ToolCall("pay", {"account": "A1", "amount": 7})
    for hazard, mode, parameters, balance in (
        ("output-drift", "wrapping", {}, 93),
        ("execution-failure", "transient-timeout", {"failures": 1}, 100),
    ):
        instance = Instance(task.id, hazard, mode, "pay", 0, parameters)
        kernel = perturbed(CleanKernel(task, suite.world), instance)
        world = kernel.start(0)
        kernel.call(world, pay, Slot(0))
        assert world.view() == {"A1": balance, "B2": 5}


def test_a_long_result_is_cut_where_the_clean_one_was() -> None:
    clean = CleanKernel(TASK, SUITE.world, "coerce", 40)
    kernel = perturbed(clean, armed("output-drift", "wrapping", "weigh"))
    result = kernel.call(kernel.start(0), WEIGH, Slot(0))
    assert len(result.content) == 40
    assert {"item_code": "LMP-104", "weight": 1250.5, "packed_on": "2024-03-05"} in json.loads(
        result.text
    ).values()


def test_the_tools_offered_are_the_same_object_each_time() -> None:
    """The environment tells by identity whether they changed."""
    kernel = kernel_with(
        armed("specification-drift", "renamed-parameter", "weigh", name="item_code", documented="item_key")
    )
    assert kernel.tools() is kernel.tools()


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'output-drift'"):
        get_kind("output-drft")
    with pytest.raises(DataCorruptError, match="has no mode 'wraping'"):
        get_kind("output-drift").hazard(armed("output-drift", "wraping", "weigh"))


def test_many_results_are_not_all_remembered() -> None:
    from toolenv.hazards.base import MOST_REMEMBERED, OutputHazard

    kernel = kernel_with(armed("output-drift", "wrapping", "freight"))
    world = kernel.start(0)
    for weight in range(MOST_REMEMBERED + 10):
        kernel.call(world, ToolCall("freight", {"weight": weight, "zone": "north"}), Slot(weight))
    hazard = kernel._hazard
    assert isinstance(hazard, OutputHazard)
    assert len(hazard._known) <= MOST_REMEMBERED


def test_parallel_calls_of_one_decision_count_as_attempts() -> None:
    kernel = kernel_with(armed("execution-failure", "transient-timeout", "weigh", failures=1))
    world = kernel.start(0)
    both = ToolCalls((WEIGH, WEIGH))
    kinds_seen = [kernel.call(world, call, Slot(number)).kind for number, call in enumerate(both.calls)]
    assert kinds_seen == ["tool_error", "ok"]
