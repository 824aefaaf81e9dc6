"""The four real data sets, from the local copies and, for BFCL, from the package index."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolenv.data.toy import write_tree
from toolenv.data import DataStore
from toolenv.errors import DataMissingError

DEFINITIONS = Path(__file__).parents[3] / "envs_registry" / "data"


@pytest.mark.parametrize("key", ["tau-bench", "api-bank", "stabletoolbench"])
def test_a_local_copy_is_whole(key: str, shared_datasets: Path, tmp_path: Path) -> None:
    store = DataStore(DEFINITIONS, tmp_path)
    assert store.pull(key, shared_datasets / key).state == "whole"
    assert store.verify(key) == []


def test_bfcl_without_code_serves_single_turn_tasks(shared_datasets: Path, tmp_path: Path) -> None:
    store = DataStore(DEFINITIONS, tmp_path)
    assert store.pull("bfcl", shared_datasets / "bfcl").missing_parts == ("code",)
    lines = (store.require("bfcl") / "bfcl_eval/data/BFCL_v4_live_multiple.json").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) == 1053  # NOTES.md
    with pytest.raises(DataMissingError, match="multi-turn categories"):
        store.require("bfcl", "code")


def test_bfcl_from_the_package_index(tmp_path: Path) -> None:
    """The one test that asks the index: the pinned wheel is still there, and its backend classes import."""
    store = DataStore(DEFINITIONS, tmp_path)
    assert store.pull("bfcl").state == "whole"
    assert store.verify("bfcl") == []
    backend = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code.gorilla_file_system"
    code = f"from {backend} import GorillaFileSystem; print(GorillaFileSystem.__name__)"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=store.require("bfcl", "code"),
        text=True,
    )
    assert answer.stdout == "GorillaFileSystem\n"
    assert store.verify("bfcl") == []  # the byte code that the import left is no difference


@pytest.mark.parametrize(
    ("key", "files"),
    [
        ("tau-bench", ["retail_tasks_test", "retail_tasks_train", "retail_tasks_dev", "airline_tasks_test"]),
        ("tau-bench", ["retail_tools", "airline_tools"]),
        ("api-bank", ["apis_schema", "lv3_apis_schema"]),
    ],
)
def test_derived_files_have_one_form(key: str, files: list[str], shared_datasets: Path) -> None:
    """What a reader of upstream's Python source must write for the hashes to hold: this form of JSON."""
    derived = DataStore(DEFINITIONS).source(key).parts["derived"].files
    for name in files:
        value = json.loads((shared_datasets / key / "derived" / f"{name}.json").read_text())
        text = json.dumps(value, indent=1, ensure_ascii=False)
        assert hashlib.sha256(text.encode()).hexdigest() == derived[f"derived/{name}.json"]


def test_upstreams_tree_of_tau_bench_is_recognised(shared_datasets: Path, tmp_path: Path) -> None:
    """Data from the local copy, Python sources named as in TOOLS.md, section 8; the reader stands in."""
    local = shared_datasets / "tau-bench"
    source = DataStore(DEFINITIONS).source("tau-bench")
    tree = {path: (local / path).read_bytes() for path in source.parts["data"].files}
    tree |= {f"tau_bench/envs/{domain}/tools/__init__.py": b"" for domain in ("retail", "airline")}
    tree |= {f"tau_bench/envs/retail/tasks_{split}.py": b"" for split in ("test", "train", "dev")}
    tree["tau_bench/envs/airline/tasks_test.py"] = b""

    def reader(upstream: Path, target: Path) -> None:
        assert (upstream / "tau_bench/envs/retail/tasks_dev.py").is_file()
        write_tree(target, {path: (local / path).read_bytes() for path in source.parts["derived"].files})

    store = DataStore(DEFINITIONS, tmp_path / "cache", derivations={"tau-bench": reader})
    status = store.pull("tau-bench", write_tree(tmp_path / "copy", tree))
    assert (status.state, status.layout) == ("whole", "upstream")
