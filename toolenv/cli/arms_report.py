"""The arms of studies among run directories, read and printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from toolenv.cli.output import console
from toolenv.report.arms import ArmRun, ArmsReport, arm_of, build_arms
from toolenv.report.arms_table import render_arms
from toolenv.runner.arms import BASELINE
from toolenv.runner.reading import find_runs, read_episodes, read_header, read_own_episodes


def arms_of(folders: Iterable[Path]) -> ArmsReport:
    """The studies among run directories; runs that are part of none are not read.

    Raises:
        StoreError: a folder that is no run directory, or cannot be read.
    """
    headers = {folder: read_header(folder) for folder in find_runs(list(folders))}
    studies = {one["baseline"]["config_hash"] for one in headers.values() if arm_of(one) != BASELINE}
    return build_arms(
        ArmRun(header, list(read_own_episodes(folder)))
        for folder, header in headers.items()
        if arm_of(header) != BASELINE or header.get("config_hash") in studies
    )


def show_arms(report: ArmsReport) -> None:
    """Print the arms of studies, where there are any."""
    if report.rows or report.notes:
        console().print(render_arms(report))


def arms_without_outcome(folders: Iterable[Path]) -> dict[str, Counter[str]]:
    """The agents' names in runs of arms, the baseline apart, that have episodes but no valid one.

    Returns:
        By that name, the invalid episodes by what decided them.
    """
    headers = {folder: read_header(folder) for folder in folders}
    return {
        str(header["agent"]): Counter(one.decided_by for one in read_episodes(folder))
        for folder, header in headers.items()
        if arm_of(header) != BASELINE
        and sum(header["planned"].values())
        and not any(one.valid for one in read_episodes(folder))
    }
