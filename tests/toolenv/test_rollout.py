"""The one loop: what ends an episode, whose fault it was, and what it cost."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import gymnasium
import pytest

from tests.support.toy import toy_source
from toolenv import (
    NO_TOKENS,
    Action,
    Malformed,
    Message,
    Observation,
    Rollout,
    Stop,
    Task,
    ToolCall,
    ToolCalls,
    ToolEnv,
    Usage,
    rollout,
)
from toolenv.errors import ContextWindowError, ServerError, UsageError
from toolenv.trace import Trace
from toolenv.wrappers import RecordReward, RecordTokens, RecordTrace, RewardOutcomes

# FIELD-011: four generations, the second one thrown away; 620 in + 100 out, 160 of them for nothing.
FIRST = Usage(100, 20)
RETRIED = Usage(150 + 150, 10 + 30, retried_input_tokens=150, retried_output_tokens=10, generations=2)
LAST = Usage(220, 40)


class Playing:
    """Makes the decisions of a list; an exception among them is raised instead."""

    name = "playing"

    def __init__(self, *decisions: Any) -> None:
        self.decisions = decisions

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        position = memory or 0
        decision = self.decisions[position]
        if isinstance(decision, Exception):
            raise decision
        return decision, position + 1


def balance(usage: Usage | None) -> ToolCalls:
    return ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),), usage=usage)


def crash(usage: Usage | None) -> ToolCalls:
    return ToolCalls((ToolCall("crash"),), usage=usage)


def playing(*decisions: Any, task_id: str = "pay-7", condition: str = "clean") -> Rollout:
    return rollout(ToolEnv(toy_source(condition)), Playing(*decisions), seed=1, task_id=task_id)


def test_a_record_says_what_happened() -> None:
    pay = ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),), usage=Usage(10, 3))
    played = rollout(
        ToolEnv(toy_source()),
        Playing(pay, Message("Paid.", usage=Usage(20, 4))),
        seed=5,
        task_id="pay-7",
        env_id="Toy/Bank-clean-v0",
        trial=2,
    )
    episode = played.episode
    assert (episode.env, episode.agent, episode.task_id) == ("Toy/Bank-clean-v0", "playing", "pay-7")
    assert (episode.trial, episode.seed, played.trace.seed) == (2, 5, 5)
    assert (episode.label, episode.decision, episode.decided_by) == ("feasible", "feasible", "message")
    assert (episode.success, episode.reward, episode.valid, episode.error) == (True, 1.0, True, "")
    assert (episode.turns, episode.calls, episode.tokens) == (2, 1, 37)


def test_flags_of_the_task_are_recorded() -> None:
    assert playing(Message(""), task_id="idle").episode.flags == ("do_nothing_passes",)


def test_a_plain_function_is_a_policy() -> None:
    def give_up(observation: Observation) -> Action:
        return Stop("no way")

    episode = rollout(ToolEnv(toy_source("infeasible")), give_up, seed=1, task_id="pay-7").episode
    assert (episode.agent, episode.decision, episode.reward) == ("give_up", "infeasible", 1.0)


def test_without_a_task_the_seed_draws_one() -> None:
    env = ToolEnv(toy_source())
    drawn = [rollout(env, Playing(Message("")), seed=seed).episode.task_id for seed in range(20)]
    assert drawn == [rollout(env, Playing(Message("")), seed=seed).episode.task_id for seed in range(20)]
    assert len(set(drawn)) > 1


def test_field_011_tokens_are_kept_when_a_tool_breaks_at_the_end() -> None:
    played = playing(balance(FIRST), balance(RETRIED), crash(LAST))
    episode, usage = played.episode, played.trace.usage
    assert (episode.valid, episode.decided_by) == (False, "environment_error")
    assert (episode.input_tokens, episode.output_tokens, episode.tokens) == (620, 100, 720)
    assert (usage.retried_input_tokens + usage.retried_output_tokens, usage.generations) == (160, 4)
    assert "a bug inside the tool" in episode.error


@pytest.mark.parametrize(
    ("error", "decided_by", "valid"),
    [(ServerError, "server_error", False), (ContextWindowError, "context_window", True)],
)
def test_field_011_tokens_of_attempts_that_led_nowhere_are_kept(
    error: Callable[[str, Usage], Exception], decided_by: str, valid: bool
) -> None:
    played = playing(balance(FIRST), balance(RETRIED), error("no answer", LAST))
    episode, trace = played.episode, played.trace
    assert (episode.decided_by, episode.valid, episode.error) == (decided_by, valid, "no answer")
    assert (episode.tokens, trace.usage.generations, trace.lost_usage) == (720, 4, LAST)
    assert (episode.turns, episode.calls) == (2, 2)
    assert Trace.from_json(trace.to_json()) == trace


def test_field_012_unknown_usage_is_unknown_and_never_nothing() -> None:
    known, unknown = Usage(90, 10), Usage()
    for decisions in (
        (balance(known), Message("", usage=unknown)),
        (balance(None), Message("", usage=known)),
        (balance(Usage(None, 10)), Message("", usage=Usage(90, None))),
    ):
        episode = playing(*decisions).episode
        assert episode.tokens is None
    half = playing(balance(known), Message("", usage=Usage(None, 10))).episode
    assert (half.input_tokens, half.output_tokens, half.tokens) == (None, 20, None)
    assert playing(balance(known), Message("", usage=NO_TOKENS)).episode.tokens == 100


def test_field_012_an_estimate_is_marked() -> None:
    episode = playing(balance(Usage(90, 10, estimated=True)), Message("", usage=Usage(1, 1))).episode
    assert (episode.tokens, episode.estimated_tokens) == (102, True)


def test_field_012_lost_tokens_of_unknown_number_make_the_total_unknown() -> None:
    assert playing(balance(FIRST), ServerError("no answer", Usage())).episode.tokens is None


def test_a_server_s_failure_is_no_outcome() -> None:
    episode = playing(ServerError("429 slow down")).episode
    assert (episode.valid, episode.reward, episode.success) == (False, None, None)
    assert (episode.decided_by, episode.error, episode.turns) == ("server_error", "429 slow down", 0)


def test_outgrowing_the_context_is_a_failure_of_the_agent() -> None:
    clean = playing(balance(FIRST), ContextWindowError("too long")).episode
    assert (clean.valid, clean.success, clean.reward, clean.decision) == (True, False, 0.0, "feasible")
    masked = playing(ContextWindowError("too long"), condition="infeasible").episode
    assert (masked.valid, masked.decision, masked.reward) == (True, "feasible", 0.0), "a false continue"


def test_field_105_an_exception_in_a_policy_is_kept_with_its_traceback() -> None:
    played = playing(balance(FIRST), ZeroDivisionError("one over none"))
    episode = played.episode
    assert (episode.valid, episode.reward, episode.decided_by) == (False, None, "agent_error")
    assert episode.error.startswith("Traceback (most recent call last)")
    assert "ZeroDivisionError: one over none" in episode.error
    assert __file__ in episode.error, "the traceback leads into the policy"
    assert (len(played.trace.steps), played.trace.ending) == (1, "agent_error")


def test_field_079_an_exception_s_text_is_valid_unicode() -> None:
    for error in (ServerError("lone \ud83c"), ZeroDivisionError("lone \ud83c")):
        playing(error).episode.error.encode()


@pytest.mark.parametrize("bad", [{"name": "pay"}, None, "STOP", ("pay", {}), Stop], ids=repr)
def test_what_is_no_action_names_the_policy_and_its_type(bad: Any) -> None:
    with pytest.raises(
        UsageError, match=rf"policy 'playing' gave no action: {type(bad).__name__} .* is none of"
    ):
        playing(bad)


def test_a_policy_s_own_usage_error_is_not_swallowed() -> None:
    with pytest.raises(UsageError, match="temperature=-1"):
        playing(UsageError("temperature=-1"))


def test_an_interrupt_is_not_swallowed() -> None:
    class Impatient:
        name = "impatient"

        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rollout(ToolEnv(toy_source()), Impatient(), seed=1)


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="'oracle' is no policy"):
        rollout(ToolEnv(toy_source()), "oracle", seed=1)  # type: ignore[arg-type]


async def dreamer(observation: Observation) -> Action:
    return Message("one day")


class Dreaming:
    """A callable whose call is a coroutine."""

    async def __call__(self, observation: Observation) -> Action:
        return Message("one day")


class DreamsInBatches:
    name = "dreams"

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        return Message("now"), memory

    async def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return []


class DreamsOn:
    name = "dreams"

    async def act(self, observation: Observation, memory: Any) -> AsyncIterator[Action]:
        yield Message("one day")


@pytest.mark.parametrize(
    ("policy", "where"),
    [
        (dreamer, "dreamer"),
        (Dreaming(), "Dreaming"),
        (DreamsInBatches(), r"DreamsInBatches\.act_batch"),
        (DreamsOn(), r"DreamsOn\.act"),
    ],
)
def test_a_coroutine_is_refused_before_it_is_begun(policy: Any, where: str) -> None:
    """One that is begun and never awaited would be a warning, which is an error here."""
    for _ in range(2):  # what is known of a class must not hide its mistake
        with pytest.raises(UsageError, match=rf"^{where} is a coroutine function \(async def\)"):
            rollout(ToolEnv(toy_source()), policy, seed=1)


class Briefed:
    """Told the truth before the episode; plays the solution."""

    name = "briefed"

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def brief(self, task: Task) -> tuple[Action, ...]:
        self.tasks.append(task)
        return task.reference.solution()

    def act(self, observation: Observation, memory: Sequence[Action]) -> tuple[Action, Sequence[Action]]:
        return memory[0], memory[1:]


def test_a_privileged_policy_is_briefed_once_an_episode() -> None:
    policy = Briefed()
    env = ToolEnv(toy_source())
    assert rollout(env, policy, seed=1, task_id="pay-7").episode.success is True
    assert rollout(env, policy, seed=1, task_id="pay-30").episode.success is True
    assert [task.id for task in policy.tasks] == ["pay-7", "pay-30"]


def test_memory_is_passed_on_within_an_episode_and_starts_anew() -> None:
    class Remembering:
        name = "remembering"

        def __init__(self) -> None:
            self.seen: list[Any] = []

        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            self.seen.append(memory)
            count = (memory or 0) + 1
            return (balance(NO_TOKENS) if count < 3 else Message("", usage=NO_TOKENS)), count

    policy = Remembering()
    env = ToolEnv(toy_source())
    for _ in range(2):
        rollout(env, policy, seed=1, task_id="pay-7")
    assert policy.seen == [None, 1, 2, None, 1, 2]


def test_malformed_output_goes_on_and_running_out_of_turns_ends() -> None:
    episode = playing(*[Malformed("{", "broken", usage=Usage(1, 1))] * 4).episode
    assert (episode.valid, episode.turns, episode.calls, episode.tokens) == (True, 4, 0, 8)
    assert (episode.decision, episode.success) == ("feasible", False)


def wrapped() -> gymnasium.Env[Any, Any]:
    recorded = RecordReward(RecordTokens(RecordTrace(ToolEnv(toy_source()))))
    return RewardOutcomes(recorded, false_stop=-1.0)


def test_a_wrapped_environment_gives_the_same_episode() -> None:
    policy = Playing(balance(FIRST), Message("No.", usage=LAST))
    plain = rollout(ToolEnv(toy_source()), policy, seed=3, task_id="pay-7")
    assert rollout(wrapped(), policy, seed=3, task_id="pay-7") == plain


def test_a_failure_leaves_a_wrapped_environment_fit_for_the_next_episode() -> None:
    env = wrapped()
    assert not rollout(
        env, Playing(balance(FIRST), ServerError("gone")), seed=3, task_id="pay-7"
    ).episode.valid
    again = rollout(env, Playing(balance(FIRST), Message("", usage=LAST)), seed=3, task_id="pay-7")
    assert (again.episode.valid, again.episode.tokens) == (True, 120 + 260)
