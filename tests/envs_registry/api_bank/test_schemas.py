"""Schemas: from upstream's classes, read as data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.api_bank.derive import derive
from envs_registry.api_bank.dialogues import load_dialogues
from envs_registry.api_bank.registry import Folder
from envs_registry.api_bank.schemas import FILES, csv_differences, load_documents
from envs_registry.api_bank.tasks import specs
from toolenv.data import DataStore
from toolenv.errors import DataCorruptError


def test_tools_say_what_upstreams_classes_say(data: Path) -> None:
    alarm = specs(data, "apis")["AddAlarm"]
    assert alarm.parameters == {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "User's token."},
            "time": {"type": "string", "description": "The time for alarm. Format: %Y-%m-%d %H:%M:%S"},
        },
        "required": ["token", "time"],
    }
    assert alarm.description.endswith("Returns: status (str): success or failed")
    attendees = specs(data, "apis")["AddMeeting"].parameters["properties"]["attendees"]
    assert (attendees["type"], attendees["items"]) == ("array", {"type": "string"})
    hotel = specs(data, "apis")["BookHotel"].parameters["properties"]
    assert hotel["room_count"]["type"] == "integer"


def test_optional_parameters_are_those_with_a_default(data: Path) -> None:
    """APIS.md 1."""
    optional = {
        tool.name: sorted(set(tool.parameters["properties"]) - set(tool.parameters["required"]))
        for tool in specs(data, "apis").values()
    }
    assert {name: found for name, found in optional.items() if found} == {
        "ForgotPassword": ["email", "new_password", "username", "verification_code"],
        "ModifyRegistration": ["new_appointment_date", "new_appointment_doctor"],
        "RecordHealthData": ["health_data"],
        "Translate": ["src_lang", "tgt_lang"],
    }


def test_the_code_wins_over_the_csv(data: Path) -> None:
    """FIELD-098: schemas come from the classes; differences are listed."""
    differences = csv_differences(data)
    assert (
        differences["QueryBalance"]
        == "QueryBalance takes ['token', 'account'] by the CSV, ['token'] by the code"
    )
    assert differences["Transfer"] == "Transfer stands in the CSV alone"
    assert differences["CheckToken"] == "CheckToken stands in the code alone"
    assert "GetUserToken" not in differences
    assert list(specs(data, "apis")["QueryBalance"].parameters["properties"]) == ["token"]


def test_documents_and_implementations_must_be_of_the_same_apis(data: Path, tmp_path: Path) -> None:
    """FIELD-064: both lists are named, and nothing is joined by position."""
    documents = json.loads((data / FILES["apis"]).read_text(encoding="utf-8"))
    documents[0]["name"] = "Add_Agenda"
    (tmp_path / "derived").mkdir()
    (tmp_path / FILES["apis"]).write_text(json.dumps(documents), encoding="utf-8")
    with pytest.raises(DataCorruptError, match=r"\['Add_Agenda'\].*\['AddAgenda'\]"):
        load_documents(tmp_path, "apis")


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ({"api_name": "Add_Alarm", "param_dict": {}}, "'Add_Alarm', which is not documented"),
        ({"api_name": "AddAlarm", "param_dict": {"timer": "x"}}, "AddAlarm with \\['timer'\\]"),
    ],
)
def test_recorded_calls_must_be_documented(
    data: Path, tmp_path: Path, call: Mapping[str, Any], problem: str
) -> None:
    """FIELD-064 and FIELD-098: an unknown API or parameter is reported, with the dialogue."""
    folder = tmp_path / "lv1-lv2-samples/level-1-given-desc"
    folder.mkdir(parents=True)
    result = {"api_name": call["api_name"], "input": call["param_dict"], "output": "x", "exception": None}
    turns = [{"role": "User", "text": "x"}, {"role": "API", **call, "result": result}]
    (folder / "odd-1.jsonl").write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    with pytest.raises(DataCorruptError, match=f"odd-1.*{problem}"):
        load_dialogues(tmp_path, 1, load_documents(data, "apis"))


# ---- upstream's own form ----


def as_source(document: Mapping[str, Any]) -> str:
    """A class in the form of APIS.md 1 that a document could have been read from."""
    optional = document["optional_args"]
    arguments = [name if name not in optional else f"{name}=None" for name in document["call_args"]]
    keys = ["description", "input_parameters", "output_parameters"]
    keys += ["database_name"] if "database_name" in document else []
    lines = [
        "from apis.api import API",
        "raise SystemExit('this must never run')",
        f"class {document['name']}(API):",
        "    'a stray text'",
        *(f"    {key} = {document[key]!r}" for key in keys),
        "    def __init__(self, init_database=None, token_checker=None):",
        "        self.database = init_database",
        f"    def call(self, {', '.join([*arguments, '**kwargs'])}) -> dict:",
        "        return {}",
        "    def check_api_call_correctness(self, response, groundtruth) -> bool:",
        "        return True",
    ]
    return "\n".join(lines)


@pytest.fixture
def upstream(data: Path, shared_datasets: Path, tmp_path: Path) -> Path:
    """A copy in upstream's layout: the API classes as source instead of the schemas."""
    copy = tmp_path / "api-bank"
    shutil.copytree(shared_datasets / "api-bank", copy, ignore=shutil.ignore_patterns("derived"))
    for folder, file in FILES.items():
        (copy / folder).mkdir()
        (copy / folder / "__init__.py").write_text("from .api import API", encoding="utf-8")
        (copy / folder / "api.py").write_text("class API:\n    pass\n", encoding="utf-8")
        for document in json.loads((data / file).read_text(encoding="utf-8")):
            place = copy / folder / f"{document['module']}.py"
            place.write_text(as_source(document), encoding="utf-8")
    return copy


