"""Traces made elsewhere: trajectories as OpenAI-style message lists, one JSON object a line.

::

    {"task_id": "multiple_0", "agent": "some-model", "messages": [{"role": "user", …}, …], "tools": […]}

``tools`` may be absent. Whatever a line claims about success or about what its tools returned is ignored: its
calls are played through the suite's clean environment, and the judge decides.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError
from toolenv.feasibility.replaying import play
from toolenv.feasibility.successful_traces import SuccessfulTrace, Traces, TraceSource
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.names import lookup_table
from toolenv.received import normalise_message
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.types import Action, Message, ToolCall, ToolCalls

MAX_LINE = 20_000_000
"""Bytes of one line."""

MAX_MESSAGES = 2_000
"""Messages of one trajectory."""

MAX_CALLS = 1_000
"""Calls of one trajectory."""

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


class Trajectory(NamedTuple):
    """One line, read.

    Attributes:
        task_id, agent: whose it is.
        messages: in today's form; see :func:`toolenv.received.normalise_message`.
        tools: the names of the tools it was offered; ``None`` if it does not say.
    """

    task_id: str
    agent: str
    messages: tuple[Mapping[str, Any], ...]
    tools: tuple[str, ...] | None


class Played(NamedTuple):
    """A conversation as an environment can be played through it.

    Attributes:
        actions: the agent's decisions.
        lines: what the user said, the opening first.
    """

    actions: tuple[Action, ...]
    lines: tuple[str, ...]


def read_foreign(files: Sequence[Path], suite: Suite, tasks: Mapping[str, Task]) -> Traces:
    """Play the trajectories of some files and keep the successful ones.

    Args:
        files: JSON lines; see the module.
        suite: the suite.
        tasks: its tasks by id.

    Raises:
        DataMissingError: no such file.
        DataCorruptError: a line that is no trajectory, of an unknown task, or made with other tools; named by
            file and line.
    """
    found = Traces()
    for path in dict.fromkeys(files):
        found += _read_file(path, suite, tasks)
    return found


def _read_file(path: Path, suite: Suite, tasks: Mapping[str, Task]) -> Traces:
    successes: dict[str, list[SuccessfulTrace]] = {}
    attempts: dict[str, Counter[str]] = {}
    for where, line in _lines(path):
        trajectory = read_trajectory(line, where)
        task = _task_of(trajectory, tasks, suite, where)
        converses = getattr(suite, "user", None) is not None
        played = play(suite, task, *as_played(trajectory.messages, task, converses, where))
        if not played.episode.valid:
            continue
        counts = attempts.setdefault(task.id, Counter())
        counts[trajectory.agent] += 1
        if played.episode.success is True:
            trial = counts[trajectory.agent] - 1
            one = SuccessfulTrace(trajectory.agent, trial, played.trace, path.name)
            successes.setdefault(task.id, []).append(one)
    if not attempts:
        raise DataCorruptError(f"{path} holds no trajectory")
    source = TraceSource(
        kind="foreign",
        name=path.name,
        agent="",
        config_hash=hashlib.sha256(path.read_bytes()).hexdigest()[:16],
        episodes=sum(counts.total() for counts in attempts.values()),
        successful=sum(map(len, successes.values())),
    )
    return Traces(successes, attempts, (source,))


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    """The lines that are not empty, each with its place."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise DataCorruptError(f"{path}, line {number}: longer than {MAX_LINE:,} bytes")
                if line.strip():
                    yield f"{path}, line {number}", line
    except FileNotFoundError as error:
        raise DataMissingError(f"no file of trajectories at {path}") from error
    except OSError as error:
        raise DataMissingError(f"{path} cannot be read: {error.strerror or error}") from error


