"""What agents whose model runs in this process have in common."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from toolenv.errors import PreflightError, ServerError, UsageError
from toolenv.policy import Answer
from toolenv.seeding import mix
from toolenv.types import Observation, Usage

from .dialect import Dialect, Generation, Prompt
from .local_settings import LocalSettings
from .preflight import PROBE
from .shared_models import shared


class LocalMemory(NamedTuple):
    """What an episode remembers.

    Attributes:
        seed: the episode's.
        decisions: how many there were.
        reasoning: earlier reasoning by the index of the message it led to; ``None`` where none is given back.
    """

    seed: int = 0
    decisions: int = 0
    reasoning: Mapping[int, str] | None = None


class Decision(NamedTuple):
    """One decision on its way."""

    observation: Observation
    memory: LocalMemory
    prompt: Prompt

    def answer(self, dialect: Dialect, generation: Generation) -> Answer:
        """The action, and the memory for the next decision."""
        action, reasoning = dialect.action(self.prompt, generation, self.observation)
        kept = dict(self.memory.reasoning or {})
        if reasoning and dialect.gives_reasoning_back:
            kept[len(self.observation.messages)] = reasoning
        return action, LocalMemory(self.memory.seed, self.memory.decisions + 1, kept or None)


class LocalModel(Protocol):
    """A loaded model, shared by the policies that ask it."""

    def dialect(self, settings: Any) -> Dialect:
        """How it is spoken to under a policy's settings."""
        ...


Settings = TypeVar("Settings", bound=LocalSettings)
Model = TypeVar("Model", bound=LocalModel)


class LocalPolicy(ABC, Generic[Settings, Model]):
    """A model in this process; loaded at its first decision, shared by threads, pickled without its weights.

    Args:
        settings: the model and what to ask of it.
        name: shown in tables.
    """

    def __init__(self, settings: Settings, *, name: str) -> None:
        self.settings, self.name = settings, name
        self._lock = threading.Lock()
        self._ready: tuple[Model, Dialect] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.settings, self.name)

    @abstractmethod
    def load(self) -> Model:
        """Load the model; whatever it raises means that it cannot be."""

    @abstractmethod
    def act_batch(
        self, observations: Sequence[Observation], memories: Sequence[Any]
    ) -> Sequence[Answer | Exception]:
        """Ask the model for several decisions at once; see :class:`toolenv.policy.Batched`."""

    def start(self, seed: int) -> LocalMemory:
        """The episode's seed: samples are a function of it."""
        return LocalMemory(seed)

    def act(self, observation: Observation, memory: LocalMemory | None) -> Answer:
        """Ask the model for one decision.

        Raises:
            ContextWindowError: the conversation is longer than the model's context.
            ServerError: the model failed.
        """
        (answer,) = self.act_batch([observation], [memory])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def preflight(self) -> Usage:
        """Load the model and make one decision with a tool, so that a bad set-up costs no run.

        Raises:
            PreflightError: it cannot be loaded, or cannot decide.
        """
        try:
            action, _ = self.act(PROBE, None)
        except PreflightError:
            raise
        except ServerError as error:
            raise PreflightError(str(error), error.usage) from error
        return action.usage or Usage()

    def close(self) -> None:
        """Let go of the model, which ends with the last policy that holds it; the next decision loads it."""
        with self._lock:
            self._ready = None

    def ready(self) -> tuple[Model, Dialect]:
        """The loaded model and how it is spoken to.

        Raises:
            PreflightError: it cannot be loaded, or its chat template cannot be used.
            UsageError: a setting that only the engine can judge.
        """
        with self._lock:
            if self._ready is None:
                try:
                    model = shared(self.settings.load_key, self.load)
                except (PreflightError, UsageError):
                    raise
                except Exception as error:
                    raise PreflightError(f"{self.name}: cannot be loaded: {error}") from error
                self._ready = model, model.dialect(self.settings)
            return self._ready

    def begin(self, dialect: Dialect, observation: Observation, memory: LocalMemory | None) -> Decision:
        """A decision, its prompt written.

        Raises:
            ContextWindowError: the model's context does not hold it and a reply.
            ServerError: the chat template refuses the conversation.
        """
        memory = memory or LocalMemory()
        return Decision(observation, memory, dialect.prompt(observation, memory.reasoning))

    def seed_of(self, decision: Decision) -> int:
        """The seed of one sample: the same whatever is decided beside it."""
        said, memory = len(decision.observation.messages), decision.memory
        return mix(self.settings.seed, memory.seed, memory.decisions, said) % 2**63


def _remade(kind: type[Any], settings: LocalSettings, name: str) -> Any:
    return kind(settings, name=name)
