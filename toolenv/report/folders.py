"""Run directories as reports take them: the one way from what a run keeps to its tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolenv.errors import UsageError
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.arms import arm_of
from toolenv.report.build import Report, build_report, check_dimensions
from toolenv.report.collect import Run
from toolenv.runner.arms import BASELINE
from toolenv.runner.reading import find_runs, read_header, read_own_episodes


def report_of(folders: Iterable[Path], by: Iterable[str] = (), thresholds: Thresholds = MEDIANS) -> Report:
    """The report of run directories; arms of a study beside its baseline have a table of their own.

    Args:
        folders: run directories, or folders of them.
        by: what to group episodes by.
        thresholds: where failure behaviours part.

    Raises:
        StoreError: a folder that is no run directory, or cannot be read.
        UsageError: two runs repeat each other, or nothing that episodes can be grouped by.
    """
    dimensions = check_dimensions(by)
    runs = find_runs(list(folders))
    try:
        return build_report(
            (run_of(one) for one in runs if arm_of(read_header(one)) == BASELINE), dimensions, thresholds
        )
    except UsageError as error:
        compared = "; to compare two runs: toolenv compare DIR_A DIR_B" if len(runs) > 1 else ""
        raise UsageError(
            f"{error}; report runs that repeat each other apart: {', '.join(map(str, runs))}{compared}"
        ) from error


def run_of(folder: Path) -> Run:
    """A run directory as reports take it; its episodes are read when they are asked for."""
    told = bool(read_header(folder).get("privileged", False))
    return Run(read_own_episodes(folder), planned_of(folder), settings_of(folder), told)


def planned_of(folder: Path) -> dict[tuple[str, str], int]:
    """How many episodes a run was to have, by (env id, agent)."""
    header = read_header(folder)
    return {(env, header["agent"]): count for env, count in header["planned"].items()}


def settings_of(folder: Path) -> dict[str, Any]:
    """What runs must agree in to be pooled: the settings of their environments and of their agent."""
    config = read_header(folder)["config"]
    agent = {f"agent option {name}": value for name, value in config.get("agent_options", {}).items()}
    return {**config.get("env_options", {}), **agent}
