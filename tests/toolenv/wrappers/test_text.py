"""Observations as text: enough to form a call, and nothing of the truth."""

from __future__ import annotations

import json

import gymnasium
import pytest

from toolenv import ToolCall, ToolCalls, ToolEnv
from toolenv.wrappers import TextObservation

ROUND = ("rail_journeys-sequential-0-0", "ski_resorts-sequential-0-0")


def text_of(env_id: str, task_id: str, schemas: bool) -> tuple[str, TextObservation]:
    env = TextObservation(gymnasium.make(env_id, tasks=task_id), schemas=schemas)
    return env.reset(seed=0)[0], env


@pytest.mark.parametrize("task_id", ROUND)
def test_a_tool_can_be_called_from_its_line_alone(task_id: str) -> None:
    text, env = text_of("ToolFeas/Workflows-clean-v0", task_id, schemas=True)
    lines = text[text.index("\n[tools]\n") :].splitlines()[2:-1]
    tool_env = env.unwrapped
    assert isinstance(tool_env, ToolEnv)
    assert [line.split(":")[0].strip() for line in lines] == [one.wire_name for one in tool_env.tools]
    for line in lines:
        name, schema = line.split(":")[0].strip(), json.loads(line[line.index('{"type": "object"') :])
        given = {key: None for key in schema.get("required", ())}
        env.reset(seed=0)
        env.step(ToolCalls((ToolCall(name, given),)))
        (result,) = tool_env.trace.steps[0].results
        assert result.kind != "unknown_tool"


@pytest.mark.parametrize("task_id", ROUND)
def test_masked_tools_are_in_no_line(task_id: str) -> None:
    """The masked ones are those that the clean environment offers and the infeasible one does not."""
    clean, _ = text_of("ToolFeas/Workflows-clean-v0", task_id, schemas=True)
    text, _ = text_of("ToolFeas/Workflows-infeasible-v0", task_id, schemas=True)
    offered, left = (set(one[one.index("\n[tools]\n") :].splitlines()) for one in (clean, text))
    masked = {line.split(":")[0].strip() for line in offered - left if not line.startswith("[")}
    assert masked
    assert left <= offered
    assert not any(name in line for name in masked for line in left)


def test_by_default_tools_are_names() -> None:
    """What a policy was trained on stays as it is."""
    text, env = text_of("ToolFeas/Workflows-clean-v0", ROUND[0], schemas=False)
    inner = env.unwrapped
    assert isinstance(inner, ToolEnv)
    assert text.splitlines()[-2] == "[tools] " + ", ".join(one.wire_name for one in inner.tools)
