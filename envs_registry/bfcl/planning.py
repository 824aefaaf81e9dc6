"""What the search for witnesses knows about BFCL's multi-turn tasks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from envs_registry.bfcl.claims import RULES, changed, informing, tool_facts
from envs_registry.bfcl.multi_turn_rules import MultiTurnReference, run
from envs_registry.bfcl.planning_world import PlanningWorld, features_of
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.planning import Goal, Obtained
from toolenv.feasibility.certificates.records import Claim, Criterion
from toolenv.feasibility.certificates.telling import is_told
from toolenv.task import Task

_LISTED: Final = re.compile(r"\[Enum\]: (\[[^\]]*\])|(?:Options are|options): ([a-z_]+(?:, [a-z_]+)*)")


class BFCLPlanner:
    """See :class:`toolenv.feasibility.certificates.planning.Planner`."""

    rules = RULES
    ignored: frozenset[str] = frozenset()

    def covers(self, task: Task) -> bool:
        """The tasks of several user turns, whose backends run."""
        return bool(task.metadata["kind"] == "multi_turn")

    def claims(self, task: Task) -> Iterator[Claim]:
        """The ground truth's changes, then its results, of masked tools only: others can do what they do."""
        reference = task.reference
        assert isinstance(reference, MultiTurnReference)
        checked = [turn for turn, truth in enumerate(reference.ground_truth) if truth]
        for turn in checked:
            for attribute in changed(reference, turn):
                yield Claim("effect", turn, {"attribute": attribute})
        for turn in checked:
            calls = zip(reference.ground_truth[turn], reference.results[turn], strict=True)
            for text in dict.fromkeys(text for call, text in calls if call.name in task.mask):
                yield Claim("result", turn, {"text": text})

    def goals(self, task: Task, criterion: Criterion) -> tuple[Goal, ...]:
        """The ground truth's states; and all its results, or what its reading calls returned."""
        reference = task.reference
        assert isinstance(reference, MultiTurnReference)
        world, goals = reference.make_world(), []
        for turn, truth in enumerate(reference.ground_truth):
            run(world, truth)
            if not truth:
                goals.append(Goal(None, lambda obtained, known: 0))
            elif criterion == "judge":
                missing = partial(_not_obtained, reference.results[turn])
                goals.append(Goal(features_of(world.view()), missing, needs_call=True))
            else:
                missing = partial(_not_told, tuple(informing(reference, turn)))
                goals.append(Goal(features_of(world.view()), missing))
        return tuple(goals)

    def start(self, task: Task) -> PlanningWorld:
        """A fresh world."""
        return PlanningWorld(task.metadata["make_world"](), tool_facts())

    def changing(self, task: Task) -> frozenset[str]:
        """The tools that may change anything, a random stream included."""
        return frozenset(name for name, tool in tool_facts().items() if tool.writes or tool.draws)

    def choices(self, task: Task, tool: str, parameter: str) -> Iterable[Any]:
        """The values listed in the description of a parameter."""
        spec = next(one for one in task.tools if one.name == tool)
        match = _LISTED.search(spec.parameters["properties"][parameter].get("description", ""))
        if match is None:
            return ()
        if match[2]:
            return match[2].split(", ")
        try:
            return tuple(json.loads(match[1]))
        except ValueError:
            return ()

    def seen_values(self, parameter: str, text: str) -> Iterable[Any]:
        """None: nothing in a text tells what it is for."""
        return ()

    def closing(self, task: Task, known: Knowledge) -> str:
        """Nothing has to be said."""
        return "Done."


PLANNER = BFCLPlanner()


def _not_obtained(wanted: tuple[str, ...], obtained: Obtained, known: Knowledge) -> int:
    return (Counter(wanted) - Counter(text for _, text in obtained)).total()


def _not_told(wanted: tuple[str, ...], obtained: Obtained, known: Knowledge) -> int:
    return sum(not is_told(text, obtained) for text in wanted)
