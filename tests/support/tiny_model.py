"""A tiny random language model and a tokenizer of bytes: for tests of what is around a local model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CHATML = (
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}"
    "{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"
)
"""A chat template without any place for tools."""

SPECIAL = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "</think>")
CONTEXT = 2048


def byte_tokenizer(chat_template: str | None = CHATML) -> Any:
    """A tokenizer of ``transformers`` with a token for each byte and each special word."""
    transformers = pytest.importorskip("transformers", reason="pip install transformers")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={sign: at for at, sign in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<|im_end|>", additional_special_tokens=list(SPECIAL)
    )
    tokenizer.chat_template = chat_template
    return tokenizer


def save_tiny_model(folder: Path, chat_template: str | None = CHATML, *, context: int = CONTEXT) -> Path:
    """A checkpoint of a few thousand random weights, always the same."""
    torch = pytest.importorskip("torch", reason="pip install torch==2.13.0")
    transformers = pytest.importorskip("transformers", reason="pip install transformers")
    torch.set_num_threads(1)  # on a busy machine several wait for each other, and this model needs no more
    tokenizer = byte_tokenizer(chat_template)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=context,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        initializer_range=0.4,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
