"""What a run is: its configuration, and the episodes that follow from it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral
from typing import Any, cast, overload

import gymnasium

from toolenv.env import ToolEnv
from toolenv.errors import UsageError
from toolenv.runner.exclusions import exclusions
from toolenv.seeding import mix
from toolenv.source import TaskSource
from toolenv.types import Action, Observation

REACHING_OPTIONS = frozenset({"api_key", "attempts", "base_url", "timeout"})
"""Agent settings that say how its server is reached, not what is asked of it: no part of what a run is."""


WRAPPER = "<wrapper>"
"""See :func:`make`; no keyword can be called so."""

JUDGED_BY = ("toolenv", "jsonschema-rs")
"""The packages whose version an episode's verdict depends on; a run is not resumed with another of these."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that decides the episodes of a run; its hash guards ``--resume``.

    Attributes:
        envs: env ids.
        agent: the agent's spec.
        env_options: keywords of ``gymnasium.make``, the same for every id.
        agent_options: settings of the agent. Those in :data:`REACHING_OPTIONS` are neither stored nor
            hashed: a run may be resumed on another server, and a key never reaches a file.
        tasks: task ids to run; empty for all.
        limit: at most this many tasks of each env; ``None`` for all. Tasks that more of the suite's envs
            have come first, so that conditions can be compared, then those that the suite has first.
        trials: repetitions of each task.
        seed: the seed all episode seeds derive from.
        arm: see :mod:`toolenv.runner.arms`; any run that is no other arm is a baseline.
        baseline: the hash of the run that another arm is compared with.
    """

    envs: tuple[str, ...]
    agent: str
    env_options: Mapping[str, Any] = field(default_factory=dict)
    agent_options: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    trials: int = 1
    seed: int = 0
    arm: str = "baseline"
    baseline: str = ""

    def __post_init__(self) -> None:
        for name, value, least in (
            ("limit", self.limit, 1),
            ("trials", self.trials, 1),
            ("seed", self.seed, 0),
        ):
            if value is None and name == "limit":
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
                raise UsageError(f"{name}={value!r}: give a whole number of at least {least}")
            object.__setattr__(self, name, int(value))
        if not self.envs:
            raise UsageError("no environment id given")

    @property
    def make_options(self) -> dict[str, Any]:
        """The keywords of ``gymnasium.make``, the chosen tasks among them."""
        return {**self.env_options, **({"tasks": self.tasks} if self.tasks else {})}

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict of what decides the episodes."""
        plain = {**asdict(self), "agent_options": without_reaching(self.agent_options)}
        if self.arm == "baseline":  # which hash a run has must not depend on whether it is part of a study
            del plain["arm"], plain["baseline"]
        return cast("dict[str, Any]", json.loads(json.dumps(plain, default=described)))

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the configuration's sha256."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]


def described(value: object) -> Any:
    """What stands in a configuration for an option that is no JSON value: the same in every process."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    told = str(value)
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}" if " at 0x" in told else told


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


def make(
    env: str, options: Mapping[str, Any], source: TaskSource | None = None
) -> gymnasium.Env[Observation, Action]:
    """``gymnasium.make`` without the passive checker, which only looks at an environment's first steps.

    Args:
        env: the id; one that a module registers may have that in front, ``module:ToolFeas/…``.
        options: keywords of ``gymnasium.make``; under :data:`WRAPPER`, a function from environment to
            environment that is applied to what it makes.
        source: the tasks and kernels of another environment of this id and these options, to be shared:
            they never change, and to make them takes a hundred times as long as all else.

    Raises:
        UsageError: an option that would make it another environment than its id says.
    """
    for name in ("suite", "condition"):
        if name in options:
            raise UsageError(f"{name}={options[name]!r} cannot be set: the id {env} says it")
    wrap = options.get(WRAPPER)
    keywords = dict(options)
    if callable(wrap):
        del keywords[WRAPPER]
    made: gymnasium.Env[Observation, Action]
    if source is None:
        made = gymnasium.make(env, disable_env_checker=True, **keywords)
    else:
        known = gymnasium.spec(env.rpartition(":")[2])  # a module in front of it is imported by now
        around = replace(known, entry_point=partial(_around, source), kwargs={})
        made = gymnasium.make(around, disable_env_checker=True, render_mode=keywords.get("render_mode"))
    return cast("gymnasium.Env[Observation, Action]", wrap(made)) if callable(wrap) else made


def _around(source: TaskSource, render_mode: str | None = None) -> ToolEnv:
    return ToolEnv(source, render_mode=render_mode)


class Envs:
    """Makes the environments of a run; those of one id share their tasks. May be shared by threads.

    Args:
        options: see :func:`make`.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options, self._lock = options, threading.Lock()
        self._sources: dict[str, TaskSource] = {}

    def make(self, env: str) -> gymnasium.Env[Observation, Action]:
        """A new environment; see :func:`make`."""
        with self._lock:
            made = make(env, self._options, self._sources.get(env))
            self._sources[env] = cast(ToolEnv, made.unwrapped).source
        return made


