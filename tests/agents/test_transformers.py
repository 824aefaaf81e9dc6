"""The policy on a tiny random model: the same decisions in any batch, sharing, pickling, failures."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_model import save_tiny_model
from tests.toolenv.runner.toy_runs import CLEAN, MIXED, plain, play, toy_ids
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.preflight import PROBE
from toolenv.agents.registry import make_agent
from toolenv.agents.transformers import TransformersPolicy
from toolenv.agents.vote import Vote
from toolenv.errors import ContextWindowError, PreflightError, ServerError
from toolenv.policy import Batched, Seeded
from toolenv.runner.plan import RunConfig
from toolenv.types import ChatMessage

RUN = RunConfig(envs=(CLEAN, MIXED), agent="x", tasks=("pay-7", "pay-30", "two-turns"), trials=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"), context=4096)


@pytest.fixture(autouse=True)
def _toy() -> Any:
    with toy_ids():
        yield


def made(folder: Path, **options: Any) -> TransformersPolicy:
    policy = make_agent(f"transformers:{folder}", {"max_tokens": 6, "device": "cpu", **options})
    assert isinstance(policy, TransformersPolicy)
    return policy


@pytest.mark.parametrize("options", [{}, {"temperature": 1.0}, {"temperature": 1.0, "seed": 5}])
def test_the_same_episodes_at_any_concurrency(folder: Path, options: dict[str, Any]) -> None:
    policy = made(folder, **options)
    assert isinstance(policy, Batched)
    assert isinstance(policy, Seeded)
    one = plain(play(RUN, policy, concurrency=1))
    assert len(one) == 12
    assert all(record["valid"] for record, _ in one)
    for concurrency in (3, 12):
        assert plain(play(RUN, policy, concurrency)) == one


def test_samples_differ_between_trials_voters_and_seeds(folder: Path) -> None:
    policy = made(folder, temperature=1.0)
    said = [policy.act(PROBE, policy.start(seed))[0] for seed in range(4)]
    assert len({str(action) for action in said}) == 4
    other = made(folder, temperature=1.0, seed=1)
    assert other.act(PROBE, other.start(0))[0] != said[0]
    vote = Vote([policy] * 3)
    assert len(set(vote.begin(None, 7))) == 3


def test_composed_policies_are_asked_in_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = made(folder)
    pair = PlannerExecutor(policy, policy)
    one = plain(play(RUN, pair, concurrency=1))
    sizes: list[int] = []
    model, _ = policy.ready()
    inner = model.model.generate
    monkeypatch.setattr(
        model.model, "generate", lambda **given: sizes.append(len(given["input_ids"])) or inner(**given)
    )
    assert plain(play(RUN, pair, concurrency=12)) == one
    assert sizes[0] == 12


def test_policies_share_a_model_while_one_of_them_lives(folder: Path) -> None:
    first, second, third = made(folder), made(folder, max_tokens=3), made(folder, dtype="float64")
    assert first.ready()[0] is second.ready()[0]
    assert first.ready()[0] is not third.ready()[0]
    held = id(first.ready()[0])
    first.close()
    assert id(first.ready()[0]) == held


def test_a_pickled_policy_carries_no_weights_and_decides_the_same(folder: Path) -> None:
    policy = made(folder)
    action, _ = policy.act(PROBE, policy.start(1))
    packed = pickle.dumps(policy)
    assert len(packed) < 4000
    again = pickle.loads(packed)
    assert again.name == policy.name
    assert again.act(PROBE, again.start(1))[0] == action


def test_one_conversation_too_long_harms_no_other_in_its_batch(folder: Path) -> None:
    policy = made(folder, max_model_len=2000)
    long = replace(PROBE, messages=(ChatMessage("user", "x" * 3000),))
    first, second, third = policy.act_batch([PROBE, long, PROBE], [None] * 3)
    assert isinstance(second, ContextWindowError)
    assert first == third
    assert not isinstance(first, Exception)
    with pytest.raises(ContextWindowError, match="the model's context holds 2000"):
        policy.act(long, None)


def test_preflight_loads_the_model_and_makes_one_decision(folder: Path) -> None:
    usage = made(folder).preflight()
    assert usage.known
    assert (usage.output_tokens or 0) <= 6


def test_what_cannot_be_loaded_says_why_before_the_run(tmp_path: Path) -> None:
    save_tiny_model(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(PreflightError, match=r"cannot be loaded: .* no file named model.safetensors"):
        made(tmp_path).preflight()


def test_a_failing_engine_is_a_failing_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = made(folder)
    model, _ = policy.ready()

    def broken(**given: Any) -> Any:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(model.model, "generate", broken)
    with pytest.raises(ServerError, match="RuntimeError: CUDA error"):
        policy.act(PROBE, None)
    with pytest.raises(PreflightError, match="RuntimeError: CUDA error"):
        policy.preflight()
