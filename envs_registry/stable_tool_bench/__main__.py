"""``python -m envs_registry.stable_tool_bench``: SoPR of stored runs, and coverage of recorded responses."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.coverage import coverage, covered_tasks
from envs_registry.stable_tool_bench.model_server import ModelServer
from envs_registry.stable_tool_bench.sopr import REPEATS, Judged, SoprJudge, judge_all, sopr
from envs_registry.stable_tool_bench.sources import sources_from_environment
from toolenv.errors import ToolEnvError, UnknownNameError
from toolenv.report.format import sentence
from toolenv.runner.reading import find_runs, read_rollouts

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.command("sopr")
def sopr_command(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR…", help="Run directories.")],
    model: Annotated[str, typer.Option(help="The judge, by its server's name.")],
    base_url: Annotated[str, typer.Option(help="The judge's server; default: OPENAI_BASE_URL.")] = "",
    repeats: Annotated[int, typer.Option(min=1, help="Judgements an episode.")] = REPEATS,
    temperature: Annotated[float, typer.Option(help="The judge's; below 0, its server's default.")] = 0.0,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes judged at once.")] = 8,
    out: Annotated[Path | None, typer.Option(help="A file for every judgement, JSON lines.")] = None,
) -> None:
    """Ask a model whether stored episodes solve their queries (SoPR)."""
    server = ModelServer(model, base_url, temperature=temperature if temperature >= 0 else None)
    queries = {task.id: task.messages[-1].content for task in SUITE.tasks("all")}
    rollouts = (one for folder in find_runs(folders) for one in read_rollouts(folder))
    own = (one for one in rollouts if one.trace.suite == SUITE.name)
    try:
        judged = list(
            judge_all(own, queries.__getitem__, SoprJudge(server, repeats), concurrency=concurrency)
        )
    finally:
        server.close()
    if out is not None:
        out.write_text("".join(map(_line, judged)), encoding="utf-8")
    _show(judged, model)


def _line(one: Judged) -> str:
    episode = one.rollout.episode
    record = {
        "env": episode.env,
        "agent": episode.agent,
        "task_id": episode.task_id,
        "trial": episode.trial,
        "score": one.score,
        "opinions": [
            {"status": opinion.status, "stage": opinion.stage, "reason": opinion.reason}
            for opinion in one.opinions
        ],
        "error": one.error,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _show(judged: Iterable[Judged], model: str) -> None:
    rows: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        rows.setdefault((one.rollout.episode.env, one.rollout.episode.agent), []).append(one)
    for (env, agent), members in sorted(rows.items()):
        estimate = sopr(members)
        failed = f", {estimate.excluded} left out: the judge failed" if estimate.excluded else ""
        typer.echo(f"{env}, {agent}: SoPR by {model} {sentence(estimate, 'rate')}{failed}")
    if not rows:
        typer.echo("no valid episode of StableToolBench on a feasible task is in these runs")


@app.command("coverage")
def coverage_command(
    subset: Annotated[str, typer.Option(help="Subset of the suite.")] = SUITE.default_subset,
    least: Annotated[
        float | None, typer.Option(help="Print the ids of tasks of at least this share instead.")
    ] = None,
) -> None:
    """Say how much of each query recorded responses and templates cover."""
    if subset not in SUITE.subsets:
        raise UnknownNameError("subset", subset, SUITE.subsets, where=f"suite {SUITE.name}")
    tasks, cache = SUITE.tasks(subset), sources_from_environment().cache
    if least is not None:
        typer.echo(",".join(covered_tasks(tasks, least, cache)))
        return
    found = [coverage(task, cache) for task in tasks]
    sources: Counter[str] = Counter()
    for one in found:
        sources.update(one.pool)
        listed = ", ".join(f"{count} {source}" for source, count in sorted(one.pool.items()))
        typer.echo(f"{one.task_id}: {one.share:.0%} ({listed}; {one.recorded_calls} recorded calls)")
    listed = ", ".join(f"{count} {source}" for source, count in sorted(sources.items()))
    typer.echo(f"{len(found)} queries, offered APIs by best source: {listed}")


if __name__ == "__main__":
    try:
        app()
    except ToolEnvError as error:
        typer.echo(f"toolenv: {error}", err=True)
        sys.exit(2)
