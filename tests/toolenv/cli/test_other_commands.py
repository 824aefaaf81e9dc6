"""``toolenv envs``, ``validate``, ``data``, ``play`` and ``quickstart`` on BFCL's real data."""

from __future__ import annotations

import io
import itertools
import json
import os
import socket
import sys
import tomllib
from pathlib import Path

import pytest

import envs_registry
from tests.toolenv.cli.command import CLEAN, INFEASIBLE, MIXED, ROOT, Command, environment, spawned
from toolenv.cli.data import store
from toolenv.cli.quickstart import AGENTS, BFCL, WORKFLOWS
from toolenv.hazards import kinds

RUNS = sum(len(part.agents) for part in (*WORKFLOWS, *BFCL))

SOLUTION = 'triangle_properties.get {"side1": 5, "side2": 4, "side3": 3}'
"""Of BFCL's `multiple_0`: a triangle with sides 5, 4 and 3."""


def test_help_names_every_command(toolenv: Command) -> None:
    ended = toolenv("--help")
    commands = ("build", "data", "envs", "play", "quickstart", "report", "rescore", "run", "validate")
    assert (ended.code, [name for name in commands if name not in ended.out]) == (0, [])


@pytest.mark.parametrize("group", [(), ("data",), ("annotate",)])
def test_help_says_in_80_columns_what_each_command_does(
    toolenv: Command, monkeypatch: pytest.MonkeyPatch, group: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = toolenv(*group, "--help").out.partition("Commands:\n")[2].splitlines()
    assert len(lines) >= 3
    assert [line for line in lines if not line.endswith(".") or line.endswith("...") or len(line) > 80] == []


def test_the_version(toolenv: Command) -> None:
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["version"]["path"]
    source = (ROOT / found).read_text(encoding="utf-8")
    ended = toolenv("--version")
    assert (ended.code, ended.err) == (0, "")
    assert f'__version__ = "{ended.out.removeprefix("toolenv ").strip()}"' in source


def test_every_id_is_listed(toolenv: Command) -> None:
    ended = toolenv("envs", "--json")
    assert (ended.code, ended.err) == (0, "")
    rows = {row["id"]: row for row in json.loads(ended.out)["envs"]}
    assert list(rows) == list(envs_registry.env_ids())
    assert {tuple(row) for row in rows.values()} == {
        ("id", "tasks", "of", "left_out", "tools", "infeasible", "labels", "subsets", "data")
    }
    # The paper's 1,453 tasks; two of them cannot be solved, so no mask makes them infeasible.
    assert [(rows[name]["tasks"], rows[name]["infeasible"]) for name in (CLEAN, INFEASIBLE, MIXED)] == [
        (1453, 0.0),
        (1451, 1.0),
        (1451, 0.5),
    ]
    assert all(rows[name]["data"] == "present" for name in (CLEAN, INFEASIBLE, MIXED))
    assert "simple_python" in rows[CLEAN]["subsets"]


def test_the_table_of_ids(toolenv: Command) -> None:
    ended = toolenv("envs")
    assert (ended.code, ended.err) == (0, "")
    assert all(name in ended.out for name in (CLEAN, INFEASIBLE, MIXED, "1453"))


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_each_id_is_on_one_line_that_fits_80_columns_with_all_that_is_told_of_it(
    toolenv: Command, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = toolenv("envs").out.splitlines()
    rows = [line.split() for line in lines if line.startswith(" ToolFeas/")]
    assert [row[0] for row in rows] == list(envs_registry.env_ids())
    assert ["ToolFeas/BFCL-infeasible-v0", "1451", "1-36", "100%", "200"] in rows
    assert max(len(line.rstrip()) for line in lines if not line.startswith("•")) <= 80


def test_ids_and_patterns_choose_what_is_listed(toolenv: Command) -> None:
    found = json.loads(toolenv("envs", "ToolFeas/BFCL-[cm]*", INFEASIBLE, "--json").out)["envs"]
    assert [row["id"] for row in found] == [CLEAN, MIXED, INFEASIBLE]


def test_absent_data_is_told_once_a_suite(tmp_path: Path) -> None:
    env = environment(TOOLENV_DATA=str(tmp_path / "nothing"))
    ended = spawned("envs", cwd=tmp_path, env=env)
    assert [row for row in ended.out.splitlines() if row.split()[:2] == [CLEAN, "absent"]]
    (told,) = [line for line in ended.out.splitlines() if line.startswith("• BFCL is absent: ")]
    assert "toolenv data pull bfcl" in told


def test_ids_without_data_are_listed_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    env = environment(TOOLENV_DATA=str(tmp_path / "nothing"))
    ended = spawned("envs", "--json", cwd=tmp_path, env=env)
    assert (ended.code, ended.err) == (0, "")
    row = next(row for row in json.loads(ended.out)["envs"] if row["id"] == CLEAN)
    assert (row["tasks"], row["tools"], row["infeasible"]) == (None, None, None)
    assert "toolenv data pull bfcl" in row["data"]
    assert "simple_python" in row["subsets"]


def test_validating(toolenv: Command) -> None:
    tasks = ("--subset", "multiple", "--tasks", "multiple_0,multiple_1,multiple_2")
    ended = toolenv("validate", CLEAN, INFEASIBLE, MIXED, *tasks)
    assert (ended.code, ended.err) == (0, "")
    each = [f"{name}: 3 tasks, 0 findings" for name in (CLEAN, INFEASIBLE, MIXED)]
    assert ended.out.splitlines() == [*each, "3 environments: 9 tasks, 0 findings"]


HAZARDS = tuple(kinds())


@pytest.mark.slow
def test_every_proved_instance_of_workflows_is_validated_by_one_command(toolenv: Command) -> None:
    """Paper 2: 378 sequential, 358 parallel and 370 mixture tasks; four of them fit no conflict."""
    ended = toolenv("validate", *(f"ToolFeas/Workflows-{name}-v0" for name in HAZARDS))
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    counts = dict.fromkeys(HAZARDS, 1106) | {"cross-source-conflict": 1102}
    for name, count in counts.items():
        assert f"ToolFeas/Workflows-{name}-v0: {count} tasks, 0 findings" in lines
        assert f"  {count} armed, by hazard: {name}" in lines
    total = lines[lines.index("5 environments: 5526 tasks, 0 findings") :]
    assert set(total) >= {f"  {count} armed, by workflow: {name}" for name, count in WORKFLOW_TOTALS.items()}
    tools = [int(line.split()[0]) for line in total if "by tools" in line]
    assert (len(tools), sum(tools)) == (3, 5526)


WORKFLOW_TOTALS = {"sequential": 5 * 378 - 4, "parallel": 5 * 358, "mixture": 5 * 370}


def test_a_pattern_and_json(toolenv: Command) -> None:
    tasks = ("--tasks", "rail_journeys-sequential-0-0,flights-mixture-0-0")
    ended = toolenv("validate", "ToolFeas/Workflows-*-v0", *tasks, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = {row.pop("env"): row for row in json.loads(ended.out)["envs"]}
    assert list(found) == [name for name in envs_registry.env_ids() if "/Workflows-" in name]
    assert all((row["tasks"], row["findings"], row["warnings"]) == (2, [], []) for row in found.values())
    assert found["ToolFeas/Workflows-clean-v0"]["armed"] == {}
    armed = found["ToolFeas/Workflows-output-drift-v0"]["armed"]
    assert armed["hazard"] == {"output-drift": 2}
    assert armed["workflow"] == {"mixture": 1, "sequential": 1}
    assert sum(armed["tools"].values()) == 2
    nothing = toolenv("validate", "ToolFeas/Workflow-*-v0")
    assert nothing.code == 2
    assert "unknown environment id 'ToolFeas/Workflow-*-v0'" in nothing.err


def test_flags_are_listed_with_their_meaning(toolenv: Command) -> None:
    ended = toolenv("validate", CLEAN, "--subset", "live_simple")
    assert ended.code == 0
    assert "2 flagged can_never_pass: no call sequence is accepted" in ended.out


def test_data_status(toolenv: Command) -> None:
    ended = toolenv("data", "status")
    assert (ended.code, ended.err) == (0, "")
    (row,) = [line for line in ended.out.splitlines() if " bfcl " in line]
    assert "whole" in row
    assert "Apache-2.0" in row


@pytest.mark.parametrize("width", [80, 100, 200])
def test_data_status_cuts_nothing(toolenv: Command, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = toolenv("data", "status").out
    table, _, _ = shown.partition("api-bank: ")
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= width
    for row in store().status():
        assert row.key in table
        assert str(row.path).rpartition("/")[2] in table


class Keyboard(io.StringIO):
    """Standard input, whose methods a test may replace."""


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard("".join(line + "\n" for line in lines)))


def verdict_in(out: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(out[out.rindex("{\n") :])
    return found


def test_playing_a_task_to_its_solution(toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "help", "tools", SOLUTION, "say Done.")
    ended = toolenv("play", CLEAN, "--task", "multiple_0")
    assert (ended.code, ended.err) == (0, "")
    assert '"triangle_properties_get"' in ended.out, "the schemas that were asked for"
    assert "[user]" in ended.out
    assert "[assistant] Done." in ended.out
    verdict = verdict_in(ended.out)
    assert (verdict["task"], verdict["success"], verdict["reward"]) == ("multiple_0", True, 1.0)


def test_playing_by_stopping(toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, SOLUTION, "stop the tool is not there")
    ended = toolenv("play", INFEASIBLE, "--task", "multiple_0")
    assert ended.code == 0
    assert "Error: there is no tool named 'triangle_properties.get'" in ended.out
    verdict = verdict_in(ended.out)
    assert (verdict["label"], verdict["decided_by"], verdict["reward"]) == ("infeasible", "stop_signal", 1.0)


def test_typing_errors_are_told_and_cost_no_turn(toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "", "triangle_properties.get side1=5", "triangle_properties.get [5]", "stop")
    ended = toolenv("play", CLEAN, "--task", "multiple_0")
    assert ended.code == 0
    assert "Arguments are no JSON: " in ended.out
    assert "Arguments are no JSON object: [5]" in ended.out
    assert ended.out.count("[turns left]") == 2, "before the first decision, and after the last"


def test_a_seed_draws_the_same_task_each_time(toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = []
    for seed in (1, 1, 2):
        typed(monkeypatch, "stop")
        tasks.append(verdict_in(toolenv("play", CLEAN, "--seed", seed).out)["task"])
    assert tasks[0] == tasks[1] != tasks[2]


@pytest.mark.parametrize("leaving", ["quit", "q", "", "^C"])
def test_leaving_in_the_middle(toolenv: Command, monkeypatch: pytest.MonkeyPatch, leaving: str) -> None:
    """By a word, by Ctrl-D (the end of what is typed), by Ctrl-C."""
    typed(monkeypatch, SOLUTION, *([leaving] if leaving else []))
    keys = sys.stdin.readline

    def read(size: int = -1) -> str:
        line = keys(size)
        if line == "^C\n":
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr(sys.stdin, "readline", read)
    ended = toolenv("play", CLEAN, "--task", "multiple_0")
    assert (ended.code, ended.err) == (0, "")
    left = ended.out.splitlines()[-2:]
    assert left[0].removeprefix("you> ") == "You left task multiple_0 after 1 decision; there is no verdict."
    assert left[1].startswith("  triangle_properties.get {")
    assert left[1].endswith("} -> ok")


def test_how_to_leave_is_told(toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "help", "q")
    assert (
        toolenv("play", CLEAN, "--task", "multiple_0").out.count("quit (or q, Ctrl-D) to leave, or help") == 2
    )


def test_quickstart(toolenv: Command, place: Path) -> None:
    command = ("quickstart", "--limit", 2, "--out", "runs", "--html", "page.html")
    first = toolenv(*command)
    assert first.code == 0
    assert first.out.endswith("All tables: page.html, or: toolenv report runs\n")
    assert len(first.out.splitlines()) < 50, "little more than a screen"
    assert all(agent in first.out for agent in (*AGENTS, "recovery", "naive"))
    assert first.out.index("Workflows: ") < first.out.index("BFCL: ")
    assert len(list((place / "runs").iterdir())) == RUNS
    page = (place / "page.html").read_text(encoding="utf-8")
    assert all(f"ToolFeas/{suite} (pooled)" in page for suite in ("Workflows", "BFCL"))
    assert "Degradation" in page
    assert "BFCL is left out" not in first.out
    again = toolenv(*command)
    assert (again.code, again.out) == (0, first.out)


def test_quickstart_without_any_network(tmp_path: Path) -> None:
    """Nothing but a closed port where pip would look, and no data yet: the real command, to its end."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        offline = {
            **{"TOOLENV_DATA": str(tmp_path / "data"), "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""},
            **{"PIP_INDEX_URL": f"{address}/simple", "PIP_NO_CACHE_DIR": "1", "PIP_EXTRA_INDEX_URL": ""},
            **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), address),
        }
        env = environment(**offline)
        ended = spawned("quickstart", "--limit", 9, cwd=tmp_path, env=env)
    assert ended.code == 0, ended.err
    *tables, left_out, last = ended.out.splitlines()
    assert last == "All tables: runs/quickstart/report.html, or: toolenv report runs/quickstart"
    assert left_out.startswith(
        "BFCL is left out, for its data cannot be had: pip could not download bfcl-eval"
    )
    assert "Connection refused" in left_out
    assert "toolenv data pull bfcl --from DIR" in left_out
    assert "Traceback" not in ended.err
    assert "BFCL" not in "".join(tables)
    page = (tmp_path / "runs/quickstart/report.html").read_text(encoding="utf-8")
    assert "BFCL: pip could not download bfcl-eval" in page
    assert "ToolFeas/Workflows-hazard-v0" in page
    report = spawned("report", "--json", "runs/quickstart", cwd=tmp_path, env=env)
    rows = {(row["env"], row["agent"]): row for row in json.loads(report.out)["rows"]}
    success = {
        (condition, agent): rows[f"ToolFeas/Workflows-{condition}-v0", agent]["metrics"]["sr"]["value"]
        for condition in ("clean", "hazard")
        for agent in ("oracle", "recovery", "naive", "always-stop", "never-stop", "noop")
    }
    # The recovery script reads every hazard, the naive one none; that is how instances are chosen.
    solved = {pair for pair, value in success.items() if value == 1.0}
    assert solved == {*itertools.product(("clean", "hazard"), ("oracle", "recovery")), ("clean", "naive")}
    assert set(success.values()) == {0.0, 1.0}
    stops = {agent: rows["ToolFeas/Workflows-infeasible-v0", agent]["metrics"] for agent in AGENTS}
    assert {agent: found["fcr_strict"]["value"] for agent, found in stops.items() if agent != "random"} == {
        **{"oracle": 0.0, "always-stop": 0.0, "never-stop": 1.0, "noop": 1.0}
    }


def runs_in(place: Path) -> set[str]:
    return {path.name for path in (place / "runs/quickstart").iterdir() if path.is_dir()}


def test_quickstart_never_shows_the_numbers_of_another_version(
    toolenv: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("quickstart", "--limit", 1)
    assert toolenv(*command).code == 0
    first = runs_in(place)
    assert toolenv(*command).code == 0
    assert runs_in(place) == first, "nothing is run twice"
    monkeypatch.setattr("toolenv.__version__", "99.0")
    ended = toolenv(*command)
    assert ended.code == 0
    newer = runs_in(place) - first
    assert len(newer) == len(first) == RUNS
    assert all("-99.0-" in name for name in newer)
