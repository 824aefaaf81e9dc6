"""The ``vllm:`` policy around a scripted engine; ``test_local_models_real.py`` has the real one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

from tests.support.tiny_model import byte_tokenizer, save_tiny_model
from tests.toolenv.runner.toy_runs import CLEAN, plain, play, toy_ids
from toolenv.agents import local_settings
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.preflight import PROBE
from toolenv.agents.registry import make_agent
from toolenv.agents.vllm import VllmPolicy
from toolenv.errors import ContextWindowError, PreflightError, ServerError, UnknownNameError
from toolenv.policy import Batched, Continuous
from toolenv.runner.plan import RunConfig
from toolenv.types import ChatMessage, Message, Observation

RUN = RunConfig(envs=(CLEAN,), agent="x", trials=4)


@dataclass
class EngineArgs:
    """The arguments of vLLM's engine that matter here."""

    model: str
    dtype: str = "auto"
    max_model_len: int | None = None
    tensor_parallel_size: int = 1
    trust_remote_code: bool = False
    disable_log_stats: bool = False
    enforce_eager: bool = False
    max_num_seqs: int = 256
    enable_chunked_prefill: bool | None = None


class ScriptedEngine:
    """In vLLM's place: a request takes two to four steps; its reply says how long its prompt was."""

    made: ClassVar[list[ScriptedEngine]] = []

    def __init__(self, arguments: EngineArgs) -> None:
        if arguments.tensor_parallel_size > 1:
            raise ValueError(
                "Tensor parallel size (8) cannot be larger than the number of available GPUs (0)."
            )
        self.arguments, self.left, self.sampling = arguments, dict[str, list[Any]](), list[Any]()
        self.broken = self.ended = False
        self.reason = "stop"
        self.engine_core = SimpleNamespace(shutdown=self.end)
        self.vllm_config = SimpleNamespace(
            model_config=SimpleNamespace(max_model_len=arguments.max_model_len or 4096)
        )
        self.made.append(self)

    def end(self) -> None:
        self.ended = True

    @classmethod
    def from_engine_args(cls, arguments: EngineArgs) -> ScriptedEngine:
        return cls(arguments)

    def add_request(self, request_id: str, prompt: Any, params: Any) -> None:
        tokens = prompt["prompt_token_ids"]
        self.left[request_id] = [2 + len(tokens) % 3, tokens]
        self.sampling.append(params)

    def step(self) -> list[Any]:
        if self.broken:
            raise RuntimeError("EngineCore encountered an issue")
        done = []
        for request_id, state in list(self.left.items()):
            state[0] -= 1
            if not state[0]:
                del self.left[request_id]
                done.append(finished(request_id, state[1], self.reason))
        return [SimpleNamespace(finished=False), *done]


