"""What labels files say of the runs of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import envs_registry
from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.annotation.evidence import LabelEvidence, read_labels
from toolenv.report.labels import LabelRow, label_rows
from toolenv.report.rows import Row
from toolenv.runner.reading import find_runs, read_episodes, read_header


def label_rows_of(folders: Sequence[Path], rows: Sequence[Row], files: Sequence[Path]) -> list[LabelRow]:
    """FCR over certified tasks and its range, for the envs whose suite the labels files speak of.

    Args:
        folders: run directories, or folders of them.
        rows: the table of these runs.
        files: labels files.

    Raises:
        DataError: a labels file that cannot be used.
        UsageError: labels of other masks than a run's, or of no suite that was run.
    """
    if not files:
        return []
    runs = find_runs(folders)
    evidence = _by_env(runs, read_labels(files))
    return label_rows(rows, (one for run in runs for one in read_episodes(run)), evidence)


def _by_env(runs: Sequence[Path], by_suite: Mapping[str, LabelEvidence]) -> dict[str, LabelEvidence]:
    found: dict[str, LabelEvidence] = {}
    for run in runs:
        for env, manifest in read_header(run)["manifests"].items():
            evidence = by_suite.get(_suite(env))
            if evidence is None:
                continue
            if evidence.manifest != manifest:
                raise UsageError(
                    f"{run}: {env} was run with the masks {manifest}, the labels are of {evidence.manifest}"
                )
            found[env] = evidence
    if not found:
        raise UsageError(f"--labels: no run is of suite {', '.join(sorted(by_suite)) or '(none named)'}")
    return found


def _suite(env: str) -> str:
    """The suite of an env id; runs of ids that this version does not have are of none we know."""
    try:
        return str(envs_registry.parse_env_id(env)["suite"])
    except UnknownNameError:
        return ""
