"""Successful traces out of run directories, and from reference solutions.

Success is never taken on trust: a trace that its run calls successful is judged again.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolenv.env import ToolEnv
from toolenv.errors import DataError, StoreError, UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.successful_traces import SuccessfulTrace, Traces, TraceSource
from toolenv.judge import judge
from toolenv.masks import manifest_for, unmasked
from toolenv.policy import Policy
from toolenv.rollout import Rollout, rollout
from toolenv.runner.reading import EPISODES_FILE, find_runs, read_header, read_rollouts
from toolenv.source import TaskSource, make_source
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.trace import Trace

_SOURCE_OPTIONS = {*inspect.signature(make_source).parameters, "render_mode"}
"""Keywords of ``gymnasium.make`` that are not settings of a suite's own."""


def suite_options(folders: Sequence[Path]) -> dict[str, Any]:
    """The settings of the suite's own that all these runs were made with.

    Raises:
        StoreError: a folder that is no run directory.
        UsageError: the runs differ in them, so that their tasks are not the same.
    """
    found: dict[str, Any] | None = None
    for folder in find_runs(folders):
        options = read_header(folder)["config"].get("env_options", {})
        own = {name: value for name, value in options.items() if name not in _SOURCE_OPTIONS}
        if found is not None and own != found:
            raise UsageError(
                f"{folder} was run with the suite's settings {own}, the runs before with {found}"
            )
        found = own
    return found or {}


def read_runs(
    folders: Sequence[Path],
    suite: Suite,
    tasks: Mapping[str, Task],
    data: str,
    *,
    condition: str = "clean",
) -> Traces:
    """The successful traces of some tasks in run directories.

    A run may hold other environments' episodes beside those of the wanted condition; they are left out.

    Args:
        folders: run directories, or folders of them.
        suite: the suite, with the settings of :func:`suite_options`.
        tasks: the tasks by id, as the suite ships them, flags included.
        data: names the version of the suite's data.
        condition: ``clean``; ``infeasible`` for runs without the masked tools, whose successes are witnesses.

    Raises:
        StoreError: no run directory; a run that has no episode of this suite in this condition, or was made
            with other masks or data; a trace of another version; an unknown task or tool.
        UsageError: a run that is given twice.
    """
    found, seen = Traces(), dict[tuple[str, str], Path]()
    for folder in find_runs(folders):
        run = _Run(folder, suite, tasks, data, condition)
        if other := seen.get(run.identity):
            raise UsageError(
                f"{folder} and {other} hold the same run (config {run.config_hash}); give it once"
            )
        seen[run.identity] = folder
        found += run.traces()
    return found


def reference_traces(suite: Suite, tasks: Iterable[Task], oracle: Policy) -> Traces:
    """The reference solutions, played, as the traces of one more agent.

    Args:
        suite: the suite.
        tasks: its tasks as it ships them, with their flags.
        oracle: the policy that plays reference solutions; the agent bears its name.
    """
    wanted = {task.id: task for task in tasks if task.label == "feasible"}
    env = ToolEnv(TaskSource(suite, "clean", wanted, {}, 0.0, suite.max_turns))
    played = [rollout(env, oracle, seed=0, task_id=task_id) for task_id in wanted]
    solved = [one for one in played if one.episode.success is True]
    return Traces(
        {one.trace.task_id: [SuccessfulTrace(oracle.name, 0, one.trace, "reference")] for one in solved},
        {one.trace.task_id: {oracle.name: 1} for one in played},
        (TraceSource("reference", "reference", oracle.name, "", len(played), len(solved)),),
    )


