"""``toolenv run --arm``: what each arm plays, how it finds its baseline, what is refused (paper 2, §4)."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from envs_registry.workflows import SUITE
from tests.toolenv.cli.command import Command
from toolenv.episode import Episode
from toolenv.errors import StoreError
from toolenv.hazards import hint
from toolenv.runner.arms import GO_ON
from toolenv.runner.baseline import Baseline
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes, read_header, read_rollouts
from toolenv.source import make_source
from toolenv.suite import hazard_manifests

FAILING = "ToolFeas/Workflows-execution-failure-v0"
CLEAN = "ToolFeas/Workflows-clean-v0"
HINTED = ("--agent", "recovery:hinted")
ALL = ("--arm", "oracle", "--arm", "hint", "--arm", "baseline", "--arm", "tts")
TASKS = 24


def study(toolenv: Command, out: str, *more: Any, env: str = FAILING, arms: tuple[str, ...] = ALL) -> Any:
    return toolenv("run", env, *HINTED, *arms, "--limit", TASKS, "--out", out, *more)


def ok(toolenv: Command, out: str, *more: Any, **named: Any) -> str:
    ended = study(toolenv, out, *more, **named)
    assert (ended.code, ended.err) == (0, "")
    return str(ended.out)


def of(folder: Path) -> dict[str, Episode]:
    return {one.task_id: one for one in read_episodes(folder)}


def succeeded(folder: Path) -> set[str]:
    return {task_id for task_id, one in of(folder).items() if one.success}


def by_a_second_look() -> set[str]:
    """The tasks whose failures end within the calls that the first attempt made of the tool.

    A script that takes every result at its word makes each call of the solution once. When it begins again,
    the tool has been called that often: then it works, if that is as often as it fails.
    """
    manifest = json.loads(hazard_manifests(SUITE)["execution-failure"].read_text(encoding="utf-8"))["tasks"]
    found = set()
    for task in SUITE.tasks("default")[:TASKS]:
        (armed,) = manifest[task.id]
        made = sum(call.tool == armed["tool"] for call in task.metadata["plan"].calls)
        if 0 < armed["parameters"].get("failures", 0) <= made:
            found.add(task.id)
    return found


def test_four_arms_in_one_command(toolenv: Command, place: Path) -> None:
    """What each arm comes to follows from the manifest alone: no code of the arms is asked."""
    out = ok(toolenv, "x")
    assert "Arms of hinted in ToolFeas/Workflows-execution-failure-v0" in out
    assert out.rstrip().endswith("Runs: x/baseline x/oracle x/tts x/hint")
    ids = {task.id for task in SUITE.tasks("default")[:TASKS]}
    assert succeeded(place / "x/baseline") == set()
    assert succeeded(place / "x/oracle") == ids
    assert set(of(place / "x/tts")) == set(of(place / "x/hint")) == ids
    expected = by_a_second_look()
    assert 0 < len(expected) < TASKS
    assert succeeded(place / "x/tts") == expected
    assert succeeded(place / "x/tts") < succeeded(place / "x/hint") <= ids


def test_run_json_names_the_arm_and_its_baseline(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x")
    headers = {path.name: read_header(path) for path in (place / "x").iterdir()}
    assert {name: one["arm"] for name, one in headers.items()} == {name: name for name in headers}
    base = headers.pop("baseline")["config_hash"]
    assert {one["baseline"]["config_hash"] for one in headers.values()} == {base}
    assert headers["oracle"]["config"]["envs"] == [CLEAN]
    assert headers["tts"]["config"]["envs"] == headers["hint"]["config"]["envs"] == [FAILING]
    assert headers["tts"]["baseline"]["failed"] == headers["hint"]["baseline"]["failed"]
    agents = {name: {one.agent for one in read_episodes(place / "x" / name)} for name in headers}
    assert agents == {name: {f"hinted [{name}]"} for name in headers}


def test_seeds_and_hazards_are_those_of_the_baseline(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x", "--trials", 2, "--seed", 9)
    runs = {
        arm: {one.key[1:]: one for one in read_episodes(place / "x" / arm)}
        for arm in ("baseline", "oracle", "tts")
    }
    seeds = {arm: {key: one.seed for key, one in run.items()} for arm, run in runs.items()}
    assert seeds["baseline"] == seeds["oracle"]
    assert len(seeds["baseline"]) == 2 * TASKS
    assert seeds["tts"].items() <= seeds["baseline"].items()
    first = {
        one.trace.task_id: one.trace for one in read_rollouts(place / "x/baseline") if one.episode.trial == 0
    }
    for played in read_rollouts(place / "x/hint", lambda one: one.trial == 0):
        begun = first[played.trace.task_id].steps
        assert played.trace.steps[: len(begun)] == begun
        assert [step.results for step in played.trace.steps[: len(begun)]] == [step.results for step in begun]


def test_only_the_hint_arm_tells_of_the_hazard(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x", env="ToolFeas/Workflows-hazard-v0")
    source = make_source(SUITE, "hazard")
    for played in read_rollouts(place / "x/hint"):
        task_id, further = played.trace.task_id, played.trace.continuation
        advice = hint(source.get(task_id), source.hazards[task_id])
        assert further is not None
        assert further.message.endswith(f"This is known about the tools: {advice}")
        assert further.decisions == 10
    for arm in ("baseline", "oracle", "tts"):
        for line in (place / "x" / arm / EPISODES_FILE).read_text(encoding="utf-8").splitlines():
            task_id = json.loads(line)["episode"]["task_id"]
            assert hint(source.get(task_id), source.hazards[task_id]) not in line
    messages = {
        one.trace.continuation.message for one in read_rollouts(place / "x/tts") if one.trace.continuation
    }
    assert messages == {GO_ON.format(decisions=10)}
    for word in ("hazard", "tool", "fail", "unreliable", "anomaly"):
        assert word not in GO_ON


def test_the_same_bytes_at_any_concurrency(toolenv: Command, place: Path) -> None:
    ok(toolenv, "one")
    ok(toolenv, "eight", "--concurrency", 8)
    for arm in ("baseline", "tts", "hint", "oracle"):
        one, eight = (
            sorted((place / out / arm / EPISODES_FILE).read_bytes().splitlines()) for out in ("one", "eight")
        )
        assert one == eight
        assert len(one) == TASKS


def cut(folder: Path, lines: int) -> None:
    path = folder / EPISODES_FILE
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def test_arms_are_resumed(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x")
    whole = {
        arm: sorted((place / "x" / arm / EPISODES_FILE).read_bytes().splitlines()) for arm in ("tts", "hint")
    }
    cut(place / "x/hint", 5)
    shutil.rmtree(place / "x/tts")
    again = study(toolenv, "x")
    assert (again.code, again.out) == (2, "")
    assert "x/baseline already holds a run; add --resume" in again.err
    ok(toolenv, "x", "--resume")
    for arm, lines in whole.items():
        assert sorted((place / "x" / arm / EPISODES_FILE).read_bytes().splitlines()) == lines


def test_an_arm_finds_its_baseline_or_is_told_of_it(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x")
    ok(toolenv, "y", arms=("--arm", "baseline"))
    ok(toolenv, "y", arms=("--arm", "hint"))
    ok(toolenv, "z", "--baseline", "y/baseline", arms=("--arm", "hint"))
    ok(toolenv, "w", "--baseline", "x", arms=("--arm", "hint"))
    lines = [
        sorted((place / out / "hint" / EPISODES_FILE).read_bytes().splitlines())
        for out in ("x", "y", "z", "w")
    ]
    assert lines[0] == lines[1] == lines[2] == lines[3]


def test_a_plain_run_is_a_baseline(toolenv: Command, place: Path) -> None:
    ended = toolenv("run", FAILING, *HINTED, "--limit", 3, "--out", "plain")
    assert ended.code == 0
    more = ("run", FAILING, *HINTED, "--limit", 3, "--arm", "tts", "--baseline", "plain", "--out", "x")
    assert toolenv(*more).code == 0
    assert len(of(place / "x/tts")) == 3


MISMATCHES: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "seed": (("--seed", 1), "seed is 0 there and 1 here"),
    "trials": (("--trials", 2), "trials is 1 there and 2 here"),
    "max_turns": (("--max-turns", 3), "env_options is {} there and {'max_turns': 3} here"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_another_runs_baseline_is_refused_by_name(toolenv: Command, place: Path, name: str) -> None:
    options, difference = MISMATCHES[name]
    ok(toolenv, "x", arms=("--arm", "baseline"))
    ended = study(toolenv, "y", "--baseline", "x/baseline", *options, arms=("--arm", "tts"))
    assert (ended.code, ended.out) == (2, "")
    assert f"x/baseline is not the baseline of this run: {difference}" in ended.err
    assert not (place / "y").exists()


def changed_hazards(place: Path) -> Path:
    """The suite's own manifest with another one's hash: its provenance is told otherwise."""
    from toolenv.hashed_json import sealed

    plain = json.loads(hazard_manifests(SUITE)["execution-failure"].read_text(encoding="utf-8"))
    del plain["hash"]
    path = place / "hazards.json"
    path.write_text(json.dumps(sealed({**plain, "provenance": "another time"})), encoding="utf-8")
    return path


def test_other_hazards_are_refused_and_hazards_of_ones_own_run(toolenv: Command, place: Path) -> None:
    path = changed_hazards(place)
    ok(toolenv, "x", "--hazards", path, arms=("--arm", "baseline"))
    ok(toolenv, "x", "--hazards", path, arms=("--arm", "hint", "--arm", "oracle"))
    assert len(of(place / "x/oracle")) == TASKS
    ended = study(toolenv, "y", "--baseline", "x/baseline", arms=("--arm", "hint"))
    assert ended.code == 2
    assert "not the baseline of this run: env_options" in ended.err
    header = json.loads((place / "x/baseline" / RUN_FILE).read_text(encoding="utf-8"))
    header["manifests"][FAILING] = "sha256:0"
    (place / "x/baseline" / RUN_FILE).write_text(json.dumps(header), encoding="utf-8")
    ended = study(toolenv, "y", "--hazards", path, "--baseline", "x/baseline", arms=("--arm", "hint"))
    assert ended.code == 2
    assert f"mask manifest of {FAILING} is 'sha256:0' there" in ended.err


def test_the_hazard_seed_chooses_among_armed_seeds(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x", "--hazard-seed", 0, arms=("--arm", "baseline"))
    ended = study(toolenv, "y", "--hazard-seed", 7, arms=("--arm", "baseline"))
    assert ended.code == 2
    assert "unknown hazard_seed '7' in Workflows-execution-failure; known: 0" in ended.err
    ended = toolenv("run", CLEAN, *HINTED, "--hazard-seed", 0, "--out", "y")
    assert ended.code == 2
    assert "hazards and hazard_seed have no meaning in Workflows-clean" in ended.err


def test_an_unfinished_baseline_is_refused(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x", arms=("--arm", "baseline"))
    cut(place / "x/baseline", 20)
    ended = study(toolenv, "x", arms=("--arm", "tts"))
    assert ended.code == 2
    assert "x/baseline holds 20 of 24 episodes: a baseline must be finished" in ended.err


REFUSED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "an unknown arm": ((FAILING, "--arm", "hnt"), "unknown arm 'hnt' in --arm; did you mean 'hint'?"),
    "clean": ((CLEAN, "--arm", "hint"), f"--arm hint: {CLEAN} has no hazard that an agent could be told of"),
    "infeasible": (
        ("ToolFeas/Workflows-infeasible-v0", "--arm", "tts"),
        "has no hazard that an agent could be told of or spared; give one of the suite's: cross-source-con",
    ),
    "confusable": (
        ("ToolFeas/Workflows-confusable-v0", "--arm", "hint"),
        "--arm hint: some tasks of Workflows-confusable cannot be done at all",
    ),
    "no baseline": (
        (FAILING, "--arm", "hint"),
        "there is none in y/baseline: add --arm baseline, or give --baseline DIR",
    ),
    "a baseline without an arm": (
        (FAILING, "--baseline", "x"),
        "--baseline x has no meaning without --arm tts",
    ),
    "a baseline for the oracle": (
        (FAILING, "--arm", "oracle", "--baseline", "x"),
        "--baseline x: only the arms tts and hint go on from a baseline",
    ),
    "two baselines": (
        (FAILING, "--arm", "baseline", "--arm", "hint", "--baseline", "x"),
        "--baseline x: --arm baseline runs it here; give one of both",
    ),
    "no such baseline": (
        (FAILING, "--arm", "hint", "--baseline", "nowhere"),
        "nowhere is no run directory and holds none",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input(toolenv: Command, place: Path, name: str) -> None:
    arguments, told = REFUSED[name]
    ended = toolenv("run", *arguments, *HINTED, "--limit", 1, "--out", "y")
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert not (place / "y").exists()


def test_several_agents_and_environments(toolenv: Command, place: Path) -> None:
    envs = (FAILING, "ToolFeas/Workflows-output-drift-v0")
    agents = (*HINTED, "--agent", "recovery:naive")
    ended = toolenv("run", *envs, *agents, *ALL, "--limit", 2, "--out", "x")
    assert (ended.code, ended.err) == (0, "")
    assert len(list((place / "x").iterdir())) == 16
    assert ended.out.count("Arms of ") == 4
    assert len(of(place / "x/Workflows-output-drift-v0-recovery-naive-hint")) == 2


def test_reports_and_rescoring(toolenv: Command, place: Path) -> None:
    printed = ok(toolenv, "x")
    reported = toolenv("report", "x")
    assert (reported.code, reported.err) == (0, "")
    start = "Arms of hinted"
    table = printed[printed.index(start) : printed.index("More (tokens by role, ")]
    assert table.strip() in reported.out
    assert "hinted [tts]" not in reported.out
    rows = {row["arm"]: row for row in json.loads(toolenv("report", "x", "--json").out)["arms"]}
    assert list(rows) == ["baseline", "tts", "hint", "oracle"]
    recovered = len(by_a_second_look())
    assert (rows["tts"]["went_on"], rows["tts"]["recovered"]) == (TASKS, recovered)
    assert rows["tts"]["sr"]["count"] == recovered
    assert rows["tts"]["closed"]["value"] == recovered / TASKS
    assert toolenv("report", "x", "--html", "x.html").code == 0
    assert f"arms of hinted in {FAILING}" in (place / "x.html").read_text(encoding="utf-8")
    rescored = toolenv("rescore", "x")
    assert (rescored.code, rescored.out.splitlines()[-1]) == (
        0,
        f"{4 * TASKS} episodes judged again, 0 changed",
    )


def test_an_arm_without_its_baseline_is_told_so(toolenv: Command, place: Path) -> None:
    ok(toolenv, "x")
    reported = toolenv("report", "x/hint", "x/oracle")
    assert reported.code == 0
    assert "Arms of" not in reported.out
    assert "hinted [hint]: its baseline, the run with configuration" in reported.out


def test_another_run_of_the_baseline_does_not_pass_for_it(toolenv: Command, place: Path) -> None:
    """A model seldom answers twice alike: the same configuration is not the same run."""
    ok(toolenv, "x")
    path = place / "x/baseline" / EPISODES_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[3]["episode"]["output_tokens"] = 12
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    reported = toolenv("report", "x")
    assert "hinted [hint] went on from another run with the same configuration" in reported.out
    assert "hinted [oracle] went on" not in reported.out
    cut(place / "x/hint", 5)
    ended = study(toolenv, "x", "--resume")
    assert ended.code == 2
    assert "x/tts holds another run: baseline that it goes on from is" in ended.err


Edit = Callable[[list[dict[str, Any]]], None]


def misplaced(lines: list[dict[str, Any]]) -> None:
    lines[0]["trace"]["task_id"] = lines[1]["trace"]["task_id"]


def no_trace(lines: list[dict[str, Any]]) -> None:
    lines[0]["trace"]["steps"] = 5


def edited(part: str, name: str, value: Any) -> Edit:
    def edit(lines: list[dict[str, Any]]) -> None:
        assert lines[0][part][name] != value
        lines[0][part][name] = value

    return edit


def twice(lines: list[dict[str, Any]]) -> None:
    lines[1] = lines[0]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (misplaced, r"x/baseline: the trace of task '\S+', trial 0 has task_id '\S+', and its run has '\S+'"),
        (no_trace, r"x/baseline/episodes.jsonl, line 1: not a record: DataCorruptError: not a trace"),
        (
            edited("episode", "success", True),
            r"task '\S+', trial 0 was edited: 'success' is True, and its trace comes to False",
        ),
        (edited("episode", "reward", 0.5), r"trial 0 was edited: 'reward' is 0\.5, and its trace comes to "),
        (
            edited("episode", "label", "infeasible"),
            r"trial 0 was edited: 'label' is 'infeasible', and its tr",
        ),
        (edited("episode", "calls", 99), r"trial 0 was edited: 'calls' is 99, and its trace comes to \d"),
        (edited("trace", "max_turns", 3), r"trial 0 has max_turns 3, and its run has \d\d"),
        (edited("trace", "suite", "BFCL"), r"trial 0 has suite 'BFCL', and its run has 'Workflows'"),
        (edited("trace", "condition", "clean"), r"has condition 'clean', and its run has 'execution-fai"),
        (
            edited("trace", "ending", "truncated"),
            r"trial 0 was edited: 'reaction' is Reaction\(.*\), and its",
        ),
        (twice, r"x/baseline holds two episodes \('ToolFeas/Workflows-"),
    ],
)
def test_an_edited_baseline_is_refused_with_its_place(
    toolenv: Command, place: Path, edit: Edit, said: str
) -> None:
    ok(toolenv, "x", arms=("--arm", "baseline"))
    path = place / "x/baseline" / EPISODES_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    edit(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = study(toolenv, "x", arms=("--arm", "tts"))
    assert ended.code == 2
    assert re.search(said, ended.err)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (misplaced, r"x/baseline: the trace of task '\S+', seed \d+ is one of task '\S+', seed"),
        (no_trace, r"x/baseline: no failed episode of task '\S+' with seed \d+ can be read: not a trace"),
    ],
)
def test_a_baseline_edited_while_arms_go_on_from_it_is_refused(
    toolenv: Command, place: Path, edit: Edit, said: str
) -> None:
    ok(toolenv, "x", arms=("--arm", "baseline"))
    path = place / "x/baseline" / EPISODES_FILE
    baseline = Baseline(place / "x/baseline")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    episode = lines[0]["episode"]
    edit(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(StoreError, match=said):
        baseline.trace(episode["task_id"], episode["seed"])


def test_what_no_longer_repeats_is_invalid_and_named(toolenv: Command, place: Path) -> None:
    """A baseline whose tools answered otherwise: no outcome, and no failure of the agent."""
    ok(toolenv, "x", arms=("--arm", "baseline"))
    path = place / "x/baseline" / EPISODES_FILE
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[0]["trace"]["steps"][0]["results"][0]["content"] = "It was otherwise."
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = ok(toolenv, "x", arms=("--arm", "tts"))
    bad = of(place / "x/tts")[lines[0]["episode"]["task_id"]]
    assert (bad.valid, bad.decided_by) == (False, "environment_error")
    assert "does not repeat: decision 0 meets" in bad.error
    assert "hinted [tts]: 1 of its episodes invalid by environment_error" in out
