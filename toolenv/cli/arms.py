"""``toolenv run --arm``: the arms of a study, a run directory each (see :mod:`toolenv.runner.arms`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolenv.cli.execute import Prepared, agent_of, check_apart, execute_all, folder_name, prepare
from toolenv.cli.rescore import check_unedited
from toolenv.cli.stopped import naming
from toolenv.errors import StoreError, UsageError
from toolenv.runner.arms import ARMS, BASELINE, CONTINUING, arm_named, as_arm, check_has_arms
from toolenv.runner.baseline import Baseline
from toolenv.runner.plan import RunConfig, origins, plan, source_of
from toolenv.runner.reading import RUN_FILE, find_runs, read_header
from toolenv.runner.select import HERE, Workplace
from toolenv.runner.store import difference, finished, has_begun, make_header


@dataclass(frozen=True, slots=True)
class Study:
    """One agent in one environment, in several arms.

    Attributes:
        configs: the run of each arm asked for, and of the baseline.
        folders: the run directory of each.
    """

    configs: dict[str, RunConfig]
    folders: dict[str, Path]


def run_arms(
    configs: Sequence[RunConfig],
    arms: Iterable[str],
    out: Path | None,
    *,
    baseline: Path | None = None,
    resume: bool = False,
    place: Workplace = HERE,
) -> tuple[list[Path], list[Path]]:
    """Run the arms of studies.

    Args:
        configs: the baseline run of each agent in each environment.
        arms: the arms to run.
        out: the folder that the run directories are made in; ``None`` for one named after the run.
        baseline: a folder that holds the baseline runs, where they are not run here.
        resume: go on with what is there.
        place: where episodes are played.

    Returns:
        The folders of the runs, arm by arm; and those of the baselines that are not among them.

    Raises:
        ToolEnvError: bad input, found before the first episode.
    """
    wanted = _wanted(arms, baseline)
    studies = [_study(config, wanted, out, len(configs) > 1) for config in configs]
    first = [
        prepare(study.configs[arm], study.folders[arm], resume=resume, place=place)
        for arm in wanted
        if arm not in CONTINUING
        for study in studies
    ]
    check_apart(first)
    going_on = [arm for arm in wanted if arm in CONTINUING]
    if BASELINE not in wanted:
        found = _baselines(studies, going_on, baseline)
        runs = first + _continuing(studies, going_on, found, resume, place)
        return execute_all(runs, place), [one.folder for one in found]
    return _with_baselines(studies, first, going_on, resume, place), []


def _wanted(arms: Iterable[str], baseline: Path | None) -> list[str]:
    """The arms to run, in the order of a study's table."""
    wanted = [arm for arm in ARMS if arm in {arm_named(one) for one in arms}]
    if baseline is not None and BASELINE in wanted:
        raise UsageError(f"--baseline {baseline}: --arm baseline runs it here; give one of both")
    return wanted


def _with_baselines(
    studies: Sequence[Study], first: Sequence[Prepared], arms: Sequence[str], resume: bool, place: Workplace
) -> list[Path]:
    """Run the baselines and what needs none of them, then the arms that go on from the baselines."""
    for study in studies:
        for arm in arms:
            _check_may_hold(study.folders[arm], study.configs[arm], resume)
    folders = execute_all(first, place)
    with naming(folders):
        made = [Baseline(study.folders[BASELINE]) for study in studies] if arms else []
        runs = _continuing(studies, arms, made, resume, place)
    return folders + execute_all(runs, place, folders)


def _continuing(
    studies: Sequence[Study],
    arms: Sequence[str],
    baselines: Sequence[Baseline],
    resume: bool,
    place: Workplace,
) -> list[Prepared]:
    runs = [
        prepare(study.configs[arm], study.folders[arm], resume=resume, baseline=base, place=place)
        for arm in arms
        for study, base in zip(studies, baselines, strict=True)
    ]
    for one in baselines:  # what it says decides which episodes go on
        check_unedited(one.folder)
    return runs


def _study(config: RunConfig, arms: Sequence[str], out: Path | None, several: bool) -> Study:
    (env_id,) = config.envs
    source = source_of(env_id, config.make_options)
    for arm in arms:
        check_has_arms(env_id, source, arm)
    configs = {arm: as_arm(config, arm, source) for arm in dict.fromkeys((BASELINE, *arms))}
    return Study(configs, {arm: _folder(one, config, out, several) for arm, one in configs.items()})


def _folder(arm: RunConfig, config: RunConfig, out: Path | None, several: bool) -> Path:
    """Where the run of an arm goes; the baseline where it would go without ``--arm``, if that has a name."""
    agent, env = folder_name(config.agent), folder_name(config.envs[0].rpartition("/")[2])
    if out is not None:
        return out / ("-".join((env, agent, arm.arm)) if several else arm.arm)
    return Path("runs") / "-".join((agent, *(() if arm.arm == BASELINE else (arm.arm,)), arm.hash))


def _check_may_hold(folder: Path, config: RunConfig, resume: bool) -> None:
    """What is in a folder can be compared whole only when the baseline is there; whose it is, before."""
    if not (folder / RUN_FILE).exists() or not (resume or has_begun(folder)):
        return
    if not resume:
        raise StoreError(
            f"{folder} already holds a run; add --resume to go on with it, or give another --out"
        )
    there = read_header(folder).get("config_hash")
    if there != config.hash:
        raise StoreError(
            f"{folder} holds another run: its configuration is {there} and that of this one {config.hash}; "
            "give another --out"
        )


def _baselines(studies: Sequence[Study], arms: Sequence[str], given: Path | None) -> list[Baseline]:
    """The baseline of each study, from ``given`` or from where it is when it is run here."""
    if not arms and given is not None:
        raise UsageError(
            f"--baseline {given}: only the arms {' and '.join(CONTINUING)} go on from a baseline"
        )
    return [_baseline(study, arms[0], given) for study in studies] if arms else []


def _baseline(study: Study, arm: str, given: Path | None) -> Baseline:
    here = study.folders[BASELINE]
    if given is None and not (here / RUN_FILE).exists():
        raise UsageError(
            f"--arm {arm} goes on from the failed episodes of a baseline run, and there is none in {here}: "
            "add --arm baseline, or give --baseline DIR"
        )
    config = study.configs[BASELINE]
    runs = [here] if given is None else find_runs([given])
    folder = next((one for one in runs if read_header(one).get("config_hash") == config.hash), runs[0])
    expected = _expected(config)
    problem = difference(read_header(folder), expected)
    if problem:
        raise UsageError(f"{folder} is not the baseline of this run: {problem}")
    finished(folder, expected, resume=True)  # of another version, it says so
    return Baseline(folder)


def _expected(config: RunConfig) -> dict[str, Any]:
    """What ``run.json`` of a baseline says."""
    policy = agent_of(config)
    jobs, manifests = plan(config)
    return make_header(config, policy, manifests, Counter(job.env for job in jobs), origins(config))
