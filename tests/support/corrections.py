"""Corrections files for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REASON, SOURCE = "dish is Korean", "https://github.com/ShishirPatil/gorilla/issues/1169"


def entry(action: str, gold: Any = None) -> dict[str, Any]:
    """One correction, with the reason of FIELD-094."""
    plain = {"action": action, "reason": REASON, "source": SOURCE}
    return plain if gold is None else {**plain, "gold": gold}


def write_corrections(path: Path, suite: str, corrections: Mapping[str, Any], /, **more: Any) -> Path:
    """The file, its fields given or replaced by ``more``."""
    content = {"version": 1, "suite": suite, "corrections": dict(corrections), **more}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
