"""What API-Bank's certificates rest on: the outcome of a trace, and claims that it cannot come about.

All claims are about an episode as a whole (turn 0), of a task one of whose needed calls is masked, so that
the judge cannot be satisfied:

``call``
    ``{"tool": NAME}``: the judge wants a call of this API, which is masked. Says nothing of other ways.
``effect``
    ``{"table": TABLE, "way": WAY}``: the needed calls leave this table with other records (``added``,
    ``removed``) or another number of them (``more``, ``fewer``), and no API left may bring this about,
    whatever the arguments (:mod:`envs_registry.api_bank.effects`).
``deed``
    ``{"tool": NAME}``: what this masked API does leaves no trace, and no other does it.
``value``
    ``{"table": TABLE, "way": WAY, "owner": USER}``: as ``effect``, but there are APIs left that change the
    records of a user whose token or e-mail they are given, and nobody can come to know this user's. Or
    ``{"tool": NAME, "text": TEXT}``: a needed call of this masked API tells this value, and no API left tells
    it. Both hold of all who do not guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from envs_registry.api_bank.dialogues import RecordedCall
from envs_registry.api_bank.effects import BY_EMAIL, CHANGES, DEEDS, GIVES_TOKENS, NEW_USERS, OWNED
from envs_registry.api_bank.outcome import asks, left_by_needed, messages_of, missing, reference_of, ways_of
from envs_registry.api_bank.revealing import tells
from toolenv.feasibility.certificates.grounding import Knowledge, told
from toolenv.feasibility.certificates.records import Claim
from toolenv.task import Score, Task
from toolenv.trace import Trace

_FACTS: Final[Mapping[str, tuple[frozenset[str], ...]]] = {
    "call": (frozenset({"tool"}),),
    "deed": (frozenset({"tool"}),),
    "effect": (frozenset({"table", "way"}),),
    "value": (frozenset({"table", "way", "owner"}), frozenset({"tool", "text"})),
}


class APIBankRules:
    """See the module."""

    version = "1"

    def outcome(self, task: Task, trace: Trace) -> Score:
        """The judge is satisfied; or the tables hold what they should, and what was asked for is told."""
        judged = task.reference.score(trace)
        if judged.success or trace.ending == "truncated" or judged.success is None:
            return judged
        why = next(missing(task, trace), "")
        return Score(not why, why)

    def problem(self, task: Task, claim: Claim) -> str:
        """What is wrong with a claim about a masked task; empty if it holds."""
        facts = claim.facts
        if claim.turn != 0 or frozenset(facts) not in _FACTS.get(claim.kind, ()):
            return f"unknown claim {claim.kind!r} about turn {claim.turn} with {sorted(facts)}"
        needed = reference_of(task).needed
        if not any(call.name in task.mask for call in needed):
            return "no needed call is masked, so that the judge may be satisfied"
        if "tool" not in facts:
            return _problem_of_change(task, facts["table"], facts["way"], facts.get("owner"))
        calls = [call for call in needed if call.name == facts["tool"]]
        if not calls or facts["tool"] not in task.mask:
            return f"{facts['tool']!r} is no masked API of a needed call"
        if claim.kind == "deed":
            return "" if facts["tool"] in DEEDS else f"{facts['tool']} leaves a trace"
        return "" if claim.kind == "call" else _problem_of_value(task, calls, facts["text"])


RULES = APIBankRules()


def _problem_of_change(task: Task, table: str, way: str, owner: str | None) -> str:
    records = ways_of(left_by_needed(task).get(table, {})).get(way)  # type: ignore[call-overload]
    if not records:
        return f"the needed calls leave nothing {way} in {table!r}"
    able = able_tools(task, table, way)
    if owner is None:
        return f"{able[0]} may do that" if able else ""
    if table not in OWNED or not any(owner_of(one) == owner for one in records):
        return f"no record of {owner!r} is {way} in {table!r}"
    open_to = next((name for name in able if may_serve(task, name, owner)), None)
    return f"{open_to} may do that for {owner!r}" if open_to is not None else ""


def able_tools(task: Task, table: str, way: str) -> list[str]:
    """The APIs left that may do this to some record of a table."""
    changes = CHANGES[reference_of(task).setting.folder]
    none: tuple[str, tuple[str, ...]] = ("", ())
    found = {tool.name: changes.get(tool.name, none) for tool in task.offered()}
    return [name for name, (at, ways) in found.items() if at == table and way in ways]


def owner_of(record: Any) -> str:
    """The user whom a record of :data:`OWNED` belongs to."""
    return str(record[0] if isinstance(record, tuple) else record["username"])


def may_serve(task: Task, name: str, owner: str) -> bool:
    """Whether somebody may come to know what an API asks for to change a user's records."""
    account = reference_of(task).setting.tables["Account"].get(owner)
    if account is None or name in NEW_USERS:
        return True
    if name in BY_EMAIL:
        return heard(task).has(account["email"])
    gives = any(tool.name in GIVES_TOKENS for tool in task.offered())
    return gives or heard(task).has(account["token"])


def heard(task: Task) -> Knowledge:
    """All that the user says, whenever, and the documentation of the APIs left."""
    return told(messages_of(task), task.offered())


def _problem_of_value(task: Task, calls: list[RecordedCall], text: Any) -> str:
    needed = reference_of(task).needed
    if not any(asks(call, needed) and text in leaves(call.result["output"]) for call in calls):
        return f"{text!r:.80} is not what these calls were to find out"
    if any(str(text).casefold() in one.content.casefold() for one in messages_of(task)):
        return f"the user says {text!r:.80}"
    telling = [tool.name for tool in task.offered() if tells(task, tool.name, text)]
    return f"{telling[0]} may tell {text!r:.80}" if telling else ""


def leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers of an output, keys left out."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def candidate_claims(task: Task) -> Iterator[Claim]:
    """The claims that may hold of a masked task, those against the outcome first."""
    for table, found in left_by_needed(task).items():
        for way, records in ways_of(found).items():
            yield Claim("effect", 0, {"table": table, "way": way})
            for owner in sorted({owner_of(one) for one in records} if table in OWNED else ()):
                yield Claim("value", 0, {"table": table, "way": way, "owner": owner})
    needed = reference_of(task).needed
    masked = [call for call in needed if call.name in task.mask]
    for call in masked:
        if call.name in DEEDS:
            yield Claim("deed", 0, {"tool": call.name})
        elif asks(call, needed):
            texts = dict.fromkeys(leaves(call.result["output"]))
            for text in sorted(texts, key=lambda one: (-len(str(one)), str(one))):
                yield Claim("value", 0, {"tool": call.name, "text": text})
    for name in dict.fromkeys(call.name for call in masked):
        yield Claim("call", 0, {"tool": name})
