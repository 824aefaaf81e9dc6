"""``toolenv build`` on BFCL's real data, from runs of three different scripted agents to the evaluated id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command

SOLVERS = "tests.toolenv.feasibility.solvers"
AGENTS = ("oracle", f"{SOLVERS}:LooksAround", f"{SOLVERS}:Repeats")


def run_agents(toolenv: Command, place: Path, subset: str, limit: int) -> Path:
    specs = [part for agent in AGENTS for part in ("--agent", agent)]
    ended = toolenv("run", CLEAN, *specs, "--subset", subset, "--limit", limit, "--out", place / "runs")
    assert ended.code == 0, ended.err
    return place / "runs"


def rows(toolenv: Command, *folders: Path) -> dict[str, dict[str, Any]]:
    ended = toolenv("report", *folders, "--json")
    assert ended.code == 0, ended.err
    return {row["agent"]: row["metrics"] for row in json.loads(ended.out)["rows"]}


@pytest.mark.parametrize(("subset", "limit"), [("multiple", 12), ("multi_turn_base", 8)])
def test_from_runs_to_the_evaluated_id(toolenv: Command, place: Path, subset: str, limit: int) -> None:
    runs = run_agents(toolenv, place, subset, limit)
    masks = place / "masks.json"
    ended = toolenv("build", "BFCL", "--traces", *sorted(runs.iterdir()), "--out", masks, "--subset", subset)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == f"{masks}: {limit} masks, {200 - limit} excluded"
    assert f"{200 - limit} excluded: no agent was run on it" in ended.out

    out = place / "infeasible"
    evaluate = ("run", INFEASIBLE, "--agent", "always-stop", "--agent", "oracle", "--masks", masks)
    assert toolenv(*evaluate, "--subset", subset, "--out", out).code == 0
    metrics = rows(toolenv, *out.iterdir())
    for agent in ("always-stop", "oracle"):
        assert (metrics[agent]["fcr_strict"]["value"], metrics[agent]["fcr_strict"]["n"]) == (0.0, limit)


def test_slicing_leaves_out_what_was_only_looked_at(toolenv: Command, place: Path) -> None:
    runs = run_agents(toolenv, place, "multi_turn_base", 3)
    base = ("build", "BFCL", "--subset", "multi_turn_base", "--agents", 1)
    looking = runs / "tests.toolenv.feasibility.solvers-LooksAround"
    assert toolenv(*base, "--traces", looking, "--out", place / "plain.json").code == 0
    ended = toolenv(*base, "--traces", looking, "--out", place / "sliced.json", "--sliced")
    assert ended.code == 0
    assert "3 traces sliced: 2 of " in ended.out
    plain, sliced = (
        json.loads((place / name).read_text())["masks"]["multi_turn_base_0"]
        for name in ("plain.json", "sliced.json")
    )
    # The task's ground truth calls these six tools; the agent had listed the files first.
    assert sliced == ["cd", "diff", "grep", "mkdir", "mv", "sort"]
    assert plain == ["cd", "diff", "grep", "ls", "mkdir", "mv", "sort"]


def test_all_agents_and_reference_solutions(toolenv: Command, place: Path) -> None:
    runs = run_agents(toolenv, place, "multiple", 2)
    out = ("--out", place / "masks.json", "--subset", "multiple")
    ended = toolenv("build", "BFCL", "--traces", runs, *out, "--criterion", "all-agents")
    assert ended.code == 0
    assert "2 masks, 198 excluded" in ended.out
    repeats = runs / "tests.toolenv.feasibility.solvers-Repeats"
    ended = toolenv("build", "BFCL", "--reference", "--traces", repeats, *out)
    assert ended.code == 0
    assert "2 masks, 198 excluded" in ended.out
    assert "198 excluded: solved by too few agents" in ended.out
    built = json.loads((place / "masks.json").read_text())["built"]
    assert [(one["kind"], one["agent"]) for one in built["sources"]] == [
        ("run", "repeats"),
        ("reference", "oracle"),
    ]


def test_reference_solutions_alone_give_the_masks_that_ship(toolenv: Command, place: Path) -> None:
    import envs_registry
    from toolenv.feasibility.manifest import MaskManifest

    out = place / "masks.json"
    made = toolenv("build", "BFCL", "--reference", "--certified", "--out", out, "--subset", "multiple")
    assert made.code == 0
    assert "171 assumed" in made.out
    assert MaskManifest.read(out) == envs_registry.get_suite("BFCL").masks("multiple")


def test_foreign_trajectories(toolenv: Command, place: Path) -> None:
    call = {"name": "triangle_properties.get", "arguments": json.dumps({"side1": 5, "side2": 4, "side3": 3})}
    messages = [
        {"role": "user", "content": "…"},
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "triangle_properties.get", "content": "{}"},
        {"role": "assistant", "content": "Done."},
    ]
    for agent in ("one", "two"):
        line = {"task_id": "multiple_0", "agent": agent, "messages": messages}
        (place / f"{agent}.jsonl").write_text(json.dumps(line) + "\n")
    out = ("--out", place / "masks.json", "--subset", "multiple")
    ended = toolenv("build", "BFCL", "--foreign", "one.jsonl", "two.jsonl", *out)
    assert (ended.code, ended.err) == (0, "")
    assert json.loads((place / "masks.json").read_text())["masks"] == {
        "multiple_0": ["triangle_properties.get"]
    }


def test_a_success_without_the_masked_tools_takes_the_mask_away(toolenv: Command, place: Path) -> None:
    runs = run_agents(toolenv, place, "multiple", 2)
    masks, out = place / "masks.json", ("--subset", "multiple")
    assert toolenv("build", "BFCL", "--traces", runs, "--out", masks, *out).code == 0
    infeasible = ("run", INFEASIBLE, "--agent", "noop", "--masks", masks, *out, "--out", place / "masked")
    assert toolenv(*infeasible).code == 0
    ended = toolenv(
        "build",
        "BFCL",
        "--traces",
        runs,
        "--refutations",
        place / "masked",
        "--out",
        place / "new.json",
        *out,
    )
    assert ended.code == 0
    assert "refutation masked noop: 0 of 2 successful" in ended.out
    assert "2 masks" in ended.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give --traces, --foreign or --reference"),
        (("--traces", "nowhere"), "nowhere is no run directory"),
        (("--traces", "runs", "--agents", "0"), "agents_needed=0: give a whole number of at least 1"),
        (
            ("--traces", "runs", "--agents", "4"),
            "--agents 4: so many agents have to have solved a task, and the traces are of 3 agents (looks",
        ),
        (("--traces", "runs", "--criterion", "all"), "unknown criterion 'all'"),
        (("--traces", "runs", "--criterion", "all-agents", "--agents", "2"), "all-agents asks for all"),
        (("--traces", "runs", "--replays", "0"), "max_replays=0"),
        (("--traces", "runs", "--subset", "multipel"), "did you mean 'multiple'"),
        (("--traces", "masked"), "masked holds no episode of BFCL-clean; it holds BFCL-infeasible"),
        (("--traces", "runs", "--refutations", "runs"), "holds no episode of BFCL-infeasible"),
        (("--foreign", "nowhere.jsonl"), "no file of trajectories at nowhere.jsonl"),
    ],
)
def test_bad_input_is_one_line(
    toolenv: Command, place: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    run_agents(toolenv, place, "multiple", 1)
    masked = ("run", INFEASIBLE, "--agent", "noop", "--subset", "multiple", "--limit", 1, "--out", "masked")
    assert toolenv(*masked).code == 0
    subset = () if "--subset" in arguments else ("--subset", "multiple")
    ended = toolenv("build", "BFCL", *arguments, *subset, "--out", place / "masks.json")
    assert ended.code == 2
    assert complaint in " ".join(ended.err.split())
    assert "Traceback" not in ended.err
    assert not (place / "masks.json").exists()


def test_a_file_that_cannot_be_written_is_told_before_any_work(toolenv: Command, place: Path) -> None:
    (place / "file").write_text("")
    ended = toolenv("build", "BFCL", "--reference", "--out", "file/masks.json")
    assert (ended.code, ended.out) == (2, "")
    assert "--out file/masks.json cannot be written" in ended.err


def test_an_option_takes_several_values_until_the_next_option(toolenv: Command, place: Path) -> None:
    ended = toolenv("build", "BFCL", "--traces", "a", "b", "--traces", "c", "--out", "x.json")
    assert "a is no run directory" in ended.err
    ended = toolenv("build", "BFCL", "--out", "x.json", "y.json", "--traces", "a")
    assert ended.code == 2
    assert "y.json" in ended.err, "--out takes one"


def test_an_unknown_suite_is_named_with_the_nearest(toolenv: Command, place: Path) -> None:
    ended = toolenv("build", "BFLC", "--reference", "--out", "x.json")
    assert ended.code == 2
    assert "unknown suite 'BFLC'; did you mean 'BFCL'" in ended.err
