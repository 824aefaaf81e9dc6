from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TypeAlias

import pytest

from envs_registry.bfcl.ast_rules import PYTHON_CATEGORIES
from envs_registry.bfcl.backends import Backends, load_backends
from envs_registry.bfcl.ground_truth import join_by_id
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from tests.envs_registry.bfcl.multi_turn_cases import FILES, Entry, load_entries

Entries: TypeAlias = list[tuple[Mapping[str, Any], Mapping[str, Any]]]


@pytest.fixture(scope="session")
def bfcl_entries(bfcl_package: Path) -> dict[str, Entries]:
    """Questions with their answers, for each Python single-turn category."""
    return {category: _entries(bfcl_package / "data", category) for category in PYTHON_CATEGORIES}


@pytest.fixture(scope="module")
def backends(bfcl_package: Path) -> Backends:
    """Upstream's tool classes; a module's own."""
    return load_backends(bfcl_package)


@pytest.fixture(scope="module")
def entries(bfcl_package: Path, backends: Backends) -> list[Entry]:
    """All multi-turn entries."""
    return load_entries(bfcl_package, backends)


@pytest.fixture
def files(backends: Backends) -> MultiTurnWorld:
    """A world with a file and an empty directory."""
    return MultiTurnWorld.create(backends, ["GorillaFileSystem"], FILES)


def _entries(data: Path, category: str) -> Entries:
    questions = list(_records(data / f"BFCL_v4_{category}.json"))
    answers = _records(data / "possible_answer" / f"BFCL_v4_{category}.json")
    by_id = join_by_id(questions, answers, category)
    return [(question, by_id[question["id"]]) for question in questions]


def _records(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip())


@contextmanager
def importing_from(folder: Path) -> Iterator[None]:
    """Let ``bfcl_eval`` be imported from ``folder``; leave no trace of it in this interpreter."""

    def loaded() -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.split(".")[0] == "bfcl_eval"}

    before, path, bytecode = loaded(), list(sys.path), sys.dont_write_bytecode
    for name in before:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(before)
        sys.path[:], sys.dont_write_bytecode = path, bytecode


@pytest.fixture(scope="session")
def upstream(bfcl_package: Path) -> Callable[[tuple[Any, ...]], str]:
    """``accepts``, ``rejects`` or ``raises``, from upstream's checker with a stubbed model table."""
    table = ModuleType("bfcl_eval.constants.model_config")
    table.MODEL_CONFIG_MAPPING = {"dotted": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    with importing_from(bfcl_package.parent):
        sys.modules[table.__name__] = table
        checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
        python = importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON

    def verdict(case: tuple[Any, ...]) -> str:
        category, documents, calls, truth = case
        output = [{name: arguments} for name, arguments in calls]
        try:
            result = checker.ast_checker(documents, output, truth, python, category, "dotted")
        except Exception:
            return "raises"
        return "accepts" if result["valid"] else "rejects"

    return verdict
