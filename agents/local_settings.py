"""The settings of agents whose model runs in this process, checked before any work and any heavy import."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar

from toolenv.errors import UnknownNameError, UsageError, nearest

from .prompts import PROMPT_VERSION
from .settings import SERVER_OPTIONS, Effort, check_types, max_tokens_for, refuse
from .tool_section import TOOL_SECTION_VERSION

Settings = TypeVar("Settings", bound="LocalSettings")


ASKED = frozenset(
    {
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "enable_thinking",
        "reasoning_effort",
        "reasoning_field",
        "chat_template",
        "tool_section",
        "protocol",
    }
)
"""Settings of what is asked of a model, once it is loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """Which model to load and what to ask of it.

    Attributes:
        model: a folder with a checkpoint, or a model's name on the Hugging Face hub.
        temperature: 0 as in the paper (Appendix C): the likeliest token each time.
        top_p: 1.0 as in the paper.
        max_tokens: the cap per generation; ``None`` is the paper's for the model's family.
        seed: of samples, together with the episode's seed; without effect at temperature 0.
        dtype: the weights' type, e.g. ``"float32"`` or ``"bfloat16"``; ``"auto"`` is the checkpoint's own.
        max_model_len: tokens a conversation and its reply may have; ``None`` is the model's own limit.
        enable_thinking: switches the reasoning of hybrid models; ``None`` is the chat template's default.
        reasoning_effort: how much a model reasons whose chat template takes a degree, such as gpt-oss;
            ``None`` is the template's default.
        reasoning_field: the key under which earlier reasoning is given to the chat template, e.g.
            ``"reasoning_content"``; ``""`` does not give it (FIELD-113).
        chat_template: a file with the Jinja chat template to use instead of the checkpoint's own.
        tool_section: who writes tools, calls and replies into the prompt: the chat ``template``, or we,
            as text in Hermes's form (``prompt``). ``auto`` is the template if it writes all three.
        protocol: replaces the feasibility-first prompt (Appendix F); ``""`` leaves it out.
        trust_remote_code: whether code that comes with a checkpoint may run.

    Raises:
        UsageError: a value that cannot work.
    """

    model: str
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int | None = None
    seed: int = 0
    dtype: str = "auto"
    max_model_len: int | None = None
    enable_thinking: bool | None = None
    reasoning_effort: Effort | None = None
    reasoning_field: Literal["", "reasoning_content", "reasoning"] = ""
    chat_template: str | None = None
    tool_section: Literal["auto", "template", "prompt"] = "auto"
    protocol: str | None = None
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        check_types(self)
        warm = math.isfinite(self.temperature) and self.temperature >= 0
        template = self.chat_template is None or Path(self.chat_template).expanduser().is_file()
        for good, name, wanted in (
            (bool(self.model.strip()), "model", "a folder with a checkpoint or a model's name"),
            (warm, "temperature", "a number from 0"),
            (0 < self.top_p <= 1, "top_p", "a number above 0, at most 1"),
            (self.max_tokens is None or self.max_tokens >= 1, "max_tokens", "at least 1"),
            (self.max_model_len is None or self.max_model_len >= 2, "max_model_len", "at least 2"),
            (template, "chat_template", "a file with a Jinja template; there is none of that name"),
        ):
            if not good:
                refuse(self, name, getattr(self, name), wanted)

    @property
    def cap(self) -> int:
        """The cap on tokens per generation."""
        return self.max_tokens or max_tokens_for(self.model, self.enable_thinking, self.reasoning_effort)

    @property
    def load_key(self) -> tuple[str, ...]:
        """All that decides how the model is loaded; policies that agree in it share one."""
        names = [one.name for one in fields(type(self)) if one.name not in ASKED]
        return (type(self).__name__, *(repr(getattr(self, name)) for name in names))

    @property
    def template_text(self) -> str | None:
        """The chat template given; ``None`` is the checkpoint's own."""
        if self.chat_template is None:
            return None
        return Path(self.chat_template).expanduser().read_text(encoding="utf-8")

    def to_json(self) -> dict[str, Any]:
        """All that may move a score, for a run's record."""
        text = self.template_text
        digest = None if text is None else hashlib.sha256(text.encode()).hexdigest()
        versions = {"prompt_version": PROMPT_VERSION, "tool_section_version": TOOL_SECTION_VERSION}
        return {**asdict(self), "max_tokens": self.cap, "chat_template_sha256": digest, **versions}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformersSettings(LocalSettings):
    """Settings of ``transformers:MODEL``.

    Attributes:
        device: e.g. ``"cuda:1"`` or ``"cpu"``; ``"auto"`` spreads the model over all GPUs; ``None`` is one
            GPU if there is any.
        attention: the implementation of attention, e.g. ``"eager"``; ``None`` is the library's choice.
    """

    device: str | None = None
    attention: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmSettings(LocalSettings):
    """Settings of ``vllm:MODEL``.

    Attributes:
        tensor_parallel_size: GPUs that share the model.
        engine: further arguments of vLLM's engine by the names of its ``EngineArgs``, e.g.
            ``{"gpu_memory_utilization": 0.8, "max_num_seqs": 64}``.
    """

    tensor_parallel_size: int = 1
    engine: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        LocalSettings.__post_init__(self)
        if self.tensor_parallel_size < 1:
            refuse(self, "tensor_parallel_size", self.tensor_parallel_size, "at least 1")
        own = sorted({*OWN_ARGUMENTS, "tokenizer"} & self.engine.keys())
        if own:
            refuse(self, "engine", own, "arguments that are no settings of the agent's own")

    @property
    def engine_arguments(self) -> dict[str, Any]:
        """The arguments of vLLM's engine."""
        own = {name: getattr(self, name) for name in OWN_ARGUMENTS}
        return {**own, "disable_log_stats": True, **self.engine}


