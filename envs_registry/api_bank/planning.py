"""What the search for witnesses knows about API-Bank."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from envs_registry.api_bank.claims import RULES, candidate_claims
from envs_registry.api_bank.effects import CHANGES
from envs_registry.api_bank.outcome import (
    contents,
    features,
    left_by_needed,
    reference_of,
    to_be_made,
    unmade,
    untold,
)
from envs_registry.api_bank.world import APIBankWorld
from toolenv.canonical import canonical
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.planning import Features, Goal, Obtained
from toolenv.feasibility.certificates.records import Claim, Criterion
from toolenv.rendering import render
from toolenv.task import Task

_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "token": re.compile(r'"token": "(\w+)"'),
    "appointment_id": re.compile(r"\b[0-9]{8}\b"),
}
"""What the ids of the data set look like, by the parameter they are for."""


class APIBankPlanningWorld:
    """An API-Bank world to search in; forks share all tables that nothing has changed."""

    def __init__(self, world: APIBankWorld, task: Task) -> None:
        self._world, self._task = world, task
        self._features: Features | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call an API; the text of its output, errors included."""
        self._features = None
        try:
            return render(self._world.call(name, arguments).value)
        except ToolError as error:
            return str(error)

    def fork(self) -> APIBankPlanningWorld:
        """An independent copy."""
        other = APIBankPlanningWorld(self._world.fork(), self._task)
        other._features = self._features
        return other

    def features(self) -> Features:
        """The contents of the tables that are not as they were."""
        if self._features is None:
            self._features = features(contents(self._world, self._task))
        return self._features

    def key(self) -> Hashable:
        """All changed tables, what an API remembers between calls included."""
        return canonical(self._world.view())


class APIBankPlanner:
    """See :class:`toolenv.feasibility.certificates.planning.Planner`."""

    rules = RULES
    ignored = frozenset({"ToolSearcher"})

    def covers(self, task: Task) -> bool:
        """The tasks that need a call; the others are not assessed."""
        return bool(reference_of(task).needed)

    def claims(self, task: Task) -> Iterator[Claim]:
        """What the needed calls of masked APIs change, do and tell."""
        return candidate_claims(task)

    def goals(self, task: Task, criterion: Criterion) -> tuple[Goal, ...]:
        """All in the last user turn, when everything is said: the tables, and what was asked for."""

        def missing(obtained: Obtained, known: Knowledge) -> int:
            made = list(obtained)
            if criterion == "judge":
                return unmade(task, made)
            undone = sum(all(call.name != one.name for one, _ in made) for call in to_be_made(task))
            return len(list(untold(task, made, known))) + undone

        idle = Goal(None, lambda obtained, known: 0)
        return (*[idle] * len(task.turns), Goal(features(left_by_needed(task)), missing))

    def start(self, task: Task) -> APIBankPlanningWorld:
        """A fresh world."""
        setting = reference_of(task).setting
        offered = frozenset(tool.name for tool in task.offered())
        return APIBankPlanningWorld(setting.world(0, found_among=offered), task)

    def changing(self, task: Task) -> frozenset[str]:
        """The APIs that may change a table."""
        return frozenset(CHANGES[reference_of(task).setting.folder])

    def choices(self, task: Task, tool: str, parameter: str) -> Iterable[Any]:
        """The two values that ForgotPassword's documentation names."""
        return (
            ("Forgot Password", "Verification Code")
            if (tool, parameter) == ("ForgotPassword", "status")
            else ()
        )

    def seen_values(self, parameter: str, text: str) -> Iterable[Any]:
        """Ids of the kind that a parameter takes."""
        form = _FORMS.get(parameter)
        return form.findall(text) if form is not None else ()

    def closing(self, task: Task, known: Knowledge) -> str:
        """Nothing has to be said."""
        return "Done."


PLANNER = APIBankPlanner()
