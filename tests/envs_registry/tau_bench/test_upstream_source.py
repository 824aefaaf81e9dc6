"""Upstream's Python sources read as data. The trees, in the form of TOOLS.md, section 8, are written here."""

from __future__ import annotations

import json
import pprint
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.tau_bench.splits import SPLITS, Split
from envs_registry.tau_bench.upstream_source import MAX_BYTES, read_tasks, read_tools
from toolenv.data import DataStore
from toolenv.errors import DataCorruptError

SPLIT = Split("retail", "test", 1, "TASKS_TEST")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def literal(value: object) -> str:
    return pprint.pformat(value, width=60, sort_dicts=False)


def task_source(task: Mapping[str, Any]) -> str:
    actions = ",\n".join(
        f"            Action(name={action['name']!r}, kwargs={literal(action['kwargs'])})"
        for action in task["actions"]
    )
    return (
        f"    Task(\n        annotator='0',\n        user_id={task['user_id']!r},\n"
        f"        instruction={task['instruction']!r},\n        actions=[\n{actions}\n        ],\n"
        f"        outputs={task['outputs']!r},\n    )"
    )


def tasks_module(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    body = ",\n".join(map(task_source, tasks))
    return f"from tau_bench.types import Task, Action\n\n{name} = [\n{body},\n]\n"


def class_name(tool: str) -> str:
    return "".join(part.capitalize() for part in tool.split("_"))


def tool_module(schema: Mapping[str, Any]) -> str:
    function = schema["function"]
    parameters = "".join(f", {name}: str" for name in function["parameters"]["required"])
    return f"""import json
from typing import Any, Dict
from tau_bench.envs.tool import Tool


class {class_name(function["name"])}(Tool):
    @staticmethod
    def invoke(data: Dict[str, Any]{parameters}) -> str:
        raise SystemExit("nothing of the data set is run")

    @staticmethod
    def get_info() -> Dict[str, Any]:
        return {literal(schema)}
"""


def tools_index(tools: Sequence[str]) -> str:
    imports = "".join(f"from .{tool} import {class_name(tool)}\n" for tool in tools)
    return f"{imports}\n\nALL_TOOLS = [{', '.join(map(class_name, tools))}]\n"


TASK = {
    "user_id": "a_b_1",
    "instruction": 'You said "no", didn\'t you? Ünïcode.',
    "actions": [
        {"name": "think", "kwargs": {"thought": "t"}},
        {"name": "book_reservation", "kwargs": {"flights": [{"n": 1, "x": -2.5, "y": None, "z": True}]}},
    ],
    "outputs": ["10"],
}
SCHEMA = {
    "type": "function",
    "function": {
        "name": "get_order_details",
        "description": "one two",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "enum": ["a", "b"]}},
            "required": ["order_id"],
        },
    },
}


def test_tasks(tmp_path: Path) -> None:
    path = write(tmp_path / "tasks_test.py", tasks_module("TASKS_TEST", [TASK]))
    (read,) = read_tasks(path, SPLIT)
    assert read == {
        "task_id": "retail_test_0", "task_index": 0, "env": "retail", "split": "test", **TASK,
    }  # fmt: skip
    assert list(read) == [
        "task_id", "task_index", "env", "split", "user_id", "actions", "instruction", "outputs",
    ]  # fmt: skip


def test_tools_come_in_the_order_of_all_tools(tmp_path: Path) -> None:
    """Adjacent literals in parentheses are joined; a module that ALL_TOOLS does not name is not read."""
    names = ["get_order_details", "calculate"]
    write(tmp_path / "__init__.py", tools_index(names))
    for name in names:
        text = tool_module({**SCHEMA, "function": {**SCHEMA["function"], "name": name}})  # type: ignore[dict-item]
        write(tmp_path / f"{name}.py", text.replace("'one two'", "(\n'one '\n'two')"))
    write(tmp_path / "unused.py", "raise SystemExit")
    read = read_tools(tmp_path)
    assert [schema["function"]["name"] for schema in read] == names
    assert read[0] == SCHEMA


def hostile(tasks: str) -> str:
    return f"from tau_bench.types import Task, Action\nTASKS_TEST = [{tasks}]\n"


