"""The chat agent on a real model behind a real server. Its skill is not asserted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.real_model import RealServer
from toolenv.actions import check_action
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.settings import ChatSettings
from toolenv.errors import ContextWindowError, PreflightError
from toolenv.names import with_wire_names
from toolenv.types import ChatMessage, Observation, ToolCall, ToolSpec

pytestmark = pytest.mark.real_model

WEATHER = ToolSpec(
    "weather.today",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
CLOCK = ToolSpec("clock.now", "The time of a city.", WEATHER.parameters)
TOOLS = with_wire_names([WEATHER, CLOCK])
ASKED = Observation((ChatMessage("user", "What is the weather in Rome?"),), TOOLS, 10)


@pytest.fixture
def policy(real_server: RealServer) -> Iterator[ChatPolicy]:
    policy = ChatPolicy(ChatSettings(model=real_server.model, base_url=real_server.base_url, max_tokens=32))
    yield policy
    policy.close()


def test_one_decision_is_an_action_with_the_servers_own_token_counts(policy: ChatPolicy) -> None:
    action, _ = policy.act(ASKED, None)
    usage = check_action(action, policy.name).usage
    assert usage is not None
    assert usage.known
    assert usage.generations == 1
    assert not usage.estimated
    assert 100 < (usage.input_tokens or 0) < 1000, "two tools and the protocol, by hand about 430"
    assert 1 <= (usage.output_tokens or 0) <= 32


def test_tools_are_part_of_the_prompt(policy: ChatPolicy) -> None:
    with_tools, _ = policy.act(ASKED, None)
    without, _ = policy.act(Observation(ASKED.messages, (), 10), None)
    assert with_tools.usage is not None
    assert without.usage is not None
    assert (with_tools.usage.input_tokens or 0) > (without.usage.input_tokens or 0) > 0


def test_a_conversation_with_calls_and_replies_is_taken(policy: ChatPolicy) -> None:
    """FIELD-018, FIELD-055 and FIELD-056 against a real chat template."""
    calls = (ToolCall("weather.today", {"city": "Rome"}, "call00000"), ToolCall("no such", {}, "call00001"))
    messages = (
        ChatMessage("system", "Today is Monday."),
        *ASKED.messages,
        ChatMessage("assistant", "", calls),
        ChatMessage("tool", "sunny, ok \ud83c end", call_id="call00000"),
        ChatMessage("tool", "Error: unknown tool", call_id="call00001"),
    )
    action, _ = policy.act(Observation(messages, TOOLS, 9), None)
    assert action.usage is not None
    assert action.usage.known


def test_preflight_passes_and_names_the_model_that_is_there(
    policy: ChatPolicy, real_server: RealServer
) -> None:
    assert policy.preflight().known
    wrong = ChatPolicy(ChatSettings(model="smollm2-360m", base_url=real_server.base_url, max_tokens=8))
    with pytest.raises(PreflightError, match=f"did you mean '{real_server.model}'"):
        wrong.preflight()
    wrong.close()


def test_field_074_the_servers_own_overflow_is_recognised(
    policy: ChatPolicy, real_server: RealServer
) -> None:
    long = ChatMessage("user", "word " * (real_server.context + 1000))
    with pytest.raises(ContextWindowError, match="context size"):
        policy.act(Observation((long,), TOOLS, 10), None)
