"""``toolenv validate``: is an environment what it claims to be?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.env_ids import Envs, env_names
from toolenv.cli.execute import SOME_OF_IT
from toolenv.cli.missing import naming_all_missing
from toolenv.cli.output import with_progress
from toolenv.cli.task_options import Limit, Subset, SuiteOptions, Tasks, env_options
from toolenv.errors import UsageError
from toolenv.feasibility.manifest import FLAGS
from toolenv.report.format import counted
from toolenv.runner.endless import MOST_EPISODES, check_has_end
from toolenv.runner.plan import source_of
from toolenv.source import TaskSource
from toolenv.transcript import printable
from toolenv.validation import Finding, Validation, summarise, validate_source

SHOWN = 50
"""How many findings are listed."""

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Checked:
    """One environment, what was found in it, and what is armed in it (see :func:`armed_counts`).

    Attributes:
        of: how many tasks there are, where ``--limit`` left some out.
    """

    env: str
    found: Validation
    armed: Counts
    of: int | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {
            "env": self.env,
            "tasks": self.found.tasks,
            **({} if self.of is None else {"first_of": self.of}),
            "findings": [asdict(one) for one in self.found.findings],
            "warnings": [asdict(one) for one in self.found.warnings],
            "flagged": dict(sorted(self.found.flagged.items())),
            "armed": self.armed,
        }


@app.command()
def validate(
    envs: Envs,
    subset: Subset = None,
    tasks: Tasks = None,
    limit: Limit = None,
    suite_option: SuiteOptions = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that environments are what they claim to be.

    The oracle succeeds, doing nothing does not, and nothing leaks. Under a hazard the oracle plays the
    recovery witness, the clean path is checked, too, and what is armed is counted. Exit status 1 if anything
    is wrong. What in a data set disagrees with itself is a warning.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit}: give a whole number of at least 1")
    options, names = env_options(suite_option, subset=subset, tasks=tasks), env_names(envs)
    with naming_all_missing(names, options):
        sources = {name: _first(name, options, limit) for name in names}
    every = []
    for name, (source, of) in sources.items():
        checked = Checked(name, _validate(name, source), armed_counts(source), of)
        every.append(checked)
        if not as_json:
            _print(checked)
    if as_json:
        typer.echo(json.dumps({"envs": [one.to_json() for one in every]}, indent=1, ensure_ascii=False))
    elif len(every) > 1:
        _print_total(every)
    if any(one.found.findings for one in every):
        raise typer.Exit(1)


def _first(name: str, options: Mapping[str, Any], limit: int | None) -> tuple[TaskSource, int | None]:
    """The tasks that are looked at; and how many there are, where those are only the first of them."""
    source = source_of(name, options)
    if limit is not None and limit < len(source.task_ids):
        return source_of(name, {**options, "tasks": tuple(source.task_ids[:limit])}), len(source.task_ids)
    check_has_end(name, len(source.task_ids), SOME_OF_IT)
    return source, None


def _validate(name: str, source: TaskSource) -> Validation:
    results = validate_source(source, make_agent("oracle"), make_agent("noop"))
    return summarise(with_progress(results, total=len(source.task_ids), title=name))


def armed_counts(source: TaskSource) -> Counts:
    """What is armed, counted by hazard, mode, workflow and number of tools, as far as tasks tell these."""
    armed = [(source.get(task_id).metadata, instance) for task_id, instance in source.hazards.items()]
    counts = {
        "hazard": Counter(instance.hazard for _, instance in armed),
        "mode": Counter(f"{instance.hazard}, {instance.mode}" for _, instance in armed),
        "workflow": Counter(str(known["workflow"]) for known, _ in armed if "workflow" in known),
        "tools": Counter(tool_bucket(known["tool_count"]) for known, _ in armed if "tool_count" in known),
    }
    return {title: dict(sorted(found.items())) for title, found in counts.items() if found}


def tool_bucket(count: int) -> str:
    """The group of a number of tools (paper 2, Table 3)."""
    return "≤3" if count <= 3 else "4" if count == 4 else "≥5"


def _print(checked: Checked) -> None:
    found = checked.found
    warnings = f", {len(found.warnings)} warnings" if found.warnings else ""
    tasks = (
        f"{found.tasks} tasks" if checked.of is None else f"the first {found.tasks} of {_many(checked.of)}"
    )
    typer.echo(f"{checked.env}: {tasks}, {len(found.findings)} findings{warnings}")
    for flag, count in sorted(found.flagged.items()):
        typer.echo(f"  {count} flagged {flag}: {FLAGS[flag]}")
    _list(found.findings, "")
    _list(found.warnings, "warning: ")
    _print_counts(checked.armed)


def _print_total(every: Sequence[Checked]) -> None:
    """All together; what is armed in several environments, too."""
    tasks = sum(one.found.tasks for one in every)
    first = "" if all(one.of is None for one in every) else ", the first of each"
    findings = sum(len(one.found.findings) for one in every)
    typer.echo(f"{counted(len(every), 'environment')}: {tasks} tasks{first}, {findings} findings")
    totals: dict[str, Counter[str]] = {}
    for one in every:
        for title, counts in one.armed.items():
            if title != "mode":
                totals.setdefault(title, Counter()).update(counts)
    _print_counts({title: dict(sorted(counts.items())) for title, counts in totals.items()})


def _many(tasks: int) -> str:
    return "tasks without end" if tasks > MOST_EPISODES else f"{tasks} tasks"


def _print_counts(counts: Counts) -> None:
    for title, found in counts.items():
        for name, count in found.items():
            typer.echo(f"  {count} armed, by {title}: {name}")


def _list(findings: Sequence[Finding], mark: str) -> None:
    for finding in findings[:SHOWN]:
        typer.echo(f"  {mark}{finding.task_id}: {finding.check}: {printable(finding.problem)}")
    if len(findings) > SHOWN:
        typer.echo(f"  … and {len(findings) - SHOWN} more")
