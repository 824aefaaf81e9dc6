"""BFCL's answers corrected by a file: real cases of FIELD-094, judged as upstream's own checker does."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import pytest

import envs_registry
from envs_registry.bfcl import BFCL, SUITE
from tests.support.corrections import REASON, SOURCE, entry, write_corrections
from toolenv.agents.noop import make as make_noop
from toolenv.agents.oracle import Oracle
from toolenv.cli import main
from toolenv.env import ToolEnv
from toolenv.errors import DataCorruptError, ToolEnvError, UnknownNameError, UsageError
from toolenv.policy import FunctionPolicy
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.types import Message, Observation, ToolCall, ToolCalls
from toolenv.validation import summarise, validate_source

Correct: TypeAlias = Callable[..., BFCL]

SIKHAE = "live_multiple_17-4-9"  # "how to cook sikhae", a Korean drink; upstream's answer: "", Italian
RECIPE = "cookbook.search_recipe"
TRIANGLE, SPOTIFY = "triangle_properties.get", "spotify.play"
NEVER = "live_multiple_862-181-3"  # upstream's answer needs a parameter that its document does not have
SORTED = "multi_turn_base_0"
CLEAN, INFEASIBLE = "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0"


@pytest.fixture
def correct(tmp_path: Path) -> Correct:
    """BFCL with the corrections given by task id."""

    def make(corrections: Mapping[str, Any]) -> BFCL:
        return SUITE.configured(write_corrections(tmp_path / "fixes.json", "BFCL", corrections))

    return make


def success(suite: BFCL, task_id: str, *calls: ToolCall) -> bool | None:
    """Whether an agent that makes these calls together, then closes, is right."""

    def act(observation: Observation) -> ToolCalls | Message:
        return Message("Done.") if observation.messages[-1].role == "tool" else ToolCalls(calls)

    category = task_id.rpartition("_")[0]
    source = make_source(suite, subset=category, tasks=[task_id])
    return rollout(ToolEnv(source), FunctionPolicy(act, "test"), seed=0, task_id=task_id).episode.success


def recipe(**more: Any) -> ToolCall:
    return ToolCall(RECIPE, {"keyword": "sikhae", **more})


def of_recipe(action: str, **options: list[Any]) -> dict[str, Any]:
    return {SIKHAE: entry(action, {"arguments": [{RECIPE: options}]})}


# ---- single-turn ----

RECIPES = (recipe(), recipe(cuisine="Italian"), recipe(cuisine="Indian"), recipe(cuisine="Korean"))


@pytest.mark.parametrize(
    ("corrections", "cuisine", "right"),
    [
        ({}, ["", "Italian"], [True, True, False, False]),
        (of_recipe("replace", cuisine=["Indian"]), ["Indian"], [False, False, True, False]),
        (of_recipe("widen", cuisine=["Indian"]), ["", "Italian", "Indian"], [True, True, True, False]),
        # Korean is not among the values that upstream's document allows.
        (of_recipe("replace", cuisine=["Korean"]), ["Korean"], [False, False, False, True]),
        (of_recipe("widen", cuisine=["Korean"]), ["", "Italian", "Korean"], [True, True, False, True]),
    ],
)
def test_field_094_values_are_replaced_and_widened(
    corrections: dict[str, Any],
    cuisine: list[str],
    right: list[bool],
    correct: Correct,
    upstream: Callable[[tuple[Any, ...]], str],
) -> None:
    suite = correct(corrections)
    assert [success(suite, SIKHAE, call) for call in RECIPES] == right
    options = {"keyword": ["sikhae"], "cuisine": cuisine, "max_results": ["", 10]}
    shipped = make_source(SUITE, subset="live_multiple").get(SIKHAE).reference
    for call, wanted in zip(RECIPES, right, strict=True):
        made = [(call.name, dict(call.arguments))]
        case = ("live_multiple", shipped.documents, made, [{RECIPE: options}])  # type: ignore[attr-defined]
        assert upstream(case) == ("accepts" if wanted else "rejects")


def test_without_a_file_the_answers_are_upstream_s_own_and_unchanged(correct: Correct) -> None:
    assert BFCL().tasks("default") == SUITE.tasks("default")
    corrected = {task.id: task for task in correct(of_recipe("replace", cuisine=["Indian"])).tasks("default")}
    for task in SUITE.tasks("default"):
        assert (corrected[task.id] is task) is (task.id != SIKHAE)


def test_a_right_value_outside_the_schema_is_not_kept_out_by_it(correct: Correct) -> None:
    for action in ("replace", "widen"):
        source = make_source(correct(of_recipe(action, cuisine=["Korean"])), subset="live_multiple")
        assert source.get(SIKHAE).flags == {"corrected", "reference_breaks_schema"}
    widened = make_source(correct(of_recipe("widen", cuisine=["Indian", ""])), subset="live_multiple")
    assert widened.get(SIKHAE).flags == {"corrected"}
    assert make_source(SUITE, subset="live_multiple").get(SIKHAE).flags == set()


def test_a_parameter_that_upstream_does_not_expect_may_still_be_left_out(correct: Correct) -> None:
    """For upstream, Adriel's contact takes no argument, not even the default of one, spelled out."""
    task_id, tool = "live_multiple_198-90-0", "adriel_contact"
    made = ({}, {"format": "json"}, {"format": "xml"})
    right = {
        action: [success(correct(one), task_id, ToolCall(tool, given)) for given in made]
        for action in ("widen", "replace")
        if (one := {task_id: entry(action, {"arguments": [{tool: {"format": ["json"]}}]})})
    }
    assert [success(SUITE, task_id, ToolCall(tool, given)) for given in made] == [True, False, False]
    assert right == {"widen": [True, True, False], "replace": [False, True, False]}


