"""Instances are armed only where they disrupt and a witness recovers; the scripted policies' table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tests.support.depot import plan_for
from tests.support.toy import Toy
from tests.toolenv.hazards.depot_cases import (
    HAZARDS,
    NAIVE,
    RECOVER,
    SUITE,
    TASK,
    armed,
    depot_subject,
    every_instance,
)
from toolenv.agents.recovery import make
from toolenv.agents.registry import make_agent
from toolenv.agents.scripted import Scripted
from toolenv.hazards import Instance, applies, exposure
from toolenv.hazards.base import HazardMisfitError
from toolenv.hazards.witness import restored
from toolenv.plan import Given, Plan, PlannedCall, PlannedMessage, Taken
from toolenv.recoverability.building import Policies, arm_tasks, manifests
from toolenv.recoverability.derived import derived_plan
from toolenv.recoverability.proving import Replay, Unsuitable, play, prove, subject_of, try_instance
from toolenv.types import Message, ToolCalls

POLICIES = Policies(make_agent("oracle"), NAIVE, (make("trusting", {}), RECOVER))


@pytest.mark.parametrize("hazard", HAZARDS)
def test_the_proof_of_each_hazard_replays(hazard: str) -> None:
    subject = depot_subject()
    proved = prove(SUITE, subject, hazard, 0, POLICIES.recover, NAIVE)
    witness = restored(proved.witness, TASK.reference.solution())
    replayed = play(SUITE, TASK, Replay(witness), proved.instance)
    assert replayed.episode.success is True
    assert exposure(replayed.trace).seen >= 1
    assert proved.extra_calls == replayed.episode.calls - 3
    assert play(SUITE, TASK, NAIVE, proved.instance).episode.success is False


def recovered(policy: str, instances: Sequence[Instance]) -> float:
    """The share of instances that a policy recovers from."""
    task = depot_subject().task
    results = [play(SUITE, task, make(policy, {}), one).episode.success for one in instances]
    return results.count(True) / len(results)


def by_kind() -> Mapping[str, list[Instance]]:
    """Instances by hazard, execution failures by whether they end."""
    found: dict[str, list[Instance]] = {}
    for one in every_instance():
        lasting = one.mode.partition("-")[0] if one.hazard == "execution-failure" else ""
        found.setdefault(f"{one.hazard} {lasting}".strip(), []).append(one)
    return found


EXPECTED = {
    "retry-only": {"execution-failure transient"},
    "switch-only": {"execution-failure persistent"},
    "normalise-only": {"output-drift"},
    "naive": set[str](),
}


@pytest.mark.parametrize("kind", by_kind())
def test_each_policy_recovers_its_own_kind_and_no_other(kind: str) -> None:
    instances = by_kind()[kind]
    assert recovered("reference", instances) == 1.0
    for policy, own in EXPECTED.items():
        assert recovered(policy, instances) == (1.0 if kind in own else 0.0), policy


def test_the_trusting_policy_misses_only_what_looks_right() -> None:
    for instance in every_instance():
        looks_right = instance.mode == "inconsistent" and "echo" not in instance.parameters
        assert recovered("trusting", [instance]) == (0.0 if looks_right else 1.0), instance


def test_a_hazard_that_does_not_fit_is_refused_with_the_reason() -> None:
    subject = depot_subject()
    lonely = {name: replace(contract, sources=()) for name, contract in subject.plan.contracts.items()}
    without = replace(subject, plan=replace(subject.plan, contracts=lonely))
    assert not applies("cross-source-conflict", without)
    assert applies("cross-source-conflict", subject)
    with pytest.raises(HazardMisfitError, match="does not fit task 'lamp-north': no result that something"):
        prove(SUITE, without, "cross-source-conflict", 0, POLICIES.recover, NAIVE)


def test_what_cannot_be_recovered_from_is_not_emitted() -> None:
    """A tool that is down for good without a second source is no hazard; the policy gives up."""
    dead = armed("execution-failure", "persistent-timeout", "freight")
    assert try_instance(SUITE, depot_subject(), dead, RECOVER) is None


def test_what_is_never_met_proves_nothing() -> None:
    """FIELD-021: success without the hazard is no recovery."""
    unmet = armed("output-drift", "wrapping", "register_entry")
    assert play(SUITE, TASK, make("trusting", {}), unmet).episode.success is True
    assert try_instance(SUITE, depot_subject(), unmet, make("trusting", {})) is None


def test_what_disrupts_nothing_is_not_emitted() -> None:
    with pytest.raises(Unsuitable, match="no instance disrupts the solution"):
        prove(SUITE, depot_subject(), "output-drift", 0, (RECOVER,), naive=RECOVER)


def test_a_plan_that_does_not_solve_the_clean_task_is_unsuitable() -> None:
    with pytest.raises(Unsuitable, match="does not solve the clean task"):
        subject_of(SUITE, TASK, plan_for("desk", "south"), NAIVE)


# ---- plans of suites that carry none ----


def test_a_plan_is_derived_from_what_results_told() -> None:
    bare = replace(TASK, metadata={})
    solved = play(SUITE, bare, make_agent("oracle"))
    plan = derived_plan(bare, solved.trace)
    find, weigh, freight = plan.calls
    assert find == PlannedCall("find_item", {"item_name": Given("lamp")})
    assert weigh.arguments == {"item_code": Taken(0, ("item_code",))}
    assert freight.arguments == {"weight": Taken(1, ("weight",)), "zone": Given("north")}
    assert plan.steps[-1] == PlannedMessage(("Done.",))
    assert plan.contract("weigh").fields[0].type == "number"
    assert not plan.contract("weigh").complete


def test_manifests_of_a_suite() -> None:
    every = list(arm_tasks(SUITE, SUITE.tasks("default"), POLICIES, seeds=(0, 1)))
    found = manifests(SUITE, "none", "test", every, fewest=2)
    assert set(found) == {*HAZARDS, "hazard"}
    assert {len(one.tasks) for one in found.values()} == {2}
    for manifest in found.values():
        for proved in manifest.tasks.values():
            assert [one.instance.seed for one in proved] == [0, 1]
    chosen = found["hazard"].tasks[TASK.id]
    assert chosen == found[chosen[0].instance.hazard].tasks[TASK.id]
    assert manifests(SUITE, "none", "test", every, fewest=3) == {}


def test_reasons_are_kept() -> None:
    toy = Toy()
    every = {one.task_id: one for one in arm_tasks(toy, toy.tasks("default"), POLICIES)}
    assert every["idle"].reasons["output-drift"] == "the solution calls no tool"
    assert "depends on a part" in every["pay-7"].reasons["output-drift"]
    assert every["pay-7"].proved["execution-failure"][0].extra_calls in (1, 2)
    assert every["two-turns"].proved["specification-drift"][0].instance.mode == "renamed-parameter"


def test_a_step_whose_calls_read_each_other_is_taken_apart() -> None:
    """Some suites' solutions make all calls in one decision: they know the values beforehand."""
    bare = replace(TASK, metadata={})
    calls = [call for step in TASK.reference.solution() if isinstance(step, ToolCalls) for call in step.calls]
    solved = play(SUITE, bare, Scripted((ToolCalls(tuple(calls)), Message("The freight is 5002.0 EUR."))))
    plan = derived_plan(bare, solved.trace)
    assert [len(step) for step in plan.steps if isinstance(step, tuple)] == [1, 1, 1]
    assert isinstance(plan, Plan)
