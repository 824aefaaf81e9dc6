"""When upstream judges a call right: its per-API rules, as conditions on two result records.

A rule compares the record of a tested call with the one recorded in the data. Upstream's rules read keys that
a record may lack and methods that a value may not have; what raises there is wrong here, as in upstream's own
evaluation. Nothing is changed by a comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Result: TypeAlias = Mapping[str, Any]
"""``{"api_name", "input", "output", "exception"}``; four APIs leave the name out."""

Rule: TypeAlias = Callable[[Result, Result], bool]
"""``rule(tested, recorded)``. It may raise, see :func:`is_right`."""

Treatment: TypeAlias = Callable[[Any], Any]
"""What is done to an argument of both sides before they are compared."""

RAISED = (KeyError, TypeError, AttributeError, ValueError, IndexError)
"""What a rule raises on a record it was not made for."""


def is_right(rule: Rule, tested: Result, recorded: Result) -> bool:
    """Whether a tested call is right; a rule that raises says no."""
    try:
        return rule(tested, recorded)
    except RAISED:
        return False


def every(*rules: Rule) -> Rule:
    """All rules hold."""
    return lambda tested, recorded: all(rule(tested, recorded) for rule in rules)


def equal(*keys: str) -> Rule:
    """The entries of that name are equal, and there."""
    return lambda tested, recorded: all(tested[key] == recorded[key] for key in keys)


def argument(name: str, treated: Treatment = lambda value: value) -> Rule:
    """The arguments of that name are equal once treated."""
    return lambda tested, recorded: treated(tested["input"][name]) == treated(recorded["input"][name])


def arguments(*names: str) -> Rule:
    """The arguments of these names are equal."""
    return every(*(argument(name) for name in names))


def words_overlap(name: str, treated: Treatment = lambda value: value) -> Rule:
    """More than half of the words of both texts together are in both (Jaccard)."""

    def rule(tested: Result, recorded: Result) -> bool:
        left, right = (set(treated(side["input"][name]).split(" ")) for side in (tested, recorded))
        return len(left & right) / len(left | right) > 0.5

    return rule


def other_arguments_equal(name: str) -> Rule:
    """All arguments but the one of that name, which both sides must have, are equal."""

    def rule(tested: Result, recorded: Result) -> bool:
        sides = [dict(side["input"]) for side in (tested, recorded)]
        for side in sides:
            del side[name]
        return sides[0] == sides[1]

    return rule


def nothing_invented(tested: Result, recorded: Result) -> bool:
    """There is an output only if there should be one; which one is not asked."""
    return recorded["output"] is not None or tested["output"] is None


def deletion(time: str) -> Rule:
    """Two successes concern the same time; otherwise both went the same way."""

    def rule(tested: Result, recorded: Result) -> bool:
        if recorded["output"] == "success" and tested["output"] == "success":
            return bool(tested["input"][time] == recorded["input"][time])
        return equal("output", "exception")(tested, recorded)

    return rule


OUTCOME = equal("output", "exception")
EXACT = equal("input", "output", "exception")
NAMED = equal("api_name")
MEETING = every(words_overlap("meeting_topic"), other_arguments_equal("meeting_topic"), OUTCOME)
