"""vLLM in a virtual environment of its own, since it pins much: where it is, and its server on loopback.

``make test`` builds it as ``.venv-vllm`` (a build of vLLM for CPUs; users install ``vllm``).
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.real_model import CHAT_TEMPLATE, MODEL, RealServer, wait_until_healthy

ROOT = Path(__file__).parent.parent.parent
PYTHON = Path(os.environ.get("TOOLENV_VLLM_PYTHON") or ROOT / ".venv-vllm" / "bin" / "python")
START_SECONDS = 300.0
CONTEXT = 2048
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "OMP_NUM_THREADS": "1",
}


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """The interpreter of vLLM's virtual environment."""
    if not PYTHON.exists():
        pytest.skip(f"no vLLM at {PYTHON}: make .venv-vllm/.installed, or set TOOLENV_VLLM_PYTHON")
    return PYTHON


@contextmanager
def serve_vllm(python: Path, folder: Path, log_path: Path) -> Iterator[RealServer]:
    """Serve a checkpoint with vLLM's own server on a free port of 127.0.0.1 until the block ends.

    Raises:
        RuntimeError: it did not become ready; the message ends with the log's last lines.
    """
    template = log_path.with_suffix(".jinja")
    template.write_text(CHAT_TEMPLATE)
    port = _free_port()
    command = [
        *(str(python), "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)),
        *("--served-model-name", MODEL, "--host", "127.0.0.1", "--port", str(port)),
        *("--dtype", "float32", "--max-model-len", str(CONTEXT), "--max-num-seqs", "16", "--enforce-eager"),
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes", "--chat-template", str(template)),
    ]
    environment = {**os.environ, **ENVIRONMENT}
    with (
        log_path.open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=log_path.parent) as process,
    ):
        try:
            deadline = time.monotonic() + START_SECONDS
            wait_until_healthy(f"http://127.0.0.1:{port}/health", log_path, deadline, process)
            yield RealServer(f"http://127.0.0.1:{port}/v1", MODEL, CONTEXT, log_path)
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
