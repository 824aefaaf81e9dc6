"""``vllm:MODEL``: a checkpoint in vLLM's engine, in this process, its batch kept full."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import fields
from importlib import import_module
from multiprocessing import active_children
from typing import Any

from toolenv.errors import UnknownNameError
from toolenv.policy import Answer
from toolenv.types import Observation

from .dialect import Dialect, Generation, stop_tokens
from .engine_thread import EngineThread
from .hub import as_it_can_be_loaded
from .local_model import Decision, LocalPolicy
from .local_settings import VllmSettings, need_packages, read_settings
from .watched_engine import WatchedSteps

AGENT = "vllm"


def make(argument: str, options: Mapping[str, Any]) -> VllmPolicy:
    """``vllm:MODEL``; the options are the other fields of :class:`VllmSettings`."""
    settings = read_settings(VllmSettings, AGENT, argument, options)
    need_packages(f"agent {AGENT}:{argument}", (AGENT,), AGENT)
    return VllmPolicy(settings, name=f"{AGENT}:{argument}")


class Engine:
    """vLLM's engine, as :class:`~.engine_thread.EngineThread` drives it.

    Raises:
        UnknownNameError: an argument that vLLM's engine does not have.
        Exception: whatever vLLM raises.
    """

    def __init__(self, settings: VllmSettings) -> None:
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")  # or its log runs through the progress bar
        os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
        from vllm import EngineArgs, LLMEngine
        from vllm.platforms import current_platform

        known = [one.name for one in fields(EngineArgs)]
        for name in settings.engine:
            if name not in known:
                raise UnknownNameError("argument", name, known, where="vLLM's EngineArgs (option engine)")
        others = active_children()
        arguments = settings.engine_arguments
        if current_platform.is_cpu():  # there it dies of a prompt read in parts whose request has a seed
            arguments.setdefault("enable_chunked_prefill", False)
        self._engine = LLMEngine.from_engine_args(EngineArgs(**arguments))
        processes = [one for one in active_children() if one not in others]
        self._step = WatchedSteps(self._engine.step, processes) if processes else self._engine.step
        # Tokens as they are were a request once; newer versions want them wrapped.
        self._wrap = getattr(import_module("vllm.inputs"), "tokens_input", _as_mapping)

    @property
    def context(self) -> int:
        """Tokens that a conversation and its reply may have."""
        return int(self._engine.vllm_config.model_config.max_model_len)

    def add(self, request_id: str, prompt: Sequence[int], sampling: Any) -> None:
        """Take up a request."""
        naming_the_dead = self._step.naming_the_dead if isinstance(self._step, WatchedSteps) else nullcontext
        with naming_the_dead():
            self._engine.add_request(request_id, self._wrap(list(prompt)), sampling)

    def step(self) -> Iterable[tuple[str, Generation | None]]:
        """One step of the engine; the requests finished in it."""
        for output in self._step():
            if output.finished:
                (only,) = output.outputs
                broken_off = only.finish_reason in ("abort", "error")
                generation = Generation(list(only.token_ids), output.num_cached_tokens or 0)
                yield output.request_id, None if broken_off else generation

    def close(self) -> None:
        """End vLLM's processes, if it has any."""
        if isinstance(self._step, WatchedSteps):
            self._step.close()
        self._engine.engine_core.shutdown()


class VllmModel:
    """An engine in a thread of its own, and the checkpoint's tokenizer."""

    def __init__(self, settings: VllmSettings, name: str) -> None:
        made: list[Engine] = []

        def start() -> Engine:
            made.append(Engine(settings))
            return made[0]

        self.thread = EngineThread(start, name)
        self.context = made.pop().context
        from transformers import AutoTokenizer, GenerationConfig

        remote = {"trust_remote_code": settings.trust_remote_code}
        self.tokenizer = AutoTokenizer.from_pretrained(settings.model, **remote)
        try:
            config = GenerationConfig.from_pretrained(settings.model)
        except OSError:  # a checkpoint may come without
            config = None
        self.stop_tokens = stop_tokens(self.tokenizer, config)

    def dialect(self, settings: VllmSettings) -> Dialect:
        """How it is spoken to."""
        return Dialect(settings, self.tokenizer, stop_tokens=self.stop_tokens, context=self.context)


class VllmPolicy(LocalPolicy[VllmSettings, VllmModel]):
    """A model run by vLLM's offline engine.

    Every decision is a request to the one engine, taken up at once beside those it is working on: in a run,
    from the episodes in flight; elsewhere, from threads that share the policy.

    A request's samples have a seed of their own. vLLM does not promise the same numbers in another batch, so
    a near tie may fall otherwise in another run, unless it is told to be batch-invariant
    (``VLLM_BATCH_INVARIANT=1``) on hardware where it can be.
    """

    def __init__(self, settings: VllmSettings, *, name: str = "") -> None:
        super().__init__(settings, name=name or f"{AGENT}:{settings.model}")

    def load(self) -> VllmModel:
        """See :class:`VllmModel`."""
        return VllmModel(as_it_can_be_loaded(self.settings, self.name), self.name)

    def submit(self, observation: Observation, memory: Any) -> Future[Answer]:
        """Begin one decision.

        Raises:
            ContextWindowError: the conversation is longer than the model's context.
            ServerError: the model cannot be loaded, or its chat template refuses the conversation.
        """
        model, dialect = self.ready()
        decision = self.begin(dialect, observation, memory)
        answer: Future[Answer] = Future()
        generating = model.thread.submit(decision.prompt.tokens, self._sampling(decision, dialect))
        generating.add_done_callback(lambda done: _pass_on(done, decision, dialect, answer))
        return answer

    def act_batch(
        self, observations: Sequence[Observation], memories: Sequence[Any]
    ) -> list[Answer | Exception]:
        """Decide for all, in whatever batches the engine makes of them."""
        begun = [self._try_submit(*pair) for pair in zip(observations, memories, strict=True)]
        return [_outcome(one) if isinstance(one, Future) else one for one in begun]

    def _try_submit(self, observation: Observation, memory: Any) -> Future[Answer] | Exception:
        try:
            return self.submit(observation, memory)
        except Exception as error:
            return error

    def _sampling(self, decision: Decision, dialect: Dialect) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        warm = self.settings.temperature > 0
        return SamplingParams(
            temperature=self.settings.temperature,
            top_p=self.settings.top_p if warm else 1.0,
            seed=self.seed_of(decision) if warm else None,
            max_tokens=decision.prompt.limit,
            stop_token_ids=sorted(dialect.stop_tokens),
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )


def _as_mapping(tokens: list[int]) -> dict[str, list[int]]:
    return {"prompt_token_ids": tokens}


def _pass_on(done: Future[Generation], decision: Decision, dialect: Dialect, answer: Future[Answer]) -> None:
    """Make an answer of what was generated; called in the engine's thread, which must survive it."""
    try:
        answer.set_result(decision.answer(dialect, done.result()))
    except Exception as error:
        answer.set_exception(error)


def _outcome(future: Future[Answer]) -> Answer | Exception:
    try:
        return future.result()
    except Exception as error:
        return error