def without_reaching(options: Mapping[str, Any]) -> dict[str, Any]:
    """Agent settings without :data:`REACHING_OPTIONS`, those of one role (``planner.base_url``) included."""
    return {name: value for name, value in options.items() if name.rpartition(".")[2] not in REACHING_OPTIONS}


def source_of(env_id: str, options: Mapping[str, Any]) -> TaskSource:
    """The tasks behind an id."""
    return cast(ToolEnv, make(env_id, options).unwrapped).source


def origins(config: RunConfig) -> dict[str, dict[str, Any]]:
    """What the tasks of each env come from: the data's version, corrections of its answers, what is left out.

    Returns:
        By env id ``{"data": …, "corrections": …, "tasks": …, "excluded": {REASON: [TASK_ID, …], …}}``; see
        :class:`toolenv.source.TaskSource` and :class:`toolenv.runner.exclusions.Exclusions`. The last two
        are of the whole subset, whichever of its tasks are run.
    """
    return {env_id: _origin(env_id, config.env_options) for env_id in config.envs}


def _origin(env_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
    of_all = {name: value for name, value in options.items() if name != "tasks"}
    source = source_of(env_id, of_all)
    found = exclusions(source, of_all)
    return {
        "data": source.data,
        "corrections": dict(source.corrections),
        "tasks": found.tasks,
        "excluded": {reason: list(ids) for reason, ids in found.excluded.items()},
    }


class Jobs(Sequence[Job]):
    """The jobs of a run in order: of each env every trial, of each trial every task; made as they are read.

    Args:
        tasks: the task ids of each env.
        trials: repetitions of each task.
        seed: the seed all episode seeds derive from.
    """

    def __init__(self, tasks: Mapping[str, Sequence[str]], trials: int, seed: int) -> None:
        self._tasks, self._trials, self._seed = tasks, trials, seed

    @property
    def tasks(self) -> int:
        """How many jobs a trial has."""
        return sum(map(len, self._tasks.values()))

    def __len__(self) -> int:
        return self._trials * self.tasks

    def __iter__(self) -> Iterator[Job]:
        for env, tasks in self._tasks.items():
            for trial in range(self._trials):
                yield from (self._job(env, task_id, trial) for task_id in tasks)

    @overload
    def __getitem__(self, at: int) -> Job: ...
    @overload
    def __getitem__(self, at: slice) -> list[Job]: ...
    def __getitem__(self, at: int | slice) -> Job | list[Job]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        left = range(len(self))[at]
        for env, tasks in self._tasks.items():
            if left < self._trials * len(tasks):
                trial, number = divmod(left, len(tasks))
                return self._job(env, tasks[number], trial)
            left -= self._trials * len(tasks)
        raise IndexError(at)

    def _job(self, env: str, task_id: str, trial: int) -> Job:
        return Job(env, task_id, trial, mix(self._seed, task_id, trial) % 2**31)


def plan(config: RunConfig) -> tuple[Jobs, dict[str, str]]:
    """The episodes of a run in order, and the hash of each env's mask manifest.

    Raises:
        UsageError: an option that cannot be used.
        DataMissingError: with the command that fetches the data.
    """
    sources = {env_id: source_of(env_id, config.make_options) for env_id in config.envs}
    manifests = {env_id: source.manifest_hash for env_id, source in sources.items()}
    return Jobs(_limited(sources, config.limit), config.trials, config.seed), manifests


def _limited(sources: Mapping[str, TaskSource], limit: int | None) -> dict[str, Sequence[str]]:
    """The tasks of each env; see :attr:`RunConfig.limit`."""
    had: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for source in sources.values():
        if isinstance(source.task_ids, tuple):  # else there is no end to them, and all envs have the same
            had[source.suite.name].update(source.task_ids)
    return {env_id: _first(one.task_ids, had[one.suite.name], limit) for env_id, one in sources.items()}


def _first(ids: Sequence[str], had: Mapping[str, int], limit: int | None) -> Sequence[str]:
    """So many of the ids, in their order: those that are had most often before others."""
    if limit is None or not isinstance(ids, tuple):
        return ids[:limit]
    kept = set(sorted(ids, key=lambda one: -had[one])[:limit])
    return tuple(one for one in ids if one in kept)


def versions() -> dict[str, str]:
    """The versions of what a result may depend on; toolenv's is that of the code that runs."""
    code = sys.modules[__name__.partition(".")[0]]
    found = {"python": platform.python_version(), "toolenv": str(code.__version__)}
    for name in ("gymnasium", "numpy", "jsonschema-rs"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found
