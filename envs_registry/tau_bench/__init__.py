"""τ-bench v1: retail and airline service desks over a database, with a policy to keep.

See ``docs/tau-bench.md`` for what is scored and how.
"""

from envs_registry.tau_bench.suite import TauBench

SUITE = TauBench()

__all__ = ["SUITE", "TauBench"]
