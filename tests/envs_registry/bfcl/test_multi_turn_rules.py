"""The multi-turn rules on traces made by hand; what upstream says to them is in the differential test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_rules import DECISIONS_PER_TURN, MultiTurnReference, parse_call
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from tests.envs_registry.bfcl.multi_turn_cases import Entry, result_of
from toolenv.errors import DataCorruptError
from toolenv.task import Score
from toolenv.trace import Step, Trace
from toolenv.types import Malformed, Message, ToolCall, ToolCalls, ToolResult

FILES = {
    "GorillaFileSystem": {
        "root": {"home": {"type": "directory", "contents": {"a.txt": {"type": "file", "content": "one"}}}}
    }
}
TRUTH = (
    (ToolCall("touch", {"file_name": "b.txt"}), ToolCall("cat", {"file_name": "a.txt"})),
    (),
    (ToolCall("cat", {"file_name": "a.txt"}),),
)
TOUCH, READ, READ_AGAIN = TRUTH[0][0], TRUTH[0][1], TRUTH[2][0]


class Counting:
    """Makes worlds, and counts them."""

    def __init__(self, backends: Backends) -> None:
        self.backends, self.made = backends, 0

    def __call__(self) -> MultiTurnWorld:
        self.made += 1
        return MultiTurnWorld.create(self.backends, ["GorillaFileSystem"], FILES)


@pytest.fixture
def make_world(backends: Backends) -> Counting:
    return Counting(backends)


@pytest.fixture
def reference(make_world: Counting) -> MultiTurnReference:
    return MultiTurnReference(TRUTH, make_world)


def trace_of(world: MultiTurnWorld, turns: Sequence[Sequence[ToolCall]], ending: Any = "message") -> Trace:
    """The calls of each turn made on ``world``, one a decision."""
    steps: list[Step] = []
    checkpoints = []
    for turn, calls in enumerate(turns):
        steps += [Step(turn, ToolCalls((call,)), (result_of(world, call),)) for call in calls]
        steps.append(Step(turn, Message("")))
        checkpoints.append(world.digest())
    return Trace("BFCL", "clean", "t", 0, 10, tuple(steps), tuple(checkpoints), ending)


def score(reference: MultiTurnReference, *turns: Sequence[ToolCall], ending: Any = "message") -> Score:
    return reference.score(trace_of(reference.make_world(), turns, ending))  # type: ignore[arg-type]


# ---- the rules ----


def test_the_ground_truth_passes(reference: MultiTurnReference) -> None:
    assert score(reference, *TRUTH) == Score(True)


def test_order_repeats_and_other_reading_do_not_matter(reference: MultiTurnReference) -> None:
    listing = ToolCall("ls", {})
    assert score(reference, [READ, listing, READ, TOUCH], [listing], [READ_AGAIN]).success


def test_a_turn_without_ground_truth_needs_no_call_but_its_calls_count(reference: MultiTurnReference) -> None:
    assert score(reference, TRUTH[0], [READ], [ToolCall("pwd", {})]).success
    spoiled = score(reference, TRUTH[0], [ToolCall("rm", {"file_name": "b.txt"})], TRUTH[2])
    assert spoiled == Score(
        False,
        "turn 2: the state differs: GorillaFileSystem.root.contents['b.txt']: "
        "expected {'type': 'file', 'name': 'b.txt', 'content': ''}, got nothing",
    )


def test_a_turn_with_ground_truth_needs_a_call(reference: MultiTurnReference) -> None:
    assert score(reference, [*TRUTH[0], READ], [], []) == Score(False, "turn 2: no call was made")


def test_the_state_is_compared_at_the_end_of_each_turn(reference: MultiTurnReference) -> None:
    """Doing the first turn's work in a later one is too late."""
    late = score(reference, [READ], [TOUCH], TRUTH[2])
    assert not late.success
    assert late.why.startswith(
        "turn 0: the state differs: GorillaFileSystem.root.contents['b.txt']: expected {"
    )


def test_results_of_earlier_turns_count(reference: MultiTurnReference) -> None:
    assert score(reference, TRUTH[0], [], [ToolCall("pwd", {})]).success


def test_a_missing_result_is_named(reference: MultiTurnReference) -> None:
    assert score(reference, [TOUCH], [], [READ]) == Score(
        False, 'turn 0: no call returned \'{"file_content": "one"}\''
    )


def test_a_turns_results_are_counted(make_world: Counting) -> None:
    reference = MultiTurnReference(((READ, READ),), make_world)
    assert not score(reference, [READ]).success
    assert score(reference, [READ, READ]).success


def test_a_tools_error_is_a_result(make_world: Counting) -> None:
    wrong = ToolCall("cat", {"name": "a.txt"})
    reference = MultiTurnReference(((wrong,),), make_world)
    assert reference.results == (
        ("Error during execution: GorillaFileSystem.cat() got an unexpected keyword argument 'name'",),
    )
    assert score(reference, [wrong]).success
    assert not score(reference, [READ]).success


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_an_episode_that_ends_early_fails(reference: MultiTurnReference, turns: int) -> None:
    ended = score(reference, *TRUTH[:turns], ending="stop")
    assert not ended.success
    assert ended.why == f"turn {max(0, turns - 1)}: the episode ended here, after {turns} of 3 user turns"


def test_running_out_of_decisions_fails(reference: MultiTurnReference) -> None:
    assert score(reference, *TRUTH, ending="truncated") == Score(False, "turn 2: the decisions ran out")


# ---- which calls count ----


def with_last_turn(reference: MultiTurnReference, step: Step) -> Score:
    """All of the ground truth but its last call, whose result is known already; and ``step`` in its place."""
    trace = trace_of(reference.make_world(), [*TRUTH[:2], []])  # type: ignore[arg-type]
    return reference.score(replace(trace, steps=(*trace.steps, step)))


