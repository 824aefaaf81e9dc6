"""vLLM's engine core is killed in the midst of a run, as the out-of-memory killer does it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.real_model import CHAT_TEMPLATE
from tests.support.vllm_venv import CONTEXT, ENVIRONMENT, ROOT
from tests.toolenv.cli.command import CODE, wait_for_episodes
from toolenv.runner.reading import read_rollouts

pytestmark = [pytest.mark.real_model, pytest.mark.slow]


def engine_core(parent: int) -> int:
    """The process in which vLLM's engine works, by the name that it gives itself."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:  # it has ended meanwhile
            continue
        if lines["PPid"] == str(parent) and "Engine" in lines["Name"]:
            return int(lines["Pid"])
    raise AssertionError(f"process {parent} has no engine")


def test_the_run_ends_at_once_and_says_why(
    vllm_python: Path, real_folder: Path, bfcl_package: Path, tmp_path: Path
) -> None:
    template = tmp_path / "hermes.jinja"
    template.write_text(CHAT_TEMPLATE)
    options = (
        "dtype=float32",
        f"max_model_len={CONTEXT}",
        f"chat_template={template}",
        "max_tokens=12",
        "temperature=0.8",
    )
    engine = 'engine={"enforce_eager": true, "max_num_seqs": 16}'
    run = ["run", "ToolFeas/BFCL-clean-v0", "--limit", "60", "--max-turns", "2", "--concurrency", "8"]
    run += ["--agent", f"vllm:{real_folder}", "--out", str(tmp_path / "out")]
    given = [part for one in (*options, engine) for part in ("--agent-option", one)]
    with subprocess.Popen(
        [str(vllm_python), "-c", CODE, *run, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        cwd=ROOT,
    ) as running:
        assert wait_for_episodes(running, tmp_path, "out", 0)
        os.kill(engine_core(running.pid), signal.SIGKILL)
        _, err = running.communicate(timeout=120)
    assert running.returncode == 2, err
    assert "met a failed server" in err
    assert "ChildProcessError: a process of the engine has ended: EngineCore (exit code -9)" in err
    kept = list(read_rollouts(tmp_path / "out"))
    assert {one.episode.decided_by for one in kept if not one.episode.valid} == {"server_error"}
    assert any(one.episode.valid for one in kept)
