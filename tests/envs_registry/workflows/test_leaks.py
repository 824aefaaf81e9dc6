"""Validation finds an answer that is told before it is found (paper 2, appendix: answer-leakage check)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from envs_registry.workflows import SUITE
from toolenv.agents.registry import make_agent
from toolenv.hazards.execution_failure import FailingTool
from toolenv.source import make_source
from toolenv.task import Task
from toolenv.validation import summarise, validate_source


def task_with(kind: str) -> Task:
    """A task whose answer is of a kind, long, and not what the failing tool is asked about."""
    source = make_source(SUITE, "execution-failure")
    for task in map(source.get, source.task_ids):
        blueprint, armed = task.metadata["blueprint"], source.hazards[task.id]
        asked = str([call.arguments for call in blueprint.calls if call.tool == armed.tool])
        fits = blueprint.answer.kind == kind and len(blueprint.answer.text) > 5
        if fits and armed.mode.startswith("transient") and blueprint.answer.text not in asked:
            return task
    raise AssertionError(f"no task whose answer is a {kind}")


def problems(task: Task) -> list[str]:
    source = make_source(SUITE, "execution-failure", tasks=[task.id])
    found = summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))
    return [one.problem for one in found.findings if one.check == "leak"]


FORMS: dict[str, Callable[[Any], str]] = {
    "number": lambda value: f"about {value:,.2f} in all",
    "text": lambda value: str(value).upper().replace(" ", " - "),
    "id": lambda value: str(value).lower().replace("-", " "),
    "date": lambda value: str(value).replace("-", " / "),
}


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("place", ["the hint", "the documentation of", "a failure"])
def test_a_leak_is_found_in_another_form(monkeypatch: pytest.MonkeyPatch, kind: str, place: str) -> None:
    task = task_with(kind)
    assert problems(task) == []
    text = FORMS[kind](task.metadata["blueprint"].answer.value)
    if place == "the hint":
        monkeypatch.setattr("toolenv.validation.hint", lambda task, instance: f"Say {text}.")
    elif place == "a failure":
        monkeypatch.setattr(FailingTool, "_text", lambda self, tool, slot: f"Error: no {text}.")
    else:
        monkeypatch.setattr(
            FailingTool,
            "tools",
            lambda self, offered: (*offered[:-1], replace(offered[-1], description=f"Tells {text}.")),
        )
    assert any(place in one and "holds the answer" in one for one in problems(task))
