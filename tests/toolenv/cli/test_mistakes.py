"""Plausible mistakes on Workflows, which needs no data: one line, and no traceback or endless wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolenv.cli.command import Command

CLEAN, INFEASIBLE = "ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0"
RUN = ("run", CLEAN, "--agent", "noop", "--limit", "1")
NO_END = "the subset has no end and cannot be played whole; give"
SOME_OF_IT = "--limit N or --tasks ID,…, or choose another --subset"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*RUN, "--runner", "RAY"), "unknown runner 'RAY'; did you mean 'ray'?"),
        ((*RUN, "--prior", "0.3"), "prior=0.3 has no meaning in Workflows-clean, but in Workflows-mixed and"),
        ((*RUN, "--suite-option", "max_turn=3"), "'max_turn' in suite Workflows; did you mean 'max_turns'?"),
        ((*RUN, "--suite-option", "max_turns=0"), "max_turns=0: give a whole number of at least 1"),
        ((*RUN, "--price", "noop=1,2"), "unknown model 'noop' in --price, among the models of the agents;"),
        ((*RUN, "--agent", "random", "--agent-option", "seed=x"), "random:x: the seed is a whole number"),
        ((*RUN, "--agent", "random", "--agent-option", "seed=[1]"), "random:[1]: the seed is a whole number"),
        ((*RUN, "--agent", "Oracle"), "unknown agent 'Oracle'; did you mean 'oracle'?"),
        ((*RUN, "--agent", ".own:policy"), "unknown agent or module '.own'"),
        ((*RUN[:-2], "--subset", "train"), f"{CLEAN}: {NO_END} {SOME_OF_IT}"),
        (
            (*RUN, "--trials", "99999999999999999999"),
            "trials of 1 task are more than 100,000,000 episodes; give fewer trials",
        ),
        (("validate", CLEAN, "--subset", "train"), f"{CLEAN}: {NO_END} {SOME_OF_IT}"),
        (("arm", "Workflows", "--subset", "train", "--out", "x"), f"Workflows: {NO_END} --tasks ID,…, or"),
        (
            ("certify", INFEASIBLE, "--subset", "train"),
            "subset 'train' has no end, so that no manifest holds",
        ),
        (
            ("build", "Workflows", "--reference", "--subset", "Defaults", "--out", "x"),
            "unknown subset 'Defaults' in suite Workflows; did you mean 'default'?",
        ),
        (("build", "json:loads", "--reference", "--out", "x"), "json:loads is no suite: it is function"),
        (("build", "no_such:suite", "--reference", "--out", "x"), "unknown suite or module 'no_such'"),
    ],
)
def test_a_mistake_is_one_line(toolenv: Command, place: Path, arguments: tuple[str, ...], told: str) -> None:
    ended = toolenv(*arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("toolenv: ")
    assert told in ended.err
    assert list(place.iterdir()) == [], "something was written"


def test_a_price_of_a_model_that_no_run_has_asked(toolenv: Command) -> None:
    assert toolenv(*RUN, "--out", "x").code == 0
    ended = toolenv("report", "x", "--price", "gpt=1,2")
    assert (ended.code, ended.out) == (2, "")
    assert "unknown model 'gpt' in --price, among the models of the agents; there are none" in ended.err


def test_a_setting_of_the_environment_may_be_given_either_way(toolenv: Command) -> None:
    assert toolenv(*RUN, "--suite-option", "max_turns=1", "--out", "x").code == 0
    ended = toolenv(*RUN, "--max-turns", "1", "--out", "x", "--resume")
    assert (ended.code, ended.err) == (0, ""), "it is the same run"
