"""``transformers:MODEL``: a checkpoint in this process, its decisions generated in batches."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from toolenv.errors import ContextWindowError, ServerError
from toolenv.policy import Answer
from toolenv.types import Observation

from .batch_generation import Row, generate
from .dialect import Dialect, Generation, stop_tokens
from .hub import as_it_can_be_loaded
from .local_model import Decision, LocalPolicy
from .local_settings import TransformersSettings, need_packages, read_settings

AGENT = "transformers"


def make(argument: str, options: Mapping[str, Any]) -> TransformersPolicy:
    """``transformers:FOLDER``; the options are the other fields of :class:`TransformersSettings`."""
    settings = read_settings(TransformersSettings, AGENT, argument, options)
    need_packages(f"agent {AGENT}:{argument}", ("torch", "transformers"), AGENT)
    return TransformersPolicy(settings, name=f"{AGENT}:{argument}")


class TransformersModel:
    """A checkpoint on its device; one batch at a time.

    Raises:
        OSError, ValueError, ImportError, RuntimeError: as ``transformers`` says.
    """

    def __init__(self, settings: TransformersSettings) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

        remote = {"trust_remote_code": settings.trust_remote_code}
        self.tokenizer = AutoTokenizer.from_pretrained(settings.model, **remote)
        spread = {"device_map": "auto"} if settings.device == "auto" else {}
        attention = {} if settings.attention is None else {"attn_implementation": settings.attention}
        model = AutoModelForCausalLM.from_pretrained(
            settings.model, dtype=settings.dtype, **remote, **spread, **attention
        )
        if not spread:
            model.to(settings.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.stop_tokens = stop_tokens(self.tokenizer, model.generation_config)
        model.generation_config = GenerationConfig()  # its penalties and samplers would work beside ours
        self.model, self.lock = model.eval(), threading.Lock()

    def dialect(self, settings: TransformersSettings) -> Dialect:
        """How it is spoken to."""
        context = context_of(self.model.config)
        return Dialect(settings, self.tokenizer, stop_tokens=self.stop_tokens, context=context)

    def generate(self, rows: Sequence[Row], settings: TransformersSettings) -> list[list[int]]:
        """See :func:`~.batch_generation.generate`."""
        with self.lock:
            return generate(
                self.model,
                rows,
                stop_tokens=self.stop_tokens,
                temperature=settings.temperature,
                top_p=settings.top_p,
            )


class TransformersPolicy(LocalPolicy[TransformersSettings, TransformersModel]):
    """A causal language model run by Hugging Face's ``transformers``.

    At temperature 0 it takes the likeliest token, otherwise samples that are a function of the seeds. Batches
    change numbers in their last digits, so a near tie may fall otherwise at another concurrency; at the same
    one, on the same machine, a run repeats exactly.
    """

    def __init__(self, settings: TransformersSettings, *, name: str = "") -> None:
        super().__init__(settings, name=name or f"{AGENT}:{settings.model}")

    def load(self) -> TransformersModel:
        """See :class:`TransformersModel`."""
        return TransformersModel(as_it_can_be_loaded(self.settings, self.name))

    def act_batch(
        self, observations: Sequence[Observation], memories: Sequence[Any]
    ) -> list[Answer | Exception]:
        """Decide for all in one batch.

        Raises:
            ServerError: the model cannot be loaded, or failed.
        """
        model, dialect = self.ready()
        begun = [self._try_begin(dialect, *pair) for pair in zip(observations, memories, strict=True)]
        decisions = [one for one in begun if isinstance(one, Decision)]
        generations = iter(self._generate(model, decisions) if decisions else ())
        return [one.answer(dialect, next(generations)) if isinstance(one, Decision) else one for one in begun]

    def _try_begin(self, dialect: Dialect, observation: Observation, memory: Any) -> Decision | Exception:
        try:
            return self.begin(dialect, observation, memory)
        except (ContextWindowError, ServerError) as error:
            return error

    def _generate(self, model: TransformersModel, decisions: Sequence[Decision]) -> list[Generation]:
        rows = [Row(one.prompt.tokens, one.prompt.limit, self.seed_of(one)) for one in decisions]
        try:
            made = model.generate(rows, self.settings)
        except Exception as error:
            raise ServerError(f"{self.name}: {type(error).__name__}: {error}") from error
        return [Generation(tokens) for tokens in made]


def context_of(config: Any) -> int:
    """Tokens that a model can take in; two billion where its config does not say."""
    inner = config.get_text_config() if hasattr(config, "get_text_config") else config
    return int(getattr(inner, "max_position_embeddings", None) or 2**31)
