"""Data that is not there is told before the first episode: all of it, in one error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolenv.cli.command import Command, environment, spawned

CLEAN = "ToolFeas/*-clean-v0"
LACKING = ("api-bank", "bfcl", "stabletoolbench", "tau-bench", "tool-bench-x --from DIR")
"""All suites but Workflows, which needs none; ToolBench-X's users bring their own copy."""


@pytest.mark.parametrize("more", [(), ("--agent", "random", "--json")])
def test_a_pattern_that_matches_envs_without_data_plays_none(tmp_path: Path, more: tuple[str, ...]) -> None:
    place, data = tmp_path / "place", tmp_path / "data"
    place.mkdir()
    command = ("run", CLEAN, "--agent", "noop", "--limit", 1, "--out", "x", *more)
    ended = spawned(*command, cwd=place, env=environment(TOOLENV_DATA=str(data)))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    suites = ("APIBank", "BFCL", "StableToolBench", "TauBench", "ToolBenchX")
    for suite, key in zip(suites, LACKING, strict=True):
        assert f"no data for ToolFeas/{suite}-clean-v0: " in ended.err
        assert f"get it with: toolenv data pull {key}" in ended.err
    assert "Workflows" not in ended.err
    assert list(place.iterdir()) == []
    assert not data.exists()


def test_envs_of_one_suite_are_named_together(
    toolenv: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(place / "data"))
    envs = [f"ToolFeas/ToolBenchX-{condition}-v0" for condition in ("clean", "infeasible")]
    ended = toolenv("validate", "ToolFeas/Workflows-clean-v0", *envs, "--limit", 1)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"toolenv: no data for {envs[0]}, {envs[1]}: ToolBench-X is not at {place / 'data/tool-bench-x'};"
        " get it with: toolenv data pull tool-bench-x --from DIR\n"
    )
