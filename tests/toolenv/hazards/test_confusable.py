"""Tasks where a lasting loss and a recoverable failure look alike for the first calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.support.depot import DepotSuite
from tests.toolenv.hazards.depot_cases import NAIVE, RECOVER, WEIGH, answers
from toolenv.agents.recovery import make
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.recoverability.building import Policies, arm_tasks, manifests
from toolenv.rollout import rollout
from toolenv.source import TaskSource, make_source
from toolenv.suite import indispensable_tools
from toolenv.task import Task
from toolenv.types import ToolCall
from toolenv.validation import summarise, validate_source

POLICIES = Policies(make_agent("oracle"), NAIVE, (make("trusting", {}), RECOVER))
REGISTER = ToolCall("register_entry", {"item_code": "LMP-104"})


@dataclass
class KnowingDepot(DepotSuite):
    """The depot, which knows that only the scales and the register tell weights."""

    name: str = "KnowingDepot"
    hazards: Path | None = None

    def indispensable(self, task: Task) -> tuple[tuple[str, ...], ...]:
        return (("weigh", "register_entry"),)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> TaskSource:
    suite = KnowingDepot()
    folder = tmp_path_factory.mktemp("hazards")
    every = list(arm_tasks(suite, suite.tasks("default"), POLICIES))
    manifests(suite, "none", "by test", every, fewest=1)["confusable"].write(folder / "confusable.json")
    return make_source(replace(suite, hazards=folder), "confusable")


def test_the_first_calls_look_alike_and_then_the_loss_is_told(source: TaskSource) -> None:
    instance = source.hazards["lamp-north"]
    failing = answers(instance, WEIGH, REGISTER, WEIGH, REGISTER, WEIGH, REGISTER)
    lost = answers(instance.withdrawn(), WEIGH, REGISTER, WEIGH, REGISTER, WEIGH, REGISTER)
    assert [one.content for one in failing[:4]] == [one.content for one in lost[:4]]
    assert [one.kind for one in failing] == ["tool_error"] * 4 + ["ok"] * 2
    assert [one.content for one in lost[4:]] == [
        "Error: weigh has been withdrawn and is no longer provided.",
        "Error: register_entry has been withdrawn and is no longer provided.",
    ]


def test_the_seed_draws_which_form_is_played(source: TaskSource) -> None:
    labels = {source.get("lamp-north", seed).label for seed in range(20)}
    assert labels == {"feasible", "infeasible"}
    for seed in range(20):
        task = source.get("lamp-north", seed)
        played = rollout(ToolEnv(source), RECOVER, seed=seed, task_id="lamp-north").episode
        assert played.label == task.label
        assert played.success is (task.label == "feasible")
        stopped = rollout(ToolEnv(source), make_agent("always-stop"), seed=seed, task_id="lamp-north").episode
        assert stopped.reward == (1.0 if task.label == "infeasible" else 0.0)


def test_the_first_observation_is_the_same_in_both_forms(source: TaskSource) -> None:
    env = ToolEnv(source)
    shown = [env.reset(seed=seed, options={"task_id": "lamp-north"})[0] for seed in range(20)]
    assert all(one == shown[0] for one in shown)


def test_it_is_sound(source: TaskSource) -> None:
    found = summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))
    assert (found.tasks, found.findings) == (2, ())


def test_suites_that_know_of_no_such_tools_have_no_such_condition() -> None:
    suite = DepotSuite()
    assert indispensable_tools(suite, suite.tasks("default")[0]) == ()
    every = list(arm_tasks(suite, suite.tasks("default"), POLICIES))
    assert "confusable" not in manifests(suite, "none", "by test", every, fewest=1)


def test_what_can_be_done_without_is_not_taken_for_indispensable() -> None:
    """The register stands in for the scales alone: without them the task is still feasible."""

    class Wrong(KnowingDepot):
        def indispensable(self, task: Task) -> tuple[tuple[str, ...], ...]:
            return (("weigh",),)

    suite = Wrong()
    for armed in arm_tasks(suite, suite.tasks("default"), POLICIES):
        assert "confusable" not in armed.proved
        assert armed.reasons["confusable"].startswith("no failure of an indispensable tool")
