"""``toolenv certify``: prove or refute that masked tasks are infeasible."""

from __future__ import annotations

import importlib.util
import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import envs_registry
from toolenv.cli import app
from toolenv.cli.env_ids import OneEnv, env_name, env_of
from toolenv.cli.grouped import grouped
from toolenv.cli.output import console, with_progress
from toolenv.cli.targets import check_targets
from toolenv.cli.task_options import Subset, Tasks
from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.annotation.evidence import write_labels
from toolenv.feasibility.certificates.assumed import NO_WORLD
from toolenv.feasibility.certificates.certify import Effort, certificates_of
from toolenv.feasibility.certificates.checker import check_file
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import Certificates, TaskRecord
from toolenv.feasibility.certificates.repair import labels as labels_of
from toolenv.feasibility.certificates.repair import repaired, standing_labels, standing_of
from toolenv.feasibility.certificates.rules import NoRules, Rules
from toolenv.feasibility.certificates.search import Bound
from toolenv.feasibility.manifest import MaskManifest
from toolenv.masks import manifest_for
from toolenv.report.safe import safe_line
from toolenv.report.terminal import plain_table
from toolenv.source import make_source
from toolenv.suite import Suite
from toolenv.task import Task

SHOWN = 20
"""How many problems are listed."""

NO_PLANNER = "nothing tried: the suite brings no planning.py"

UNPROVED = (
    "proved: 0 of {} tasks. Nothing was tried, since the suite's package has no planning.py (and claims.py, "
    "which proofs are checked by; docs/certificates.md, For a suite of one's own). “assumed” says only that "
    "no remaining tool reads like a masked one."
)

HOW_CHARACTERS = 300
"""How much of a reason the table shows."""


@dataclass(frozen=True)
class Chosen:
    """What a command line is about: the suite, the masks, and the clean tasks that have one."""

    suite: Suite
    planner: Planner | None
    manifest: MaskManifest
    tasks: tuple[Task, ...]

    @property
    def rules(self) -> Rules:
        """What certificates rest on."""
        return NoRules() if self.planner is None else self.planner.rules


@dataclass(frozen=True, slots=True)
class MaskOptions:
    """Which masks are looked at."""

    subset: Subset = None
    tasks: Tasks = None
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N tasks.")] = None
    masks: Annotated[Path | None, typer.Option(metavar="FILE", help="Other masks than the suite's.")] = None
    only: Annotated[
        str | None, typer.Option(metavar="TOOL", help="Mask only this tool, where the masks have it.")
    ] = None

    def choose(self, env: str) -> Chosen:
        """What the options say of an environment.

        Raises:
            ToolEnvError: an id, a subset, a task or a tool that there is not, or masks that cannot be read.
        """
        name = env_of(env, "infeasible", "what is proven is that masked tasks are infeasible")
        suite = envs_registry.get_suite(envs_registry.parse_env_id(name)["suite"])
        subset = suite.default_subset if self.subset is None else self.subset
        wanted = make_source(suite, "infeasible", subset=subset, tasks=self.tasks, masks=self.masks).task_ids
        clean = make_source(suite, "clean", subset=subset, masks=self.masks)
        manifest = manifest_for(suite, subset, self.masks)
        if self.only is not None:
            manifest = _only(manifest, self.only)
        tasks = [task_id for task_id in wanted if task_id in manifest.masks][: self.limit]
        return Chosen(suite, planner_of(suite), manifest, tuple(clean.get(task_id) for task_id in tasks))


