"""StableToolBench: 765 solvable queries over 2,490 RapidAPI endpoints, answered by a virtual server.

The data set has no reference answers. Success here is a proxy, and every task says so by its flag
``proxy_judge`` (:mod:`envs_registry.stable_tool_bench.proxy`). The data set's own measure asks a language
model; it is run on stored episodes (:mod:`envs_registry.stable_tool_bench.sopr`).
"""

from envs_registry.stable_tool_bench.suite import StableToolBench

SUITE = StableToolBench()

__all__ = ["SUITE", "StableToolBench"]
