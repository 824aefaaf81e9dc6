"""``toolenv build``: make a mask manifest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.certify import planner_of, show_records
from toolenv.cli.data import store
from toolenv.cli.grouped import grouped
from toolenv.cli.many_values import ManyValues
from toolenv.cli.output import with_progress
from toolenv.cli.targets import check_targets
from toolenv.cli.task_options import Subset
from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.building import BuildSettings, assemble, build_tasks
from toolenv.feasibility.certificates.settle import settled
from toolenv.feasibility.critical_tools import CRITERIA, Rule
from toolenv.feasibility.foreign_traces import read_foreign
from toolenv.feasibility.manifest import FLAGS, STATUSES, MaskManifest
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.feasibility.replaying import DEFAULT_REPLAYS
from toolenv.feasibility.run_traces import read_runs, reference_traces, suite_options
from toolenv.feasibility.successful_traces import Traces
from toolenv.report.format import counted
from toolenv.runner.endless import check_has_end
from toolenv.source import chosen_subset, make_source
from toolenv.suite import Suite, configured

PROVENANCE = (
    "Critical tools are those of the reference solution's calls, replayed through the clean environment and "
    "judged successful (toolenv build --reference)."
)
DEFAULT_AGENTS = 2


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """Where critical tools are taken from."""

    traces: Annotated[
        list[Path] | None,
        typer.Option("--traces", metavar="DIR…", help="Run directories of agents on the clean tasks."),
    ] = None
    foreign: Annotated[
        list[Path] | None,
        typer.Option(
            "--foreign", metavar="FILE…", help="Trajectories made elsewhere, one JSON object a line."
        ),
    ] = None
    reference: Annotated[
        bool, typer.Option("--reference", help="Take the reference solutions as traces of one agent.")
    ] = False
    refutations: Annotated[
        list[Path] | None,
        typer.Option(
            "--refutations", metavar="DIR…", help="Runs without masked tools; their successes are counted."
        ),
    ] = None

    def manifest(self, suite: Suite, subset: str, data: str, settings: BuildSettings) -> MaskManifest:
        """The masks that follow from the traces.

        Raises:
            typer.BadParameter: there are none.
            ToolEnvError: traces that cannot be read, or are of too few agents.
        """
        if self.traces or self.foreign or self.refutations:
            return _from_traces(suite, subset, data, settings, self)
        if self.reference:
            return reference_masks(suite, subset, make_agent("oracle"), data, PROVENANCE)
        raise typer.BadParameter("give --traces, --foreign or --reference: critical tools come from traces")


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """When a task's tools are critical."""

    agents: Annotated[
        int | None, typer.Option(metavar="K", help=f"Agents that must have solved a task [{DEFAULT_AGENTS}].")
    ] = None
    criterion: Annotated[
        str, typer.Option(metavar="|".join(CRITERIA), help="all-agents: solved by all, with the same tools.")
    ] = "at-least-k"
    sliced: Annotated[
        bool, typer.Option("--sliced", help="Count only the tools that a trace needed, not all it used.")
    ] = False
    replays: Annotated[int, typer.Option(metavar="N", help="Replays of one trace at most.")] = DEFAULT_REPLAYS

    def settings(self) -> BuildSettings:
        """What the options say.

        Raises:
            UsageError: values that cannot be used, or not together.
        """
        return BuildSettings(_rule(self.criterion, self.agents), self.sliced, self.replays)


@app.command(cls=ManyValues)
@grouped
def build(
    suite: Annotated[
        str,
        typer.Argument(metavar="SUITE", help="The suite's name, e.g. BFCL; of one's own, MODULE:ATTRIBUTE."),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", dir_okay=False, help="The manifest to write.")
    ],
    *,
    traces: TraceOptions,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified",
            help="Decide each mask (toolenv certify); keep those not refuted, and what is proven.",
        ),
    ] = False,
    subset: Subset = None,
    rule: RuleOptions,
) -> None:
    """Find a suite's critical tools, and write a mask manifest.

    --reference alone takes the tools of the reference solutions. Otherwise a task's critical tools are those
    that the successful traces of several agents share.
    """
    settings = rule.settings()
    check_targets({"--out": out}, traces.foreign or ())
    found = envs_registry.get_suite(suite)
    data = store().source(found.data).manifest_hash if found.data else "none"
    manifest = traces.manifest(found, chosen_subset(found, subset), data, settings)
    if certified:
        manifest = _certified(found, manifest)
    manifest.write(out)
    _report(out, manifest)


