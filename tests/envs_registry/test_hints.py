"""Hints of every instance that ships, Workflows' and the real suites': they explain, and hold no answer.

Paper 2's appendix: recovery hints are searched for exact and normalised forms of the reference answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium
import pytest

import toolenv  # noqa: F401  (registers the ids)
from toolenv.errors import DataMissingError
from toolenv.hazards import Instance, get_kind, hint, kinds
from toolenv.hazards.manifest import HazardManifest, as_shipped
from toolenv.source import TaskSource, make_source
from toolenv.suite import hazard_manifests
from toolenv.task import Task
from toolenv.types import Message, ToolCalls, ToolSpec

SUITES = {"APIBank": 770, "BFCL": 4296, "StableToolBench": 2273, "TauBench": 421, "Workflows": 7738}
"""The real suites, and how many instances their manifests hold: the sums of the table in docs/hazards.md."""


def source_of(suite: str) -> TaskSource:
    try:
        return gymnasium.make(f"ToolFeas/{suite}-hazard-v0").unwrapped.source  # type: ignore[attr-defined,no-any-return]
    except DataMissingError as error:
        pytest.skip(str(error))


def instances(suite: str) -> Iterator[tuple[Task, Instance]]:
    source = source_of(suite)
    tasks = {task.id: task for task in source.suite.tasks(source.suite.default_subset)}
    for condition, path in hazard_manifests(source.suite).items():
        for task_id, proved in HazardManifest.read(path).tasks.items():
            for one in proved:
                yield as_shipped(tasks[task_id]), one.instance
        assert condition in {*kinds(), "hazard", "confusable"}


MARKS = {"tool": "<tool>", "name": "<name>", "other": "<other>"}


def form(instance: Instance) -> str:
    """The hint with a mark in the place of every name in it."""
    named = {one: MARKS[one] for one in ("name", "other") if one in instance.parameters}
    marked = replace(instance, tool=MARKS["tool"], parameters={**instance.parameters, **named})
    return get_kind(instance.hazard).hint(marked)


def filled(text: str, task: Task, instance: Instance) -> str:
    """The form with names: the tool as agents see it, the parameter, the name that it passes under."""
    (shown,) = (tool.wire_name or tool.name for tool in task.tools if tool.name == instance.tool)
    text = text.replace(MARKS["tool"], shown)
    for one in ("name", "other"):
        text = text.replace(MARKS[one], str(instance.parameters.get(one)))
    return text


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield value


def squeezed(value: Any) -> str:
    return " ".join(re.findall(r"[a-z0-9_]+(?:\.[0-9]+)?", str(value).casefold()))


def answers(task: Task) -> Iterator[str]:
    """Every value of the reference solution, and its closing words."""
    for action in task.reference.solution():
        if isinstance(action, ToolCalls):
            yield from (squeezed(leaf) for call in action.calls for leaf in leaves(call.arguments))
        elif isinstance(action, Message):
            yield squeezed(action.text)


@pytest.mark.parametrize("suite", SUITES)
def test_a_hint_is_its_modes_words_and_names(suite: str) -> None:
    """But for names of a tool and its parameters, a mode has one hint: no task's answer can be in it."""
    forms: dict[tuple[str, str], set[str]] = {}
    count = 0
    for task, instance in instances(suite):
        text, count = form(instance), count + 1
        assert hint(task, instance) == filled(text, task, instance)
        causes = instance.hazard == "execution-failure"
        mode = instance.mode.partition("-")[0] if causes else instance.mode
        forms.setdefault((instance.hazard, mode), set()).add(text)
    assert count == SUITES[suite]
    assert {key: len(found) for key, found in forms.items()} == dict.fromkeys(forms, 1)
    assert not any(re.search(r"[0-9]", text) for found in forms.values() for text in found)


@pytest.mark.parametrize("suite", SUITES)
def test_no_value_of_a_solution_is_in_its_hint(suite: str) -> None:
    """Searched for as a whole. Found are words of a mode's own, such as JSON, and names of parameters."""
    for task, instance in instances(suite):
        documented = squeezed([instance.parameters.get(one, "") for one in ("name", "other")])
        text, words = f" {squeezed(hint(task, instance))} ", f" {squeezed(form(instance))} {documented} "
        for value in answers(task):
            assert not value or f" {value} " not in text or f" {value} " in words, (task.id, value)


def test_a_hint_names_the_tool_as_agents_see_it() -> None:
    """A server allows fewer characters in names than BFCL uses."""
    tools = (ToolSpec("area.of", wire_name="area_of"), ToolSpec("plain", wire_name="plain"))
    task = Task("one", (), tools, reference=None)  # type: ignore[arg-type]
    for tool, shown in (("area.of", "area_of"), ("plain", "plain"), ("unlisted", "unlisted")):
        instance = Instance("one", "execution-failure", "persistent-timeout", tool, 0)
        assert (
            hint(task, instance)
            == f"The tool {shown} is down for good. Use another tool that tells the same."
        )


def test_no_hint_in_the_source_of_a_clean_environment() -> None:
    assert not make_source(source_of("Workflows").suite).hazards
