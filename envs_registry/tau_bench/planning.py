"""What the search for witnesses knows about τ-bench."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from envs_registry.tau_bench.claims import RULES, end_state, given_texts, wanted
from envs_registry.tau_bench.effects import EFFECTS
from envs_registry.tau_bench.reference import EndStateReference
from envs_registry.tau_bench.revealing import knowable
from envs_registry.tau_bench.world import TauWorld
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.planning import Features, Goal, Obtained, features_of
from toolenv.feasibility.certificates.records import Claim, Criterion
from toolenv.rendering import render
from toolenv.task import Task

_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "user_id": re.compile(r"\b[a-z]+_[a-z]+_[0-9]{4}\b"),
    "email": re.compile(r"\b[\w.]+@[\w.]+\w"),
    "order_id": re.compile(r"#W[0-9]{7}\b"),
    "product_id": re.compile(r'(?<!item_id)": "([0-9]{10})"'),
    "payment_method_id": re.compile(r"\b(?:credit_card|gift_card|paypal)_[0-9]{7}\b"),
    "payment_id": re.compile(r"\b(?:credit_card|gift_card|certificate)_[0-9]{7}\b"),
    "reservation_id": re.compile(r"\b(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b"),
}
"""What the ids of the data set look like, by the parameter they are for."""


class TauPlanningWorld:
    """A τ-bench world to search in; forks share all records that nothing has changed."""

    def __init__(self, world: TauWorld) -> None:
        self._world = world
        self._features: Features | None = None

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; the text of its result, errors included."""
        if name in EFFECTS:
            self._features = None
        try:
            value = self._world.call(name, arguments)
        except ToolError as error:
            return str(error)
        return value if isinstance(value, str) else render(value)

    def fork(self) -> TauPlanningWorld:
        """An independent copy."""
        other = TauPlanningWorld(self._world.fork())
        other._features = self._features
        return other

    def features(self) -> Features:
        """The records that are not as they were, value by value."""
        if self._features is None:
            self._features = features_of(self._world.view())
        return self._features

    def key(self) -> Hashable:
        """The same: nothing else decides how calls are answered."""
        return self.features()


class TauBenchPlanner:
    """See :class:`toolenv.feasibility.certificates.planning.Planner`."""

    rules = RULES
    ignored = frozenset({"calculate", "think", "transfer_to_human_agents"})

    def covers(self, task: Task) -> bool:
        """All tasks."""
        return True

    def claims(self, task: Task) -> Iterator[Claim]:
        """Every effect of the ground truth, then the values given that cannot be known."""
        changes = wanted(task)
        for effect in changes:
            yield Claim("effect", 0, {"way": effect.way, "place": list(effect.place)})
        reference = task.reference
        assert isinstance(reference, EndStateReference)
        known = knowable(task, reference.make_world().data)
        for effect, value in changes.items():
            for text in sorted(given_texts(effect, value)):
                if not known.has(text):
                    facts = {"way": effect.way, "place": list(effect.place), "text": text}
                    yield Claim("value", 0, facts)

    def goals(self, task: Task, criterion: Criterion) -> tuple[Goal, ...]:
        """The ground truth's end state, and that the outputs are known."""
        reference = task.reference
        assert isinstance(reference, EndStateReference)
        return (Goal(features_of(end_state(task)), partial(_not_known, reference.outputs)),)

    def start(self, task: Task) -> TauPlanningWorld:
        """A fresh world."""
        return TauPlanningWorld(task.metadata["make_world"]())

    def changing(self, task: Task) -> frozenset[str]:
        """The tools with declared effects."""
        return frozenset(EFFECTS)

    def choices(self, task: Task, tool: str, parameter: str) -> Iterable[Any]:
        """None but what the schema lists."""
        return ()

    def seen_values(self, parameter: str, text: str) -> Iterable[Any]:
        """Ids of the kind that a parameter takes."""
        form = _FORMS.get(parameter)
        return form.findall(text) if form is not None else ()

    def closing(self, task: Task, known: Knowledge) -> str:
        """The outputs that are known."""
        reference = task.reference
        assert isinstance(reference, EndStateReference)
        return "\n".join(("Done.", *(output for output in reference.outputs if known.has(output))))


PLANNER = TauBenchPlanner()


def _not_known(outputs: tuple[str, ...], obtained: Obtained, known: Knowledge) -> int:
    return sum(not known.has(output) for output in outputs)
