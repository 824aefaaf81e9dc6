"""Why a candidate is rejected: one vocabulary for logs and tables."""

from __future__ import annotations

from collections.abc import Mapping

from toolenv.sandbox import CAUSES

REASONS: Mapping[str, str] = {
    "unreadable-scenario": "the model gave no scenario in the form asked for",
    "unreadable-task": "the model gave no task in the form asked for",
    "unreadable-tools": "the model gave no tools in the form asked for",
    "unreadable-hazard": "the model gave no perturbed tools in the form asked for",
    "task": "two tools have one name, or the request asks nothing",
    "duplicate": "the same request as another task's",
    "tools-do-not-load": "the tools are no module that loads and returns JSON",
    "tools-missing": "a tool of the task is not in the module",
    "clean-path": "the reference path fails or does not give the answer",
    "not-deterministic": "the same calls give different results",
    "workflow": "the calls depend on each other in another way than the workflow says",
    "hazard-does-not-fit": "the model says of each hazard tried that it does not fit",
    "perturbed-do-not-load": "the perturbed tools are no module that loads and returns JSON",
    "hazard-redocuments": "the hazard changes what is documented",
    "hazard-harmless": "the hazard does not show on the reference path",
    "recovery-path": "the recovery path fails, meets no hazard or does not give the answer",
    "leak": "the answer stands in what an agent is given beside results",
    **{f"stopped-{cause}": f"the sandbox stopped a tool: {words}" for cause, words in CAUSES.items()},
}
"""Every reason, in words."""

SCREENING = frozenset(
    {
        "unreadable-scenario",
        "unreadable-task",
        "unreadable-tools",
        "task",
        "duplicate",
        "tools-do-not-load",
        "tools-missing",
        "clean-path",
        "not-deterministic",
        "workflow",
    }
)
"""The reasons of the preliminary screening (paper 2, appendix, candidate-instance statistics)."""


class Rejected(Exception):
    """A candidate that is no good.

    Args:
        reason: one of :data:`REASONS`.
        detail: what was found.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        assert reason in REASONS, reason
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail[:500]
