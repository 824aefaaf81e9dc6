"""One episode in progress: the conversation, the world behind it, and what has been decided so far."""

from __future__ import annotations

from collections.abc import Mapping

from toolenv.errors import RAISED, DeadlineError, ServerError, ToolFault, UsageError, traceback_of
from toolenv.hygiene import clean_action, clean_text
from toolenv.incoming_calls import MAX_CALLS, IncomingCalls, no_decision
from toolenv.judge import decide_text
from toolenv.kernel.protocol import NO_WORLD, Kernel, Slot, World
from toolenv.names import lookup_table, shared_lookup_table
from toolenv.quick import new_call, new_calls, new_observation, new_tuple
from toolenv.read_only import frozen
from toolenv.source import TaskSource
from toolenv.suite_code import begun, offered, state_of, words_of_user
from toolenv.task import Task
from toolenv.trace import INVALID_ENDINGS, Continuation, Ending, Step, Trace
from toolenv.trouble import NO_TROUBLE, Trouble
from toolenv.types import (
    Action,
    ChatMessage,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolResult,
    ToolSpec,
    Usage,
    total_usage,
)
from toolenv.user import User, conversation

RAW_LIMIT = 20_000
"""Characters of an unreadable output that go back into the conversation."""


class LiveEpisode:
    """One episode of a task, from its first observation to its ending.

    Args:
        source: where the task comes from.
        task: what is played.
        seed: decides all chance in the episode.

    Attributes:
        ending: ``"running"`` until the episode is over.
        tools: the tools offered now.
        user: who talks to the agent, if that is simulated.
        world: the state behind the tools; an empty one before :meth:`begin`.
    """

    __slots__ = (
        "_calls", "_checkpoints", "_continuation", "_error", "_incoming", "_kernel", "_left", "_lookup",
        "_lost_usage", "_max_turns", "_messages", "_opening", "_searches", "_seed", "_source", "_steps",
        "_trace", "_trouble", "_turn", "ending", "task", "tools", "user", "world",
    )  # fmt: skip

    def __init__(self, source: TaskSource, task: Task, seed: int) -> None:
        self._source, self.task, self._seed = source, task, seed
        self._max_turns = self._left = source.max_turns
        self.user = source.user
        self._kernel: Kernel
        self.world: World = NO_WORLD
        self._turn = self._calls = 0
        self._messages = list(task.messages)
        self._steps: list[Step] = []
        self._checkpoints: list[str] = []
        self._incoming = IncomingCalls()
        self._error = self._opening = ""
        self._lost_usage: Usage | None = None
        self._trouble = NO_TROUBLE
        self._continuation: Continuation | None = None
        self._trace: Trace | None = None
        self.ending: Ending = "running"
        self.tools: tuple[ToolSpec, ...] = ()
        self._lookup: Mapping[str, ToolSpec] = {}
        self._searches = False

    def begin(self) -> None:
        """Make the world.

        Raises:
            ToolFault: the suite has a bug.
            ToolEnvError: what is missing for it, such as data or a server.
        """
        self._kernel, self.world = begun(self._source, self.task, self._seed)
        # Only where tools have to be searched for does a call change what is offered.
        self._searches = getattr(self.world, "listed", None) is not None
        self._offer()

    @property
    def trace(self) -> Trace:
        """What has happened so far."""
        if self._trace is None:
            self._trace = Trace(
                self._source.suite.name,
                self._source.condition,
                self.task.id,
                self._seed,
                self._max_turns,
                tuple(self._steps),
                tuple(self._checkpoints),
                self.ending,
                self._error,
                self._lost_usage,
                self._opening,
                self._continuation,
                self._trouble,
            )
        return self._trace

    def observe(self) -> Observation:
        """What the agent may know now."""
        return new_observation(tuple(self._messages), self.tools, self._left)

    def open(self, user: User) -> None:
        """Let a simulated user speak first.

        Raises:
            ServerError: the user's model failed.
            ToolFault: the user has a bug.
        """
        self._opening = words_of_user(user, self.task, (), self._seed) or ""
        self._messages.append(ChatMessage("user", self._opening))

    def take(self, action: Action) -> None:
        """Take one decision."""
        action = clean_action(action)
        self._trace = None
        self._left -= 1
        if isinstance(action, ToolCalls) and 0 < len(action.calls) <= MAX_CALLS:
            self._call_tools(action)
        elif isinstance(action, Message):
            self._say(action)
        elif isinstance(action, Stop):
            self._stop(action)
        else:
            self._answer_malformed(action)
        if self.ending == "running" and self._left <= 0:
            self.end("truncated")

    def end(
        self,
        ending: Ending,
        error: str = "",
        lost_usage: Usage | None = None,
        trouble: Trouble = NO_TROUBLE,
    ) -> None:
        """End the episode; ``error``, ``lost_usage`` and ``trouble`` where no decision came."""
        self.ending, self._trouble, self._trace = ending, trouble, None
        if error:
            self._error = clean_text(error)
        if lost_usage is not None:
            lost = (lost_usage,) if self._lost_usage is None else (self._lost_usage, lost_usage)
            self._lost_usage = total_usage(lost)
        self._check_in()

    def go_on(self, arm: str, message: str, decisions: int) -> None:
        """Reopen an episode that has ended, its world and conversation as they were left.

        Later user turns come as they would have come. See :class:`toolenv.trace.Continuation`.

        Raises:
            UsageError: the episode has not ended, has gone on before, or is given no decision.
        """
        if self.ending == "running" or self._continuation is not None or decisions < 1:
            told = f"it is {self.ending}, went on: {self._continuation is not None}, decisions: {decisions}"
            raise UsageError(f"an episode goes on once, after its end, for 1 decision or more; {told}")
        lost, self._lost_usage = self._lost_usage, None
        self._continuation = Continuation(arm, len(self._steps), self.ending, message, decisions, lost)
        self._messages.append(ChatMessage("user", message))
        self._checkpoints.pop()  # of a user turn that is not over after all
        self.ending, self._error, self._left, self._trace = "running", "", decisions, None

    def recall(self, steps: tuple[Step, ...]) -> None:
        """Put the recorded form of steps in their place: that a call was mended shows in that alone."""
        self._steps[:], self._trace = steps, None

    # ---- what a decision does ----

    def _call_tools(self, action: ToolCalls) -> None:
        calls = tuple([self._incoming.accept(call, self._lookup) for call in action.calls])
        # The agent sees copies, and cannot change them: later requests send again what was written of them.
        shown = tuple([_copied(call) for call in calls])
        self._messages.append(new_tuple(ChatMessage, ("assistant", action.text, shown, "")))
        results = tuple([self._answer(call) for call in calls])
        taken = new_calls(calls, action.text, action.usage, action.raw)
        self._steps.append(new_tuple(Step, (self._turn, taken, results, None)))
        if self._searches:
            self._offer_anew()

    def _stop(self, action: Stop) -> None:
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", f"STOP: {action.reason}"))
        self.end("stop")

    def _say(self, action: Message) -> None:
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", action.text))
        user, turns = self.user, self.task.turns
        if (user is None and self._turn == len(turns)) or decide_text(action.text).strict == "infeasible":
            self.end("message")
        elif user is not None:
            self._hear(user)
        else:
            self._check_in()
            if self.ending != "running":
                return
            self._messages.extend(turns[self._turn].messages)
            self._turn += 1
            if self._continuation is None:
                self._left = self._max_turns
            self._offer_anew()

    def _hear(self, user: User) -> None:
        """Let a simulated user answer, or end the conversation; its failure is not the agent's."""
        try:
            said = conversation(self._opening, self._steps, self._continuation)
            reply = words_of_user(user, self.task, said, self._seed)
        except ServerError as error:
            self._end_by_server(error)
        except ToolFault as fault:
            self.end("environment_error", traceback_of(fault), trouble=Trouble("environment/user"))
        else:
            if reply is None:
                self.end("message")
                return
            self._steps[-1] = self._steps[-1]._replace(reply=reply)
            self._messages.append(ChatMessage("user", reply))

    def _end_by_server(self, error: ServerError) -> None:
        """End the episode because a server failed that is not the agent's, nor are its tokens."""
        ending: Ending = "deadline" if isinstance(error, DeadlineError) else "server_error"
        self.end(ending, str(error), trouble=Trouble(error.trouble, error.role))

    def _answer_malformed(self, action: Action) -> None:
        action = no_decision(action)
        self._steps.append(Step(self._turn, action))
        self._messages.append(ChatMessage("assistant", action.raw[:RAW_LIMIT] or "(no output)"))
        complaint = f"Error: your last output could not be used: {action.why}."
        self._messages.append(ChatMessage("user", complaint))

    # ---- calls ----

    def _check_in(self) -> None:
        """Note the world's state, at the end of a user turn."""
        try:
            self._checkpoints.append(state_of(self.world))
        except ToolFault as fault:
            self._checkpoints.append("")
            if self.ending not in INVALID_ENDINGS:  # else what came first is what happened
                self.ending, self._error, self._trouble = "environment_error", traceback_of(fault), NO_TROUBLE

    def _offer_anew(self) -> None:
        try:
            self._offer()
        except ToolFault as fault:
            self.end("environment_error", traceback_of(fault))

    def _offer(self) -> None:
        tools = offered(self._kernel, self.world, self._turn)
        if tools is not self.tools:
            self.tools = tools
            # Where tools have to be searched for, each episode is shown other ones.
            self._lookup = lookup_table(tools) if self._searches else shared_lookup_table(tools)

    def _answer(self, call: ToolCall) -> ToolResult:
        """Run a call and append its reply; calls behind one that ended the episode get a reply too."""
        result = self._run(call) if self.ending == "running" else _NOT_RUN
        self._messages.append(new_tuple(ChatMessage, ("tool", result.content, (), call.id)))
        return result

    def _run(self, call: ToolCall) -> ToolResult:
        slot = new_tuple(Slot, (self._calls, self._turn, 0))
        self._calls += 1
        try:
            result = self._kernel.call(self.world, call, slot)
        except ServerError as error:
            self._end_by_server(error)
            return ToolResult("Error: the tool failed.", "tool_error")
        except UsageError:  # a schema that cannot be used
            raise
        except RAISED as error:  # a ToolFault, or a bug of a hazard
            self.end("environment_error", traceback_of(error))
            return ToolResult("Error: the tool failed.", "tool_error")
        if call.id in self._incoming.mended:
            result = result._replace(record={**(result.record or {}), "mended_text": True})
        if call.name in self.task.terminal_tools and result.kind == "ok":
            self.end("terminal_tool")
        return result


def _copied(call: ToolCall) -> ToolCall:
    return new_call(call.name, frozen(call.arguments), call.id, call.problem)


_NOT_RUN = ToolResult("Error: not run, the episode had ended.", "tool_error")