@pytest.mark.parametrize("kind", ["ok", "tool_error", "unknown_tool", "masked_tool", "invalid_arguments"])
def test_any_readable_call_is_a_call(reference: MultiTurnReference, kind: Any) -> None:
    assert with_last_turn(reference, Step(2, ToolCalls((READ,)), (ToolResult("…", kind),))).success


@pytest.mark.parametrize(
    "step",
    [
        Step(2, Malformed("<tool_call>", "no JSON")),
        Step(2, Message("cat(file_name='a.txt')")),
        Step(2, ToolCalls((READ,)), (ToolResult("Error", "malformed"),)),
        Step(
            2, ToolCalls((ToolCall("cat", problem="no JSON"),)), (ToolResult("Error", "invalid_arguments"),)
        ),
        Step(1, ToolCalls((READ,)), (ToolResult("…"),)),
    ],
    ids=["malformed", "message", "malformed result", "unreadable arguments", "another turn"],
)
def test_what_cannot_be_read_as_a_call_is_none(reference: MultiTurnReference, step: Step) -> None:
    assert with_last_turn(reference, step) == Score(False, "turn 2: no call was made")


@pytest.mark.parametrize("kind", ["unknown_tool", "masked_tool", "invalid_arguments", "malformed"])
def test_only_what_reached_the_world_has_a_result(make_world: Counting, kind: Any) -> None:
    reference = MultiTurnReference(((READ,),), make_world)
    trace = trace_of(make_world(), [[READ]])
    refused = Step(0, trace.steps[0].action, (ToolResult(trace.steps[0].results[0].content, kind),))
    assert reference.score(trace).success
    assert not reference.score(replace(trace, steps=(refused, *trace.steps[1:]))).success


def test_results_are_compared_in_full(make_world: Counting) -> None:
    reference = MultiTurnReference(((READ,),), make_world)
    trace = trace_of(make_world(), [[READ]])
    (result,) = trace.steps[0].results
    cut = Step(0, trace.steps[0].action, (ToolResult("{…", "ok", full=result.content),))
    assert reference.score(replace(trace, steps=(cut, *trace.steps[1:]))).success


def test_a_state_that_the_calls_do_not_explain_is_only_called_different(
    reference: MultiTurnReference,
) -> None:
    trace = replace(trace_of(reference.make_world(), TRUTH), checkpoints=("x", "y", "z"))  # type: ignore[arg-type]
    assert reference.score(trace) == Score(False, "turn 0: the state differs")


def test_many_differences_are_cut(make_world: Counting) -> None:
    reference = MultiTurnReference(((TOUCH,),), make_world)
    names = [ToolCall("touch", {"file_name": f"c{number}"}) for number in range(5)]
    assert score(reference, [TOUCH, *names]).why.endswith("c2', 'content': ''} and 2 more")


# ---- replaying ----


def test_truth_is_replayed_once_on_a_world_of_its_own(make_world: Counting) -> None:
    reference = MultiTurnReference(TRUTH, make_world)
    assert make_world.made == 0
    live = make_world()
    trace = trace_of(live, TRUTH)
    before = live.digest()
    assert all(reference.score(trace).success for _ in range(3))
    assert make_world.made == 2
    assert live.digest() == before
    assert reference.checkpoints == trace.checkpoints
    assert reference.results == (("None", '{"file_content": "one"}'), (), ('{"file_content": "one"}',))


def test_all_solutions_pass_within_the_cap(entries: list[Entry]) -> None:
    shared = 0
    for entry in entries:
        turns: list[list[ToolCall]] = [[]]
        decisions = [0]
        for action in entry.reference.solution():
            decisions[-1] += 1
            if isinstance(action, ToolCalls):
                turns[-1] += action.calls
                shared += len(action.calls) > 1
            else:
                turns.append([])
                decisions.append(0)
        assert max(decisions) <= DECISIONS_PER_TURN
        assert (turns.pop(), decisions.pop()) == ([], 0)
        assert tuple(map(tuple, turns)) == entry.reference.ground_truth
        assert score(entry.reference, *turns).success, entry.id
    assert shared == 18  # the two turns of 34 calls, 4 at a time


# ---- ground-truth strings ----

NAMES = {"mean": ("numbers",), "echo": ("content", "file_name")}


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("ls()", ToolCall("ls")),
        (
            "echo(content='a, (b)', file_name=\"c\")",
            ToolCall("echo", {"content": "a, (b)", "file_name": "c"}),
        ),
        ("echo('a', file_name=None)", ToolCall("echo", {"content": "a", "file_name": None})),
        (" mean([1, -2.5, True]) ", ToolCall("mean", {"numbers": [1, -2.5, True]})),
        ("edit(updates={'a': [1]})", ToolCall("edit", {"updates": {"a": [1]}})),
    ],
)
def test_calls_are_read(text: str, call: ToolCall) -> None:
    assert parse_call(text, NAMES) == call


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ls",
        "ls() + ls()",
        "os.system('x')",
        "echo(content=open('x'))",
        "echo(content=x)",
        "echo('a', content='b')",
        "echo('a', 'b', 'c')",
        "unknown('a')",
        "echo(**{'content': 'a'})",
        "echo(content={1})",
        "echo(content=(1, 2))",
        "echo(content={1: 2})",
        "echo(content=b'x')",
        "echo(content='a'",
        "import os",
    ],
)
def test_what_is_no_literal_call_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(DataCorruptError, match="not a call with literal arguments") as caught:
        parse_call(text, NAMES)
    assert repr(text) in str(caught.value)
