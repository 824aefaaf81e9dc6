"""Corrections of tasks by those who use them: upstream's ground truth is known to err (FIELD-063).

A file of corrections is ``{TASK_ID: {"instruction": …, "actions": […], "outputs": […]}}``; fields that are
left out stay upstream's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envs_registry.tau_bench.splits import SPLITS
from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError

FIELDS = ("instruction", "actions", "outputs")


def read_corrections(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The corrections in a file.

    Raises:
        DataMissingError: there is no such file.
        DataCorruptError: it is not of the form above.
        UnknownNameError: a task or a field that does not exist.
    """
    try:
        corrections = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataMissingError(f"no corrections at {path}") from error
    except ValueError as error:
        raise DataCorruptError(f"{path} is not JSON: {error}") from error
    if not isinstance(corrections, dict) or not all(isinstance(one, dict) for one in corrections.values()):
        raise DataCorruptError(f"{path}: expected {{TASK_ID: {{FIELD: …}}}}")
    known = {f"{split.name}_{index}" for split in SPLITS.values() for index in range(split.size)}
    for task_id, fields in corrections.items():
        if task_id not in known:
            raise UnknownNameError("task id", task_id, known, where=str(path))
        for field in fields:
            if field not in FIELDS:
                raise UnknownNameError("field", field, FIELDS, where=f"{path}, {task_id}")
    return corrections
