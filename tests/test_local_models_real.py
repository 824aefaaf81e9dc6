"""One small real model on the same ten tasks: in vLLM's server, and in two engines in the process.

Its skill is not asserted. Asserted is that every episode is valid, that tokens are those the server or engine
counted itself, and that the ways agree where they must. ``test_real_model.py`` asks llama.cpp's server.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_model import CHAT_TEMPLATE, RealServer
from tests.support.recording_proxy import DIRECT, recording, run_tokens, said_tokens
from tests.support.vllm_venv import CONTEXT, ENVIRONMENT, ROOT, serve_vllm
from toolenv.facts.roles import role_usage
from toolenv.rollout import Rollout
from toolenv.runner.reading import read_rollouts

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

TASKS = "multiple_0,multiple_1,multiple_2,multiple_3,live_multiple_0-0-0"
RUN = (
    *("run", "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0", "--tasks", TASKS),
    *("--max-turns", "2", "--concurrency", "10", "--agent-option", "max_tokens=12"),
)
"""Five tasks as they are, and with the tools that they need taken away."""

LOCAL = ("--agent-option", "dtype=float32", "--agent-option", f"max_model_len={CONTEXT}")
SMALL_ENGINE = (
    "--agent-option",
    'engine={"enforce_eager": true, "max_num_seqs": 16, "disable_log_stats": false}',
)


def command(
    out: Path, *arguments: str, python: str | Path = sys.executable, counts: Path | None = None
) -> None:
    """Run the command line; under ``counts``, with what the engine counts written there."""
    plain = ["-c", "from toolenv.cli import main; main()"]
    program = ["-m", "tests.support.counted_run", str(counts)] if counts else plain
    environment = {**os.environ, **ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    done = subprocess.run(
        [str(python), *program, *RUN, *arguments, "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        cwd=ROOT,
        check=False,
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr[-3000:]


def ten_valid(out: Path) -> dict[tuple[Any, ...], Rollout]:
    """The episodes of a run by their keys, each valid and with tokens that are counts and no estimates."""
    rollouts = {one.episode.key: one for one in read_rollouts(out)}
    assert len(rollouts) == 10
    for one in rollouts.values():
        assert one.episode.valid, one.episode.error
        assert one.trace.usage.known
        assert not one.trace.usage.estimated
    return rollouts


def tokens(rollouts: dict[tuple[Any, ...], Rollout]) -> list[int]:
    usages = [one.trace.usage for one in rollouts.values()]
    return [sum(one.input_tokens or 0 for one in usages), sum(one.output_tokens or 0 for one in usages)]


def decisions(rollouts: dict[tuple[Any, ...], Rollout]) -> int:
    return sum(one.trace.usage.generations for one in rollouts.values())


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chat template of the servers, for the engines."""
    file = tmp_path_factory.mktemp("template") / "hermes.jinja"
    file.write_text(CHAT_TEMPLATE)
    return file


@pytest.fixture(scope="module")
def transformers_run(
    real_folder: Path, bfcl_package: Path, template: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[Any, ...], Rollout]:
    """The ten tasks with ``transformers:``, its tokens compared with what went through the model."""
    folder = tmp_path_factory.mktemp("transformers")
    own = ("--agent-option", f"chat_template={template}", "--agent-option", "device=cpu")
    command(
        folder / "run", "--agent", f"transformers:{real_folder}", *LOCAL, *own, counts=folder / "counts.json"
    )
    rollouts, counts = ten_valid(folder / "run"), json.loads((folder / "counts.json").read_text())
    spent = tokens(rollouts)
    assert [spent[0] + counts["preflight"][0], spent[1] + counts["preflight"][1]] == [
        counts["input"],
        counts["output"],
    ]
    assert counts["requests"] == decisions(rollouts) + 1
    assert counts["batches"] == 1 + 2, "one for the preflight, one for each turn of the ten"
    return rollouts


