"""``python -m tests.support.hash_seed FOLDER``: a little of all that toolenv makes, as files in a folder."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Final

import envs_registry
from envs_registry.workflows.evaluation import content
from envs_registry.workflows.generate import generate
from envs_registry.workflows.identifiers import TaskNumber
from envs_registry.workflows.leakage import leaked_forms
from toolenv.cli import main
from toolenv.errors import UsageError
from toolenv.feasibility.annotation.evidence import LabelEvidence, Status
from toolenv.feasibility.redundancy import Redundancy
from toolenv.function_schema import tool_from_function
from toolenv.names import lookup_table
from toolenv.source import make_source

_BASELINES = "--agent oracle --agent random --agent never-stop"
_PLANNED = "--agent recovery --agent recovery:naive"
_EVERY = ("BFCL", "TauBench", "APIBank", "StableToolBench", "Workflows")
COMMANDS = {
    **{
        f"certify-{subset}": f"certify ToolFeas/{suite}-infeasible-v0 --subset {subset} --limit {limit}"
        for suite, subset, limit in (
            ("BFCL", "multi_turn_base", 1),
            ("TauBench", "airline", 4),
            ("APIBank", "level-1", 12),
            ("StableToolBench", "G3_instruction", 12),
            ("Workflows", "default", 4),
        )
    },
    "build-multiple": "build BFCL --subset multiple --reference --certified",
    "build-level-3": "build APIBank --subset level-3 --reference --certified",
    "arm-airline": "arm TauBench --subset airline --fewest 1",
    "run-plans": f"run ToolFeas/Workflows-hazard-v0 ToolFeas/Workflows-confusable-v0 {_PLANNED} --limit 12",
    "run-turns": f"run ToolFeas/BFCL-clean-v0 --subset multi_turn_base {_BASELINES} --limit 5",
    **{
        f"run-{suite}": f"run ToolFeas/{suite}-hazard-v0 ToolFeas/{suite}-mixed-v0 {_BASELINES} --limit 5"
        for suite in _EVERY
    },
    "sliced": "build BFCL --subset multi_turn_base --traces run-turns/oracle --sliced --agents 1",
    "sample": f"annotate sample {' '.join(f'ToolFeas/{suite}-infeasible-v0' for suite in _EVERY)}",
}
"""By the name of what they write: ``--out`` is that."""

TOLD = {
    "report": "report run-plans run-turns run-BFCL --json --by workflow,hazard,tools,label",
    "compare": "compare run-turns/oracle run-turns/random",
    "validate": "validate ToolFeas/TauBench-hazard-v0 --json",
}
"""Those that only print."""

FOR_AND_AGAINST: Final[tuple[Status, Status]] = ("feasible", "infeasible")


def run(command: str) -> None:
    """One command line, in this process."""
    sys.argv = ["toolenv", *command.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"toolenv {command}: exit status {end.code}") from end


def similarities() -> Iterator[str]:
    """How alike the tools of each task read: numbers to the last digit, by which ties are broken."""
    source = make_source(envs_registry.get_suite("BFCL"), "clean", subset="multiple")
    tasks = [source.get(task_id) for task_id in source.task_ids]
    redundancy = Redundancy(tool for task in tasks for tool in task.tools)
    for task in tasks:
        for one, other in permutations(task.tools, 2):
            yield f"{one.name} {other.name} {redundancy.similarity(one, other)!r}"
        yield " ".join(lookup_table(task.tools))


def generated() -> Iterator[str]:
    """New tasks of Workflows, and what would give their answers away."""
    for index in range(0, 600, 25):
        task = generate(TaskNumber(3, index, index % 3))
        yield repr((content(task), leaked_forms(task.metadata["blueprint"].answer)))


def unset(one: object = math.nan, other: object = math.inf) -> None:
    """Defaults that are no JSON.

    Args:
        one: any.
        other: any.
    """


def clear(days: frozenset[str] = frozenset({"Monday", "Tuesday", "Friday"})) -> None:
    """A default without an order.

    Args:
        days: any.
    """


def interfaces() -> Iterator[str]:
    """A schema made of a set, and errors that name the first of several faults."""
    yield json.dumps(tool_from_function(clear).to_openai())
    feasible, infeasible = (LabelEvidence("", dict.fromkeys("abcdef", one)) for one in FOR_AND_AGAINST)
    for faulty in (partial(tool_from_function, unset), partial(feasible.joined, infeasible)):
        try:
            faulty()
        except UsageError as error:
            yield str(error)


def write_all(folder: Path) -> None:
    """Write everything; what is printed goes into files, too."""
    os.chdir(folder)
    for name, command in COMMANDS.items():
        with Path(f"{name}.txt").open("w") as told, contextlib.redirect_stdout(told):
            run(f"{command} --out {name if command.startswith(('run', 'arm')) else f'{name}.json'}")
    for name, command in TOLD.items():
        with Path(f"{name}.txt").open("w") as told, contextlib.redirect_stdout(told):
            run(command)
    for name, lines in {
        "similarities": similarities(),
        "generated": generated(),
        "interfaces": interfaces(),
    }.items():
        Path(f"{name}.txt").write_text("\n".join(lines))


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
