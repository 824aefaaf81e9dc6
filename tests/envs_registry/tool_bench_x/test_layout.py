"""The layout: what is read where the paper is silent, and what is said of a tree that is wrong."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs_registry.tool_bench_x import tree
from envs_registry.tool_bench_x.hints import hint_text, hinted_tools
from envs_registry.tool_bench_x.layout import HAZARDS, Key, hazard_of, records_in, segment
from envs_registry.tool_bench_x.load import load
from envs_registry.tool_bench_x.tree import read_tree
from tests.support.tool_bench_x import write_tree
from toolenv.errors import DataCorruptError, DataMissingError

FILE = Path("tasks/sequential/travel/fares.json")
NESTED = functools.reduce(lambda inner, _: {"x": inner}, range(100), 1)
RECORD = {"id": "task_1", "user_prompt": "q", "tools_used": ["a"], "final_answer": "124"}


def records(payload: Any) -> list[Any]:
    from pathlib import PurePosixPath

    return records_in(payload, PurePosixPath(FILE), FILE)


@pytest.mark.parametrize("payload", [{"tasks": [RECORD]}, [RECORD], RECORD, {"tasks": RECORD}])
def test_records_come_in_four_wrappings(payload: Any) -> None:
    (record,) = records(payload)
    assert record.key == Key("sequential", "travel", "fares", "task_1")
    assert (record.prompt, record.tools, record.answer) == ("q", ("a",), "124")


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"tools_used": [{"tool_name": "a", "type": "parallel"}, "b"]}, "tools", ("a", "b")),
        ({"tools_used": ["a", "a"]}, "tools", ("a",)),
        ({"expected_answer": "7", "final_answer": "8"}, "answer", "7"),
        ({"expected_answer": "", "final_answer": " 8 "}, "answer", "8"),
        ({"final_answer": 61}, "answer", "61"),
        ({"id": 3}, "key", Key("sequential", "travel", "fares", "3")),
        ({"id": "Task 1: two"}, "key", Key("sequential", "travel", "fares", "Task_1_two")),
        ({"note": "more"}, "prompt", "q"),
    ],
)
def test_what_is_tolerated(change: dict[str, Any], field: str, value: Any) -> None:
    (record,) = records([{**RECORD, **change}])
    assert getattr(record, field) == value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"user_prompt": None}, "'user_prompt' is missing"),
        ({"user_prompt": 5}, "'user_prompt' is 5, expected str"),
        ({"final_answer": None}, "'expected_answer' or 'final_answer' is missing"),
        ({"final_answer": True}, "'final_answer' is True"),
        ({"final_answer": ["a"]}, "expected str or int or float"),
        ({"final_answer": float("nan")}, "'final_answer': nan is no JSON number"),
        ({"final_answer": float("inf")}, "'final_answer': inf is no JSON number"),
        ({"final_answer": 10**2000}, "'final_answer': an integer of more than 4096 bits"),
        (
            {"user_prompt": "x" * 10_000_000},
            r"'user_prompt': longer than 1000000 characters in all \(10,000,000 characters\)",
        ),
        ({"tools_used": ["a", "a" * 2_000_000]}, "'tools_used': longer than 1000000 characters in all"),
        ({"id": "x" * 201}, "'id' has 201 characters, expected 1 to 200"),
        ({"id": "  "}, "'id' has 0 characters"),
        ({"distractors": ["b", "a"]}, "'distractors' has 'a', which 'tools_used' has too"),
        ({"distractors": [3]}, r"distractors\[0\] is 3, expected a tool's name"),
        ({"distractors": "b"}, "'distractors' is 'b', expected a list"),
        (
            {"reference_calls": [{"tool": "aa"}]},
            r"unknown tool 'aa' in reference_calls\[0\]; did you mean 'a'",
        ),
        (
            {"reference_calls": [{"tool": "a", "arguments": NESTED}]},
            "'reference_calls': nested more than 64 le",
        ),
        (
            {"reference_calls": [{"tool": "a", "arguments": {"x": float("nan")}}]},
            "'reference_calls': nan is no",
        ),
        (
            {"recovery_calls": {"output-drift": [{"tool": "b"}]}},
            r"unknown tool 'b' in recovery_calls\['output-",
        ),
        ({"recovery_calls": []}, r"'recovery_calls' is \[\], expected an object"),
        ({"tools_used": "a"}, "'tools_used' is 'a', expected a list"),
        ({"tools_used": []}, "'tools_used' is missing or empty"),
        ({"tools_used": ["a", {"name": "b"}]}, r"tools_used\[1\] is"),
        ({"id": None}, "'id' is missing"),
        ({"reference_calls": [{"tool": "a", "arguments": []}]}, r"reference_calls\[0\] is"),
        (
            {"recovery_calls": {"drift": []}},
            "unknown hazard 'drift' in 'recovery_calls'; did you mean 'output-drift'",
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_record_and_field(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DataCorruptError, match=rf"fares\.json, record 2.*{said}"):
        records([RECORD, {**RECORD, "id": "task_2", **change}])


def test_a_record_reads_back() -> None:
    (record,) = records([{**RECORD, "distractors": ["b"], "reference_calls": [{"tool": "a", "arguments": {"x":
    1}}],
                          "recovery_calls": {"output-drift": [{"tool": "a", "arguments": {}}]}}])  # fmt: skip
    assert records([record.to_json()])[0] == record


@pytest.mark.parametrize(
    ("name", "hazard"),
    [
        *((folder, hazard) for hazard, folder in HAZARDS.items()),
        ("Cross-Source Uncertainty", "cross-source-conflict"),
        ("cross_source_uncertainty", "cross-source-conflict"),
        ("Specification Drift", "specification-drift"),
        ("execution-failure", "execution-failure"),
        ("Weather", ""),
        ("", ""),
    ],
)
def test_a_category_has_several_spellings(name: str, hazard: str) -> None:
    assert hazard_of(name) == hazard


def test_names_as_files_have_them() -> None:
    """By hand, from the names of upstream's topics: signs go, spaces become underscores."""
    assert segment("Battery, charging, and power problems") == "Battery_charging_and_power_problems"
    assert segment("../..") == "unknown"