def finished(request_id: str, prompt: Sequence[int], reason: str) -> Any:
    tokenizer = byte_tokenizer()
    said = tokenizer(f"Paid {len(prompt)}.", add_special_tokens=False)["input_ids"]
    output = SimpleNamespace(token_ids=[*said, tokenizer.eos_token_id], finish_reason=reason)
    return SimpleNamespace(request_id=request_id, finished=True, outputs=[output], num_cached_tokens=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkpoint; vLLM is replaced."""
    names = ("vllm", "vllm.inputs", "vllm.sampling_params", "vllm.platforms")
    module, inputs, sampling, platforms = map(ModuleType, names)
    module.EngineArgs, module.LLMEngine, module.SamplingParams = EngineArgs, ScriptedEngine, SimpleNamespace  # type: ignore[attr-defined]
    inputs.tokens_input = lambda tokens: {"type": "token", "prompt_token_ids": tokens}  # type: ignore[attr-defined]
    sampling.RequestOutputKind = SimpleNamespace(FINAL_ONLY=2)  # type: ignore[attr-defined]
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: True)  # type: ignore[attr-defined]
    for name, one in zip(names, (module, inputs, sampling, platforms), strict=True):
        monkeypatch.setitem(sys.modules, name, one)
    monkeypatch.setattr(local_settings, "find_spec", lambda name: object())
    monkeypatch.setattr(ScriptedEngine, "made", [])
    with toy_ids():
        yield save_tiny_model(tmp_path)


def made(folder: Path, **options: Any) -> VllmPolicy:
    policy = make_agent(f"vllm:{folder}", {"max_tokens": 50, **options})
    assert isinstance(policy, VllmPolicy)
    return policy


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_what_the_engine_broke_off_is_no_decision(folder: Path, reason: str) -> None:
    policy = made(folder)
    policy.preflight()
    (engine,) = ScriptedEngine.made
    engine.reason = reason
    with pytest.raises(ServerError, match="the engine broke the generation off") as raised:
        policy.act(PROBE, policy.start(4))
    assert raised.value.trouble == "server/broken_generation"
    engine.reason = "repetition"  # that is the model's own
    assert isinstance(policy.act(PROBE, policy.start(4))[0], Message)


def test_prompts_are_read_whole_on_processors_unless_the_user_says_otherwise(folder: Path) -> None:
    """vLLM on CPUs dies of one read in parts, where the request has a seed."""
    for given in ({}, {"enable_chunked_prefill": True}):
        made(folder, engine=given).preflight()
    assert [one.arguments.enable_chunked_prefill for one in ScriptedEngine.made] == [False, True]


def test_a_decision_with_the_engines_own_counts(folder: Path) -> None:
    policy = made(folder, engine={"enforce_eager": True}, dtype="float32")
    action, memory = policy.act(PROBE, policy.start(4))
    (engine,) = ScriptedEngine.made
    assert engine.arguments.enforce_eager
    assert engine.arguments.disable_log_stats
    assert engine.arguments.dtype == "float32"
    assert isinstance(action, Message)
    assert action.usage is not None
    prompt = action.usage.input_tokens or 0
    assert action == Message(f"Paid {prompt}.")
    # By hand: "Paid 1308." has ten letters, each a token, and the end.
    assert action.usage.output_tokens == len(f"Paid {prompt}.") + 1
    assert action.usage.cached_input_tokens == 3
    assert memory.decisions == 1
    (sampling,) = engine.sampling
    assert (sampling.temperature, sampling.top_p, sampling.seed, sampling.max_tokens) == (0.0, 1.0, None, 50)
    assert sampling.stop_token_ids == [byte_tokenizer().eos_token_id]


def test_samples_have_seeds_of_their_own(folder: Path) -> None:
    policy = made(folder, temperature=0.7, top_p=0.9)
    policy.act_batch([PROBE] * 3, [policy.start(1), policy.start(1), policy.start(2)])
    (engine,) = ScriptedEngine.made
    seeds = [one.seed for one in engine.sampling]
    assert seeds[0] == seeds[1] != seeds[2]
    assert engine.sampling[0].top_p == 0.9


def test_a_run_with_requests_side_by_side_has_the_same_episodes(folder: Path) -> None:
    policy = made(folder)
    assert isinstance(policy, Continuous)
    assert isinstance(policy, Batched)
    one = plain(play(RUN, policy, concurrency=1))
    assert len(one) == 16
    assert plain(play(RUN, policy, concurrency=4)) == one
    (engine,) = ScriptedEngine.made
    assert len(engine.sampling) == 2 * sum(len(trace["steps"]) for _, trace in one)


def test_a_pair_shares_one_engine(folder: Path) -> None:
    pair = PlannerExecutor(made(folder, max_tokens=9), made(folder))
    play(RUN, pair, concurrency=4)
    assert len(ScriptedEngine.made) == 1


def test_a_conversation_too_long_is_not_sent(folder: Path) -> None:
    policy = made(folder, max_model_len=2000)
    long = replace(PROBE, messages=(ChatMessage("user", "x" * 3000),))
    first, second = policy.act_batch([PROBE, long], [None, None])
    assert not isinstance(first, Exception)
    assert isinstance(second, ContextWindowError)
    assert len(ScriptedEngine.made[0].sampling) == 1


def test_a_dead_engine_is_a_failing_server(folder: Path) -> None:
    policy = made(folder)
    policy.ready()
    ScriptedEngine.made[0].broken = True
    with pytest.raises(ServerError, match="RuntimeError: EngineCore encountered an issue"):
        policy.act(PROBE, None)
    with pytest.raises(PreflightError, match="EngineCore"):
        policy.preflight()


def test_what_the_engine_refuses_is_said_before_the_run(folder: Path) -> None:
    with pytest.raises(PreflightError, match=r"cannot be loaded: Tensor parallel size \(8\)"):
        made(folder, tensor_parallel_size=8).preflight()
    with pytest.raises(UnknownNameError, match=r"'enforce_eagr' in vLLM's EngineArgs .*'enforce_eager'"):
        made(folder, engine={"enforce_eagr": True}).preflight()


def test_closing_lets_go_of_the_engine(folder: Path) -> None:
    policy = made(folder)
    policy.act(PROBE, None)
    policy.close()
    assert ScriptedEngine.made[0].ended
    policy.act(Observation(PROBE.messages, (), 1), None)
    assert len(ScriptedEngine.made) == 2