def test_sources_become_the_shipped_schemas_byte_for_byte(data: Path, upstream: Path, tmp_path: Path) -> None:
    derive(upstream, tmp_path / "target")
    for file in FILES.values():
        assert (tmp_path / "target" / file).read_bytes() == (data / file).read_bytes()


def test_a_copy_in_upstreams_layout_can_be_pulled(upstream: Path, tmp_path: Path) -> None:
    known = envs_registry.data_store()
    store = DataStore(envs_registry.DATA_FOLDER, tmp_path / "cache", derivations=known._derivations)
    assert store.pull("api-bank", upstream).state == "whole"


GOOD = {
    "description": "'x' 'y'",
    "input_parameters": "{'a': {'type': 'str', 'description': ''}}",
    "output_parameters": "{}",
}


def written(folder: Path, attributes: Mapping[str, str], call: str = "def call(self, a): ...") -> Path:
    (folder / "apis").mkdir()
    body = "\n".join(f"    {name} = {value}" for name, value in attributes.items())
    (folder / "apis/one.py").write_text(f"class One(API):\n{body}\n    {call}\n", encoding="utf-8")
    return folder


def derived(folder: Path) -> Any:
    derive(folder, folder)
    files: dict[Folder, str] = dict(FILES)
    return json.loads((folder / files["apis"]).read_text(encoding="utf-8"))


def test_a_small_source(tmp_path: Path) -> None:
    found = derived(written(tmp_path, GOOD, "def call(self, a, b=None, *, c=1, **more): ..."))
    assert found == [
        {
            "name": "One",
            "module": "one",
            "description": "xy",
            "input_parameters": {"a": {"type": "str", "description": ""}},
            "output_parameters": {},
            "call_args": ["a", "b"],
            "optional_args": ["b"],
        }
    ]


@pytest.mark.parametrize(
    ("attributes", "call", "problem"),
    [
        (GOOD | {"description": "open('x').read()"}, "def call(self): ...", "description is no literal"),
        (GOOD | {"input_parameters": "dict(a=1)"}, "def call(self): ...", "input_parameters is no literal"),
        ({"description": "'x'"}, "def call(self): ...", "has no input_parameters, output_parameters"),
        (GOOD, "pass", "has 0 methods named call"),
        (GOOD, "def call(self: ...", "is no Python source"),
    ],
)
def test_other_forms_are_refused(
    tmp_path: Path, attributes: Mapping[str, str], call: str, problem: str
) -> None:
    with pytest.raises(DataCorruptError, match=rf"one\.py.*{problem}"):
        derived(written(tmp_path, attributes, call))
