from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.toolenv.cli.command import Command, Ended
from toolenv.cli import main


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder commands run in; empty at first."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def toolenv(
    place: Path, bfcl_package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command line in this process, on BFCL's real data."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def command(*arguments: object) -> Ended:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["toolenv", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())

    return command
