"""A suite of one's own on the command line, from the first run on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest

from tests.toolenv.cli.command import Command
from toolenv.feasibility.manifest import MaskManifest

SUITE = """
from pathlib import Path

import envs_registry
from tests.support.toy import Toy
from toolenv.feasibility.manifest import MaskManifest

class Own(Toy):
    name = "OwnBank"

    def masks(self, subset):
        return MaskManifest.read(Path(__file__).parent / "own_masks.json")

SUITE = Own()
envs_registry.register_suite("own_bank:SUITE")
"""
AGENT = """
from toolenv.agents.oracle import Oracle

class Second(Oracle):
    name = "second"

agent = Second()
"""
CLEAN, INFEASIBLE, MIXED = (f"own_bank:ToolFeas/OwnBank-{one}-v0" for one in ("clean", "infeasible", "mixed"))
MASKS = "own_masks.json"


@pytest.fixture
def own(place: Path) -> Iterator[Path]:
    """A folder with a suite of four tasks, and no masks; three of its solutions call ``pay``."""
    (place / "own_bank.py").write_text(SUITE, encoding="utf-8")
    (place / "own_agent.py").write_text(AGENT, encoding="utf-8")
    yield place
    for name in ("own_bank", "own_agent"):
        sys.modules.pop(name, None)
    for name in [one for one in gymnasium.registry if "OwnBank" in one]:
        del gymnasium.registry[name]


def test_the_way_from_no_masks_to_the_infeasible_id(toolenv: Command, own: Path) -> None:
    assert f"{CLEAN}: 4 tasks, 1 findings" in toolenv("validate", CLEAN).out, (
        "nobody flagged the idle task yet"
    )
    for agent in ("oracle", "own_agent:agent"):
        ended = toolenv("run", CLEAN, "--agent", agent, "--out", own / "runs" / agent[:6])
        assert (ended.code, ended.err.count("Error")) == (0, 0), ended.err
    build = ("build", "own_bank:SUITE", "--traces", "runs", "--out", MASKS)
    first, again = toolenv(*build), toolenv(*build)
    assert (first.code, first.err) == (0, "")
    assert again == first, "masks are made anew from the runs that the first were made from"
    masks = MaskManifest.read(own / MASKS)
    assert masks.masks == dict.fromkeys(("pay-7", "pay-30", "two-turns"), ("pay",))
    assert toolenv("run", INFEASIBLE, "--agent", "oracle", "--out", "masked").code == 0


@pytest.mark.parametrize("env", [INFEASIBLE, MIXED])
@pytest.mark.parametrize("command", ["run", "validate"])
def test_what_needs_masks_says_which_file_and_both_ways_out(
    toolenv: Command, own: Path, command: str, env: str
) -> None:
    ended = toolenv(command, env, *(("--agent", "noop") if command == "run" else ()))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert f"no mask manifest at {own / MASKS}, which OwnBank-infeasible and OwnBank-mixed need" in ended.err
    assert "toolenv build own_bank:SUITE --traces DIR… --out FILE" in ended.err
    assert "toolenv build own_bank:SUITE --reference --out FILE" in ended.err


def test_ids_are_listed_before_there_are_masks(toolenv: Command, own: Path) -> None:
    ended = toolenv("envs", "own_bank:ToolFeas/OwnBank-*", "--json")
    rows = {row["id"]: (row["tasks"], row["data"][:16]) for row in json.loads(ended.out)["envs"]}
    assert rows == {
        CLEAN: (4, "present"),
        INFEASIBLE: (None, "no mask manifest"),
        MIXED: (None, "no mask manifest"),
    }
    assert f"{INFEASIBLE}, {MIXED} are absent: no mask" in toolenv("envs", "own_bank:ToolFeas/OwnBank-*").out


@pytest.mark.parametrize("env", [CLEAN, INFEASIBLE])
def test_a_broken_manifest_is_an_error_in_every_condition(toolenv: Command, own: Path, env: str) -> None:
    (own / MASKS).write_text('{"version": 1}', encoding="utf-8")
    for command in (("run", env, "--agent", "noop"), ("validate", env)):
        ended = toolenv(*command)
        assert ended.code == 2
        assert f"{own / MASKS}: hash None does not match" in ended.err


def test_masks_in_a_file_of_another_name_need_no_manifest_of_the_suite(toolenv: Command, own: Path) -> None:
    assert toolenv("build", "own_bank:SUITE", "--reference", "--out", "other.json").code == 0
    ended = toolenv("run", INFEASIBLE, "--agent", "oracle", "--masks", "other.json", "--out", "run")
    assert ended.code == 0, ended.err
    ended = toolenv("certify", INFEASIBLE, "--masks", "othr.json")
    assert (ended.code, ended.err) == (2, "toolenv: no mask manifest at othr.json\n")


def test_where_no_search_can_run_nothing_is_said_to_be_proved(toolenv: Command, own: Path) -> None:
    built = toolenv("build", "own_bank:SUITE", "--reference", "--certified", "--out", MASKS)
    files = ("--out", "certificates.json", "--repaired", "repaired.json")
    certified = toolenv("certify", INFEASIBLE, *files)
    for ended in (built, certified):
        assert (ended.code, ended.err) == (0, "")
        assert (
            "proved: 0 of 3 tasks. Nothing was tried, since the suite's package has no planning.py"
            in ended.out
        )
        assert "no world" not in ended.out
    assert "repaired.json: 3 masks that are not refuted, 0 proved" in certified.out
    assert "good" not in certified.out
    checked = toolenv("certify", INFEASIBLE, "--check", "certificates.json")
    assert checked.out == "checked: 3 of 3 records well-formed; 0 of 3 tasks proved or refuted\n"


def test_a_pattern_behind_a_module_is_of_the_ids_that_it_registers(toolenv: Command, own: Path) -> None:
    ended = toolenv("envs", "own_bank:ToolFeas/*", "--json")
    assert {row["id"] for row in json.loads(ended.out)["envs"]} == {CLEAN, INFEASIBLE, MIXED}
    for given in ("own_bank:ToolFeas/Workflows-*", "own_bank:ToolFeas/Nothing-v0"):
        ended = toolenv("envs", given)
        assert ended.code == 2
        assert "Workflows-clean" not in ended.err.replace(given, ""), "that one the module does not register"
        assert CLEAN in ended.err


def test_a_second_module_has_ids_of_its_own(toolenv: Command, own: Path) -> None:
    second = SUITE.replace("OwnBank", "NewOwnBank").replace("own_bank:", "own_two:")
    (own / "own_two.py").write_text(second, encoding="utf-8")
    ended = toolenv("envs", "own_bank:ToolFeas/*", "own_two:ToolFeas/*", "--json")
    sys.modules.pop("own_two")
    new = {name.replace("own_bank:ToolFeas/", "own_two:ToolFeas/New") for name in (CLEAN, INFEASIBLE, MIXED)}
    assert {row["id"] for row in json.loads(ended.out)["envs"]} == {CLEAN, INFEASIBLE, MIXED, *new}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("OwnBank", "(one of your own is MODULE:ATTRIBUTE, e.g. library_suite:SUITE)"),
        ("own_bank:OwnBank", "did you mean 'own_bank:SUITE'"),
        ("own_envs:OwnBank", "did you mean 'own_bank:SUITE'"),
        ("own_agent:OwnBank", "(give a suite as MODULE:ATTRIBUTE, e.g. library_suite:SUITE)"),
    ],
)
def test_a_suite_of_one_s_own_is_named_by_its_place(
    toolenv: Command, own: Path, given: str, told: str
) -> None:
    (own / "own_envs.py").write_text("import own_bank\n", encoding="utf-8")
    for command in (("build", given, "--reference", "--out", "x.json"), ("arm", given, "--out", "x")):
        ended = toolenv(*command)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert told in ended.err
    sys.modules.pop("own_envs", None)


def test_a_module_that_registers_no_id_is_told_how(toolenv: Command, own: Path) -> None:
    lines = SUITE.strip().splitlines()[:-1]
    (own / "own_plain.py").write_text("\n".join(lines), encoding="utf-8")
    ended = toolenv("run", "own_plain:SUITE", "--agent", "noop")
    sys.modules.pop("own_plain")
    assert ended.code == 2
    assert "envs_registry.register_suite('own_plain:SUITE') in it would" in ended.err
