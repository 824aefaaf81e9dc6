"""What rows are pooled: the clean and the infeasible env of a suite, which FASS is defined over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolenv.metrics.env_names import parts_of
from toolenv.report.collect import Group, Pair, differing


def halves_of(groups: Mapping[Pair, Group]) -> list[list[Group]]:
    """The clean and the infeasible group of each suite, version and agent that was to have both."""
    halves: dict[tuple[str, int, str], list[Group]] = {}
    for (env, agent), group in sorted(groups.items()):
        suite, condition, version = parts_of(env)
        if condition in ("clean", "infeasible"):
            halves.setdefault((suite, version, agent), []).append(group)
    return [members for members in halves.values() if len(members) == 2]


def pools_of(halves: Sequence[list[Group]]) -> dict[Pair, list[Group]]:
    """What is pooled, by the pooled row's name and agent; not where the runs differ in their settings."""
    alike = [members for members in halves if not differing(members)]
    keys = [parts_of(members[0].env)[::2] for members in alike]
    versions = {suite: {version for one, version in keys if one == suite} for suite, _ in keys}
    pools: dict[Pair, list[Group]] = {}
    for (suite, version), members in zip(keys, alike, strict=True):
        mark = f", v{version}" if len(versions[suite]) > 1 else ""
        pools[f"{suite} (pooled{mark})", members[0].pair[1]] = members
    return pools
