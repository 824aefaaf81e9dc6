"""What a run is: its configuration, and the episodes that follow from it."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import gymnasium

from toolenv.env import ToolEnv
from toolenv.errors import UsageError
from toolenv.seeding import mix
from toolenv.types import Action, Observation


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that decides the episodes of a run; its hash guards ``--resume``.

    Attributes:
        envs: env ids.
        agent: the agent's spec.
        env_options: keywords of ``gymnasium.make``, the same for every id.
        agent_options: settings of the agent that change its answers.
        tasks: task ids to run; empty for all.
        limit: at most this many tasks of each env, from the first on; ``None`` for all.
        trials: repetitions of each task.
        seed: the seed all episode seeds derive from.
    """

    envs: tuple[str, ...]
    agent: str
    env_options: Mapping[str, Any] = field(default_factory=dict)
    agent_options: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    trials: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("trials", self.trials)):
            if value is not None and value < 1:
                raise UsageError(f"{name}={value}: give a whole number of at least 1")
        if self.seed < 0:
            raise UsageError(f"seed={self.seed}: give a whole number of at least 0")
        if not self.envs:
            raise UsageError("no environment id given")

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self), default=str))
        return plain

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the configuration's sha256."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to run. Its seed does not depend on the env, so conditions are paired by task."""

    env: str
    task_id: str
    trial: int
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        """Unique within a run."""
        return (self.env, self.task_id, self.trial)


def make(env: str, options: Mapping[str, Any]) -> gymnasium.Env[Observation, Action]:
    """``gymnasium.make`` without the passive checker, which only looks at an environment's first steps."""
    return gymnasium.make(env, disable_env_checker=True, **options)


def plan(config: RunConfig) -> tuple[list[Job], dict[str, str]]:
    """The episodes of a run in order, and the hash of each env's mask manifest."""
    jobs: list[Job] = []
    manifests: dict[str, str] = {}
    for env_id in config.envs:
        options = {**config.env_options, **({"tasks": config.tasks} if config.tasks else {})}
        source = cast(ToolEnv, make(env_id, options).unwrapped).source
        manifests[env_id] = source.manifest_hash
        for trial in range(config.trials):
            jobs += [
                Job(env_id, task_id, trial, mix(config.seed, task_id, trial) % 2**31)
                for task_id in source.task_ids[: config.limit]
            ]
    return jobs, manifests


def versions() -> dict[str, str]:
    """The versions of what a result may depend on."""
    found = {"python": platform.python_version()}
    for name in ("toolenv", "gymnasium", "numpy", "jsonschema-rs"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