@dataclass(frozen=True, slots=True)
class EffortOptions:
    """How hard is searched."""

    states: Annotated[int, typer.Option(metavar="N", min=1, help="Calls tried for one mask.")] = 5000
    changes: Annotated[
        int, typer.Option(metavar="N", min=0, help="Changing calls in one user turn of a solution.")
    ] = 8
    repairs: Annotated[int, typer.Option(metavar="N", min=1, help="Masks looked at for one task.")] = 12
    seconds: Annotated[float, typer.Option(metavar="S", min=0, help="Stop searching after this long.")] = 3600

    def certify(self, chosen: Chosen) -> Certificates:
        """Prove or refute each mask, as far as the effort goes."""
        end = time.monotonic() + self.seconds
        return certificates_of(
            chosen.suite,
            chosen.planner,
            chosen.tasks,
            chosen.manifest,
            Effort(Bound(self.states, self.changes), self.repairs),
            lambda: time.monotonic() > end,
            lambda records: with_progress(records, len(chosen.tasks), "certify"),
        )


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What is written."""

    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", dir_okay=False, help="Write the certificates.")
    ] = None
    repair: Annotated[
        Path | None,
        typer.Option("--repaired", metavar="FILE", dir_okay=False, help="Write the masks that stand."),
    ] = None
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            dir_okay=False,
            help="Write what is proven, for toolenv report: of the masks that stand if --repaired is given, "
            "else of those looked at.",
        ),
    ] = None

    @property
    def targets(self) -> dict[str, Path | None]:
        """The files asked for, by option."""
        return {"--out": self.out, "--repaired": self.repair, "--labels": self.labels}

    def write(self, chosen: Chosen, certificates: Certificates) -> None:
        """Write the files asked for, and say so."""
        if self.out is not None:
            certificates.write(self.out)
            typer.echo(f"{self.out}: {len(certificates.tasks)} tasks")
        evidence = labels_of(certificates)
        if self.repair is not None:
            left = repaired(chosen.manifest, certificates)
            left.write(self.repair)
            evidence = standing_labels(left, certificates)
            proved = proved_of(certificates.tasks.values())
            typer.echo(f"{self.repair}: {len(left.masks):,} masks that are not refuted, {proved:,} proved")
        if self.labels is not None:
            write_labels(self.labels, {chosen.suite.name: evidence})
            typer.echo(f"{self.labels}: what is proven of {len(evidence.status)} labels")


@app.command()
@grouped
def certify(
    env: OneEnv,
    *,
    files: FileOptions,
    check: Annotated[
        Path | None, typer.Option("--check", metavar="FILE", help="Only check the certificates in a file.")
    ] = None,
    which: MaskOptions,
    effort: EffortOptions,
) -> None:
    """Prove masked tasks infeasible, or refute it by a solution.

    A solution needs no more than the remaining tools, and replays.

    Exit status 1 if a certificate does not pass the check.
    """
    check_targets(files.targets, (which.masks, check))
    chosen = which.choose(env)
    if check is not None:
        if which.tasks is not None or which.limit is not None:
            raise UsageError("--check: all that is in the file is checked; leave --tasks and --limit out")
        certificates = Certificates.read(check)
        missing = len(chosen.manifest.masks.keys() - certificates.tasks.keys())
        if missing:
            typer.echo(f"{missing:,} of {len(chosen.manifest.masks):,} masks have no certificate in it")
        _show_check(chosen, certificates)
        return
    certificates = effort.certify(chosen)
    show_records(certificates.tasks.values(), env_name(env), chosen.planner)
    files.write(chosen, certificates)
    _show_check(chosen, certificates)


def _only(manifest: MaskManifest, tool: str) -> MaskManifest:
    """The same tasks with but one tool masked."""
    having = {task: (tool,) for task, tools in manifest.masks.items() if tool in tools}
    if not having:
        known = {one for tools in manifest.masks.values() for one in tools}
        raise UnknownNameError("masked tool", tool, known, where="the masks")
    others = {task: f"{tool} is not masked" for task in manifest.masks if task not in having}
    return replace(
        manifest,
        masks=having,
        excluded={**manifest.excluded, **others},
        provenance=f"{manifest.provenance} Of these, {tool} alone.",
    )


def planner_of(suite: Suite) -> Planner | None:
    """What a suite's package keeps for the search in a module ``planning``; ``None`` if nothing."""
    package = type(suite).__module__.rpartition(".")[0]
    name = f"{package}.planning"
    if not package or importlib.util.find_spec(name) is None:
        return None
    planner: Planner | None = getattr(importlib.import_module(name), "PLANNER", None)
    return planner


def proved_of(records: Iterable[TaskRecord]) -> int:
    """How many tasks are proved infeasible under the mask that is left."""
    return sum(record.status in ("certified", "repaired") for record in records)


def show_records(records: Collection[TaskRecord], title: str, planner: Planner | None) -> None:
    """Print how many tasks came out how, and why nothing is proved where no search could run.

    Args:
        records: of the tasks.
        title: of the table.
        planner: the suite's.
    """
    counted = Counter(line for record in records for line in _lines(record, planner))
    table = plain_table(title)
    for heading in ("status", "how", "tasks"):
        table.add_column(heading, justify="right" if heading == "tasks" else "left")
    for (status, how), count in sorted(counted.items()):
        table.add_row(status, Text(safe_line(how, HOW_CHARACTERS)), f"{count:,}")
    console().print(table)
    if planner is None and records:
        typer.echo(UNPROVED.format(len(records)))


def _lines(record: TaskRecord, planner: Planner | None) -> list[tuple[str, str]]:
    """The table's rows that a task counts in; a refuted one counts as such, and as what became of it."""
    found = []
    first, standing = record.certificates[0], standing_of(record)
    if record.was_refuted:
        found.append(("refuted", f"{first.kind}, by the {first.criterion}"))
    if record.status == "dropped":
        found.append(("dropped", record.reason))
    elif standing is not None and standing.claim is not None:
        found.append((record.status, f"by {standing.claim.kind}, against the {standing.criterion}"))
    else:
        untried = NO_WORLD if planner else NO_PLANNER
        found.append((record.status, untried if first.bound.startswith(NO_WORLD) else "within the bound"))
    return found


def _show_check(chosen: Chosen, certificates: Certificates) -> None:
    found = list(check_file(certificates, chosen.suite, chosen.rules, chosen.manifest))
    wrong = [(task_id, problem) for task_id, problem in found if problem]
    good = f"{len(found) - len(wrong)} of {len(found)}"
    decided = any(
        one.answer != "unknown" for record in certificates.tasks.values() for one in record.certificates
    )
    if decided or not found:
        typer.echo(f"checked: {good} tasks good")
    else:
        typer.echo(f"checked: {good} records well-formed; 0 of {len(found)} tasks proved or refuted")
    for task_id, problem in wrong[:SHOWN]:
        typer.echo(f"  {task_id}: {problem}")
    if wrong:
        raise typer.Exit(1)