def _certified(suite: Suite, manifest: MaskManifest) -> MaskManifest:
    """The masks that stand, with what is proven of each."""
    suite, count = configured(suite, manifest.built.get("suite_options", {})), len(manifest.masks)
    planner = planner_of(suite)
    left, certificates = settled(
        suite, planner, manifest, lambda records: with_progress(records, count, "certify")
    )
    show_records(certificates.tasks.values(), f"{manifest.suite}, subset {manifest.subset}", planner)
    return left


def _rule(criterion: str, agents: int | None) -> Rule:
    if criterion not in CRITERIA:
        raise UnknownNameError("criterion", criterion, CRITERIA)
    if criterion == "all-agents":
        if agents is not None:
            raise UsageError(f"--agents {agents}: --criterion all-agents asks for all of them")
        return Rule("all-agents")
    return Rule("at-least-k", DEFAULT_AGENTS if agents is None else agents)


def _from_traces(
    suite: Suite, subset: str, data: str, settings: BuildSettings, given: TraceOptions
) -> MaskManifest:
    folders, refutations = given.traces or [], given.refutations or []
    options = suite_options([*folders, *refutations])
    suite = configured(suite, options)
    source = make_source(suite, "clean", subset=subset)
    check_has_end(suite.name, len(source.task_ids))
    tasks = {task_id: source.get(task_id) for task_id in source.task_ids}
    traces = read_runs(folders, suite, tasks, data) + read_foreign(given.foreign or [], suite, tasks)
    if given.reference:
        traces += reference_traces(suite, tasks.values(), make_agent("oracle"))
    traces += read_runs(refutations, suite, tasks, data, condition="infeasible")
    _check_agents(traces, settings)
    built = with_progress(build_tasks(suite, list(tasks.values()), traces, settings), len(tasks), "build")
    return assemble(suite, subset, data, built, traces, settings, options)


def _check_agents(traces: Traces, settings: BuildSettings) -> None:
    needed = settings.rule.agents_needed
    if settings.rule.criterion == "at-least-k" and len(traces.agents) < needed:
        names = ", ".join(sorted(traces.agents)) or "none"
        raise UsageError(
            f"--agents {needed}: so many agents have to have solved a task, and the traces are of "
            f"{counted(len(traces.agents), 'agent')} ({names}); give runs of more, or a smaller --agents"
        )


def _report(out: Path, manifest: MaskManifest) -> None:
    typer.echo(f"{out}: {len(manifest.masks)} masks, {len(manifest.excluded)} excluded")
    for source in manifest.built.get("sources", ()):
        disputed = f", {source['disputed']} more disputed by the judge" if source["disputed"] else ""
        typer.echo(
            f"  {source['kind']} {source['name']} {source['agent']}: "
            f"{source['successful']} of {source['episodes']} successful{disputed}"
        )
    for reason, count in Counter(manifest.excluded.values()).most_common():
        typer.echo(f"  {count} excluded: {reason}")
    statuses = Counter(known.get("status", "") for known in manifest.evidence.values())
    for status, meaning in STATUSES.items():
        if statuses[status]:
            typer.echo(f"  {statuses[status]} {status}: {meaning}")
    flags = Counter(flag for flags in manifest.flags.values() for flag in flags)
    for flag, count in sorted(flags.items()):
        typer.echo(f"  {count} flagged {flag}: {FLAGS.get(flag, '')}")
    _report_slices(manifest)


def _report_slices(manifest: MaskManifest) -> None:
    slices = [one for known in manifest.evidence.values() for one in known.get("slices", ())]
    if slices:
        kept, dropped = sum(len(one["kept"]) for one in slices), sum(len(one["dropped"]) for one in slices)
        unfinished = sum(not one["minimal"] for one in slices)
        typer.echo(
            f"  {len(slices)} traces sliced: {dropped} of {kept + dropped} calls not needed, "
            f"{sum(one['replays'] for one in slices)} replays, {unfinished} not minimal"
        )
