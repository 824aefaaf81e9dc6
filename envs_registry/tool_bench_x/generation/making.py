"""One candidate, from a topic to the checks (paper 2, §3, Benchmark Construction)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from envs_registry.tool_bench_x.generation import checks
from envs_registry.tool_bench_x.generation.asking import Asker, UnreadableError
from envs_registry.tool_bench_x.generation.candidate import Candidate
from envs_registry.tool_bench_x.generation.prompts import (
    HAZARD,
    HAZARDS,
    SCENARIO,
    SHAPES,
    TASK,
    TOOLS,
    Stage,
)
from envs_registry.tool_bench_x.generation.reasons import Rejected
from envs_registry.tool_bench_x.generation.topics import Order
from envs_registry.tool_bench_x.layout import Call

HAZARDS_TRIED = 2
"""Hazards that the model is asked for until one fits."""


def make(order: Order, asker: Asker) -> Candidate:
    """Make and check one candidate.

    Raises:
        ServerError: the model's server failed, so that there is no candidate.
        SandboxUnavailableError: this machine cannot wall code in.
    """
    made = _Making(order, asker)
    try:
        made.run()
    except Rejected as rejected:
        made.candidate = replace(made.candidate, reason=rejected.reason, detail=rejected.detail)
    return replace(made.candidate, usage=asker.usage, answers=asker.answers, unreadable=asker.unreadable)


class _Making:
    """A candidate in the making: each step adds to it or rejects it."""

    def __init__(self, order: Order, asker: Asker) -> None:
        self.order, self.asker = order, asker
        self.candidate = Candidate(order.key, topic=order.topic, subtopic=order.subtopic)

    def run(self) -> None:
        self._scenario()
        self._task()
        self._tools()
        clean = self._check_clean()
        self._hazard()
        self._check_hazard(clean)

    def _add(self, **parts: Any) -> None:
        self.candidate = replace(self.candidate, **parts)

    def _ask(self, stage: Stage, **data: Any) -> dict[str, Any]:
        workflow = self.order.key.workflow
        about = {"topic": self.order.topic, "subtopic": self.order.subtopic, "workflow": workflow}
        try:
            return self.asker.ask(stage, {**about, "shape": SHAPES[workflow], **data})
        except UnreadableError as error:
            raise Rejected(f"unreadable-{stage.name}", str(error)) from error

    def _scenario(self) -> None:
        self._add(scenario=self._ask(SCENARIO)["scenario"])

    def _task(self) -> None:
        task = self._ask(TASK, scenario=self.candidate.scenario)
        tools, distractors = (_names(task[name]) for name in ("tools", "distractors"))
        answer = task["answer"].strip()
        self._add(prompt=task["request"].strip(), tools=tools, distractors=distractors, answer=answer)
        if len({*tools, *distractors}) < len(tools) + len(distractors):
            raise Rejected("task", "two tools have one name")
        if not self.candidate.prompt or not answer:
            raise Rejected("task", "the request or the answer is empty")
        self._described = {name: task[name] for name in ("tools", "distractors")}

    def _tools(self) -> None:
        made = self._ask(
            TOOLS, request=self.candidate.prompt, answer=self.candidate.answer, **self._described
        )
        self._add(source=made["code"], calls=_calls(made["calls"]))

    def _check_clean(self) -> checks.CleanPath:
        one = self.candidate
        pool = (*one.tools, *one.distractors)
        clean = checks.check_clean(one.source, str(one.key), one.prompt, pool, one.calls, one.answer)
        checks.check_workflow(one.key.workflow, one.calls, clean, one.prompt)
        return clean

    def _hazard(self) -> None:
        one = self.candidate
        solution = [call.to_json() for call in one.calls]
        for hazard in self.order.hazards[:HAZARDS_TRIED]:
            kind: Mapping[str, str] = {"name": hazard, "meaning": HAZARDS[hazard]}
            made = self._ask(HAZARD, unreliability=kind, code=one.source, calls=solution, answer=one.answer)
            if made["fits"]:
                self._add(
                    hazard=hazard, perturbed=made["code"], recovery=_calls(made["calls"]), hint=made["hint"]
                )
                return
        raise Rejected("hazard-does-not-fit", ", ".join(self.order.hazards[:HAZARDS_TRIED]))

    def _check_hazard(self, clean: checks.CleanPath) -> None:
        """Both checks are made, whatever the first says, so that each has a rate of its own."""
        one = self.candidate
        pool = (*one.tools, *one.distractors)
        problems: list[Rejected] = []
        failures: tuple[str, ...] = ()
        try:
            module, tool = checks.check_perturbed(
                one.perturbed, str(one.key), one.prompt, clean, one.calls, pool
            )
            self._add(perturbed_tool=tool)
            failures = checks.check_recovery(module, clean, one.recovery, pool, one.prompt, one.answer)
        except Rejected as rejected:
            problems.append(rejected)
        self._add(recoverable=not problems)
        try:
            checks.check_leakage(one.answer, one.prompt, clean.outline, pool, failures, one.hint)
            self._add(leakless=True)
        except Rejected as rejected:
            self._add(leakless=False)
            problems.append(rejected)
        if problems:
            raise problems[0]


def _names(tools: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(tool["name"] for tool in tools)


def _calls(calls: Sequence[Mapping[str, Any]]) -> tuple[Call, ...]:
    return tuple(Call(call["tool"], call["arguments"]) for call in calls)
