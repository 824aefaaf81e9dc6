"""Validation finds what is wrong: unsolvable tasks, free successes, stale flags, leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.support.toy import Bank, PaidReference, Toy, toy_source
from toolenv import Score, Task, ToolEnv, Trace
from toolenv.agents.registry import make_agent
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel import MaskedKernel
from toolenv.kernel.protocol import Slot
from toolenv.source import TaskSource
from toolenv.types import Action, Message, ToolCall, ToolResult
from toolenv.validation import Validation, summarise, validate_source


def validated(source: TaskSource) -> Validation:
    return summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))


def found(source: TaskSource) -> list[tuple[str, str]]:
    return [(one.task_id, one.check) for one in validated(source).findings]


class PaidLater(PaidReference):
    """Of `two-turns`, where the tool comes with the second user turn."""

    def solution(self) -> tuple[Action, ...]:
        return (Message("There is no way to pay yet."), *super().solution())


class Altered(Toy):
    """The toy suite with some tasks changed and flags of one's own."""

    def __init__(
        self,
        change: Callable[[Task], Task] = lambda task: task,
        flags: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        super().__init__()
        self._change = change
        self._flags = {"idle": ("do_nothing_passes",)} if flags is None else flags

    def tasks(self, subset: str) -> tuple[Task, ...]:
        sound = changing("two-turns", reference=PaidLater(93))
        return tuple(self._change(sound(task)) for task in super().tasks(subset))

    def masks(self, subset: str) -> MaskManifest:
        return replace(super().masks(subset), flags=self._flags)


def changing(task_id: str, **changes: Any) -> Callable[[Task], Task]:
    return lambda task: replace(task, **changes) if task.id == task_id else task


@pytest.mark.parametrize(("condition", "tasks"), [("clean", 4), ("infeasible", 3), ("mixed", 3)])
def test_a_sound_source_has_no_findings(condition: str, tasks: int) -> None:
    validation = validated(toy_source(condition, Altered()))
    assert (validation.tasks, validation.findings) == (tasks, ())
    assert validation.flagged == (Counter(do_nothing_passes=1) if condition == "clean" else Counter())


def test_a_solution_that_calls_a_tool_before_its_turn_is_found() -> None:
    early = changing("two-turns", reference=PaidReference(93))
    assert found(toy_source("clean", Altered(early))) == [("two-turns", "oracle")]


def test_a_reference_that_does_not_solve_its_task_is_found() -> None:
    class Wrong(PaidReference):
        def solution(self) -> tuple[Action, ...]:
            return (Message("I don't know."),)

    suite = Altered(changing("pay-30", reference=Wrong(70)))
    (finding,) = validated(toy_source("clean", suite)).findings
    assert (finding.task_id, finding.check) == ("pay-30", "oracle")
    assert finding.problem == "decided by message, success False"
    assert found(toy_source("infeasible", suite)) == [], "masked, it is right to stop"
    # `mixed` shows tasks in both forms; the feasible one is as wrong there.
    assert found(toy_source("mixed", suite)) == [("pay-30", "oracle")]


def test_a_grader_that_breaks_is_found_with_its_traceback() -> None:
    class Broken(PaidReference):
        def score(self, trace: Trace) -> Score:
            raise KeyError("no such field")

    suite = Altered(changing("pay-30", reference=Broken(70)))
    (finding,) = validated(toy_source("clean", suite)).findings
    assert (finding.task_id, finding.check) == ("pay-30", "oracle")
    assert "KeyError: 'no such field'" in finding.problem


def test_a_task_that_cannot_pass_is_let_be_where_a_flag_says_so() -> None:
    class Hopeless(PaidReference):
        def score(self, trace: Trace) -> Score:
            return Score(False, "nothing is right")

    change = changing("pay-30", reference=Hopeless(70))
    flags = {"idle": ("do_nothing_passes",), "pay-30": ("can_never_pass",)}
    assert found(toy_source("clean", Altered(change))) == [("pay-30", "oracle")]
    assert found(toy_source("clean", Altered(change, flags))) == []


def test_a_flag_that_is_not_true_is_found() -> None:
    flags = {"idle": ("do_nothing_passes",), "pay-7": ("can_never_pass", "do_nothing_passes")}
    validation = validated(toy_source("clean", Altered(flags=flags)))
    assert [(one.task_id, one.problem) for one in validation.findings] == [
        ("pay-7", "flagged can_never_pass, but the reference solution passes"),
        ("pay-7", "flagged do_nothing_passes, but doing nothing fails"),
    ]


def test_field_006_a_success_for_nothing_is_found_unless_flagged() -> None:
    assert found(toy_source("clean", Altered(flags={}))) == [("idle", "do-nothing")]
    assert found(toy_source("clean", Altered())) == []


def test_a_task_without_a_reference_is_not_held_against_the_oracle() -> None:
    class Unknown(PaidReference):
        def solution(self) -> tuple[Action, ...]:
            return ()

    change = changing("pay-30", reference=Unknown(70))
    flags = {"idle": ("do_nothing_passes",), "pay-30": ("no_reference",)}
    assert found(toy_source("clean", Altered(change))) == [("pay-30", "oracle")]
    assert found(toy_source("clean", Altered(change, flags))) == []


def test_a_tool_that_breaks_under_the_reference_is_found() -> None:
    class Fragile(Altered):
        def world(self, task: Task, seed: int) -> Bank:
            return Bank({})

    source = toy_source("clean", Fragile(flags={}))
    assert {("pay-7", "oracle"), ("pay-30", "oracle")} <= set(found(source))


def test_data_that_disagrees_with_itself_is_a_warning() -> None:
    class Odd(Altered):
        def warnings(self, task: Task) -> tuple[str, ...]:
            return ("the question names no account",) if task.id == "idle" else ()

    validation = validated(toy_source("clean", Odd()))
    (warning,) = validation.warnings
    assert (warning.task_id, warning.check, warning.problem) == (
        "idle",
        "data",
        "the question names no account",
    )
    assert validation.findings == ()


def leaking(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, change: Callable[[Any], Any]
) -> list[tuple[str, str]]:
    """Findings in the infeasible toy source when what a method returns is changed."""
    honest = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda self, *given, **named: change(honest(self, *given, **named)))
    return found(toy_source("infeasible"))


