"""Episode records: there and back, and those of earlier versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.toolenv.metrics.test_rates import episode
from toolenv.episode import EPISODE_VERSION, FACTS, Episode, RoleTokens
from toolenv.errors import DataCorruptError
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import Reaction
from toolenv.facts.task_facts import TaskFacts

FULL: Episode = episode(
    task_id="t",
    label="feasible",
    decision="feasible",
    lenient_decision="feasible",
    success=False,
    flags=("can_never_pass",),
    accurate=True,
    task=TaskFacts("travel", "mixture", 4, 6),
    exposure=Exposure("output-drift", "units", "weigh", True, 2, 1),
    reaction=Reaction("perturbed", "retry", 3, True),
    roles={"planner": RoleTokens(100, 20, True), "executor": RoleTokens(None, 5)},
)
BARE: Episode = episode(
    task_id="t", label="feasible", decision="feasible", lenient_decision="feasible", success=None
)


def as_version_1(one: Episode) -> dict[str, Any]:
    """The form that toolenv wrote before episodes had facts."""
    plain = {name: value for name, value in one.to_json().items() if name not in FACTS}
    return {**plain, "version": 1}


@pytest.mark.parametrize("one", [FULL, BARE])
def test_there_and_back(one: Episode) -> None:
    assert Episode.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_version_1_is_read_and_its_facts_are_unknown() -> None:
    read = Episode.from_json(json.loads(json.dumps(as_version_1(FULL))))
    assert (read.task_id, read.success, read.flags) == ("t", False, ("can_never_pass",))
    assert (read.accurate, read.exposure, read.reaction, read.task, read.roles) == (
        None,
        None,
        None,
        TaskFacts(),
        {},
    )
    assert read.achieved is False, "V falls back on success"


@pytest.mark.parametrize("version", [0, EPISODE_VERSION + 1, None, True, "2"])
def test_other_versions_are_refused(version: object) -> None:
    with pytest.raises(DataCorruptError, match="this toolenv reads 1 and 2"):
        Episode.from_json({**FULL.to_json(), "version": version})


def test_a_record_that_lacks_a_fact_is_no_record() -> None:
    plain = FULL.to_json()
    del plain["reaction"]
    with pytest.raises(KeyError):
        Episode.from_json(plain)


def test_facts_are_kept_once_however_many_episodes_have_them() -> None:
    one, other = (Episode.from_json(FULL.to_json()) for _ in range(2))
    assert one.task is other.task
    assert one.reaction is other.reaction


def test_tokens_of_a_role_are_unknown_if_a_part_is() -> None:
    assert {role: tokens.total for role, tokens in FULL.roles.items()} == {"planner": 120, "executor": None}