FIELDS = "annotator='0', user_id='u', instruction='i'"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (hostile("__import__('os').system('touch ran')"), "line 2: expected Task"),
        (hostile(f"Task({FIELDS}, actions=[], outputs=[open('ran', 'w').name])"), "expected a literal"),
        (hostile(f"Task({FIELDS}, actions=[Action(name='n', kwargs=dict(a=1))], outputs=[])"), "a literal"),
        (hostile(f"Task({FIELDS}, actions=make(), outputs=[])"), "a list of actions"),
        (hostile(f"Task({FIELDS}, actions=[], outputs=[], **more)"), "expected Task"),
        (hostile("Task('0', 'u', 'i', [], [])"), "expected Task"),
        (hostile(f"Task({FIELDS}, actions=[{{'name': 'n'}}], outputs=[])"), "expected Action"),
        (hostile(f"Task({FIELDS}, actions=[], outputs=[f'{{open}}'])"), "expected a literal"),
        (hostile("[" * 500 + "]" * 500), "no Python source|expected Task"),
        ("TASKS_TEST = make()\n", r"TASKS_TEST = \[ … \]"),
        ("TASKS_TRAIN = []\n", r"TASKS_TEST = \[ … \]"),
        ("TASKS_TEST = [\n", "no Python source"),
        ("TASKS_TEST = ['\0']", "no Python source"),
        ("#" * (MAX_BYTES + 1), "bytes, more than"),
    ],
)
def test_any_other_form_is_refused_and_nothing_runs(
    source: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "tasks_test.py", source)
    with pytest.raises(DataCorruptError, match=problem):
        read_tasks(path, SPLIT)
    assert [item.name for item in tmp_path.iterdir()] == ["tasks_test.py"]


@pytest.mark.parametrize(
    ("index", "module", "problem"),
    [
        ("from os import system\nALL_TOOLS = [system]\n", "", "a class imported from a module beside it"),
        ("from .a.b import A\nALL_TOOLS = [A]\n", "", "a class imported from a module beside it"),
        ("from .a import A\nALL_TOOLS = [A()]\n", "", "a class imported from a module beside it"),
        ("from .b import A\nALL_TOOLS = [A]\n", "", "cannot be read"),
        ("from .a import A\nALL_TOOLS = [A]\n", "A = 1\n", "class A with get_info"),
        (
            "from .a import A\nALL_TOOLS = [A]\n",
            "class A:\n    def get_info():\n        return make()\n",
            "line 3: expected a literal",
        ),
    ],
)
def test_tools_of_another_form_are_refused(index: str, module: str, problem: str, tmp_path: Path) -> None:
    write(tmp_path / "__init__.py", index)
    write(tmp_path / "a.py", module)
    with pytest.raises(DataCorruptError, match=problem):
        read_tools(tmp_path)


@pytest.fixture(scope="module")
def upstream_tree(shared_datasets: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole data set in upstream's layout: tasks and schemas written back into Python sources."""
    local, tree = shared_datasets / "tau-bench", tmp_path_factory.mktemp("upstream")
    for path in DataStore(envs_registry.DATA_FOLDER).source("tau-bench").parts["data"].files:
        write(tree / path, (local / path).read_text(encoding="utf-8"))
    for split in SPLITS.values():
        tasks = json.loads((local / split.file).read_text(encoding="utf-8"))
        write(tree / split.upstream_file, tasks_module(split.upstream_list, tasks))
    for domain in ("retail", "airline"):
        tools = json.loads((local / f"derived/{domain}_tools.json").read_text(encoding="utf-8"))
        folder = tree / "tau_bench" / "envs" / domain / "tools"
        write(folder / "__init__.py", tools_index([tool["function"]["name"] for tool in tools]))
        for tool in tools:
            write(folder / f"{tool['function']['name']}.py", tool_module(tool))
    return tree


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path))


@pytest.mark.usefixtures("empty_cache")
def test_a_pull_from_upstreams_layout_makes_the_pinned_files(upstream_tree: Path) -> None:
    """Byte for byte: ``pull`` and ``verify`` check every hash."""
    cache = envs_registry.data_store()
    status = cache.pull("tau-bench", upstream_tree)
    assert (status.state, status.layout) == ("whole", "upstream")
    assert cache.verify("tau-bench") == []
    assert "tau_bench" not in sys.modules


@pytest.mark.usefixtures("empty_cache")
def test_a_changed_source_is_not_the_pinned_version(
    upstream_tree: Path, changed: Callable[[Path], None]
) -> None:
    changed(upstream_tree / "tau_bench/envs/retail/tasks_dev.py")
    cache = envs_registry.data_store()
    with pytest.raises(DataCorruptError, match=r"retail_tasks_dev\.json: expected sha256"):
        cache.pull("tau-bench", upstream_tree)


@pytest.fixture
def changed(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Changes a word of a file, and puts it back after the test."""

    def change(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        request.addfinalizer(lambda: write(path, text))
        write(path, text.replace("You are", "You were", 1))

    return change
