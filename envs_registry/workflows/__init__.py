"""Workflows: our own tasks, generated, with nothing to fetch.

See ``docs/workflows.md`` for how tasks are made and judged, and :mod:`envs_registry.workflows.blueprint`
for what is known about each.
"""

from envs_registry.workflows.suite import Workflows

SUITE = Workflows()

__all__ = ["SUITE", "Workflows"]
