"""How perturbed tools are switched on: the conventions of upstream's modules.

A module reads ``INJECTION_CONFIG_JSON``, ``INJECTION_PROFILE`` and ``FAIL_SEED`` when it is loaded, and the
user's words from ``USER_PROMPT``; one with ``set_injection_config`` and the two profiles is given the strict
one. Upstream gives the milder profile to the arm that is hinted; here every arm meets the strict one, so that
a hint is all that differs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from envs_registry.tool_bench_x.compartment import Module

FAIL_SEED = 7
"""The seed of upstream's published runs."""

STRICT = "strict_no_hint_profile"
ARM = "_toolenv_arm"


def _failpoint(probability: float, exception: str, drift: str | None = None) -> dict[str, Any]:
    return {
        "enabled": True,
        "probability": probability,
        "max_times": 1,
        "exception_type": exception,
        "drift_mode": drift,
    }


DEFAULTS: Mapping[str, Any] = {
    "before_tool_logic": _failpoint(1.0, "RuntimeError"),
    "before_external_call": _failpoint(0.5, "TimeoutError"),
    "after_external_call_before_parse": _failpoint(0.3, "ValueError", "shape_drift"),
    "before_return": _failpoint(0.25, "RuntimeError", "rename_fields"),
}
"""Upstream's failpoints for modules without profiles of their own."""

# Runs in the module's own namespace, behind its text.
_ARMING = f"""


def {ARM}(prompt):
    names = globals()
    if "_USER_PROMPT" in names:
        names["_USER_PROMPT"] = prompt
    profiles = {{name: names.get(name) for name in ("{STRICT}", "guided_with_hint_profile")}}
    are_there = all(isinstance(one, dict) for one in profiles.values())
    if callable(names.get("set_injection_config")) and are_there:
        config = {{"profile": "{STRICT}", "profile_name": "{STRICT}", "profiles": profiles}}
        names["set_injection_config"](config)
"""


def clean_module(source: str, name: str, prompt: str) -> Module:
    """A task's clean tools."""
    return Module(source, name, {"USER_PROMPT": prompt})


def perturbed_module(source: str, name: str, prompt: str, seed: int = FAIL_SEED) -> Module:
    """A task's perturbed tools, armed."""
    environment = {
        "USER_PROMPT": prompt,
        "INJECTION_USER_PROMPT": prompt,
        "FAIL_SEED": str(seed),
        "INJECTION_PROFILE": STRICT,
        "INJECTION_CONFIG_JSON": json.dumps(DEFAULTS),
    }
    return Module(source + _ARMING, name, environment, ((ARM, {"prompt": prompt}),))
