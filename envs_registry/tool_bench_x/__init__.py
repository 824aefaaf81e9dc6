"""ToolBench-X, paper 2's own data, which may not be passed on: a user brings it, or a tree in its layout.

Its tools, clean and perturbed, are Python that somebody's model wrote: they run in :mod:`toolenv.sandbox`.
``docs/tool-bench-x.md`` has the layout, ``docs/generation.md`` the pipeline that makes such trees.
"""

from envs_registry.tool_bench_x.suite import ToolBenchX

SUITE = ToolBenchX()

__all__ = ["SUITE", "ToolBenchX"]