@pytest.fixture(scope="module")
def vllm_server(
    vllm_python: Path, real_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealServer]:
    with serve_vllm(vllm_python, real_folder, tmp_path_factory.mktemp("vllm") / "server.log") as server:
        yield server


def test_transformers(transformers_run: dict[tuple[Any, ...], Rollout]) -> None:
    assert min(one.trace.usage.input_tokens or 0 for one in transformers_run.values()) > 200


def metrics(server: RealServer) -> list[int]:
    """The tokens that vLLM's server has read and written since its start, by its own counters."""
    with DIRECT.open(server.base_url.removesuffix("/v1") + "/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    names = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
    return [
        sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(f"{name}{{"))
        for name in names
    ]


def test_chat_on_vllm(
    vllm_server: RealServer,
    bfcl_package: Path,
    transformers_run: dict[tuple[Any, ...], Rollout],
    tmp_path: Path,
) -> None:
    before = metrics(vllm_server)
    with recording(vllm_server.base_url) as proxy:
        agent = ("--agent", f"chat:{vllm_server.model}", "--base-url", proxy.base_url)
        command(tmp_path / "run", *agent)
        preflight, *said = proxy.usages
    rollouts = ten_valid(tmp_path / "run")
    assert sorted(said_tokens(said)) == sorted(run_tokens(rollouts.values()))
    spent = [now - then for now, then in zip(metrics(vllm_server), before, strict=True)]
    own = tokens(rollouts)
    assert spent == [own[0] + preflight["prompt_tokens"], own[1] + preflight["completion_tokens"]]
    first = {key: one.trace.steps[0].action.usage for key, one in rollouts.items()}
    ours = {key: one.trace.steps[0].action.usage for key, one in transformers_run.items()}
    assert {key: usage and usage.input_tokens for key, usage in first.items()} == {
        key: usage and usage.input_tokens for key, usage in ours.items()
    }, "the same prompts, token by token, as the engine in the process"


def test_the_offline_engine_of_vllm(
    vllm_python: Path,
    real_folder: Path,
    bfcl_package: Path,
    template: Path,
    transformers_run: dict[tuple[Any, ...], Rollout],
    tmp_path: Path,
) -> None:
    own = (*LOCAL, *SMALL_ENGINE, "--agent-option", f"chat_template={template}")
    counts_file = tmp_path / "counts.json"
    command(tmp_path / "run", "--agent", f"vllm:{real_folder}", *own, python=vllm_python, counts=counts_file)
    rollouts, counts = ten_valid(tmp_path / "run"), json.loads(counts_file.read_text())
    spent = tokens(rollouts)
    assert [spent[0] + counts["preflight"][0], spent[1] + counts["preflight"][1]] == [
        counts["input"],
        counts["output"],
    ]
    assert counts["requests"] == decisions(rollouts) + 1
    assert rollouts.keys() == transformers_run.keys()
    said = {key: one.trace.steps[0].action for key, one in rollouts.items()}
    alike = sum(said[key] == one.trace.steps[0].action for key, one in transformers_run.items())
    assert alike >= 9, "greedy decoding of the same weights and prompts, but for a near tie"


def test_a_pair_of_local_models_end_to_end(real_folder: Path, bfcl_package: Path, tmp_path: Path) -> None:
    """Two parts, one model in memory, both asked in batches; the tools written by us, as text."""
    agent = f"planner(transformers:{real_folder})->executor(transformers:{real_folder})"
    own = (*LOCAL, "--agent-option", "planner.max_tokens=16", "--agent-option", "device=cpu")
    command(tmp_path / "run", "--agent", agent, *own, "--tasks", "multiple_0", "--max-turns", "1")
    rollouts = list(read_rollouts(tmp_path / "run"))
    assert len(rollouts) == 2
    for one in rollouts:
        assert one.episode.valid, one.episode.error
        roles = role_usage(one.trace)
        assert {"planner"} <= set(roles) <= {"planner", "executor"}
        assert all(usage.known and not usage.estimated for usage in roles.values())
