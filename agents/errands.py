"""One planned call on its way to a result that can be relied on: replies, and what to do about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from toolenv.plan import Path, Plan, Source
from toolenv.types import ToolSpec

from .drifted import MISSING, Reader, is_failure, loaded
from .rebinding import reconstructed, remark_in, under_other_name

MOST_REBINDINGS = 2

DOUBTFUL_WORDS = frozenset({"superseded", "stale", "outdated"})


@dataclass(frozen=True, slots=True)
class Skills:
    """What a policy can do when a result is not what its documentation says.

    Attributes:
        retries: how often it makes a failed call again.
        switches: it asks another tool that is documented to tell the same.
        normalises, remaps: see :mod:`toolenv.agents.drifted`.
        rebinds: it reconstructs calls whose arguments did not arrive.
        cross_checks: it asks a second source, and believes by completeness, date and stated authority:
            where a result casts doubt on itself (``in doubt``), or wherever one with more authority exists.
    """

    retries: int = 0
    switches: bool = False
    normalises: bool = False
    remaps: bool = False
    rebinds: bool = False
    cross_checks: Literal["", "in doubt", "always"] = ""


class Evidence(NamedTuple):
    """What one source told, its authority, and whether it casts doubt on itself."""

    values: Mapping[Path, Any]
    authority: int
    doubtful: bool


class Errand(NamedTuple):
    """A call that was or will be made for planned call ``number``.

    Attributes:
        number: which planned call this is for.
        tool: the tool that is called.
        sent: its arguments as they are sent.
        meant: its arguments under their documented names.
        retries, rebindings: how often it was made again as it was, and in another form.
        tried: the tools that were asked before.
        evidence: what those told.
    """

    number: int
    tool: str
    sent: Mapping[str, Any]
    meant: Mapping[str, Any]
    retries: int = 0
    rebindings: int = 0
    tried: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


def begun(number: int, tool: str, arguments: Mapping[str, Any], offered: Sequence[ToolSpec]) -> Errand:
    """The first call, its arguments named as the documentation names them now.

    Where one planned name is not documented and one documented name is not planned, the second is meant.
    """
    spec = next((one for one in offered if one.name == tool), None)
    known = spec.parameters.get("properties", {}) if spec is not None else {}
    strangers = [name for name in arguments if name not in known]
    if not strangers:
        return Errand(number, tool, arguments, arguments)
    free = [name for name in known if name not in arguments]
    required = [name for name in free if spec is not None and name in spec.parameters.get("required", ())]
    if len(strangers) == 1 and len(required or free) == 1:
        (new,) = required or free
        arguments = {new if name == strangers[0] else name: value for name, value in arguments.items()}
    return Errand(number, tool, arguments, arguments)


def react(errand: Errand, reply: str, plan: Plan, skills: Skills) -> Errand | Mapping[Path, Any]:
    """What a reply leads to: another call, or the values the plan needs of this one, by path."""
    value = loaded(reply)
    again = _rebound(errand, value, skills)
    if again is not None:
        return again
    told = _read(errand, value, plan, skills)
    failed = is_failure(value) or (skills.remaps and MISSING in told.values.values())
    if failed:
        return _after_failure(errand, value, plan, skills) or _most_credible(errand.evidence, told)
    return _checked(errand, told, plan, skills)


def _rebound(errand: Errand, value: Any, skills: Skills) -> Errand | None:
    """The call in another form, where the reply says that it did not arrive as it was meant."""
    if errand.rebindings >= MOST_REBINDINGS:
        return None
    remark = remark_in(value) if skills.rebinds else None
    if remark is not None and dict(remark.received) != dict(errand.meant):
        sent = reconstructed(remark, errand.sent, errand.meant)
    elif is_failure(value) and isinstance(value, str):
        refused = "refused" in value
        knows_how = skills.rebinds if refused else skills.remaps
        sent = under_other_name(value, errand.meant) if knows_how else None
    else:
        return None
    return None if sent is None else errand._replace(sent=sent, rebindings=errand.rebindings + 1)


def _after_failure(errand: Errand, value: Any, plan: Plan, skills: Skills) -> Errand | None:
    if errand.retries < skills.retries:
        return errand._replace(retries=errand.retries + 1)
    return next_source(errand, plan) if skills.switches else None


def next_source(errand: Errand, plan: Plan) -> Errand | None:
    """The same question to the next source that was not asked yet."""
    planned = plan.calls[errand.number].tool
    asked = (*errand.tried, errand.tool)
    source = next((one for one in plan.contract(planned).sources if one.tool not in asked), None)
    if source is None:
        return None
    meant = _first_meant(errand, plan)
    arguments = {source.arguments.get(name, name): value for name, value in meant.items()}
    return Errand(errand.number, source.tool, arguments, arguments, tried=asked, evidence=errand.evidence)


def _first_meant(errand: Errand, plan: Plan) -> Mapping[str, Any]:
    """The arguments under the names of the planned tool."""
    source = _source(errand, plan)
    if source is None:
        return errand.meant
    names = {theirs: ours for ours, theirs in source.arguments.items()}
    return {names.get(name, name): value for name, value in errand.meant.items()}


def _source(errand: Errand, plan: Plan) -> Source | None:
    """How the tool of an errand is documented as another's source; ``None`` for the planned tool itself."""
    sources = plan.contract(plan.calls[errand.number].tool).sources
    return next((one for one in sources if one.tool == errand.tool), None)