OWN_ARGUMENTS = ("model", "dtype", "max_model_len", "tensor_parallel_size", "trust_remote_code")
"""Settings that are arguments of vLLM's engine by the same name."""


def read_settings(kind: type[Settings], agent: str, model: str, options: Mapping[str, Any]) -> Settings:
    """The settings of one agent.

    Args:
        kind: their class.
        agent: the agent's name, for errors.
        model: what stands after the colon in its spec.
        options: the other fields by name. How a server is reached is taken no notice of.

    Raises:
        UnknownNameError: an option that does not exist; the nearest are named.
        UsageError: a value that cannot work.
    """
    where = f"agent {agent}:{model}"
    known = [one.name for one in fields(kind) if one.name != "model"]
    for name in options:
        if name not in (*known, *SERVER_OPTIONS):
            raise UnknownNameError("option", name, known, where=where)
    given = {name: value for name, value in options.items() if name in known}
    return kind(model=find_checkpoint(where, model), **given)


def need_packages(where: str, names: Iterable[str], extra: str) -> None:
    """Check that packages are installed, without importing them.

    Raises:
        UsageError: one is not; the message holds the command that installs it.
    """
    absent = [name for name in names if find_spec(name) is None]
    if absent:
        raise UsageError(
            f"{where}: not installed: {' and '.join(absent)};"
            f" install what is missing with: pip install -e '.[{extra}]' in a checkout"
        )


def find_checkpoint(where: str, model: str) -> str:
    """The path of a local checkpoint, or the name of one on the hub, which is taken as it is.

    Raises:
        UsageError: no model is named; or a path that is not there or holds no checkpoint, with the nearest
            that is.
    """
    if not model.strip():
        raise UsageError(f"{where}: names no model: give a folder with a checkpoint, or a name on the hub")
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            found = sorted(str(one.parent) for one in path.glob("*/config.json"))
            advice = _nearest(str(path), found) or "a checkpoint has a config.json"
            raise UsageError(f"{where}: the folder {model!r} holds no checkpoint; {advice}")
        return str(path)
    if path.is_file():
        raise UsageError(f"{where}: {model!r} is a file; give the folder that holds config.json and weights")
    if model.startswith((".", "/", "~")) or model.count("/") > 1:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        advice = _nearest(str(path), [str(one) for one in beside if one.is_dir()]) or "is the path complete?"
        raise UsageError(f"{where}: there is no folder {model!r}; {advice}")
    return model


def _nearest(path: str, there: list[str]) -> str:
    near = nearest(path, there)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""
