"""Episodes come back from workers as they were."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.support.toy import toy_source
from toolenv import Malformed, Message, Stop, ToolCall, ToolCalls, ToolEnv, Usage, rollout
from toolenv.errors import NoActionError
from toolenv.trouble import Trouble

USAGE = Usage(7, None, 3, 2, 1, 0, 4, True, 5, 6)
CALL = ToolCall("pay", {"amount": 3}, "call1", "no such account")


@pytest.mark.parametrize(
    "value",
    [
        USAGE,
        CALL,
        ToolCalls((CALL,), "I pay.", usage=USAGE, raw={"model": "m"}),
        Message("done", usage=USAGE, raw={"model": "m"}),
        Stop("no tool", 0.5, usage=USAGE),
        Malformed("{", "no JSON", "length", usage=USAGE, record={"model": "m"}),
        Trouble("server/timeout", "planner", 2, (("server/timeout", 3),), 1, {"planner": USAGE}),
    ],
)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_field_of_a_value_survives(value: Any, protocol: int) -> None:
    back = pickle.loads(pickle.dumps(value, protocol))
    assert type(back) is type(value)
    assert [getattr(back, name) for name in value.__slots__] == [
        getattr(value, name) for name in value.__slots__
    ]


def test_an_episode_survives_whole() -> None:
    played = rollout(ToolEnv(toy_source()), lambda _: Stop("no tool", usage=USAGE, raw={"a": 1}), seed=3)
    back = pickle.loads(pickle.dumps(played))
    assert back == played
    assert back.trace.to_json() == played.trace.to_json()
    assert back.episode.to_json() == played.episode.to_json()


def test_a_refused_action_survives_with_its_message() -> None:
    back = pickle.loads(pickle.dumps(NoActionError("policy 'x'", "int 5 is none of …")))
    assert (str(back), back.problem) == (
        "policy 'x' gave no action: int 5 is none of …",
        "int 5 is none of …",
    )
