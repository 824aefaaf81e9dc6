"""What is built, installed and declared. Archives hold real files where the tree holds a symlink."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHIPPED = {name: ROOT / name for name in ("toolenv", "envs_registry")} | {"toolenv/agents": ROOT / "agents"}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command: str | Path, folder: Path) -> str:
    """Run a command and give its output; one that fails shows all it said."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(*options: str | Path) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", *options, folder=ROOT)


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that is built from it, as an index would get them."""
    folder = tmp_path_factory.mktemp("archives")
    build("--outdir", folder)
    return folder


@pytest.fixture(scope="module")
def wheel(archives: Path) -> Path:
    (found,) = archives.glob("*.whl")
    return found


def files_of_tree() -> set[str]:
    """What must ship: every file of the packages, by its name in a wheel."""
    return {
        f"{name}/{path.relative_to(folder).as_posix()}"
        for name, folder in SHIPPED.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        kinds = {entry.external_attr >> 28 for entry in archive.infolist()}
    assert names == files_of_tree()
    assert {"toolenv/py.typed", "envs_registry/py.typed", "toolenv/agents/__init__.py"} <= names
    assert {name.partition("/")[0] for name in names} == {"toolenv", "envs_registry"}
    assert 0o12 not in kinds, "a symlink"


@pytest.mark.slow
def test_the_sdist_holds_real_files_and_no_top_level_agents(archives: Path) -> None:
    (sdist,) = archives.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    assert [member.name for member in members if not member.isfile()] == []
    assert files_of_tree() | {"LICENSE", "README.md", "pyproject.toml"} <= names
    assert {name.partition("/")[0] for name in names}.isdisjoint({"agents", "benchmarks", "tests"})


@pytest.mark.slow
def test_a_wheel_built_straight_from_the_tree_is_the_same(wheel: Path, tmp_path: Path) -> None:
    build("--wheel", "--outdir", tmp_path)
    (direct,) = tmp_path.glob("*.whl")
    assert checksums(direct) == checksums(wheel)


def checksums(archive_path: Path) -> dict[str, int]:
    with zipfile.ZipFile(archive_path) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


OUTSIDE = """
import importlib.metadata, json, pathlib, sysconfig
import agents, envs_registry, toolenv, toolenv.agents
from agents import Runner
site = pathlib.Path(sysconfig.get_path("purelib"))
owners = importlib.metadata.packages_distributions()
print(json.dumps({
    module.__name__: [
        pathlib.Path(module.__file__).parent.relative_to(site).as_posix(),
        sorted(set(owners[module.__name__.partition(".")[0]])),
    ]
    for module in (agents, envs_registry, toolenv, toolenv.agents)
}))
"""


@pytest.mark.slow
def test_installs_beside_the_openai_agents_sdk(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / "bin"
    run(scripts / "python", "-m", "pip", "install", "--quiet", wheel, "openai-agents", folder=tmp_path)
    run(scripts / "python", "-m", "pip", "check", folder=tmp_path)
    assert json.loads(run(scripts / "python", "-I", "-c", OUTSIDE, folder=tmp_path)) == {
        "agents": ["agents", ["openai-agents"]],
        "envs_registry": ["envs_registry", ["toolenv"]],
        "toolenv": ["toolenv", ["toolenv"]],
        "toolenv.agents": ["toolenv/agents", ["toolenv"]],
    }
    assert "quickstart" in run(scripts / "toolenv", "--help", folder=tmp_path)


def test_agents_are_a_relative_symlink_in_the_tree() -> None:
    assert (ROOT / "toolenv" / "agents").readlink() == Path("..", "agents")


def imported_names(path: Path) -> Iterator[str]:
    """The top-level names a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def distributions_named(requirements: list[str]) -> set[str]:
    """``["jsonschema-rs>=0.50"]`` → ``{"jsonschema_rs"}``: here every import name is its distribution's."""
    return {re.split(r"[<>=!~\[; ]", one)[0].replace("-", "_").lower() for one in requirements}


def test_whatever_is_imported_is_declared() -> None:
    extras = {name: part for name, part in PROJECT["optional-dependencies"].items() if name != "dev"}
    declared = distributions_named(
        PROJECT["dependencies"] + [one for part in extras.values() for one in part]
    )
    known = declared | sys.stdlib_module_names | {"toolenv", "envs_registry"}
    files = {path for folder in SHIPPED.values() for path in folder.rglob("*.py")}
    imported = {(path.relative_to(ROOT).as_posix(), name) for path in files for name in imported_names(path)}
    assert "gymnasium" in {name for _, name in imported}
    assert sorted((path, name) for path, name in imported if name not in known) == []


def test_types_are_checked_alike_with_and_without_the_extras() -> None:
    """CI checks types before it installs any extra; a developer's environment has them all."""
    optional = {name for path in files_checked() for name in imported_names(path)} - (
        distributions_named(PROJECT["dependencies"])
        | sys.stdlib_module_names
        | {"toolenv", "envs_registry", "benchmarks"}
    )
    (skipped,) = [
        one for one in PYPROJECT["tool"]["mypy"]["overrides"] if one.get("follow_imports") == "skip"
    ]
    assert "torch" in optional
    assert sorted(optional) == sorted(module.removesuffix(".*") for module in skipped["module"])


def files_checked() -> set[Path]:
    """The files that the type checker reads."""
    folders = [ROOT / "agents", *(ROOT / name for name in PYPROJECT["tool"]["mypy"]["files"])]
    return {path for folder in folders for path in folder.rglob("*.py")}


def test_there_is_no_extra_that_installs_everything() -> None:
    assert "all" not in PROJECT["optional-dependencies"]
