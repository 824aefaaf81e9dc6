"""The environment: one task an episode, one decision a step."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import gymnasium
import numpy
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding

from toolenv.errors import ServerError, ToolFault, UnknownNameError, UsageError
from toolenv.hygiene import clean_action, clean_text
from toolenv.json_values import UnusableValueError, clean_json, mend_surrogates
from toolenv.judge import decide_text, judge
from toolenv.kernel.protocol import Kernel, Slot, World, shown_tools
from toolenv.names import lookup_table
from toolenv.seeding import episode_seed
from toolenv.source import TaskSource
from toolenv.spaces import ActionSpace, ObservationSpace
from toolenv.task import Task
from toolenv.trace import Ending, Step, Trace
from toolenv.transcript import render_conversation
from toolenv.types import (
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolResult,
    ToolSpec,
    Usage,
    check_action,
)
from toolenv.user import User, conversation

RAW_LIMIT = 20_000
"""Characters of an unreadable output that go back into the conversation."""


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
        self._max_turns = source.max_turns
        self.action_space = ActionSpace()
        self.observation_space = ObservationSpace()
        self._generator: numpy.random.Generator | None = None
        self._episode = -1
        self._ending: Ending = "stop"
        self._tools: tuple[ToolSpec, ...] = ()
        self._lookup: Mapping[str, ToolSpec] = {}
        self._task: Task | None = None
        self._messages: list[ChatMessage] = []
        self._lost_usage: Usage | None = None
        self._trace: Trace | None = None

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
        if self._task is None:
            raise ResetNeeded("no task yet: call reset() first")
        return self._task

    @property
    def trace(self) -> Trace:
        """What has happened so far in this episode."""
        if self._trace is None:
            self._trace = Trace(
                self.source.suite.name,
                self.source.condition,
                self.task.id,
                self._seed,
                self._max_turns,
                tuple(self._steps),
                tuple(self._checkpoints),
                self._ending,
                self._error,
                self._lost_usage,
                self._opening,
            )
        return self._trace

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools offered now."""
        return self._tools

    def world_state(self) -> Any:
        """A JSON-able copy of the world as the judge sees it."""
        if self._task is None:
            raise ResetNeeded("no world yet: call reset() first")
        return self._world.view()

    # -- gymnasium ------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: starts a new sequence of episodes; ``None`` goes on with the last one.
            options: ``{"task_id": …}`` names the task; nothing else is known.

        Raises:
            UsageError: a seed that is no whole number of at least 0, or an unknown option or task.
        """
        if seed is not None:
            self._reseed(seed)
        self._episode += 1
        self._seed = episode_seed(self.np_random_seed, self._episode)
        self._begin(self._choose(options))
        return self._observe(), {}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one decision.

        Raises:
            ResetNeeded: the episode is over, or none was started.
            UsageError: ``action`` is no action.
        """
        if self._ending != "running":
            raise ResetNeeded("the episode is over: call reset() before step()")
        action = clean_action(check_action(action, "the caller of step()"))
        self._trace = None
        self._decisions += 1
        if isinstance(action, ToolCalls) and action.calls:
            self._call_tools(action)
        elif isinstance(action, Message):
            self._say(action)
        elif isinstance(action, Stop):
            self._stop(action)
        else:
            self._answer_malformed(action)
        if self._ending == "running":
            if self._decisions < self._max_turns:
                return self._observe(), 0.0, False, False, {}
            self._end("truncated")
        return self._finish()

    def render(self) -> str | None:
        """The conversation as text in mode ``"ansi"``, else ``None``."""
        return render_conversation(self._observe()) if self.render_mode == "ansi" else None

    def abort(self, ending: Ending, error: str, usage: Usage | None = None) -> dict[str, Any]:
        """End the episode because no decision came, and return its last ``info``.

        Args:
            ending: ``server_error``, ``agent_error`` or ``context_window``.
            error: the message or traceback.
            usage: tokens of the generations that led to no decision.
        """
        self._error, self._lost_usage, self._trace = clean_text(error), usage, None
        self._end(ending)
        return self._finish()[4]

    # -- one episode ----------------------------------------------------------------------------------

    def _reseed(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
            raise UsageError(f"seed={seed!r}: give a whole number of at least 0")
        self._np_random_seed, self._generator, self._episode = int(seed), None, -1

    def _choose(self, options: dict[str, Any] | None) -> Task:
        if not options:
            return self.source.draw(self._seed)
        for name in options:
            if name != "task_id":
                raise UnknownNameError("reset option", name, ["task_id"])
        return self.source.get(options["task_id"], self._seed)

    def _begin(self, task: Task) -> None:
        self._task, self._terminal_tools = task, task.terminal_tools
        self._kernel: Kernel = self.source.kernel(task)
        self._world: World = self._kernel.start(self._seed)
        self._turn = self._decisions = self._call_index = 0
        self._messages = list(task.messages)
        self._steps: list[Step] = []
        self._checkpoints: list[str] = []
        self._call_ids: set[str] = set()
        self._mended: set[str] = set()
        self._ending, self._error, self._lost_usage, self._trace = "running", "", None, None
        self._offer()
        self._opening = ""
        if self.source.user is not None:
            self._opening = clean_text(self.source.user.reply(task, (), self._seed) or "")
            self._messages.append(ChatMessage("user", self._opening))

    def _offer(self) -> None:
        tools = shown_tools(self._world, self._kernel.tools(self._turn))
        if tools is not self._tools:
            self._tools, self._lookup = tools, lookup_table(tools)

    def _observe(self) -> Observation:
        return Observation(tuple(self._messages), self._tools, self._max_turns - self._decisions)

    def _call_tools(self, action: ToolCalls) -> None:
        calls = tuple(map(self._accept, action.calls))
        self._messages.append(ChatMessage("assistant", action.text, calls))
        results = tuple(map(self._answer, calls))
        taken = ToolCalls(calls, action.text, usage=action.usage, raw=action.raw)
        self._steps.append(Step(self._turn, taken, results))
        self._offer()

    def _answer(self, call: ToolCall) -> ToolResult:
        """Run a call and append its reply; calls behind one that ended the episode get a reply too."""
        if self._ending != "running":
            result = ToolResult("Error: not run, the episode had ended.", "tool_error")
        else:
            try:
                result = self._kernel.call(self._world, call, Slot(self._call_index, self._turn))
            except ToolFault as fault:
                result = self._fail(fault)
            if call.id in self._mended:
                result = result._replace(record={**(result.record or {}), "mended_text": True})
            if call.name in self._terminal_tools and result.kind == "ok":
                self._end("terminal_tool")
        self._call_index += 1
        self._messages.append(ChatMessage("tool", result.content, (), call.id))
        return result

    def _fail(self, fault: ToolFault) -> ToolResult:
        self._error = mend_surrogates("".join(traceback.format_exception(fault)))
        self._end("environment_error")
        return ToolResult("Error: the tool failed.", "tool_error")

    def _accept(self, call: ToolCall) -> ToolCall:
        """The call under the tool's own name, with clean arguments and an id of its own."""
        spec = self._lookup.get(call.name)
        name = call.name if spec is None else spec.name
        call_id = self._unused_id(call.id)
        try:
            arguments, mended = clean_json(call.arguments)
        except UnusableValueError as error:
            return ToolCall(name, {}, call_id, call.problem or str(error))
        if mended:
            self._mended.add(call_id)
        return ToolCall(name, arguments, call_id, call.problem)

    def _unused_id(self, wanted: str) -> str:
        number = len(self._call_ids)
        while not wanted or wanted in self._call_ids:
            # Nine letters and digits: the strictest form servers ask for.
            wanted, number = f"call{number:05d}", number + 1
        self._call_ids.add(wanted)
        return wanted

    def _stop(self, action: Stop) -> None:
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", f"STOP: {action.reason}"))
        self._end("stop")

    def _say(self, action: Message) -> None:
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", action.text))
        user, turns = self.source.user, self.task.turns
        if user is not None and decide_text(action.text).strict == "feasible":
            self._hear(user)
            return
        if self._turn == len(turns) or decide_text(action.text).strict == "infeasible":
            self._end("message")
            return
        self._checkpoints.append(self._world.digest())
        self._messages.extend(turns[self._turn].messages)
        self._turn, self._decisions = self._turn + 1, 0
        self._offer()

    def _hear(self, user: User) -> None:
        """Let a simulated user answer, or end the conversation; its failure is not the agent's."""
        try:
            reply = user.reply(self.task, conversation(self._opening, self._steps), self._seed)
        except Exception as error:
            broken = not isinstance(error, ServerError)
            self._error = clean_text("".join(traceback.format_exception(error)) if broken else str(error))
            self._end("environment_error" if broken else "server_error")
            return
        if reply is None:
            self._end("message")
            return
        reply = clean_text(reply)
        self._steps[-1] = self._steps[-1]._replace(reply=reply)
        self._messages.append(ChatMessage("user", reply))

    def _answer_malformed(self, action: Action) -> None:
        if not isinstance(action, Malformed):
            action = Malformed("", "a tool call without any call", usage=action.usage)
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", action.raw[:RAW_LIMIT] or "(no output)"))
        self._messages.append(
            ChatMessage("user", f"Error: your last output could not be used: {action.why}.")
        )

    def _end(self, ending: Ending) -> None:
        self._ending = ending
        self._checkpoints.append(self._world.digest())

    def _finish(self) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        verdict = judge(self.task, self.trace)
        terminated = self._ending in ("stop", "message", "terminal_tool")
        reward = float("nan") if verdict.reward is None else verdict.reward
        info = {"task_id": self.task.id, "verdict": verdict.to_json()}
        return self._observe(), reward, terminated, not terminated, info
