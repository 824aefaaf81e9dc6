"""Imports point one way (DESIGN.md, house rule 1): the layers of ``toolenv`` and the folders above it.

Imports are read from the source, inside functions too; those for type checkers alone are exempt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SUPPORT = (
    "actions",
    "append_only",
    "arguments",
    "canonical",
    "coercion",
    "corrections",
    "data",
    "function_schema",
    "hooks",
    "json_values",
    "ledger",
    "model_server",
    "names",
    "plan",
    "plugged_in",
    "quick",
    "received",
    "rendering",
    "hashed_json",
    "hygiene",
    "identity",
    "sampling",
    "sandbox",
    "schema",
    "seeding",
    "stopping",
    "transcript",
    "trouble",
    "units",
    "usage",
    "waiting",
)

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("pickling", "read_only"),
    ("types",),
    SUPPORT,
    ("task",),
    ("trace",),
    ("facts",),
    ("episode_types", "episode"),
    ("judge",),
    ("feasibility.manifest",),
    ("kernel",),
    ("suite",),
    ("masks",),
    ("hazards",),
    ("user",),
    ("source",),
    ("incoming_calls", "suite_code", "live", "replay"),
    ("spaces",),
    ("env",),
    ("vector",),
    ("wrappers",),
    ("policy", "deliberation"),
    ("rollout",),
    ("validation",),
    ("runner",),
    ("feasibility",),
    ("recoverability",),
    ("metrics",),
    ("report",),
    ("integrations",),
    ("__init__",),
    ("cli",),
)
"""Modules and packages of ``toolenv``, highest first: each imports its own layer and those before it.

A new top-level module of ``toolenv`` gets its place here; a file inside a listed package has one already.
"""

AGENTS_MAY_IMPORT = frozenset({"errors", "read_only", "types", "task", "policy", "deliberation", *SUPPORT})
ABOVE_TOOLENV = frozenset({"agents", "toolenv.agents", "envs_registry"})
MAY_IMPORT_ABOVE = frozenset({"__init__", "cli"})
PROJECT = frozenset({"toolenv", "envs_registry", "agents", "benchmarks", "tests"})


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def layer_of(module: str) -> int | None:
    """The layer of a module, its name given without ``toolenv.``; the longest entry that fits decides.

    A package that begins in an early layer has its ``__init__`` there: importing any part of it runs that.
    """
    places = [(entry, row) for row, entries in enumerate(LAYERS) for entry in entries]
    begun = [row for entry, row in places if is_within(entry, module)]
    fitting = [(len(entry), row) for entry, row in places if is_within(module, entry)]
    return min(begun) if begun else max(fitting, default=(0, None))[1]


def inner_name(module: str) -> str:
    """``toolenv.kernel.clean`` → ``kernel.clean``, ``toolenv.kernel.__init__`` → ``kernel``.

    The facade, ``toolenv`` itself, is ``__init__``.
    """
    return module.removesuffix(".__init__").partition(".")[2] or "__init__"


def modules_of(folder: Path, name: str) -> dict[str, str]:
    """Source text by module name. Package ``p`` itself is under ``p.__init__``, to tell it from a module."""
    return {
        ".".join((name, *path.relative_to(folder).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.py"))
    }


def project_modules() -> dict[str, str]:
    """What ships. ``rglob`` does not follow the symlink ``toolenv/agents``, so agents are met once."""
    return (
        modules_of(ROOT / "toolenv", "toolenv")
        | modules_of(ROOT / "agents", "toolenv.agents")
        | modules_of(ROOT / "envs_registry", "envs_registry")
    )


class ImportFinder(ast.NodeVisitor):
    """Collects ``(line, target, is_relative)``; a target is the longest dotted name the statement gives."""

    def __init__(self, module: str) -> None:
        self.package = module.rpartition(".")[0]
        self.found: list[tuple[int, str, bool]] = []

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            self.generic_visit(node)
            return
        for statement in node.orelse:
            self.visit(statement)

    def visit_Import(self, node: ast.Import) -> None:
        self.found += [(node.lineno, alias.name, False) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        origin = node.module or ""
        if node.level:
            parents = self.package.split(".")
            origin = ".".join(part for part in (*parents[: len(parents) - node.level + 1], origin) if part)
        self.found += [(node.lineno, f"{origin}.{alias.name}", bool(node.level)) for alias in node.names]

    def visit_Call(self, node: ast.Call) -> None:
        called = ast.unparse(node.func)
        if called in {"import_module", "importlib.import_module", "__import__"} and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                self.found.append((node.lineno, first.value, False))
        self.generic_visit(node)


def imports_of(module: str, source: str, known: Mapping[str, str]) -> Iterator[tuple[int, str, bool]]:
    """Imports of the project's own modules: names inside a module are cut off, packages written plainly."""
    finder = ImportFinder(module)
    finder.visit(ast.parse(source))
    for line, target, relative in finder.found:
        if target.partition(".")[0] not in PROJECT:
            continue
        while "." in target and target not in known and f"{target}.__init__" not in known:
            target = target.rpartition(".")[0]
        yield line, target, relative


