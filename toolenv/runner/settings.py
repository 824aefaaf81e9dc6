"""The settings of a policy, as a run keeps them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolenv.actions import shown
from toolenv.errors import RAISED, UsageError, words_of
from toolenv.runner.plan import described


def settings_of(policy: object) -> dict[str, Any]:
    """What ``policy.settings.to_json()`` says; nothing of a policy that has no such method.

    Raises:
        UsageError: it says nothing that a run can keep; names the policy and the setting.
    """
    to_json = getattr(getattr(policy, "settings", None), "to_json", None)
    if not callable(to_json):
        return {}
    where = f"policy {getattr(policy, 'name', type(policy).__name__)!r}: settings.to_json()"
    try:
        settings: object = to_json()
    except RAISED as error:
        raise UsageError(f"{where} raised {words_of(error)}") from error
    if not isinstance(settings, Mapping):
        raise UsageError(f"{where} returned {shown(settings)}, expected a dict")
    for name, value in settings.items():
        try:
            json.dumps({name: value}, allow_nan=False, default=described)
        except RAISED as error:
            told = f"{where} holds {name!r}: {shown(value)}, which is no JSON value ({words_of(error)})"
            raise UsageError(f"{told}; give None, or a text") from error
    return dict(settings)