# ---- trees -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="is no ToolBench-X tree"):
        read_tree(tmp_path)


Spoil = Callable[[Path], None]


def write(path: str, text: str) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    return spoil


CATALOGUE = "tools_exception/exception_hints_catalog.json"


def hints(**fields: Any) -> str:
    return json.dumps({"find_fare::x": fields})


def in_a_circle(folder: Path) -> None:
    path = folder / "tasks/sequential/office/printing.json"
    path.unlink()
    path.symlink_to(path)


def not_utf_8(path: str) -> Spoil:
    return lambda folder: (folder / path).write_bytes(b'"\xff"') and None


def twice(folder: Path) -> None:
    path = folder / "tasks/sequential/office/printing.json"
    path.write_text(json.dumps(json.loads(path.read_text()) * 2))


def uncategorised(folder: Path) -> None:
    path = folder / "tools_exception/sequential/Execution_Uncertainty/office/printing/task_1.py"
    target = folder / "tools_exception/sequential/office/printing/task_1.py"
    target.parent.mkdir(parents=True)
    path.rename(target)


PRINTING = "tools/sequential/office/printing/task_1.py"
PERTURBED = "tools_exception/sequential"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (write("tasks/sequential/travel.json", "[]"), r"travel\.json: a task file stands"),
        (write("tasks/circular/a/b.json", "[]"), r"b\.json: a task file stands"),
        (write("tasks/sequential/a/b.json", "{"), r"b\.json, line 1 is not JSON"),
        (write("tasks/sequential/a/b.json", '"x"'), "'tasks' is 'x', expected a list"),
        (write(f"{PERTURBED}/a.py", ""), "perturbed tools stand at"),
        (write(f"{PERTURBED}/Weather/travel/fares/task_1.py", ""), "'Weather' names none of the five"),
        (write("tools_exception/exception_hints_catalog.json", "[]"), "holds a list, expected an object"),
        (write(f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.hints.json", '{"a": 1}'), "'a' is 1"),
        (
            write(
                f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.hints.json",
                hints(minimal_prompt_hint=[1]),
            ),
            r"task_2\.hints\.json: 'find_fare::x': 'minimal_prompt_hint' is \[1\], expected a string",
        ),
        (
            write(f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.hints.json", hints(note=float("nan"))),
            r"task_2\.hints\.json: 'find_fare::x': 'note': nan is no JSON number",
        ),
        (
            write(CATALOGUE, '{"sequential/travel/fares/task_1": {"find_fare::x": 1}}'),
            r"exception_hints_catalog\.json, 'sequential/travel/fares/task_1': 'find_fare::x' is 1, expec",
        ),
        (
            write(f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.py", "def find_fare(:"),
            r"Output_Uncertainty/travel/fares/task_2\.py: SyntaxError",
        ),
        (
            write(f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.py", "#" * 400_001),
            r"Output_Uncertainty/travel/fares/task_2\.py: longer than 400000 characters",
        ),
        (
            write(PRINTING, f"def toner_level(printer: {'list[' * 90}int{']' * 90}): pass"),
            r"task_1\.py: the result is unusable: nested more than 64 levels deep",
        ),
        (in_a_circle, r"printing\.json cannot be read"),
        (not_utf_8("tasks/sequential/office/printing.json"), r"printing\.json, line 1 is not UTF-8"),
        (not_utf_8(PRINTING), r"task_1\.py cannot be read: 'utf-8' codec can't decode"),
        (
            not_utf_8(f"{PERTURBED}/Output_Uncertainty/travel/fares/task_2.py"),
            r"task_2\.py cannot be read: 'utf",
        ),
        (twice, r"record 2 \('task_1'\): the same task as .*record 1"),
        (uncategorised, "names none of the five"),
        (write(PRINTING, "def other(): pass"), "has no function 'toner_level', only other"),
        (write(PRINTING, "def toner_level(:"), "SyntaxError"),
        (write(PRINTING, "x = " + "(" * 5000), r"task_1\.py: (SyntaxError|MemoryError|reading it)"),
    ],
)
def test_a_spoilt_tree_is_refused_with_the_place(tmp_path: Path, spoil: Spoil, said: str) -> None:
    folder = write_tree(tmp_path)
    spoil(folder)
    with pytest.raises(DataCorruptError, match=said):
        load(folder)


OUTSIDE: dict[str, Callable[[Path, Path], Any]] = {
    "a link to a file": lambda path, elsewhere: path.symlink_to(elsewhere),
    "a link to nothing": lambda path, _: path.symlink_to("/nonexistent/x"),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "a pipe": lambda path, _: os.mkfifo(path),
    "a folder": lambda path, _: path.mkdir(),
}


@pytest.mark.parametrize("kind", OUTSIDE)
@pytest.mark.parametrize("name", [PRINTING, "tasks/sequential/office/printing.json", CATALOGUE])
def test_nothing_but_files_of_the_tree_is_read(tmp_path: Path, kind: str, name: str) -> None:
    """Of a tree that somebody brought: links to one's own files, and what never ends or never comes."""
    folder = write_tree(tmp_path / "tree")
    elsewhere = tmp_path / "secret.json"
    elsewhere.write_text("{}")
    (folder / name).unlink(missing_ok=True)
    OUTSIDE[kind](folder / name, elsewhere)
    said = f"{Path(name).name} (is a link out of|cannot be read: it is no)"
    with pytest.raises(DataCorruptError, match=said):
        load(folder)


def test_a_file_too_large_to_be_read_is_named_with_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_tree(tmp_path)
    monkeypatch.setattr(tree, "LARGEST_FILE", 5000)
    (folder / PRINTING).write_text("#" * 5001)
    with pytest.raises(DataCorruptError, match=r"task_1\.py has 5,001 bytes, at most 5,000 are read"):
        load(folder)


def test_text_that_no_file_can_hold_is_mended(tmp_path: Path) -> None:
    """FIELD-079: a lone surrogate."""
    folder = write_tree(tmp_path)
    path = folder / "tasks/sequential/office/printing.json"
    (record,) = json.loads(path.read_text())
    path.write_text(json.dumps([{**record, "expected_answer": "\udfff", "user_prompt": "a\ud800"}]))
    (folder / CATALOGUE).write_text(
        json.dumps({"sequential/office/printing/task_1": {"x": {"note": "\ud800"}}})
    )
    task = next(one for one in load(folder).tasks if "printing" in one.id)
    assert task.messages[0].content == "a\ufffd"


def test_a_tree_behind_a_link_and_links_within_it_are_read(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "tree")
    (folder / PRINTING).rename(folder / "printing.py")
    (folder / PRINTING).symlink_to(folder / "printing.py")
    (tmp_path / "link").symlink_to(folder)
    assert load(tmp_path / "link").data == load(folder).data


def test_a_byte_order_mark_is_no_part_of_a_module(tmp_path: Path) -> None:
    """As Python itself reads files, and some editors write them."""
    folder = write_tree(tmp_path)
    before = load(folder).data
    (folder / PRINTING).write_bytes(b"\xef\xbb\xbf" + (folder / PRINTING).read_bytes())
    assert load(folder).data == before


def test_without_a_category_folder_the_hints_name_it(tmp_path: Path) -> None:
    folder = write_tree(tmp_path)
    uncategorised(folder)
    hints = {
        "toner_level::x": {"exception_category": "Execution Uncertainty", "minimal_prompt_hint": "again"}
    }
    (folder / "tools_exception/sequential/office/printing/task_1.hints.json").write_text(json.dumps(hints))
    found = load(folder).proved["sequential/office/printing/task_1"]["execution-failure"]
    assert found.instance.parameters["hint"] == "again"


def test_the_catalogue_has_hints_too(tmp_path: Path) -> None:
    folder = write_tree(tmp_path)
    hints = {
        "sequential/office/printing/task_1": {"toner_level::x": {"minimal_prompt_hint": "from the catalogue"}}
    }
    (folder / "tools_exception/exception_hints_catalog.json").write_text(json.dumps(hints))
    found = load(folder).proved["sequential/office/printing/task_1"]["execution-failure"]
    assert found.instance.parameters["hint"] == "from the catalogue"


def test_tasks_without_tools_are_left_out_and_said(tmp_path: Path) -> None:
    folder = write_tree(tmp_path)
    (folder / "tools/sequential/office/printing/task_1.py").unlink()
    loaded = load(folder)
    assert loaded.left_out == {"sequential/office/printing/task_1": "it has no clean tools"}
    assert len(loaded.tasks) == 5
    for path in folder.glob("tools/**/*.py"):
        path.unlink()
    with pytest.raises(DataMissingError, match="none of 6 tasks has clean tools"):
        load(folder)


def test_the_data_hash_names_the_content(tmp_path: Path) -> None:
    one, other = write_tree(tmp_path / "a"), write_tree(tmp_path / "b")
    assert load(one).data == load(other).data
    path = other / "tools/sequential/office/printing/task_1.py"
    path.write_text(path.read_text() + "\n")
    assert load(one).data != load(other).data


# ---- hints -------------------------------------------------------------------------------------------------


def test_hints_are_the_brief_ones_each_once() -> None:
    hints = {
        "a::x": {"minimal_prompt_hint": "Retry  it.", "detailed_prompt_hint": "long"},
        "a::y": {"minimal_prompt_hint": "Retry it."},
        "b::x": {"minimal_prompt_hint": "Check b."},
    }
    assert hint_text(hints) == "Retry it. Check b."
    assert hint_text({"a": {"detailed_prompt_hint": "long"}}) == "long"
    assert hint_text(None) == hint_text({}) == ""
    assert hinted_tools(hints, ("c", "b", "a")) == ("b", "a")
    assert hinted_tools(None, ("c", "b")) == ("c", "b")
