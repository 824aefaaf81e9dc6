"""``toolenv generate``: new tasks with hazards, made by a model and checked here (paper 2, §3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolenv.cli import app
from toolenv.cli.grouped import grouped
from toolenv.cli.output import console, progress
from toolenv.cli.stopped import Interrupted, ServerLost
from toolenv.errors import ServerError, UsageError
from toolenv.report.terminal import plain_table

if TYPE_CHECKING:
    from envs_registry.tool_bench_x.generation.asking import AskingSettings
    from envs_registry.tool_bench_x.generation.log import CandidateLog
    from envs_registry.tool_bench_x.generation.statistics import Statistics
    from envs_registry.tool_bench_x.generation.topics import Order
    from toolenv.model_server import ChatServer


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """What is asked for."""

    topics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help='{"TOPIC": ["SUBTOPIC", …]}; our 84 without it.'),
    ] = None
    rounds: Annotated[int, typer.Option(help="Candidates per workflow and subtopic, 1 to 5.")] = 1
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N candidates.")] = None
    seed: Annotated[int, typer.Option(min=0, help="Of hazards and sampling.")] = 0

    def orders(self) -> Sequence[Order]:
        """The candidates to make.

        Raises:
            ToolEnvError: topics that cannot be read, or a value that cannot be used.
        """
        from envs_registry.tool_bench_x.generation.topics import orders, own_topics, read_topics

        topics = own_topics() if self.topics is None else read_topics(self.topics)
        return orders(topics, self.rounds, self.seed)[: self.limit]


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How the model is asked."""

    attempts: Annotated[int, typer.Option(min=1, help="Answers asked for at each stage.")] = 3
    temperature: Annotated[float, typer.Option(help="Below 0: not sent.")] = 1.0
    max_tokens: Annotated[int, typer.Option(min=1, help="Cap on an answer.")] = 8_192
    timeout: Annotated[float, typer.Option(min=1, help="Seconds a request may take.")] = 600.0

    def settings(self, model: str) -> AskingSettings:
        """What the options say of a model."""
        from envs_registry.tool_bench_x.generation.asking import AskingSettings

        temperature = None if self.temperature < 0 else self.temperature
        return AskingSettings(model, self.attempts, temperature, self.max_tokens)


@app.command()
@grouped
def generate(
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="The server's name of the model.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", file_okay=False, help="Log and tree of what is made.")
    ],
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server.")] = None,
    *,
    wanted: OrderOptions,
    ask: AskOptions,
    concurrency: Annotated[int, typer.Option(min=1, help="Candidates at a time.")] = 4,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted generation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make tasks, tools and hazards with a model.

    The stages are topic, scenario, task, tools, hazard, checks.

    The code that the model writes is run in a sandbox alone. What passes every check is written as a tree in
    ToolBench-X's layout; what does not is counted by its reason. Play it with: toolenv run
    ToolFeas/ToolBenchX-hazard-v0 --suite-option folder=DIR.
    """
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise UsageError(f"--base-url {base_url}: give an address such as http://127.0.0.1:8000/v1")
    chosen, settings = wanted.orders(), ask.settings(model)
    server = _server(base_url, ask.timeout, is_new=not resume)
    found = _made(chosen, settings, wanted.seed, server, out, concurrency=concurrency, resume=resume)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=1))
    else:
        _show(found, out)


def _server(base_url: str | None, timeout: float, is_new: bool) -> ChatServer:
    """The model's server; one that is absent, and a machine without walls, are told before any work."""
    from toolenv.agents.preflight import listed_models
    from toolenv.model_server import ChatServer
    from toolenv.sandbox import Worker

    Worker("").close()
    server = ChatServer(base_url=base_url, timeout=timeout)
    if is_new:
        listed_models(server)
    return server


def _made(
    chosen: Sequence[Order],
    settings: AskingSettings,
    seed: int,
    server: ChatServer,
    out: Path,
    *,
    concurrency: int,
    resume: bool,
) -> Statistics:
    """Make the candidates that are not in the log yet, and count them all."""
    from envs_registry.tool_bench_x.generation.log import CandidateLog
    from envs_registry.tool_bench_x.generation.running import generate, header
    from envs_registry.tool_bench_x.generation.statistics import statistics

    with CandidateLog(out, header(chosen, settings, seed), resume=resume) as log:
        _drain(generate(chosen, server, settings, log, concurrency), log, len(chosen))
        return statistics(log.candidates)


def _drain(made: Iterable[object], log: CandidateLog, planned: int) -> None:
    """Make all candidates; what stops before the end says how many are kept."""
    with progress("generate", planned, len(log.candidates)) as advance:
        try:
            for _ in made:
                advance()
        except KeyboardInterrupt:
            raise Interrupted(f"{len(log.candidates)} candidates are kept in {log.folder}") from None
        except ServerError as error:
            kept = f"{len(log.candidates)} of {planned} candidates are kept in {log.folder}"
            raise ServerLost(f"{error}; {kept}") from error


def _show(found: Statistics, out: Path) -> None:
    from envs_registry.tool_bench_x.generation.reasons import REASONS

    table = plain_table("Candidates")
    table.add_column("candidates")
    for head in ("n", "of"):
        table.add_column(head, justify="right")
    table.add_row("made", str(found.raw), "")
    table.add_row("passed the screening", str(found.screened), str(found.raw))
    for title, rate in (
        ("recovery path checked and right", found.recoverable),
        ("no leakage found", found.leakless),
        ("retained", found.retained),
    ):
        table.add_row(title, str(rate.count or 0), str(rate.n))
    console().print(table)
    for reason, count in found.reasons.items():
        typer.echo(f"  {count} rejected, {reason}: {REASONS[reason]}")
    for name, counts in found.retained_by.items():
        for value, count in counts.items():
            typer.echo(f"  {count} retained, {name}: {value}")
    used = found.usage
    tokens = f"{used.input_tokens:,} + {used.output_tokens:,}" if used.known else "unknown"
    typer.echo(f"{found.answers} answers, {found.unreadable} of them unusable; tokens in and out: {tokens}")
    typer.echo(f"Tree and log: {out}")
