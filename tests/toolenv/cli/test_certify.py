"""``toolenv certify`` on BFCL's real data."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium
import pytest

from tests.toolenv.cli.command import INFEASIBLE, Command
from toolenv.feasibility.annotation.evidence import read_labels

MULTI_TURN = ("certify", INFEASIBLE, "--subset", "multi_turn_base")


def plain_masks(toolenv: Command, place: Path) -> tuple[str, Path]:
    """The reference solutions' tools, none of them decided yet."""
    path = place / "plain.json"
    made = toolenv("build", "BFCL", "--reference", "--subset", "multi_turn_base", "--out", path)
    assert made.code == 0, made.err
    return "--masks", path


def test_certificates_and_repaired_masks(toolenv: Command, place: Path) -> None:
    tasks = "multi_turn_base_46,multi_turn_base_100"
    out = ("--out", "certificates.json", "--repaired", "masks.json", "--labels", "labels.json")
    plain = plain_masks(toolenv, place)
    ended = toolenv(*MULTI_TURN, *plain, "--tasks", tasks, "--states", 500, *out)
    assert (ended.code, ended.err) == (0, "")
    assert all(word in ended.out for word in ("certified", "refuted", "repaired", "checked: 2 of 2 tasks"))
    written = json.loads((place / "certificates.json").read_text())
    assert set(written["tasks"]) == set(tasks.split(","))
    assert written["bound"] == {"states": 500, "changes": 8, "masks": 12}
    masks = json.loads((place / "masks.json").read_text())
    assert masks["masks"]["multi_turn_base_46"] == written["tasks"]["multi_turn_base_46"]["mask"]
    assert masks["built"]["certificates"] == written["hash"]
    labels = read_labels([place / "labels.json"])["BFCL"]
    assert labels.manifest == masks["hash"]
    assert labels.status == dict.fromkeys(tasks.split(","), "infeasible")
    env = gymnasium.make(INFEASIBLE, subset="multi_turn_base", masks=str(place / "masks.json"))
    observation, _ = env.reset(seed=0, options={"task_id": "multi_turn_base_46"})
    offered = {tool.name for tool in observation.tools}
    assert offered.isdisjoint(masks["masks"]["multi_turn_base_46"])


def test_labels_of_the_masks_as_they_are(toolenv: Command, place: Path) -> None:
    plain = plain_masks(toolenv, place)
    one = ("--tasks", "multi_turn_base_46", "--states", 500)
    assert toolenv(*MULTI_TURN, *plain, *one, "--labels", "labels.json").code == 0
    labels = read_labels([place / "labels.json"])["BFCL"]
    assert labels.status == {"multi_turn_base_46": "feasible"}


def test_the_masks_that_ship_are_those_that_stand(toolenv: Command, place: Path) -> None:
    ended = toolenv(*MULTI_TURN, "--tasks", "multi_turn_base_46", "--states", 500)
    assert ended.code == 0
    assert "certified" in ended.out
    assert "refuted" not in ended.out


def test_checking_what_was_written(toolenv: Command, place: Path) -> None:
    toolenv(*MULTI_TURN, "--limit", 3, "--out", "certificates.json")
    ended = toolenv(*MULTI_TURN, "--check", "certificates.json")
    told = "197 of 200 masks have no certificate in it\nchecked: 3 of 3 tasks good\n"
    assert (ended.code, ended.out) == (0, told)


def test_a_check_is_of_the_whole_file(toolenv: Command, place: Path) -> None:
    toolenv(*MULTI_TURN, "--limit", 1, "--out", "certificates.json")
    for option in (("--limit", 1), ("--tasks", "multi_turn_base_0")):
        ended = toolenv(*MULTI_TURN, "--check", "certificates.json", *option)
        assert ended.code != 0
        assert "leave --tasks and --limit out" in ended.err


def test_certificates_of_other_masks_fail_the_check(toolenv: Command, place: Path) -> None:
    toolenv(*MULTI_TURN, "--limit", 3, "--out", "certificates.json")
    ended = toolenv(*MULTI_TURN, "--only", "mv", "--check", "certificates.json")
    assert ended.code == 1
    assert "checked: 0 of 3 tasks good" in ended.out
    assert "these certificates are about masks" in ended.out


def test_one_tool_alone(toolenv: Command) -> None:
    ended = toolenv(*MULTI_TURN, "--only", "mv", "--tasks", "multi_turn_base_1", "--states", 2000)
    assert ended.code == 0
    assert "semantic-redundancy, by the outcome" in ended.out


def test_tasks_without_a_world_are_compared_by_their_documentation(toolenv: Command) -> None:
    ended = toolenv("certify", INFEASIBLE, "--subset", "multiple", "--limit", 20)
    assert ended.code == 0
    assert "assumed" in ended.out
    assert "no world to search in" in ended.out


def test_when_time_is_up_the_rest_stays_unknown(toolenv: Command) -> None:
    ended = toolenv(*MULTI_TURN, "--limit", 3, "--seconds", 0)
    assert ended.code == 0
    assert "unknown" in ended.out
    assert "certified" not in ended.out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("certify", "ToolFeas/BFCL-infeasable-v0"), "did you mean 'ToolFeas/BFCL-infeasible-v0'"),
        (
            (*MULTI_TURN, "--only", "mkdirs"),
            "unknown masked tool 'mkdirs' in the masks; did you mean 'mkdir'",
        ),
        ((*MULTI_TURN, "--tasks", "multi_turn_base_999"), "multi_turn_base_99"),
        ((*MULTI_TURN, "--check", "nowhere.json"), "no certificates at nowhere.json"),
        ((*MULTI_TURN, "--masks", "nowhere.json"), "no mask manifest at nowhere.json"),
        ((*MULTI_TURN, "--states", "0"), "Invalid value for '--states'"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], problem: str, toolenv: Command) -> None:
    ended = toolenv(*arguments)
    assert ended.code == 2
    assert problem in ended.err
