"""How fast masks are decided: states per second, masks per minute, and what forking a world costs.

``python -m benchmarks.certificates`` prints them for the tools of the reference solutions of BFCL
multi_turn_base, τ-bench, API-Bank and Workflows; ``--each`` also decides every masked tool alone, which shows
how many of them a task cannot do without (of Workflows, in every 20th task).
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli.certify import planner_of
from toolenv.feasibility.certificates.certify import Effort, certify_all, decide
from toolenv.feasibility.certificates.checker import check_file
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import Certificate, Certificates
from toolenv.feasibility.certificates.search import Bound
from toolenv.feasibility.certificates.settle import masked_tasks
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.suite import Suite
from toolenv.task import Task

SUBSETS = {"BFCL": "multi_turn_base", "TauBench": "default", "APIBank": "level-1", "Workflows": "default"}
EVERY = {"Workflows": 20}
AIM_MINUTES = 10.0
"""Issue 4: all default masks of the first two within this, on two cores."""


def main(report: Callable[[str], None] = print, each: bool = False) -> float:
    """Minutes for all default masks of all suites."""
    total = sum(measure(name, report) for name in SUBSETS)
    report(f"all default masks: {total:.2f} minutes (aim: under {AIM_MINUTES:.0f})")
    if each:
        for name in SUBSETS:
            single_tools(name, report)
    return total


def measure(name: str, report: Callable[[str], None]) -> float:
    """Decide, mend and check a suite's default masks; the minutes it took."""
    suite, planner, manifest, tasks = _load(name)
    effort, begin = Effort(), time.perf_counter()
    records = dict(certify_all(suite, planner, tasks, manifest, effort, lambda: False))
    decided = time.perf_counter()
    made = Certificates(
        name, manifest.subset, manifest.data, manifest.hash, planner.rules.version, effort.to_json(), records
    )
    wrong = [task for task, problem in check_file(made, suite, planner.rules, manifest) if problem]
    checked = time.perf_counter()
    states = sum(one.states for record in records.values() for one in record.certificates)
    searched = sum(one.states > 0 for record in records.values() for one in record.certificates)
    report(
        f"{name} {SUBSETS[name]}: {len(records)} masks in {decided - begin:.1f} s, "
        f"{60 * len(records) / (decided - begin):.0f} a minute; {searched} searched, {states} states, "
        f"{states / (decided - begin):.0f} a second; "
        f"checked in {checked - decided:.1f} s, {len(wrong)} wrong"
    )
    for status, count in sorted(Counter(record.status for record in records.values()).items()):
        report(f"  {count:4} {status}")
    _report_forks(suite, planner, tasks, report)
    return (checked - begin) / 60


def _report_forks(suite: Suite, planner: Planner, tasks: list[Task], report: Callable[[str], None]) -> None:
    """A fork of the world to search in, with a changing call in it, against a whole copy."""
    own = whole = 0.0
    count = 0
    for task in tasks[::10]:
        world, real = planner.start(task), suite.world(task, 0)
        for call in [one for action in task.reference.solution() for one in getattr(action, "calls", ())]:
            if call.name in planner.changing(task):
                begin = time.perf_counter()
                world.fork().call(call.name, call.arguments)
                own += time.perf_counter() - begin
                begin = time.perf_counter()
                real.fork()
                whole += time.perf_counter() - begin
                count += 1
    if count:
        report(
            f"  fork with a changing call {1e6 * own / count:.0f} µs, whole copy {1e6 * whole / count:.0f} µs"
        )


def single_tools(name: str, report: Callable[[str], None]) -> None:
    """Every masked tool alone: can the task be done without it?"""
    counts: Counter[str] = Counter()
    begin = time.perf_counter()
    for certificate in _single(name):
        how = certificate.claim.kind if certificate.claim is not None else certificate.kind or ""
        weight = certificate.criterion if certificate.answer != "unknown" else ""
        counts[f"{certificate.answer:10} {weight:8} {how}"] += 1
    report(f"{name}: {counts.total()} single tools in {time.perf_counter() - begin:.0f} s")
    for line, count in counts.most_common():
        report(f"  {count:4} {line}")


def _single(name: str) -> Iterator[Certificate]:
    suite, planner, manifest, tasks = _load(name)
    for task in tasks[:: EVERY.get(name, 1)]:
        for tool in manifest.masks[task.id]:
            yield decide(suite, planner, task.masked(frozenset({tool})), Bound(states=2000))


def _load(name: str) -> tuple[Suite, Planner, MaskManifest, list[Task]]:
    suite = envs_registry.get_suite(name)
    planner = planner_of(suite)
    assert planner is not None
    data = suite.masks(SUBSETS[name]).data
    manifest = reference_masks(suite, SUBSETS[name], make_agent("oracle"), data, "A benchmark.")
    return suite, planner, manifest, list(masked_tasks(suite, manifest))


if __name__ == "__main__":
    sys.exit(main(each="--each" in sys.argv[1:]) > AIM_MINUTES)