class _Run:
    """One run directory."""

    def __init__(
        self, folder: Path, suite: Suite, tasks: Mapping[str, Task], data: str, condition: str
    ) -> None:
        self.folder, self.suite, self.tasks, self.data = folder, suite, tasks, data
        self.condition = condition
        self.header = read_header(folder)
        self.agent: str = self.header["agent"]
        self.config_hash = str(self.header.get("config_hash", ""))
        self.options: Mapping[str, Any] = self.header["config"].get("env_options", {})
        self._checked: set[str] = set()

    @property
    def identity(self) -> tuple[str, str]:
        return self.agent, self.config_hash

    def traces(self) -> Traces:
        """Its traces; an error if it has none at all of the suite and condition."""
        is_witness = self.condition != "clean"
        successes: dict[str, list[SuccessfulTrace]] = {}
        attempts: dict[str, Counter[str]] = {}
        disputed = 0
        for played in self._wanted():
            episode, trace = played.episode, played.trace
            if trace.task_id not in self.tasks or not episode.valid:
                continue
            attempts.setdefault(trace.task_id, Counter())[episode.agent] += 1
            if not episode.success:
                continue
            if judge(self.tasks[trace.task_id], trace).success is not True:
                disputed += 1
                continue
            one = SuccessfulTrace(episode.agent, episode.trial, trace, self.folder.name, is_witness)
            successes.setdefault(trace.task_id, []).append(one)
        source = TraceSource(
            kind="refutation" if is_witness else "run",
            name=self.folder.resolve().name,
            agent=self.agent,
            config_hash=self.config_hash,
            episodes=sum(counts.total() for counts in attempts.values()),
            successful=sum(map(len, successes.values())),
            disputed=disputed,
        )
        return Traces(successes, {} if is_witness else attempts, (source,))

    def _wanted(self) -> Iterator[Rollout]:
        others: set[str] = set()
        any_found = False
        for played in read_rollouts(self.folder):
            trace = played.trace
            if (trace.suite, trace.condition) != (self.suite.name, self.condition):
                others.add(f"{trace.suite}-{trace.condition}")
                continue
            any_found = True
            self._check_env(played.episode.env)
            self._check_task(trace)
            yield played
        if not any_found:
            raise StoreError(
                f"{self.folder} holds no episode of {self.suite.name}-{self.condition}; "
                f"it holds {', '.join(sorted(others)) or 'none'}"
            )

    def _check_env(self, env: str) -> None:
        """The environment was made of the data and masks that are there now."""
        if env in self._checked:
            return
        self._checked.add(env)
        masks = self._masks()
        known = self.header["manifests"].get(env)
        if known == self._before_masks():  # the first masks are made from such runs, and made again
            return
        if known != masks.hash:
            raise StoreError(
                f"{self.folder}: {env} was run with the mask manifest {known}, and {self._manifest_name()} "
                f"is now {masks.hash}: its tasks are of another version"
            )
        if masks.data != self.data:
            raise StoreError(
                f"{self.folder}: {env} was run on the data {masks.data}, and the suite's data are {self.data}"
            )

    def _masks(self) -> MaskManifest:
        try:
            return manifest_for(self.suite, self._subset(), self.options.get("masks"))
        except DataError as error:
            raise StoreError(f"{self.folder}: the masks it was run with cannot be read: {error}") from error

    def _before_masks(self) -> str:
        """What a run says whose suite had no mask manifest yet; its tasks are the suite's own."""
        return unmasked(self.suite, self._subset()).hash

    def _manifest_name(self) -> str:
        return str(self.options.get("masks") or f"that of {self.suite.name}, subset {self._subset()!r},")

    def _subset(self) -> str:
        subset = str(self.options.get("subset") or self.suite.default_subset)
        if subset not in self.suite.subsets:
            known = UnknownNameError("subset", subset, self.suite.subsets, where=f"suite {self.suite.name}")
            raise StoreError(f"{self.folder}: {known}")
        return subset

    def _check_task(self, trace: Trace) -> None:
        task = self.tasks.get(trace.task_id)
        if task is None:
            known = {one.id for one in self.suite.tasks(self._subset())}
            if trace.task_id not in known:
                unknown = UnknownNameError("task id", trace.task_id, known, where=f"suite {self.suite.name}")
                raise StoreError(f"{self.folder / EPISODES_FILE}: {unknown}")
            return
        pool = {tool.name for tool in task.tools}
        for call, _ in trace.calls("ok"):
            if call.name not in pool:
                unknown = UnknownNameError("tool", call.name, pool, where=f"the pool of task {task.id!r}")
                raise StoreError(f"{self.folder / EPISODES_FILE}: {unknown}")
