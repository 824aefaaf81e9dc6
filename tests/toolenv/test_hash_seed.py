"""Nothing that is made or said depends on the order of a set, which the hash seed of the process decides."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.hash_seed import COMMANDS, TOLD
from tests.toolenv.feasibility.real_suites import real_source

SEEDS = ("0", "1")
ROOT = Path(__file__).parents[2]


def digests(folder: Path, seed: str) -> dict[str, str]:
    """What a process with this hash seed makes: path → sha256."""
    folder = folder / seed
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.support.hash_seed", str(folder)],
        env={**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "200"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in made}


@pytest.mark.slow
def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    for suite in ("BFCL", "TauBench", "APIBank", "StableToolBench"):
        real_source(suite)
    with ThreadPoolExecutor(2) as pool:
        first, other = pool.map(lambda seed: digests(tmp_path, seed), SEEDS)
    assert {f"{name}.txt" for name in (*COMMANDS, *TOLD)} < first.keys()
    assert [name for name in {**first, **other} if first.get(name) != other.get(name)] == []
