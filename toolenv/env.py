"""The environment: one task an episode, one decision a step."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import gymnasium
import numpy
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

from toolenv.actions import check_action, shown
from toolenv.errors import UnknownNameError, UsageError
from toolenv.judge import judge
from toolenv.live import LiveEpisode
from toolenv.replay import replay
from toolenv.seeding import episode_seed
from toolenv.source import TaskSource
from toolenv.spaces import ActionSpace, ObservationSpace
from toolenv.task import Task
from toolenv.trace import Ending, Trace
from toolenv.transcript import render_conversation
from toolenv.trouble import NO_TROUBLE, Trouble
from toolenv.types import Action, Observation, ToolSpec, Usage

CUT_SHORT = "ended from outside,"
"""How the error of an episode begins that was truncated before its own budget ran out."""


_OPTIONS = ("task_id", "trace")


def _check_options(options: object) -> None:
    """Refuse options of :meth:`ToolEnv.reset` that name no task and no recorded episode."""
    if options is None:
        return
    if not isinstance(options, dict):
        raise UsageError(f"options={shown(options)}: give a dict such as {{'task_id': …}}")
    for name in options:
        if name not in _OPTIONS:
            raise UnknownNameError("reset option", name, _OPTIONS)
    if len(options) == len(_OPTIONS):
        raise UsageError("options: a trace says its task; give either task_id or trace")
    if not isinstance(options.get("task_id", ""), str):
        raise UsageError(f"options: task_id is {shown(options['task_id'])}; give the id of one task")
    if "trace" in options and not isinstance(options["trace"], Trace):
        given = shown(options["trace"])
        raise UsageError(
            f"options: trace is {given}; give a toolenv.Trace, such as Trace.from_json(record['trace']) of a "
            "line of a run's episodes.jsonl"
        )


class ToolEnv(gymnasium.Env[Observation, Action]):
    """A task with simulated tools; see ``toolenv.make_env`` and ``gymnasium.make``.

    ``reset(seed=…, options={"task_id": …})`` starts the named task, or one drawn by the seed. The first
    episode after ``reset(seed=s)`` is a function of ``s`` and the task; the following ones of ``s`` and
    their number. ``terminated`` when the agent stopped or finished, ``truncated`` when a budget ran out or
    the environment itself failed (then ``info["verdict"]["valid"]`` is false and the reward NaN).

    Args:
        source: tasks and kernels.
        render_mode: ``"ansi"`` makes :meth:`render` return the conversation as text.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  (as gymnasium declares it)

    def __init__(self, source: TaskSource, render_mode: str | None = None) -> None:
        if render_mode not in (None, "ansi"):
            raise UnknownNameError("render_mode", render_mode, ["ansi"])
        self.source, self.render_mode = source, render_mode
        self.action_space = ActionSpace()
        self.observation_space = ObservationSpace()
        self._generator: numpy.random.Generator | None = None
        self._episode = -1
        self._live: LiveEpisode | None = None

    # Building a numpy generator costs more than a step, so it is built when somebody asks for it.
    @property
    def _np_random(self) -> numpy.random.Generator | None:
        if self._generator is None and self._np_random_seed is not None:
            self._generator, _ = seeding.np_random(self._np_random_seed)
        return self._generator

    @_np_random.setter
    def _np_random(self, generator: numpy.random.Generator | None) -> None:
        self._generator = generator

    # -- what studies and people may look at; never given to policies --------------------------------

    @property
    def task(self) -> Task:
        """The current task, truth included."""
        return self._current().task

    @property
    def trace(self) -> Trace:
        """What has happened so far in this episode."""
        return self._current().trace

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools offered now."""
        return self._current().tools

    def world_state(self) -> Any:
        """A JSON-able copy of the world as the judge sees it."""
        return self._current().world.view()

    def _current(self) -> LiveEpisode:
        if self._live is None:
            raise ResetNeeded("there is no episode yet: call reset() first")
        return self._live

    # -- gymnasium ------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: starts a new sequence of episodes; ``None`` goes on with the last one.
            options: ``{"task_id": …}`` names the task. ``{"trace": …}`` starts where a recorded episode
                ended, with its task and seed; :meth:`go_on` comes next. Nothing else is known.

        Raises:
            UsageError: a seed that is no whole number of at least 0, options that are no dict, an unknown
                option or task, a trace that is none, or a task beside one.
            ReplayError: a trace that does not repeat.
            ServerError: a simulated user's model failed to open the conversation.
            ToolFault: the suite has a bug: there is no world, or nothing a simulated user says.
        """
        _check_options(options)
        if seed is not None:
            self._reseed(seed)
        self._episode += 1
        recorded: Trace | None = (options or {}).get("trace")
        drawn = recorded.seed if recorded else episode_seed(self.np_random_seed, self._episode)
        self._live = LiveEpisode(self.source, self._choose(options, drawn), drawn)
        self._live.begin()
        if recorded:
            replay(self._live, recorded)
        elif self.source.user is not None:
            self._live.open(self.source.user)
        return self._live.observe(), {}

    def go_on(self, arm: str, message: str, decisions: int) -> Observation:
        """Reopen the episode, which has ended; see :meth:`toolenv.live.LiveEpisode.go_on`."""
        self._current().go_on(arm, message, decisions)
        return self._current().observe()

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one decision.

        Raises:
            ResetNeeded: the episode is over, or none was started.
            UsageError: ``action`` is no action.
        """
        live = self._current()
        if live.ending != "running":
            raise ResetNeeded("the episode is over: call reset() before step()")
        live.take(check_action(action, "the caller of step()"))
        if live.ending == "running":
            return live.observe(), 0.0, False, False, {}
        return self._finish(live)

    def render(self) -> str | None:
        """The conversation as text in mode ``"ansi"``, else ``None``."""
        return render_conversation(self._current().observe()) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Let go of what the episode's world holds, such as a process; the episode can still be looked at."""
        close = None if self._live is None else getattr(self._live.world, "close", None)
        if close is not None:
            close()
        super().close()

    def abort(
        self, ending: Ending, error: str, usage: Usage | None = None, trouble: Trouble = NO_TROUBLE
    ) -> dict[str, Any]:
        """End the episode because no decision came, and return its last ``info``.

        Args:
            ending: ``server_error``, ``deadline``, ``agent_error`` or ``context_window``.
            error: the message or traceback.
            usage: tokens of the generations that led to no decision.
            trouble: what happened, where the ending does not say it.
        """
        live = self._current()
        live.end(ending, error, usage, trouble)
        return self._finish(live)[4]

    def truncate(self) -> dict[str, Any]:
        """End the running episode because a wrapper allows no more steps, and return its last ``info``.

        It is an ordinary truncated one, with a verdict. The recording wrappers call it where a step comes up
        truncated without one: ``gymnasium.make(…, max_episode_steps=…)`` puts its ``TimeLimit`` inside them.
        """
        live = self._current()
        live.end("truncated", f"{CUT_SHORT} after {len(live.trace.steps)} decisions")
        return self._finish(live)[4]

    def _reseed(self, seed: int) -> None:
        whole = type(seed) is int or (isinstance(seed, Integral) and not isinstance(seed, bool))
        if not whole or seed < 0:
            raise UsageError(f"seed={seed!r}: give a whole number of at least 0")
        self._np_random_seed, self._generator, self._episode = int(seed), None, -1

    def _choose(self, options: dict[str, Any] | None, seed: int) -> Task:
        if not options:
            return self.source.draw(seed)
        task_id = options["trace"].task_id if "trace" in options else options["task_id"]
        return self.source.get(task_id, seed)

    def _finish(self, live: LiveEpisode) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        verdict = judge(live.task, live.trace)
        terminated = verdict.valid and live.ending in ("stop", "message", "terminal_tool")
        reward = float("nan") if verdict.reward is None else verdict.reward
        info = {"task_id": live.task.id, "verdict": verdict.to_json()}
        return live.observe(), reward, terminated, not terminated, info