def complaint(module: str, target: str, relative: bool) -> str:
    """Why ``module`` may not import ``target``; empty if it may."""
    if is_within(target, "benchmarks") or is_within(target, "tests"):
        return "benchmarks and tests do not ship"
    if is_within(module, "envs_registry"):
        above = ("agents", "toolenv.agents", "toolenv.cli")
        return "suites import the engine only" if any(is_within(target, one) for one in above) else ""
    if is_within(module, "toolenv.agents"):
        return complaint_about_agent(target, relative)
    own = inner_name(module)
    if any(is_within(target, one) for one in ABOVE_TOOLENV):
        allowed = own.partition(".")[0] in MAY_IMPORT_ABOVE
        return "" if allowed else "only the facade and the CLI import what stands above the engine"
    here, there = layer_of(own), layer_of(inner_name(target))
    if here is None or there is None:  # a module without a place is complained about once, by itself
        return ""
    return f"{inner_name(target)!r} stands below {own!r} in LAYERS" if there > here else ""


def complaint_about_agent(target: str, relative: bool) -> str:
    if is_within(target, "toolenv.agents"):
        return "" if relative else "agents import their siblings by relative imports"
    allowed = is_within(target, "toolenv") and inner_name(target).partition(".")[0] in AGENTS_MAY_IMPORT
    return "" if allowed else f"agents import only {', '.join(sorted(AGENTS_MAY_IMPORT))} of toolenv"


def violations(modules: Mapping[str, str]) -> list[str]:
    """Every import that points the wrong way, and every module of ``toolenv`` that has no layer."""
    wrong_way = [
        f"{module}:{line} imports {target}: {why}"
        for module, source in modules.items()
        for line, target, relative in imports_of(module, source, modules)
        if (why := complaint(module, target, relative))
    ]
    engine = [one for one in modules if is_within(one, "toolenv") and not is_within(one, "toolenv.agents")]
    without_layer = [
        f"{module} is in no layer: give {inner_name(module)!r} its place in LAYERS of tests/test_layers.py"
        for module in engine
        if layer_of(inner_name(module)) is None
    ]
    return wrong_way + without_layer


def test_imports_point_one_way() -> None:
    modules = project_modules()
    assert "toolenv.types" in modules
    assert violations(modules) == []


MADE_UP_TREE = (
    "toolenv.__init__",
    "toolenv.errors",
    "toolenv.types",
    "toolenv.task",
    "toolenv.trace",
    "toolenv.env",
    "toolenv.policy",
    "toolenv.feasibility.__init__",
    "toolenv.feasibility.manifest",
    "toolenv.feasibility.certificate",
    "toolenv.kernel.__init__",
    "toolenv.kernel.clean",
    "toolenv.cli.main",
    "toolenv.agents.chat",
    "toolenv.agents.oracle",
    "envs_registry.bfcl",
)


def tree_with(module: str, source: str) -> dict[str, str]:
    """The made-up tree, empty but for one module."""
    return dict.fromkeys(MADE_UP_TREE, "") | {module: source}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("toolenv.env", "from toolenv.kernel import CleanKernel\nfrom toolenv import task, types"),
        ("toolenv.kernel.clean", "from . import clean\nimport toolenv.feasibility.manifest"),
        ("toolenv.task", "if TYPE_CHECKING:\n    from toolenv.trace import Trace"),
        ("toolenv.__init__", "import envs_registry\nfrom toolenv.env import ToolEnv"),
        ("toolenv.cli.main", "import envs_registry.bfcl\nimport toolenv\nfrom toolenv.agents import chat"),
        ("toolenv.agents.chat", "from toolenv.types import Stop\nfrom .oracle import Oracle\nimport openai"),
        ("envs_registry.bfcl", "import toolenv\nfrom toolenv.env import ToolEnv"),
    ],
)
def test_an_import_that_points_up_is_accepted(module: str, source: str) -> None:
    assert violations(tree_with(module, source)) == []


@pytest.mark.parametrize(
    ("module", "source", "why"),
    [
        ("toolenv.types", "from toolenv.task import Task", "'task' stands below 'types'"),
        ("toolenv.types", "def late():\n    import toolenv.env", "'env' stands below 'types'"),
        ("toolenv.types", "from . import env", "'env' stands below 'types'"),
        ("toolenv.kernel.clean", "from ..env import ToolEnv", "'env' stands below 'kernel.clean'"),
        ("toolenv.kernel.__init__", "from toolenv.env import ToolEnv", "'env' stands below 'kernel'"),
        ("toolenv.feasibility.manifest", "from toolenv.kernel import clean", "below 'feasibility.manifest'"),
        ("toolenv.feasibility.__init__", "from . import certificate", "below 'feasibility'"),
        ("toolenv.env", "importlib.import_module('toolenv.cli.main')", "'cli.main' stands below"),
        ("toolenv.env", "import toolenv", "'__init__' stands below 'env'"),
        ("toolenv.env", "from toolenv import make", "'__init__' stands below 'env'"),
        ("toolenv.env", "import envs_registry.bfcl", "only the facade and the CLI"),
        ("toolenv.env", "from toolenv.agents import chat", "only the facade and the CLI"),
        ("toolenv.__init__", "import toolenv.cli.main", "'cli.main' stands below '__init__'"),
        ("toolenv.agents.chat", "from toolenv.env import ToolEnv", "agents import only"),
        ("toolenv.agents.chat", "from toolenv.agents.oracle import Oracle", "relative"),
        ("toolenv.agents.chat", "import envs_registry", "agents import only"),
        ("envs_registry.bfcl", "from toolenv.agents.oracle import Oracle", "suites import the engine only"),
        ("envs_registry.bfcl", "from benchmarks import speed", "do not ship"),
        ("toolenv.novelty", "", "give 'novelty' its place in LAYERS"),
    ],
)
def test_an_import_that_points_down_is_found(module: str, source: str, why: str) -> None:
    (found,) = violations(tree_with(module, source))
    assert why in found
