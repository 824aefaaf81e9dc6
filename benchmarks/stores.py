"""A run of a million episodes: storing, resuming, reporting and exporting it; time and peak memory.

``python -m benchmarks.stores [--episodes N] [--folder DIR]``. The episodes are those of the random agent on
BFCL, clean and masked, repeated under further trials until there are enough; token counts are made up.
Each command runs in a process of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import toolenv  # noqa: F401  (registers the ids)
from benchmarks.measured import CLI, Cost, cost_of
from toolenv.agents.registry import make_agent
from toolenv.rollout import Rollout
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job, RunConfig, plan
from toolenv.runner.shards import shard_paths
from toolenv.runner.store import RunStore, make_header
from toolenv.seeding import mix

ENVS = ("ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0")


def measure(episodes: int = 1_000_000, folder: Path | None = None) -> None:
    """Print a line for each command."""
    with tempfile.TemporaryDirectory() as temporary:
        run = (folder or Path(temporary)) / "run"
        filling = "from benchmarks.stores import fill; fill"
        _tell("store", cost_of(sys.executable, "-c", f"{filling}({str(run)!r}, {episodes})"))
        files = shard_paths(run)
        size = sum(path.stat().st_size for path in files)
        print(f"{episodes:,} episodes: {size / 1e9:.2f} GB in {len(files)} files")
        _tell("report", cost_of(*CLI, "report", run))
        again = cost_of(sys.executable, "-c", f"{filling}({str(run)!r}, {episodes}, resume=True)")
        _tell("resume, all done", again)
        for what, options in (("export", ()), ("export with traces", ("--traces",))):
            out = run.parent / "run.parquet"
            _tell(what, cost_of(*CLI, "export", run, "--out", out, *options))
            print(f"{out.stat().st_size / 1e6:.0f} MB of Parquet")


def _tell(what: str, cost: Cost) -> None:
    print(f"{what}: {cost}", flush=True)


def fill(folder: str, episodes: int, *, resume: bool = False) -> None:
    """Store so many episodes, or what is missing of them."""
    jobs, manifests = plan(RunConfig(ENVS, "random"))
    config = RunConfig(ENVS, "random", trials=-(-episodes // len(jobs)))
    planned = {env: config.trials * sum(job.env == env for job in jobs) for env in ENVS}
    header = make_header(config, make_agent("random"), manifests, planned)
    with RunStore(Path(folder), header, resume=resume) as store:
        if len(store.done) < episodes:
            for rollout in islice(_repeated(jobs), episodes):
                store.append(rollout)


def _repeated(jobs: Sequence[Job]) -> Iterator[Rollout]:
    played = list(run_jobs(jobs, make_agent("random"), {}))
    for trial in count():
        for one in played:
            seed = mix(one.episode.seed, trial) % 2**31
            episode = replace(one.episode, trial=trial, seed=seed)
            episode = replace(episode, input_tokens=1000 + seed % 9001, output_tokens=50 + seed % 997)
            yield Rollout(episode, replace(one.trace, seed=seed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    measure(given.episodes, given.folder)
