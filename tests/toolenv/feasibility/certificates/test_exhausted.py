"""Finite spaces searched to their end: a house of rooms whose doors open to who knows a word.

The expected answers are found by looking at the plan of the house::

    hall --(sesame, in the hall's letter)--> cellar --(abra, said nowhere)--> vault
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.toolenv.feasibility.certificates import real
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.checker import check, check_file
from toolenv.feasibility.certificates.exhaust import exhaust
from toolenv.feasibility.certificates.exhausted import Finite, problem_of_exhausted
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.records import Certificate, Claim
from toolenv.kernel.protocol import World
from toolenv.source import make_source
from toolenv.task import Score, Task
from toolenv.trace import Trace
from toolenv.types import Action, ChatMessage, ToolCall, ToolSpec

DOORS = {("hall", "cellar"): "sesame", ("cellar", "vault"): "abra"}
LETTERS = {"hall": "the word is sesame", "cellar": "nothing but dust"}


class House:
    def __init__(self, room: str = "hall") -> None:
        self.room = room

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if name == "look":
            return LETTERS.get(self.room, "gold")
        if name == "peek":
            return "abra is written here"
        opened = DOORS.get((self.room, arguments["to"]))
        if opened != arguments["word"]:
            raise ToolError("the door stays shut")
        self.room = arguments["to"]
        return f"now in the {self.room}"

    def fork(self) -> House:
        return House(self.room)

    def digest(self) -> str:
        return self.room

    def view(self) -> str:
        return self.room


class Never:
    def score(self, trace: Trace) -> Score:
        return Score(trace.checkpoints[-1] == "vault")

    def solution(self) -> tuple[Action, ...]:
        return ()


class HouseRules:
    version = "1"

    def __init__(self, is_finite: bool = True) -> None:
        self.is_finite = is_finite

    def outcome(self, task: Task, trace: Trace) -> Score:
        return task.reference.score(trace)

    def problem(self, task: Task, claim: Claim) -> str:
        return "no other claims"

    def start(self, task: Task) -> World:
        return House()

    def grounded_calls(self, task: Task, world: World, known: Knowledge) -> tuple[ToolCall, ...] | None:
        names = {tool.name for tool in task.offered()}
        looks = [ToolCall(name, {}) for name in sorted({"look", "peek"} & names)]
        opens = [
            ToolCall("open", {"to": to, "word": word})
            for (_, to), word in DOORS.items()
            if "open" in names and known.has(word)
        ]
        return (*looks, *opens) if self.is_finite else None

    def may_be_solved(self, task: Task, world: World, known: Knowledge) -> bool:
        return world.digest() == "vault"


EMPTY = {"type": "object", "properties": {}}
OPEN = {"type": "object", "properties": {"to": {"type": "string"}, "word": {"type": "string"}}}
TOOLS = tuple(
    ToolSpec(name, "A tool.", OPEN if name == "open" else EMPTY, name) for name in ("look", "open", "peek")
)
TASK = Task(
    "house", (ChatMessage("user", "Fetch the gold from the vault behind the cellar."),), TOOLS, Never()
)
RULES = HouseRules()


def masked(*tools: str) -> Task:
    return TASK.masked(frozenset(tools))


def proven(*tools: str) -> Claim:
    claim, _ = exhaust(RULES, masked(*tools), 0, 1000)
    assert claim is not None
    return claim


def test_a_space_is_searched_to_its_end() -> None:
    claim = proven("peek")
    assert problem_of_exhausted(RULES, masked("peek"), claim) == ""
    paths = [[call["name"] for call in path] for path in claim.facts["paths"]]
    assert paths == [[], ["open"]]  # hall and cellar; the vault is never reached
    assert len(claim.facts["read"]) == 4  # two letters, a shut door, an open one


def test_without_the_letter_the_hall_is_all_there_is() -> None:
    claim = proven("peek", "look")
    assert claim.facts == {"paths": [[]], "read": []}
    assert problem_of_exhausted(RULES, masked("peek", "look"), claim) == ""


def test_nothing_is_claimed_where_there_is_a_way() -> None:
    assert exhaust(RULES, masked("nothing"), 0, 1000)[0] is None


def test_nothing_is_claimed_of_calls_without_end_or_beyond_the_bound() -> None:
    assert exhaust(HouseRules(is_finite=False), masked("peek"), 0, 1000) == (None, 0)
    claim, tried = exhaust(RULES, masked("peek"), 0, 3)
    assert (claim, tried) == (None, 3)
    assert exhaust(object(), masked("peek"), 0, 1000) == (None, 0)


def test_rules_say_whether_a_search_may_end() -> None:
    assert isinstance(RULES, Finite)
    assert not isinstance(real.planner("BFCL").rules, Finite)
    assert isinstance(real.planner("TauBench").rules, Finite)


CELLAR = [{"name": "open", "arguments": {"to": "cellar", "word": "sesame"}}]
FALSE: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "leads elsewhere": lambda facts: facts.update(
        paths=[[]], read=[one for one in facts["read"] if one[0] == 0]
    ),
    "tells more": lambda facts: facts.update(read=facts["read"][1:]),
    "has to be the start": lambda facts: facts.update(paths=[CELLAR]),
    "the first has to be the start": lambda facts: facts.update(paths=[]),
    "at most 200": lambda facts: facts.update(paths=[[], *[CELLAR] * 200]),
    "a result of a state that is not named": lambda facts: facts["read"].append([7, CELLAR[0]]),
    "a call of a tool that is not left": lambda facts: facts["read"].append(
        [0, {"name": "peek", "arguments": {}}]
    ),
    "no paths and results": lambda facts: facts.pop("read"),
    "no paths and results: ValueError": lambda facts: facts.update(
        paths=[[], [{"name": 1, "arguments": {}}]]
    ),
    "unknown claim": lambda facts: facts.update(more=1),
}


@pytest.mark.parametrize("problem", FALSE)
def test_a_false_claim_is_rejected(problem: str) -> None:
    claim = proven("peek")
    facts = json.loads(json.dumps(claim.facts))
    FALSE[problem](facts)
    assert problem in problem_of_exhausted(RULES, masked("peek"), replace(claim, facts=facts))


def test_a_claim_of_another_mask_or_turn_is_rejected() -> None:
    claim = proven("peek")
    assert "tells more" in problem_of_exhausted(RULES, masked("nothing"), claim)
    assert "tool that is not left" in problem_of_exhausted(RULES, masked("open"), claim)
    assert "about turn 1" in problem_of_exhausted(RULES, masked("peek"), replace(claim, turn=1))
    assert "no search comes to an end" in problem_of_exhausted(object(), masked("peek"), claim)


# ---- τ-bench ----


def test_who_asks_for_a_price_and_cannot_be_found() -> None:
    """retail_test_62 asks what an order cost; without look-ups no key is known, so nothing can be called."""
    record = real.certificates("TauBench").tasks["retail_test_62"]
    claim = record.certificates[0].claim
    assert record.status == "certified"
    assert claim is not None
    assert (claim.kind, claim.facts) == ("exhausted", {"paths": [[]], "read": []})


def test_it_does_not_hold_of_a_smaller_mask() -> None:
    suite, rules = real.suite("TauBench"), real.planner("TauBench").rules
    task = make_source(suite, "clean").get("retail_test_62")
    false = Certificate(
        task.id,
        ("get_order_details",),
        "infeasible",
        "outcome",
        claim=Claim("exhausted", 0, {"paths": [[]], "read": []}),
    )
    assert "tells more" in check(suite, rules, task, false)


def test_masks_that_a_search_to_the_end_repairs_pass_the_check() -> None:
    made = real.certificates("TauBench", "get_user_details")
    kinds = {one.claim.kind for record in made.tasks.values() for one in record.certificates if one.claim}
    found = check_file(
        made,
        real.suite("TauBench"),
        real.planner("TauBench").rules,
        real.manifest("TauBench", "get_user_details"),
    )
    assert {problem for _, problem in found} == {""}
    assert kinds <= {"effect", "value", "exhausted"}
