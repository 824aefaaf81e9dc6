"""A policy that could not be called is refused before the first episode; whatever can be called is not."""

from __future__ import annotations

import re
from functools import partial, wraps
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.toy import toy_source
from toolenv import Message, Observation, ToolCall, ToolEnv, rollout
from toolenv.agents.vote import Vote
from toolenv.errors import NoActionError, UsageError
from toolenv.policy import as_policy


class Says:
    """Says one word."""

    name = "says"

    def act(self, observation: Observation, memory: Any) -> Any:
        return Message("word"), memory


def says(observation: Observation) -> Message:
    return Message("word")


def having(**attributes: Any) -> Any:
    """A policy of a class that has these, too."""
    return type("Own", (Says,), attributes)()


def owning(**attributes: Any) -> Any:
    """A policy that has these by itself."""
    policy = Says()
    vars(policy).update(attributes)
    return policy


RESERVED = "; the name {!r} is reserved: toolenv calls a method of that name by itself"


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (
            having(act=lambda self, o: None),
            "policy: the signature of Own.act is act(self, o), expected act(self, observation, memory)",
        ),
        (
            having(act=lambda self, o, memory, *, more: None),
            "Own.act is act(self, o, memory, *, more), expected act(self, observation, memory)",
        ),
        (
            having(start=lambda self: None),
            "Own.start is start(self), expected start(self, seed)" + RESERVED.format("start"),
        ),
        (
            having(brief=lambda self: None),
            "Own.brief is brief(self), expected brief(self, task)" + RESERVED.format("brief"),
        ),
        (
            having(start=staticmethod(lambda: None)),
            "the signature of Own.start is start(), expected start(seed)" + RESERVED.format("start"),
        ),
        (
            having(deliberate=lambda self, observation: None),
            "deliberate(self, observation), expected deliberate(self, observation, memory)",
        ),
        (
            having(deliberate=Says.act, begin=lambda self: None),
            "is begin(self), expected begin(self, ",
        ),
        (having(act_batch=lambda self, o: None), "expected act_batch(self, observations, memories)"),
        (having(preflight=lambda self, server: None), "expected preflight(self)"),
        (owning(start=3.5), "policy: Says.start is float 3.5, no method, expected start(seed)"),
        (
            owning(act=lambda observation: None),
            "is act(observation), expected act(observation, memory)",
        ),
        (
            SimpleNamespace(name="plain", act=lambda: None),
            "the signature of SimpleNamespace.act is act(), expected act(observation, memory)",
        ),
        (lambda: Message(""), "<lambda>(), expected "),
        (partial(says, observation=None), "policy partial: its signature is partial(*, observation=None)"),
        (
            Says.act,
            "policy Says.act: its signature is Says.act(self, observation, memory), expected"
            " Says.act(observation) -> action; one that keeps a memory is an object with `name` and `act",
        ),
    ],
)
def test_what_cannot_be_called_is_refused_with_both_signatures(policy: Any, told: str) -> None:
    for _ in range(2):  # what is known of a class must not hide its mistake
        with pytest.raises(UsageError, match=re.escape(told)):
            as_policy(policy)
        with pytest.raises(UsageError, match=re.escape(told)):
            rollout(ToolEnv(toy_source()), policy, seed=1)


def test_parts_of_other_policies_are_looked_at_too() -> None:
    with pytest.raises(UsageError, match=re.escape("Own.start is start(self), expected start(self, seed)")):
        Vote([having(start=lambda self: None)])


def passed_on(function: Any) -> Any:
    """Takes anything, and says that it takes what the function takes."""

    @wraps(function)
    def around(*given: Any) -> Any:
        return Message("word")

    return around


class Callable:
    def __call__(self, observation: Observation, *more: Any) -> Message:
        return Message("word")


class Elsewhere:
    """Takes whatever it has from another policy."""

    def __init__(self) -> None:
        self.inner = Says()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.parametrize(
    "policy",
    [
        Says(),
        having(act=lambda *given: (Message("word"), None)),
        having(act=lambda self, o, m=None, *, extra=1: (Message("word"), m)),
        having(act=staticmethod(lambda o, m: (Message("word"), m))),
        having(act=classmethod(lambda kind, o, m: (Message("word"), m))),
        having(brief=None),
        having(begin=lambda self, other: None),
        owning(start=lambda seed: seed),
        SimpleNamespace(name="plain", act=lambda o, m: (Message("word"), m)),
        Elsewhere(),
        says,
        lambda *given: Message("word"),
        lambda observation, more=None: Message("word"),
        partial(lambda word, observation: Message(word), "word"),
        passed_on(lambda: None),
        Callable(),
        Callable().__call__,
    ],
    ids=[*(f"method {number}" for number in range(10)), *(f"function {number}" for number in range(7))],
)
def test_whatever_can_be_called_is_taken(policy: Any) -> None:
    assert rollout(ToolEnv(toy_source()), policy, seed=1).episode.valid


def test_builtins_that_tell_no_signature_are_taken() -> None:
    """``dict.get`` and ``type`` are of C; the first tells none in Python 3.11."""
    assert as_policy({}.get).name == "get"
    assert as_policy(print).name == "print"


@pytest.mark.parametrize("name", [None, 3, "", " "])
def test_a_name_that_is_none_is_refused_before_anything_is_played(name: Any) -> None:
    with pytest.raises(UsageError, match=rf"policy Own: its name is .*{name!r}, expected a str that is not"):
        as_policy(having(name=name))


def test_a_bare_call_is_told_how_to_become_an_action() -> None:
    with pytest.raises(NoActionError) as raised:
        rollout(ToolEnv(toy_source()), lambda observation: ToolCall("pay", {}), seed=1)  # type: ignore[arg-type, return-value]
    assert str(raised.value) == (
        "policy '<lambda>' gave no action: ToolCall(name='pay', arguments={}, id='', problem='') is none of"
        " ToolCalls, Message, Stop, Malformed; wrap it: ToolCalls((call,))"
    )
