"""An action of a subclass is what its base is."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.toy import toy_source
from toolenv import Malformed, Message, Stop, ToolCall, ToolCalls, ToolEnv, Trace, Usage, rollout
from toolenv.actions import check_action
from toolenv.errors import NoActionError
from toolenv.types import Action, Observation


class OwnStop(Stop):
    pass


class OwnMessage(Message):
    __slots__ = ("more",)


class OwnMalformed(Malformed):
    pass


class OwnCall(ToolCall):
    pass


@dataclass(frozen=True)
class OwnCalls(ToolCalls):
    """With a field of its own."""

    note: str = "mine"


class OwnUsage(Usage):
    __slots__ = ("more",)


class BrokenStop(Stop):
    def __getattribute__(self, name: str) -> Any:
        if name == "reason":
            raise ValueError("no reason")
        return super().__getattribute__(name)


CALL = ToolCall("accounts.balance", {"account": "A1"}, "c1")


@pytest.mark.parametrize(
    ("own", "base"),
    [
        (OwnStop("no tool", 0.5, usage=Usage(1, 2), raw={"a": 1}), Stop("no tool", 0.5)),
        (OwnMessage("Done.", usage=OwnUsage(1, 2)), Message("Done.")),
        (Message("Done.", usage=OwnUsage(1, 2)), Message("Done.")),
        (OwnMalformed("<tool", "broken", "length"), Malformed("<tool", "broken", "length")),
        (OwnCalls((CALL,), "so"), ToolCalls((CALL,), "so")),
        (ToolCalls((OwnCall("accounts.balance", {"account": "A1"}, "c1"),)), ToolCalls((CALL,))),
    ],
    ids=["stop", "message", "usage", "malformed", "calls", "call"],
)
def test_it_is_taken_as_its_base(own: Action, base: Action) -> None:
    def decide(observation: Observation) -> Action:
        return own if len(observation.messages) == 1 else Message("Done.")

    trace = rollout(ToolEnv(toy_source()), decide, seed=0, task_id="pay-7").trace
    env = ToolEnv(toy_source())
    env.reset(seed=0, options={"task_id": "pay-7"})
    env.step(own)
    for taken in (trace.steps[0].action, env.trace.steps[0].action):
        assert type(taken) is type(base)
        assert taken == base
        assert type(taken.usage) in (type(None), Usage)
        assert (taken.usage is None) == (own.usage is None)
    assert getattr(trace.steps[0].action, "raw", None) == getattr(own, "raw", None)
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
    assert pickle.loads(pickle.dumps(trace)) == trace


@pytest.mark.parametrize("own", [BrokenStop("x"), OwnStop(5), OwnMessage("x", usage=5)])  # type: ignore[arg-type]
def test_what_it_holds_is_looked_at_all_the_same(own: Any) -> None:
    with pytest.raises(
        NoActionError, match=r"BrokenStop raises ValueError|Stop.reason is int 5|usage is int 5"
    ):
        check_action(own, "policy 'mine'")


def test_what_is_no_subclass_stays_as_it_is() -> None:
    plain = Stop("x", usage=Usage(1, 2))
    assert check_action(plain, "policy 'mine'") is plain
