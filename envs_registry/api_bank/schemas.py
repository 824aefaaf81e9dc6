"""The APIs as upstream's classes document them: read, checked, and made into tools."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from envs_registry.api_bank.registry import Folder, apis
from envs_registry.api_bank.tool_search import Document
from toolenv.data import read_json
from toolenv.errors import DataCorruptError
from toolenv.schema import to_json_schema
from toolenv.types import ToolSpec

FILES: Final[Mapping[Folder, str]] = {
    "apis": "derived/apis_schema.json",
    "lv3_apis": "derived/lv3_apis_schema.json",
}

_TYPES: Final[Mapping[str, dict[str, Any]]] = {"list(str)": {"type": "list", "items": {"type": "str"}}}
_SIGNATURE = re.compile(r"(\w+)\s*:")


def load_documents(data: Path, folder: Folder) -> dict[str, Document]:
    """The documents of a folder's APIs, by name.

    Raises:
        DataMissingError: the file is absent.
        DataCorruptError: documents and implementations are not of the same APIs; both lists are named.
    """
    path = data / FILES[folder]
    listed = read_json(path, "api-bank")
    documents = {document["name"]: document for document in listed}
    unknown, absent = sorted(documents.keys() - apis(folder)), sorted(apis(folder).keys() - documents.keys())
    if unknown or absent:
        raise DataCorruptError(f"{path}: no implementation of {unknown}, no document of {absent}")
    return documents


def required(document: Document) -> list[str]:
    """The parameters a call must have: those of upstream's method without a default."""
    return [name for name in document["call_args"] if name not in document["optional_args"]]


def tool_spec(document: Document) -> ToolSpec:
    """A document as a tool. What it returns stands in the description, for want of another place."""
    properties = {
        name: {**about, **_TYPES.get(about["type"], {})}
        for name, about in document["input_parameters"].items()
    }
    schema, _ = to_json_schema(
        {"type": "object", "properties": properties, "required": required(document)}, where=document["name"]
    )
    returns = "; ".join(
        f"{name} ({about['type']}): {about['description']}"
        for name, about in document["output_parameters"].items()
    )
    description = f"{document['description']} Returns: {returns}"
    return ToolSpec(document["name"], description, schema, wire_name=document["name"])


def csv_differences(data: Path) -> dict[str, str]:
    """Where ``all_apis.csv`` and the classes disagree on an API's parameters, by API (FIELD-098).

    The classes are right: they are what upstream runs.
    """
    documents = load_documents(data, "apis")
    with (data / "data/all_apis.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["类名"]: _SIGNATURE.findall(row["input_parameters"]) for row in csv.DictReader(file)}
    differences = (
        (name, _difference(name, documents, rows)) for name in sorted(documents.keys() | rows.keys())
    )
    return {name: line for name, line in differences if line}


def _difference(name: str, documents: Mapping[str, Document], rows: Mapping[str, list[str]]) -> str:
    if name not in documents:
        return f"{name} stands in the CSV alone"
    if name not in rows:
        return f"{name} stands in the code alone"
    coded = list(documents[name]["input_parameters"])
    return "" if rows[name] == coded else f"{name} takes {rows[name]} by the CSV, {coded} by the code"
