"""StableToolBench: 765 solvable queries over 2,490 RapidAPI endpoints, answered by a virtual server.

The data set has no reference answers. Success here is a proxy, :mod:`envs_registry.stable_tool_bench.proxy`,
and every task says so by its flag ``proxy_judge``; the data set's own measure, which asks a language model, is
:mod:`envs_registry.stable_tool_bench.sopr`, run on stored episodes.
"""

from envs_registry.stable_tool_bench.suite import StableToolBench

SUITE = StableToolBench()

__all__ = ["SUITE", "StableToolBench"]