EACH = [("pay-7", "leak"), ("pay-30", "leak"), ("two-turns", "leak")]


def test_an_info_that_tells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = leaking(monkeypatch, ToolEnv, "reset", lambda given: (given[0], {"label": "infeasible"}))
    assert told == EACH


def test_an_observation_that_tells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def hint(given: Any) -> Any:
        observation, info = given
        hinted = observation.messages[0]._replace(content="Psst, a tool is missing.")
        return replace(observation, messages=(hinted,)), info

    assert leaking(monkeypatch, ToolEnv, "reset", hint) == EACH


def test_a_step_that_tells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(given: Any) -> Any:
        *others, info = given
        return (*others, {"mask": ["pay"], **info})

    assert leaking(monkeypatch, ToolEnv, "step", tell) == EACH


def test_a_masked_tool_that_answers_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(result: ToolResult) -> ToolResult:
        return result._replace(content="Error: not today.") if result.kind == "masked_tool" else result

    # One finding in each user turn of each task.
    told = leaking(monkeypatch, MaskedKernel, "call", refuse)
    assert told == [("pay-7", "leak"), ("pay-30", "leak"), ("two-turns", "leak"), ("two-turns", "leak")]


def test_a_masked_tool_that_works_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Open(MaskedKernel):
        def call(self, state: Any, call: ToolCall, slot: Slot) -> ToolResult:
            return self._kernel.call(state, call, slot)

    monkeypatch.setattr("toolenv.source.task_source.MaskedKernel", Open)
    findings = validated(toy_source("infeasible")).findings
    assert {one.task_id for one in findings} == {"pay-7", "pay-30", "two-turns"}
    assert any("the masked tool 'pay' answers (invalid_arguments)" in one.problem for one in findings)


def test_a_masked_tool_that_is_offered_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Generous(MaskedKernel):
        def tools(self, turn: int = 0) -> Any:
            return self._kernel.tools(turn)

    monkeypatch.setattr("toolenv.source.task_source.MaskedKernel", Generous)
    problems = [one.problem for one in validated(toy_source("infeasible", tasks="pay-7")).findings]
    assert "the masked tool 'pay' is offered" in problems
    assert "the first observation is not the task's messages and the tools offered" in problems
