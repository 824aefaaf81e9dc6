"""Dynamic data dependence in a trace: which results held the values that later calls consumed.

A value an argument holds has to come from somewhere. If the conversation said it, if the tool's own
documentation lists it, or if the agent used it before any tool had shown it, it depends on no call. Otherwise
it depends on one of the earlier calls whose results hold it. Texts that no result holds whole are looked at
token by token. Values derived by thought (a sum, a count) are not seen: a slice may leave out what they were
derived from, and a mask may then be smaller than it could be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from toolenv.feasibility.values import Text, Value, documented, values_in
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import ChatMessage, Message, ToolCall, ToolCalls, ToolResult


class MadeCall(NamedTuple):
    """One call of a trace.

    Attributes:
        number: its place among all calls, from 0.
        turn: the user turn.
        step: the decision it was part of.
        call, result: the call and its result.
    """

    number: int
    turn: int
    step: int
    call: ToolCall
    result: ToolResult


class Use(NamedTuple):
    """A value that only earlier results can have told.

    Attributes:
        consumer: the number of the call that used it; ``None`` for a message.
        place: the argument, or ``the message``.
        value: the value.
        producers: the numbers of the earlier calls whose results hold it; one of them is needed.
    """

    consumer: int | None
    place: str
    value: str
    producers: tuple[int, ...]


def made_calls(trace: Trace) -> tuple[MadeCall, ...]:
    """Every call of a trace, in order."""
    pairs = (
        (step.turn, at, call, result)
        for at, step in enumerate(trace.steps)
        if isinstance(step.action, ToolCalls)
        for call, result in zip(step.action.calls, step.results, strict=True)
    )
    return tuple(MadeCall(number, *pair) for number, pair in enumerate(pairs))


@dataclass(frozen=True)
class Dependence:
    """The data dependences of one trace.

    Attributes:
        task: the task.
        trace: the trace.
    """

    task: Task
    trace: Trace

    @cached_property
    def calls(self) -> tuple[MadeCall, ...]:
        """Every call of the trace."""
        return made_calls(self.trace)

    @cached_property
    def results(self) -> tuple[Text, ...]:
        """The calls' results."""
        return tuple(Text(one.result.content) for one in self.calls)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """The values that calls consumed and only earlier results can have told."""
        tools = {tool.name: tool for tool in self.task.tools}
        guessed: set[str] = set()
        found: list[Use] = []
        for one in self.calls:
            documents = documented(tools.get(one.call.name))
            for value in values_in(one.call.arguments):
                found += self._consumed(one, value, documents, guessed)
        return tuple(found)

    def _consumed(self, one: MadeCall, value: Value, documents: Text, guessed: set[str]) -> Iterator[Use]:
        """What of a value had to be read: all of it, or some of its tokens. The rest joins ``guessed``."""
        said = self.said_before(one.step)
        for text in filter(None, (value.text, *value.tokens)):
            if text in guessed or said.mentions(text) or documents.mentions(text):
                told = True
            elif producers := self.producers(text, one.number):
                yield Use(one.number, value.path, text, producers)
                told = True
            else:
                guessed.add(text)
                told = False
            if told and text == value.text:
                return

    def producers(self, value: str, before: int) -> tuple[int, ...]:
        """The calls before call ``before`` whose results hold a value."""
        return tuple(number for number in range(before) if self.results[number].mentions(value))

    def said_before(self, step: int) -> Text:
        """All that system and user had said before decision ``step``."""
        return self._said[step]

    def asked_before(self, step: int) -> Text:
        """What the user alone had said: the query, and what followed it."""
        return self._asked[step]

    @cached_property
    def _said(self) -> tuple[Text, ...]:
        return _texts(self._heard)

    @cached_property
    def _asked(self) -> tuple[Text, ...]:
        return _texts(tuple(one for one in heard if one.role == "user") for heard in self._heard)

    @cached_property
    def _heard(self) -> tuple[tuple[ChatMessage, ...], ...]:
        return tuple(_heard(self.task, self.trace))


def _heard(task: Task, trace: Trace) -> Iterator[tuple[ChatMessage, ...]]:
    """The messages of system and user before each decision, and after the last."""
    opening = (ChatMessage("user", trace.opening),) if trace.opening else ()
    turn, heard = 0, (*task.messages, *opening)
    for step in trace.steps:
        while turn < step.turn:
            heard += task.turns[turn].messages
            turn += 1
        yield heard
        if isinstance(step.action, Message) and step.reply:
            heard += (ChatMessage("user", step.reply),)
    yield heard


def _texts(heard: Iterable[tuple[ChatMessage, ...]]) -> tuple[Text, ...]:
    """The text of each; one and the same where no message was added."""
    texts: list[Text] = []
    before: tuple[ChatMessage, ...] | None = None
    for messages in heard:
        same = before is not None and len(messages) == len(before)
        texts.append(texts[-1] if same else Text("\n".join(message.content for message in messages)))
        before = messages
    return tuple(texts)


def is_grounded(uses: Sequence[Use], kept: Collection[int]) -> bool:
    """Whether every value the kept calls consume is still told by a kept call."""
    return all(
        any(producer in kept for producer in use.producers)
        for use in uses
        if use.consumer is None or use.consumer in kept
    )


def closure(uses: Sequence[Use], wanted: Collection[int]) -> frozenset[int]:
    """``wanted`` and the calls it depends on: the backward slice.

    Where several results hold a value, a call already in the slice will do, else the latest.
    """
    kept, last = set(wanted), -1
    while len(kept) != last:
        last = len(kept)
        for use in uses:
            if (use.consumer is None or use.consumer in kept) and kept.isdisjoint(use.producers):
                kept.add(use.producers[-1])
    return frozenset(kept)
