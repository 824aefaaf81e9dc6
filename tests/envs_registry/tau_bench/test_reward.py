"""The reward, through the environment: upstream's rule (TOOLS.md, section 5) and its stricter sibling."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from envs_registry.tau_bench import SUITE
from envs_registry.tau_bench.outputs import missing_outputs, missing_values
from envs_registry.tau_bench.reference import EndStateReference
from toolenv import Message, Rollout, Stop, ToolCall, ToolCalls, rollout
from toolenv.agents.noop import make as make_noop
from toolenv.agents.oracle import Oracle
from toolenv.agents.scripted import Scripted
from toolenv.env import ToolEnv
from toolenv.feasibility.manifest import MaskManifest
from toolenv.source import make_source
from toolenv.trace import Trace
from toolenv.types import Action

DO_NOTHING_PASSES = {  # NOTES.md, "Verified / quirks"
    *(f"retail_test_{index}" for index in (10, 12, 25, 50, 57, 65, 106)),
    *(f"airline_test_{index}" for index in (12, 13, 15, 17, 18, 21, 24, 29, *range(35, 43), 47, 48, 49)),
}


def play(task_id: str, *actions: Action, **options: Any) -> Rollout:
    return rollout(ToolEnv(make_source(SUITE, tasks=task_id, **options)), Scripted(actions), seed=0)


def call(name: str, **arguments: Any) -> ToolCalls:
    return ToolCalls((ToolCall(name, arguments),))


def test_the_ground_truth_is_rewarded_on_all_165() -> None:
    env = gymnasium.make("ToolFeas/TauBench-clean-v0")
    task_ids = env.unwrapped.source.task_ids
    rewards = {name: rollout(env, Oracle(), seed=0, task_id=name).episode.reward for name in task_ids}
    assert len(rewards) == 165
    assert set(rewards.values()) == {1.0}


@pytest.mark.parametrize("subset", ["retail_train", "retail_dev"])
def test_the_ground_truth_is_rewarded_on_the_other_splits(subset: str) -> None:
    env = ToolEnv(make_source(SUITE, subset=subset))
    assert all(rollout(env, Oracle(), seed=0, task_id=name).episode.success for name in env.source.task_ids)


def test_field_006_an_agent_that_does_nothing_passes_the_26_tasks_flagged() -> None:
    env = ToolEnv(make_source(SUITE))
    episodes = [rollout(env, make_noop("", {}), seed=0, task_id=name).episode for name in env.source.task_ids]
    assert {one.task_id for one in episodes if one.success} == DO_NOTHING_PASSES
    assert {one.task_id for one in episodes if "do_nothing_passes" in one.flags} == DO_NOTHING_PASSES


def test_field_060_the_listed_reads_are_not_mandatory() -> None:
    """The one call that changes something is enough; the four reads before it are not asked for."""
    reference = SUITE.tasks("retail")[0].reference
    assert isinstance(reference, EndStateReference)
    assert len(reference.actions) == 5
    assert play("retail_test_0", ToolCalls(reference.actions[-1:])).episode.success is True
    assert play("retail_test_0", ToolCalls(reference.actions[:-1])).episode.success is False


def test_failed_and_further_reads_do_not_matter_but_another_change_does() -> None:
    reference = SUITE.tasks("retail")[0].reference
    assert isinstance(reference, EndStateReference)
    (exchange,) = reference.actions[-1:]
    failed, read = call("get_order_details", order_id="1"), call("list_all_product_types")
    assert play("retail_test_0", failed, ToolCalls((exchange,)), read).episode.success is True
    cancelled = call("cancel_pending_order", order_id="#W1080318", reason="no longer needed")
    spoilt = play("retail_test_0", ToolCalls((exchange,)), cancelled)
    assert spoilt.episode.success is False
    assert [result.kind for _, result in spoilt.trace.calls()] == ["ok", "ok"]


def test_error_texts_reach_the_agent_as_upstream_words_them() -> None:
    env = ToolEnv(make_source(SUITE, tasks="retail_test_0"))
    env.reset(seed=0)
    observation, *_ = env.step(call("get_order_details", order_id="W1"))
    assert observation.messages[-1].content == "Error: order not found"
    observation, *_ = env.step(call("get_order_details"))
    assert observation.messages[-1].content == (
        "Error: GetOrderDetails.invoke() missing 1 required positional argument: 'order_id'"
    )
    (_, first), (_, second) = env.trace.calls()
    assert (first.kind, second.kind) == ("tool_error", "tool_error")
    assert first.record is None
    assert second.record == {
        "schema_error": "invalid arguments for get_order_details: missing required parameter 'order_id'"
    }


@pytest.mark.parametrize("arguments", [{"summary": "s"}, {}, {"data": 1}])
def test_a_transfer_ends_the_episode_well_made_or_not(arguments: dict[str, Any]) -> None:
    """TOOLS.md, section 3 and 11, number 17. The end state counts: nothing had to change in this task."""
    played = play("retail_test_10", call("transfer_to_human_agents", **arguments), Message("never said"))
    assert (played.trace.ending, len(played.trace.steps)) == ("terminal_tool", 1)
    assert played.episode.success is True
    assert play("retail_test_0", call("transfer_to_human_agents", **arguments)).episode.success is False


def test_a_masked_transfer_ends_nothing(tmp_path: Path) -> None:
    """A tool that is not offered was not called."""
    masks = tmp_path / "masks.json"
    data = SUITE.masks("default").data
    MaskManifest(
        "TauBench", "default", data, "a test", {"retail_test_0": ("transfer_to_human_agents",)}
    ).write(masks)
    source = make_source(SUITE, "infeasible", tasks="retail_test_0", masks=masks)
    transfer = call("transfer_to_human_agents", summary="s")
    played = rollout(ToolEnv(source), Scripted([transfer, Stop("x")]), seed=0)
    assert (played.trace.ending, len(played.trace.steps)) == ("stop", 2)


def test_an_episode_cut_off_is_no_success() -> None:
    """Upstream pays nothing where neither the user nor a terminating tool ended the episode."""
    think = call("think", thought="")
    assert play("retail_test_10", *[think] * 3, max_turns=3).episode.success is False
    assert play("retail_test_10", *[think] * 2, max_turns=3).episode.success is True


def test_a_stop_is_no_success() -> None:
    assert play("retail_test_10", Stop("no tool")).episode.success is False


def test_the_cap_is_15_decisions() -> None:
    assert len(play("retail_test_0", *[call("think", thought="")] * 20).trace.steps) == 15


# ---- outputs ----


def traced(texts: Sequence[str]) -> Trace:
    """An episode of retail_test_2 (output: 10) in which the agent only talks, in user mode."""
    from envs_registry.tau_bench.users import ScriptedUser

    source = make_source(SUITE.configured(user=ScriptedUser(["a"] * len(texts))), tasks="retail_test_2")
    return rollout(ToolEnv(source), Scripted([Message(text) for text in texts]), seed=0).trace


@pytest.mark.parametrize(
    ("texts", "upstream", "strict"),
    [
        (["We have 10 kinds."], True, True),
        (["We have $100."], True, False),
        (["We have 1,0 kinds."], True, False),
        (["We have ten kinds."], False, False),
        (["Hello.", "10", "Bye."], True, True),
        ([""], False, False),
    ],
)
def test_outputs_are_looked_for_in_all_messages(texts: list[str], upstream: bool, strict: bool) -> None:
    reference = SUITE.tasks("retail")[2].reference
    assert isinstance(reference, EndStateReference)
    assert reference.outputs == ("10",)
    # Upstream's retail_test_2 also changes the database; the rule on outputs is looked at alone here.
    outputs_only = EndStateReference(reference.make_world, (), reference.outputs)
    trace = traced(texts)
    assert outputs_only.score(trace).success is upstream
    assert outputs_only.score_strictly(trace).success is strict


def test_texts_beside_calls_and_results_are_no_messages() -> None:
    reference = SUITE.tasks("retail")[2].reference
    assert isinstance(reference, EndStateReference)
    said = ToolCalls(reference.actions, "10")
    assert play("retail_test_2", said, Message("Done.")).episode.success is False
    assert play("retail_test_2", said, Message("Done: 10.")).episode.success is True


REPLIES = (  # FIELD-030: only the second passes
    ("Your total is $100 and the fee 54.04.", False),
    ("Total 10 USD, fee $54.04.", True),
    ("1,054.04", False),
)


@pytest.mark.parametrize(("reply", "right"), REPLIES)
def test_field_030_numbers_are_whole(reply: str, right: bool) -> None:
    assert (not missing_values(["10", "54.04"], [reply])) is right


def test_field_030_upstreams_rule_passes_all_three() -> None:
    assert [missing_outputs(["10", "54.04"], [reply]) for reply, _ in REPLIES] == [(), (), ()]


@pytest.mark.parametrize(
    ("output", "said", "right"),
    [
        ("8276.23", "€8,276.230 in all", True),
        ("8276.23", "8276.235", False),
        ("943 Maple Drive", "It goes to 943 maple drive, Suite 356.", True),
        ("943 Maple Drive", "943 Old Maple Drive", False),
        ("64GB", "with 64 GB of memory", True),
        ("IL", "Silver", False),
        ("20 hours", "20 hours.", True),
        ("20 hours", "120 hours", False),
        ("60621", "zip 060621", False),
        ("1000", "1,000,000", False),
        ("1286", "$1,286.00", True),
        ("23553", "23,5530", False),
    ],
)
def test_whole_words_and_numbers(output: str, said: str, right: bool) -> None:
    assert (not missing_values([output], [said])) is right


def test_every_solution_says_its_outputs_under_both_rules() -> None:
    for task in SUITE.tasks("default"):
        reference = task.reference
        assert isinstance(reference, EndStateReference)
        if reference.outputs:
            closing = reference.solution()[-1]
            assert isinstance(closing, Message)
            assert missing_outputs(reference.outputs, [closing.text]) == ()
            assert missing_values(reference.outputs, [closing.text]) == ()


def test_judging_does_not_touch_the_live_episode() -> None:
    env = ToolEnv(make_source(SUITE, tasks="retail_test_0"))
    env.reset(seed=0)
    env.step(call("cancel_pending_order", order_id="#W1080318", reason="no longer needed"))
    state = env.world_state()
    *_, info = env.step(Message("Done."))
    assert info["verdict"]["why"] == "the database is not as the ground truth leaves it"
    assert env.world_state() == state
    assert list(state) == ["orders"]
    assert list(state["orders"]) == ["#W1080318"]
