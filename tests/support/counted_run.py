"""``python -m tests.support.counted_run FILE …``: the command line, its tokens counted by the engine itself.

It runs ``toolenv …`` with the other arguments and writes what the engine of ``vllm:`` or ``transformers:``
has read and written, and what the agent said of its preflight, apart from what the run directory holds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from toolenv.agents.local_model import LocalPolicy
from toolenv.cli import main

VLLM = {
    "vllm:prompt_tokens_total": "input",
    "vllm:generation_tokens_total": "output",
    "vllm:request_success_total": "requests",
}


def watch_preflight(counts: dict[str, Any]) -> None:
    """Note what the agent's preflight cost, by its own account."""
    inner = LocalPolicy.preflight

    def preflight(policy: Any) -> Any:
        usage = inner(policy)
        counts["preflight"] = [usage.input_tokens, usage.output_tokens]
        return usage

    LocalPolicy.preflight = preflight  # type: ignore[method-assign]


def watch_transformers(counts: dict[str, Any]) -> None:
    """Count what goes in and out of ``generate``: what is not padding, up to the first end-of-text token."""
    from transformers import GenerationMixin

    inner = GenerationMixin.generate

    def generate(model: Any, *args: Any, **given: Any) -> Any:
        made = inner(model, *args, **given)
        mask, ends = given["attention_mask"], given["generation_config"].eos_token_id
        counts["input"] += int(mask.sum())
        counts["requests"] += len(mask)
        counts["batches"] += 1
        for row in made[:, mask.shape[1] :].tolist():
            counts["output"] += next((at for at, token in enumerate(row, 1) if token in ends), len(row))
        return made

    GenerationMixin.generate = generate


def read_vllm(counts: dict[str, Any]) -> None:
    """vLLM's own counters."""
    from prometheus_client import REGISTRY

    for metric in REGISTRY.collect():
        for sample in metric.samples:
            if sample.name in VLLM:
                counts[VLLM[sample.name]] += int(sample.value)


if __name__ == "__main__":
    counts: dict[str, Any] = {"input": 0, "output": 0, "requests": 0, "batches": 0}
    file = Path(sys.argv.pop(1))
    on_vllm = any("vllm:" in argument for argument in sys.argv)
    watch_preflight(counts)
    if not on_vllm:
        watch_transformers(counts)
    try:
        main()
    finally:
        if on_vllm:
            read_vllm(counts)
        file.write_text(json.dumps(counts))
