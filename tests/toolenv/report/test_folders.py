"""From run directories to reports."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from toolenv import Stop
from toolenv.errors import UsageError
from toolenv.report.folders import report_of
from toolenv.runner.plan import RunConfig
from toolenv.runner.saved import save_run

CONFIG = RunConfig(("ToolFeas/Workflows-clean-v0",), agent="stops", limit=2)


def test_two_runs_of_one_configuration_are_to_be_compared(tmp_path: Path) -> None:
    first = save_run(CONFIG, lambda observation: Stop("no"), tmp_path / "first")
    shutil.copytree(first, tmp_path / "second")
    with pytest.raises(UsageError) as refused:
        report_of([tmp_path])
    told = str(refused.value)
    assert "an episode stands twice" in told
    assert str(tmp_path / "second") in told
    assert told.endswith("to compare two runs: toolenv compare DIR_A DIR_B")
