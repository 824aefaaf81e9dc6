"""BFCL: tasks of the Berkeley Function Calling Leaderboard v4, read from the ``bfcl-eval`` wheel.

See ``docs/bfcl.md`` for what is scored and how.
"""

from envs_registry.bfcl.suite import BFCL

SUITE = BFCL()

__all__ = ["BFCL", "SUITE"]
