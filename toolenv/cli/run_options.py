"""The options of ``toolenv run`` that say which episodes are run, by whom, and where they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from toolenv.cli.execute import folder_path
from toolenv.cli.task_options import Limit, Tasks, task_ids
from toolenv.runner.plan import RunConfig

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print JSON, as toolenv report does; nothing else on stdout.")
]
Agents: TypeAlias = Annotated[
    list[str],
    typer.Option("--agent", metavar="SPEC", help="oracle, chat:MODEL, module:attribute, …; may be repeated."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", parser=folder_path, help="Run directory; by default runs/AGENT-HASH."
    ),
]
Resume: TypeAlias = Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")]


@dataclass(frozen=True, slots=True)
class Episodes:
    """Which episodes of the environments."""

    tasks: Tasks = None
    limit: Limit = None
    trials: Annotated[int, typer.Option(help="Repetitions of each task.")] = 1
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0

    def config(
        self,
        envs: tuple[str, ...],
        agent: str,
        env_options: Mapping[str, Any],
        agent_options: Mapping[str, Any],
    ) -> RunConfig:
        """The run of an agent in environments.

        Raises:
            UsageError: a value that cannot be used.
        """
        return RunConfig(
            envs,
            agent,
            env_options,
            agent_options,
            tasks=task_ids(self.tasks),
            limit=self.limit,
            trials=self.trials,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True)
class ArmOptions:
    """The arms of a study."""

    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="ARM",
            help="baseline, tts, hint or oracle; may be repeated. A run directory each, below --out.",
        ),
    ] = None
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=folder_path,
            help="The baseline run that --arm tts and hint go on from, where it is not run here.",
        ),
    ] = None
