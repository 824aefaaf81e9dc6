"""What labels files say of the runs of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import envs_registry
from toolenv.errors import ToolEnvError, UnknownNameError, UsageError
from toolenv.facts.exposure import UNARMED
from toolenv.feasibility.annotation.evidence import LabelEvidence, evidence_of, read_labels
from toolenv.masks import manifest_for
from toolenv.report.labels import LabelRow, label_rows
from toolenv.report.rows import Row
from toolenv.runner.reading import find_runs, read_episodes, read_header
from toolenv.suite import Configurable, Generated, configured


def label_rows_of(folders: Sequence[Path], rows: Sequence[Row], files: Sequence[Path]) -> list[LabelRow]:
    """FCR over certified tasks and its range, for the envs of whose labels something is proven.

    That is what labels files say; without any, what the mask manifests of the runs themselves say.

    Args:
        folders: run directories, or folders of them.
        rows: the table of these runs.
        files: labels files; with none, runs without a task that is certified have no row, nor have those of
            masks that are not at hand.

    Raises:
        DataError: a labels file that cannot be used.
        UsageError: labels of other masks than a run's, or of no suite that was run.
    """
    runs = find_runs(folders)
    evidence = _by_env(runs, read_labels(files)) if files else _of_manifests(runs)
    if not evidence:
        return []
    found = label_rows(rows, (one for run in runs for one in read_episodes(run)), evidence)
    return found if files else [row for row in found if row.certified.n]


def _by_env(runs: Sequence[Path], by_suite: Mapping[str, LabelEvidence]) -> dict[str, LabelEvidence]:
    found: dict[str, LabelEvidence] = {}
    for run in runs:
        for env, manifest in read_header(run)["manifests"].items():
            suite, condition = _parsed(env)
            evidence = by_suite.get(suite)
            if evidence is None or condition not in UNARMED:  # the manifest of the others is of hazards
                continue
            if evidence.manifest != manifest:
                raise UsageError(
                    f"{run}: {env} was run with the masks {manifest}, the labels are of {evidence.manifest}"
                )
            found[env] = evidence
    if not found:
        raise UsageError(f"--labels: no run is of suite {', '.join(sorted(by_suite)) or '(none named)'}")
    return found


def _of_manifests(runs: Sequence[Path]) -> dict[str, LabelEvidence]:
    """What the manifests say that the runs were made with, as far as they are at hand unchanged."""
    found: dict[str, LabelEvidence] = {}
    for run in runs:
        header = read_header(run)
        for env, manifest in header["manifests"].items():
            evidence = _of_manifest(env, header["config"].get("env_options", {}))
            if evidence is not None and evidence.manifest == manifest:
                found[env] = evidence
    return {env: one for env, one in found.items() if "infeasible" in one.status.values()}


def _of_manifest(env: str, options: Mapping[str, Any]) -> LabelEvidence | None:
    try:
        suite = envs_registry.get_suite(envs_registry.parse_env_id(env)["suite"])
        known = suite.options if isinstance(suite, Configurable) else ()
        suite = configured(suite, {name: value for name, value in options.items() if name in known})
        subset = options.get("subset") or suite.default_subset
        if isinstance(suite, Generated) and subset in suite.on_demand:
            return None
        return evidence_of(manifest_for(suite, subset, options.get("masks")))
    except (ToolEnvError, KeyError, TypeError):
        return None


def _parsed(env: str) -> tuple[str, str]:
    """Suite and condition of an env id; runs of ids that this version does not have are of none we know."""
    try:
        parsed = envs_registry.parse_env_id(env)
    except UnknownNameError:
        return "", ""
    return str(parsed["suite"]), str(parsed["condition"])
