"""Ids and patterns of ids, which every command reads the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import envs_registry
from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command
from toolenv.cli.env_ids import env_name, env_names, env_of
from toolenv.errors import UnknownNameError, UsageError

BFCL = [name for name in envs_registry.env_ids() if "/BFCL-" in name]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([CLEAN], [CLEAN]),
        ([f"toolenv:{CLEAN}"], [CLEAN]),
        (["ToolFeas/BFCL-*-v0"], BFCL),
        (["toolenv:ToolFeas/BFCL-c*"], [CLEAN]),
        (["*/BFCL-[ci]*e?n-v0", INFEASIBLE], [CLEAN, INFEASIBLE]),
        ([INFEASIBLE, "ToolFeas/BFCL-*"], [INFEASIBLE, *(name for name in BFCL if name != INFEASIBLE)]),
        ([CLEAN, CLEAN, "*/BFCL-clean-*"], [CLEAN]),
    ],
)
def test_patterns_become_ids_each_once_and_in_order(given: list[str], names: list[str]) -> None:
    assert list(env_names(given)) == names


@pytest.mark.parametrize(
    ("given", "nearest"),
    [
        ("ToolFeas/Workflow-clean-v0", "ToolFeas/Workflows-clean-v0"),
        ("ToolFeas/Workflow-*-v0", "ToolFeas/Workflows-*-v0"),
        ("BFCL-*", "ToolFeas/BFCL-*-v0"),
        ("*-cleen-v0", "ToolFeas/BFCL-clean-v0"),
        ("Workflows-clean-v0", "ToolFeas/Workflows-clean-v0"),
        ("bfcl", "ToolFeas/BFCL-clean-v0"),
        ("ToolFeas/taubench-clean-v0", "ToolFeas/TauBench-clean-v0"),
    ],
)
def test_what_matches_nothing_is_refused_with_the_nearest_first(given: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError) as refused:
        env_names([CLEAN, given])
    assert f"unknown environment id {given!r}; did you mean {nearest!r}" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("no_such:ToolFeas/Own-clean-v0", "unknown suite or module 'no_such'; known: APIBank, BFCL"),
        ("json:ToolFeas/Own-clean-v0", "unknown environment id 'json:ToolFeas/Own-clean-v0'"),
        ("json:ToolFeas/Own-*", "unknown environment id 'json:ToolFeas/Own-*'"),
        ("json:ToolFeas/BFCL-cleen-v0", f"did you mean {CLEAN!r}"),
    ],
)
def test_a_module_in_front_has_to_be_there_and_to_register_the_id(
    toolenv: Command, given: str, told: str
) -> None:
    ended = toolenv("run", given, "--agent", "noop")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert told in ended.err


def test_all_that_match_nothing_are_told_at_once_each_with_its_nearest() -> None:
    with pytest.raises(UsageError) as refused:
        env_names(["ToolFeas/BFCL-claen-v0", CLEAN, "ToolFeas/Workflow-*-v0", "bfcl-infeasable", "?"])
    assert str(refused.value) == (
        "4 unknown environment ids:"
        " 'ToolFeas/BFCL-claen-v0' (did you mean 'ToolFeas/BFCL-clean-v0'?);"
        " 'ToolFeas/Workflow-*-v0' (did you mean 'ToolFeas/Workflows-*-v0'?);"
        " 'bfcl-infeasable' (did you mean 'ToolFeas/BFCL-infeasible-v0'?);"
        " '?' (see: toolenv envs)"
    )


def test_where_one_id_is_asked_for_a_pattern_may_match_one() -> None:
    assert env_name("*/BFCL-clean-*") == CLEAN
    with pytest.raises(UsageError, match=r"BFCL-\*-v0 matches \d+ environment ids \(.*, …\); give one"):
        env_name("ToolFeas/BFCL-*-v0")
    with pytest.raises(UsageError, match=r"matches 2 environment ids \([^…]*\); give one"):
        env_name("ToolFeas/BFCL-[cm]*")


def test_where_a_condition_is_asked_for_the_id_that_has_it_is_named() -> None:
    assert env_of("*/BFCL-infea*", "infeasible", "why") == INFEASIBLE
    with pytest.raises(UsageError, match=f"{CLEAN}: that is why; did you mean {INFEASIBLE}"):
        env_of(CLEAN, "infeasible", "that is why")


def test_a_run_of_a_pattern_is_the_run_of_its_ids(toolenv: Command, place: Path) -> None:
    for out, envs in (("a", ["*/BFCL-[im]*e[ad]*[el]e-v0", "*/BFCL-cle*"]), ("b", [INFEASIBLE, CLEAN])):
        assert toolenv("run", *envs, "--agent", "noop", "--limit", 1, "--out", out).code == 0
    headers = [json.loads((place / out / "run.json").read_text()) for out in "ab"]
    assert headers[0]["config"]["envs"] == [INFEASIBLE, CLEAN]
    assert headers[0] == headers[1]


@pytest.mark.parametrize("command", ["run", "validate", "envs", "play", "certify"])
def test_every_command_names_the_nearest(toolenv: Command, command: str) -> None:
    more = ("--agent", "noop") if command == "run" else ()
    ended = toolenv(command, "ToolFeas/Workflow-*-v0", *more)
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean 'ToolFeas/Workflows-*-v0'" in ended.err


@pytest.mark.parametrize("command", ["run", "validate", "envs"])
def test_every_command_that_takes_several_tells_of_all(toolenv: Command, place: Path, command: str) -> None:
    more = ("--agent", "noop") if command == "run" else ()
    ended = toolenv(command, "ToolFeas/BFCL-claen-v0", "ToolFeas/Workflow-clean-v0", *more)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"did you mean {CLEAN!r}" in ended.err
    assert "did you mean 'ToolFeas/Workflows-clean-v0'" in ended.err
    assert list(place.iterdir()) == []


def test_certificates_are_of_infeasible_ids(toolenv: Command) -> None:
    ended = toolenv("certify", CLEAN)
    assert ended.code == 2
    assert f"did you mean {INFEASIBLE}?" in ended.err
