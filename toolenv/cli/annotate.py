"""``toolenv annotate``: people verify a sample of the labels."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

import envs_registry
from toolenv.cli import app
from toolenv.cli.env_ids import env_names, env_of
from toolenv.cli.output import console
from toolenv.cli.targets import check_targets
from toolenv.errors import UsageError
from toolenv.feasibility.annotation.answers import ADJUDICATION, annotators, answers_path
from toolenv.feasibility.annotation.draw import Frame, draw
from toolenv.feasibility.annotation.evidence import LabelEvidence, write_labels
from toolenv.feasibility.annotation.sample import Sample
from toolenv.feasibility.annotation.session import Session, adjudication, annotation
from toolenv.feasibility.annotation.verdict import Judged, read_judged
from toolenv.feasibility.manifest import MaskManifest
from toolenv.metrics.verification import Verification, verify
from toolenv.report.verification import render_verification, verification_to_json
from toolenv.source import make_source

annotate_app = typer.Typer(help="Let people verify a sample of the labels.", no_args_is_help=True)
app.add_typer(annotate_app, name="annotate")

SampleFile = Annotated[Path, typer.Argument(metavar="FILE", help="The sample; answers are kept beside it.")]
Names = Annotated[
    list[str] | None, typer.Option("--annotator", metavar="NAME", help="Who answers; a short name.")
]


@annotate_app.command()
def sample(
    envs: Annotated[
        list[str], typer.Argument(metavar="ENV…", help="Infeasible ids, or patterns of them; one a suite.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The sample file to write.")],
    confidence: Annotated[float, typer.Option(help="Confidence of the margin.")] = 0.95,
    margin: Annotated[float, typer.Option(help="Margin of error, half the width of the interval.")] = 0.05,
    share: Annotated[
        float, typer.Option("--p", help="Expected share of right labels; 0.5 asks for most.")
    ] = 0.5,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    subset: Annotated[str | None, typer.Option(help="Subset of every suite.")] = None,
    masks: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Mask manifests instead of the suites' own.")
    ] = None,
) -> None:
    """Draw the tasks that people verify.

    As many as Cochran's formula says, shared out over the suites in proportion.
    """
    check_targets({"--out": out}, masks or ())
    drawn = draw(_frames(envs, subset, masks or []), seed, confidence, margin, share)
    drawn.write(out)
    for stratum in drawn.strata:
        typer.echo(f"{stratum.suite}: {stratum.size} of {stratum.population:,} (masks {stratum.manifest})")
    total = sum(stratum.population for stratum in drawn.strata)
    typer.echo(f"{out}: {len(drawn.items)} of {total:,} tasks")


@annotate_app.command()
def answer(
    file: SampleFile,
    names: Names = None,
    adjudicate: Annotated[
        bool, typer.Option("--adjudicate", help="Settle what the annotators do not agree on.")
    ] = False,
    page: Annotated[bool, typer.Option("--page", help="Answer on a local page instead of here.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 0,
) -> None:
    """Answer the question of every drawn task. Stop at any time: the same command goes on."""
    with _session(file, names or [], adjudicate) as session:
        if page:
            _serve(session, port)
        else:
            _ask(session)
        typer.echo(f"{session.answered} of {len(session.items)} answered, kept in {session.log.path}")


@annotate_app.command()
def score(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Samples with answers beside them.")],
    names: Names = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the finding for: toolenv report --labels FILE")
    ] = None,
) -> None:
    """Print the annotators' agreement, and the labels' precision.

    Agreement is Cohen's κ and Gwet's AC1; precision has Wilson intervals.
    """
    samples = {file: Sample.read(file) for file in files}
    answers = (answers_path(file, name) for file in files for name in (*annotators(file), ADJUDICATION))
    check_targets({"--labels": labels}, (*files, *answers))
    verification = verify(_judged(samples, names or []))
    if labels is not None:
        write_labels(labels, _evidence(list(samples.values()), verification))
    if as_json:
        typer.echo(json.dumps(verification_to_json(verification), indent=1, allow_nan=False))
    else:
        console().print(render_verification(verification))


def _frames(envs: list[str], subset: str | None, masks: list[Path]) -> list[Frame]:
    by_suite: dict[str, Path] = {}
    for path in masks:
        suite = MaskManifest.read(path).suite
        if suite in by_suite:
            raise UsageError(f"--masks {by_suite[suite]} and {path} are both of suite {suite!r}; give one")
        by_suite[suite] = path
    names = [name for text in envs for name in env_names([text])]  # an id that is given twice is a mistake
    frames = [_frame(name, subset, by_suite) for name in names]
    unused = by_suite.keys() - {frame.source.suite.name for frame in frames}
    if unused:
        raise UsageError(f"--masks of suites without an environment: {', '.join(sorted(unused))}")
    return frames


def _frame(env: str, subset: str | None, masks: dict[str, Path]) -> Frame:
    env = env_of(env, "infeasible", "people verify “infeasible” labels")
    suite = envs_registry.get_suite(envs_registry.parse_env_id(env)["suite"])
    source = make_source(suite, "infeasible", subset=subset, masks=masks.get(suite.name))
    return Frame(env, subset or suite.default_subset, source)


def _session(file: Path, names: list[str], adjudicate: bool) -> AbstractContextManager[Session]:
    if adjudicate:
        return adjudication(file, names)
    if len(names) != 1:
        raise UsageError("give one --annotator NAME, or --adjudicate")
    return annotation(file, names[0])


def _ask(session: Session) -> None:
    from toolenv.feasibility.annotation.terminal import answer_in_terminal

    def ask() -> str:
        line: str = typer.prompt(session.name, prompt_suffix="> ")
        return line

    try:
        answer_in_terminal(session, ask, typer.echo)
    except typer.Abort:
        typer.echo()


def _serve(session: Session, port: int) -> None:
    from toolenv.feasibility.annotation.server import PageServer

    with PageServer(session, port) as server:
        typer.echo(f"Open {server.url} and end with Ctrl-C.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo()


def _judged(samples: dict[Path, Sample], names: list[str]) -> list[Judged]:
    """The items of all samples; the same two people must have answered each."""
    judged: list[Judged] = []
    seen: dict[tuple[str, ...], Path] = {}
    for file, one in samples.items():
        pair, items = read_judged(file, one, names)
        judged += items
        seen.setdefault(pair, file)
    if len(seen) > 1:
        pairs = "; ".join(f"{file} by {' and '.join(pair)}" for pair, file in seen.items())
        raise UsageError(f"samples are scored together where the same two people answered: {pairs}")
    for item, count in Counter(one.item.id for one in judged).items():
        if count > 1:
            raise UsageError(f"item {item!r} is in {count} of the samples; score them apart")
    return judged


def _evidence(samples: list[Sample], verification: Verification) -> dict[str, LabelEvidence]:
    precision = {group.name: group.precision for group in verification.suites}
    strata = [stratum for one in samples for stratum in one.strata]
    found: dict[str, LabelEvidence] = {}
    for stratum in strata:
        estimate = precision[stratum.suite]
        if estimate.withheld:
            raise UsageError(f"--labels: verdicts on suite {stratum.suite!r} are still open")
        if stratum.suite in found:
            raise UsageError(f"--labels: two samples of suite {stratum.suite!r}; score them apart")
        found[stratum.suite] = LabelEvidence(
            stratum.manifest,
            population=stratum.population,
            checked=estimate.n,
            confirmed=estimate.count or 0,
        )
    return found