def test_each_of_several_calls_is_corrected_by_itself(correct: Correct) -> None:
    """parallel_0: Taylor Swift for 20 minutes and Maroon 5 for 15."""
    suite = correct({"parallel_0": entry("widen", {"arguments": [{}, {SPOTIFY: {"duration": [16]}}]})})
    swift, maroon = {"artist": "Taylor Swift", "duration": 20}, {"artist": "Maroon 5", "duration": 16}
    made = [ToolCall(SPOTIFY, maroon), ToolCall(SPOTIFY, swift)]
    assert success(suite, "parallel_0", *made) is True
    assert success(SUITE, "parallel_0", *made) is False
    wrong = [ToolCall(SPOTIFY, {**swift, "duration": 16}), ToolCall(SPOTIFY, maroon)]
    assert success(suite, "parallel_0", *wrong) is False


def test_a_whole_answer_is_replaced_and_what_was_never_right_is_then(correct: Correct) -> None:
    truth = {"_from": ["New York, NY"], "to": ["Los Angeles, CA"], "date_of_journey": ["2023-05-15"]}
    suite = correct({NEVER: entry("replace", {"calls": [{"Trains_1_FindTrains": truth}]})})
    call = ToolCall("Trains_1_FindTrains", {name: values[0] for name, values in truth.items()})
    assert (success(SUITE, NEVER, call), success(suite, NEVER, call)) == (False, True)
    assert "can_never_pass" in make_source(SUITE).get(NEVER).flags
    assert make_source(suite).get(NEVER).flags == {"corrected", "corrected_tools"}
    with pytest.raises(UsageError, match="corrected; before that: no successful trace"):
        make_source(suite, "infeasible", tasks=NEVER)


# ---- the other kinds ----


def test_a_multi_turn_answer_is_replaced_as_upstream_writes_it(correct: Correct) -> None:
    calls = [["cd(folder='document')", "mkdir('temp')"], ["cd('temp')"], ["ls()"], ["cd(folder='..')"]]
    suite = correct({SORTED: entry("replace", {"calls": calls})})
    source = make_source(suite, tasks=[SORTED])
    assert source.get(SORTED).reference.ground_truth[0] == (  # type: ignore[attr-defined]
        ToolCall("cd", {"folder": "document"}),
        ToolCall("mkdir", {"dir_name": "temp"}),
    )
    assert source.get(SORTED).flags == {"corrected", "corrected_tools"}
    found = summarise(validate_source(source, Oracle(), make_noop("", {})))
    assert (found.tasks, found.findings) == (1, ())


