"""An environment can be pickled in the middle of an episode; the copy plays on as the original does."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from envs_registry.workflows import SUITE
from toolenv.suite import hazard_manifests
from toolenv.types import Action, Message, ToolCalls


def one_task_a_mode() -> Iterator[tuple[str, str]]:
    """A condition with a hazard, and a task of it, for each hazard and mode that ships."""
    for condition, path in hazard_manifests(SUITE).items():
        modes: dict[tuple[str, str], str] = {}
        for task_id, (first, *_) in json.loads(path.read_text(encoding="utf-8"))["tasks"].items():
            modes.setdefault((first["hazard"], first["mode"]), task_id)
        yield from ((condition, task_id) for task_id in modes.values())


CASES = [
    *((condition, SUITE.tasks("default")[300].id) for condition in ("clean", "infeasible", "mixed")),
    *one_task_a_mode(),
]


def played(env: gymnasium.Env[Any, Any], actions: list[Action]) -> list[Any]:
    """What comes of the actions, up to the end of the episode."""
    told = []
    for action in actions:
        told.append(env.step(action))
        if told[-1][2] or told[-1][3]:
            break
    return told


@pytest.mark.parametrize(("condition", "task_id"), CASES)
def test_a_copy_goes_on_as_the_original(condition: str, task_id: str) -> None:
    env = gymnasium.make(f"ToolFeas/Workflows-{condition}-v0", tasks=task_id)
    observation, _ = env.reset(seed=3, options={"task_id": task_id})
    task: Any = env.unwrapped.task  # type: ignore[attr-defined]
    calls = next(one for one in SUITE.tasks("default") if one.id == task_id).reference.solution()
    actions: list[Action] = [*(one for one in calls if isinstance(one, ToolCalls)), Message("Done.")]
    copies = [pickle.loads(pickle.dumps(env))]
    begun = played(env, actions[:1])
    copies.append(pickle.loads(pickle.dumps(env)))
    rest = played(env, actions[1:])
    assert rest[-1][2]
    assert str(played(copies[0], actions)) == str([*begun, *rest])
    assert str(played(copies[1], actions[1:])) == str(rest)
    for copy in copies:
        assert copy.unwrapped.trace == env.unwrapped.trace  # type: ignore[attr-defined]
        assert copy.unwrapped.world_state() == env.unwrapped.world_state()  # type: ignore[attr-defined]
        assert copy.unwrapped.task.id == task.id
        assert copy.reset(seed=3, options={"task_id": task_id})[0] == observation