def _read(errand: Errand, value: Any, plan: Plan, skills: Skills) -> Evidence:
    """What the plan needs of this call, as far as the reply holds it."""
    source = _source(errand, plan)
    reader = Reader(plan.contract(errand.tool), skills.normalises, skills.remaps)
    names = source.fields if source is not None else {}
    paths = plan.needed.get(errand.number, ())
    failed = is_failure(value)
    told = {
        path: MISSING if failed else reader.read(value, tuple(names.get(str(step), step) for step in path))
        for path in paths
    }
    authority = source.authority if source is not None else plan.contract(errand.tool).authority
    doubtful = bool(skills.cross_checks) and (
        _is_doubtful(value, told) or _is_of_another(value, errand, reader)
    )
    return Evidence(told, authority, doubtful)


def _is_doubtful(value: Any, told: Mapping[Path, Any]) -> bool:
    """Whether a result says itself that it is not to be relied on."""
    if any(one is None or one is MISSING for one in told.values()):
        return True
    if not isinstance(value, dict):
        return False
    return value.get("complete") is False or value.get("status") in DOUBTFUL_WORDS


def _is_of_another(value: Any, errand: Errand, reader: Reader) -> bool:
    """Whether a result is about something else than was asked: it repeats an argument with another value."""
    if not isinstance(value, dict):
        return False
    repeated = ((sent, reader.read(value, (name,))) for name, sent in errand.meant.items() if name in value)
    return any(isinstance(sent, str) and isinstance(told, str) and sent != told for sent, told in repeated)


def _checked(errand: Errand, told: Evidence, plan: Plan, skills: Skills) -> Errand | Mapping[Path, Any]:
    """The values, after other sources were asked where that could change them."""
    evidence = (*errand.evidence, told)
    best = plan.contract(plan.calls[errand.number].tool).sources
    outranked = any(source.authority > max(one.authority for one in evidence) for source in best)
    due = all(one.doubtful for one in evidence) or (outranked and skills.cross_checks == "always")
    if skills.cross_checks and told.values and due:
        further = next_source(errand._replace(evidence=evidence), plan)
        if further is not None:
            return further
    return _most_credible(errand.evidence, told)


def _most_credible(before: Sequence[Evidence], last: Evidence) -> Mapping[Path, Any]:
    """The values of the source that does not doubt itself and has the highest authority; never a vote."""
    return max((*before, last), key=lambda one: (not one.doubtful, one.authority)).values