def test_any_task_can_be_left_out(correct: Correct) -> None:
    suite = correct({SORTED: entry("exclude"), SIKHAE: entry("exclude"), "irrelevance_0": entry("exclude")})
    assert len(suite.tasks("default")) == 1453 - 2
    assert len(suite.tasks("irrelevance")) == 240 - 1
    source = make_source(suite, "infeasible")
    assert len(source.task_ids) == 1451 - 2
    assert list(source.corrections["exclude"]) == [SORTED, SIKHAE]
    assert list(make_source(suite, subset="irrelevance").corrections["exclude"]) == ["irrelevance_0"]


def test_a_mask_stays_where_the_corrected_answer_uses_the_same_tools(correct: Correct) -> None:
    widened = correct(of_recipe("widen", cuisine=["Indian"]))
    assert make_source(widened, "infeasible").get(SIKHAE).mask == {RECIPE}
    searched = {"HNA_WQA.search": {"keyword": ["sikhae"]}}
    moved = correct({SIKHAE: entry("replace", {"calls": [searched]})})
    assert make_source(moved).get(SIKHAE).flags == {"corrected", "corrected_tools"}
    with pytest.raises(UsageError, match="corrected so that other tools are needed"):
        make_source(moved, "infeasible", tasks=SIKHAE)


@pytest.mark.parametrize(
    ("task_id", "one", "error", "problem"),
    [
        ("multiple_O", entry("exclude"), UnknownNameError, "did you mean 'multiple_"),
        (SIKHAE, entry("widen", {"cuisine": ["Korean"]}), UnknownNameError, "unknown form of gold 'cuisine'"),
        (SIKHAE, entry("widen", [{RECIPE: {}}]), DataCorruptError, 'expected {"calls": …} or'),
        (SIKHAE, entry("widen", {"arguments": {}}), DataCorruptError, "gold.arguments is {}, not a list"),
        (SIKHAE, entry("widen", {"arguments": []}), DataCorruptError, "give an entry for each"),
        (SIKHAE, entry("widen", {"arguments": ["x"]}), DataCorruptError, "'x' is no call"),
        (SIKHAE, entry("widen", {"arguments": [{RECIPE: []}]}), DataCorruptError, "is no call"),
        (
            SIKHAE,
            entry("widen", {"arguments": [{RECIPE: {"cuisine": "Korean"}}]}),
            DataCorruptError,
            "cuisine is 'Korean', not a list",
        ),
        (
            SIKHAE,
            entry("widen", {"arguments": [{RECIPE: {"cuisin": ["Korean"]}}]}),
            UnknownNameError,
            "did you mean 'cuisine'",
        ),
        (
            SIKHAE,
            entry("replace", {"arguments": [{"cookbook.search_recipes": {}}]}),
            UnknownNameError,
            f"did you mean '{RECIPE}'",
        ),
        (SIKHAE, entry("widen", {"calls": [{RECIPE: {}}]}), UsageError, "whole calls cannot be added"),
        (SIKHAE, entry("replace", {"calls": []}), DataCorruptError, "expected one call"),
        (SIKHAE, entry("replace", {"calls": [{RECIPE: {}}, {RECIPE: {}}]}), DataCorruptError, "expected one"),
        ("irrelevance_0", entry("replace", {"calls": []}), UsageError, "it can only be excluded"),
        (SORTED, entry("widen", {"calls": []}), UsageError, "replace or exclude it"),
        (SORTED, entry("replace", {"arguments": []}), UnknownNameError, "unknown form of gold"),
        (SORTED, entry("replace", {"calls": [["ls()"]]}), DataCorruptError, "each of the 4 user turns"),
        (SORTED, entry("replace", {"calls": ["ls()"] * 4}), DataCorruptError, "each of the 4 user turns"),
        (SORTED, entry("replace", {"calls": [["ls("], [], [], []]}), DataCorruptError, "not a call"),
        (SORTED, entry("replace", {"calls": [["lss()"], [], [], []]}), UnknownNameError, "did you mean 'ls'"),
    ],
)
def test_a_correction_that_does_not_fit_is_named(
    task_id: str,
    one: dict[str, Any],
    error: type[ToolEnvError],
    problem: str,
    correct: Correct,
    tmp_path: Path,
) -> None:
    with pytest.raises(error, match=re.escape(problem)) as raised:
        correct({task_id: one}).tasks(task_id.rpartition("_")[0])
    assert str(tmp_path / "fixes.json") in str(raised.value)
    assert task_id in str(raised.value)