def read_trajectory(line: str | bytes, where: str) -> Trajectory:
    """One line of a file.

    Args:
        line: the JSON text.
        where: its place, for errors.

    Raises:
        DataCorruptError: it is no trajectory.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataCorruptError(f"{where}: not JSON: {str(error)[:200]}") from error
    if not isinstance(data, dict):
        raise DataCorruptError(
            f"{where}: a {type(data).__name__}, and no object with task_id, agent, messages"
        )
    for name, kind in (("task_id", str), ("agent", str), ("messages", list)):
        if not isinstance(data.get(name), kind) or not data[name]:
            raise DataCorruptError(f"{where}: {name} is {data.get(name)!r:.80}, not a {kind.__name__}")
    if len(data["messages"]) > MAX_MESSAGES:
        raise DataCorruptError(f"{where}: {len(data['messages'])} messages, more than {MAX_MESSAGES}")
    messages = tuple(_message(item, f"{where}, message {at}") for at, item in enumerate(data["messages"], 1))
    tools = None if data.get("tools") is None else tuple(_tool_names(data["tools"], where))
    return Trajectory(data["task_id"], data["agent"], messages, tools)


def _message(item: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise DataCorruptError(f"{where}: a {type(item).__name__}, and no message")
    try:
        message = normalise_message(clean_json(item)[0])
    except UnusableValueError as error:
        raise DataCorruptError(f"{where}: {error}") from error
    if not isinstance(message.get("tool_calls", []), list):
        raise DataCorruptError(f"{where}: tool_calls is {message['tool_calls']!r:.80}, not a list")
    if message.get("role") not in ROLES:
        known = UnknownNameError("role", message.get("role"), ROLES)
        raise DataCorruptError(f"{where}: {known}")
    return message


def _tool_names(tools: Any, where: str) -> Iterator[str]:
    """Names, bare or in OpenAI's form."""
    for item in tools if isinstance(tools, list) else [tools]:
        inner = item.get("function", item) if isinstance(item, dict) else item
        name = inner.get("name") if isinstance(inner, dict) else inner
        if not isinstance(name, str):
            raise DataCorruptError(f"{where}: tools holds {item!r:.80}, which names no tool")
        yield name


def _task_of(trajectory: Trajectory, tasks: Mapping[str, Task], suite: Suite, where: str) -> Task:
    task = tasks.get(trajectory.task_id)
    if task is None:
        unknown = UnknownNameError("task id", trajectory.task_id, tasks, where=f"suite {suite.name}")
        raise DataCorruptError(f"{where}: {unknown}")
    known = lookup_table(task.tools)
    for name in trajectory.tools or ():
        if name not in known:
            unknown = UnknownNameError("tool", name, known, where=f"the pool of task {task.id!r}")
            raise DataCorruptError(f"{where}: {unknown}")
    return task


def as_played(messages: Iterable[Mapping[str, Any]], task: Task, converses: bool, where: str) -> Played:
    """A conversation as decisions of the agent and lines of the user.

    Where the task has one user turn only, and nobody to talk to, a message would end it: what the agent said
    on the way is said at the end. Elsewhere each user's message begins a new user turn; words directly before
    another message of the agent's belong to that one.

    Args:
        messages: in today's form.
        task: the task.
        converses: whether a simulated user answers.
        where: their place, for errors.

    Raises:
        DataCorruptError: a call that names no tool, or too many calls.
    """
    script = _Script(has_turns=converses or bool(task.turns), where=where)
    for at, message in enumerate(messages, 1):
        if message["role"] == "user":
            script.hear(message["content"] or "")
        elif message["role"] == "assistant":
            script.act(message, at)
    return script.end()


class _Script:
    """Collects decisions."""

    def __init__(self, has_turns: bool, where: str) -> None:
        self._has_turns, self._where = has_turns, where
        self._actions: list[Action] = []
        self._lines: list[str] = []
        self._words: list[str] = []
        self._has_begun = False
        self._calls = 0

    def hear(self, text: str) -> None:
        """The user says something, which closes the agent's turn if it had begun."""
        if self._has_begun and self._has_turns:
            self._close()
        elif self._lines:
            self._lines[-1] += f"\n{text}"
            return
        self._lines.append(text)

    def act(self, message: Mapping[str, Any], at: int) -> None:
        """The agent says something, makes calls, or both."""
        self._has_begun = True
        if message["content"]:
            self._words.append(message["content"])
        items = message.get("tool_calls", ())
        if not items:
            return
        calls = tuple(_call(item, f"{self._where}, message {at}") for item in items)
        self._calls += len(calls)
        if self._calls > MAX_CALLS:
            raise DataCorruptError(f"{self._where}: more than {MAX_CALLS} calls")
        self._actions.append(ToolCalls(calls, self._take_words() if self._has_turns else ""))

    def end(self) -> Played:
        """All of it."""
        self._close()
        return Played(tuple(self._actions), tuple(self._lines))

    def _close(self) -> None:
        self._actions.append(Message(self._take_words()))
        self._has_begun = False

    def _take_words(self) -> str:
        words, self._words = "\n".join(self._words), []
        return words


def _call(item: Any, where: str) -> ToolCall:
    inner = item.get("function", item) if isinstance(item, dict) else None
    name = inner.get("name") if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or not isinstance(name, str) or not name:
        raise DataCorruptError(f"{where}: {item!r:.80} names no tool")
    given = inner.get("arguments")
    try:
        arguments = (
            json.loads(given, strict=False) if isinstance(given, str) and given.strip() else given or {}
        )
        plain, _ = clean_json(arguments)
    except (UnusableValueError, ValueError, RecursionError) as error:
        return ToolCall(name, problem=str(error)[:200])
    return ToolCall(name, plain) if isinstance(plain, dict) else ToolCall(name, problem="no JSON object")