# ---- runs ----


@pytest.fixture
def toolenv(
    tmp_path: Path, bfcl_package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Runs a command line in an empty folder; its exit status and all it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def command(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["toolenv", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out + printed.err  # type: ignore[return-value]

    return command


def test_field_094_runs_and_reports_name_the_data_and_the_corrections(
    tmp_path: Path, toolenv: Callable[..., tuple[int, str]]
) -> None:
    corrections = {
        "multiple_0": entry("widen", {"arguments": [{TRIANGLE: {"side1": [50]}}]}),
        "multiple_1": entry("exclude"),
    }
    path = write_corrections(tmp_path / "fixes.json", "BFCL", corrections)
    run = ("run", CLEAN, INFEASIBLE, "--agent", "never-stop", "--limit", 3, "--out", "kept")
    corrected = ("--suite-option", "corrections=fixes.json")
    code, shown = toolenv(*run, *corrected)
    assert code == 0

    data = envs_registry.data_store().source("bfcl").manifest_hash
    header = json.loads((tmp_path / "kept" / "run.json").read_text())
    origin = header["origins"][CLEAN]
    digest = SUITE.configured(path).corrections
    assert digest is not None
    assert origin["data"] == data
    assert origin["corrections"] == {
        "hash": digest.hash,
        "file": "fixes.json",
        "replace": [],
        "widen": ["multiple_0"],
        "exclude": {"multiple_1": f"{REASON} ({SOURCE})"},
    }
    assert digest.hash[:19] in shown

    code, printed = toolenv("report", "kept", "--json")
    (told,) = json.loads(printed)["runs"]
    for part in ("data", "corrections"):
        assert told["origins"][INFEASIBLE][part] == origin[part]
    code, printed = toolenv("report", "kept", "--html", "page.html")
    for text in (printed, shown):
        flat = " ".join(text.split())
        assert "1 task widened, 1 task left out (multiple_1: dish is Korean" in flat
        assert "1 task flagged corrected" in flat
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for part in (data, digest.hash, header["config_hash"], "fixes.json", "python", "Sample of final texts"):
        assert part in page

    # The same file with other content is another run.
    assert toolenv(*run, *corrected, "--resume")[0] == 0
    write_corrections(path, "BFCL", {"multiple_1": entry("exclude")})
    for command in ((*run, *corrected, "--resume"), ("rescore", "kept")):
        code, told = toolenv(*command)
        assert code == 2
        assert digest.hash in told
        assert "corrections" in told
    assert f"corrections of {CLEAN}" in toolenv(*run, "--resume")[1]


def test_corrections_are_a_keyword_of_make_and_a_setting_of_validate(
    correct: Correct, tmp_path: Path, toolenv: Callable[..., tuple[int, str]]
) -> None:
    write_corrections(tmp_path / "fixes.json", "BFCL", {"multiple_0": entry("exclude")})
    env = gymnasium.make(CLEAN, subset="multiple", corrections=tmp_path / "fixes.json")
    assert len(env.unwrapped.source.task_ids) == 199  # type: ignore[attr-defined]
    options = ("--subset", "multiple", "--suite-option", "corrections=fixes.json")
    code, told = toolenv("validate", CLEAN, "--tasks", "multiple_1,multiple_2", *options)
    assert (code, told.splitlines()[0]) == (0, f"{CLEAN}: 2 tasks, 0 findings")
    code, told = toolenv("validate", CLEAN, "--tasks", "multiple_0", *options)
    assert (code, told) == (
        2,
        f"toolenv: task 'multiple_0': left out by fixes.json: {REASON} ({SOURCE})\n",
    )
