"""Generating with ``transformers`` for several prompts at once, each as if it were alone.

Prompts are padded on the left. A sample is drawn by adding Gumbel noise to the logarithms of the
probabilities and taking the largest, which is a draw from exactly that distribution; the noise is a function
of the row's own seed and position, so that a sample does not depend on what else is in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch


class Row(NamedTuple):
    """One prompt of a batch.

    Attributes:
        tokens: the prompt's.
        limit: how many tokens may be generated.
        seed: of its samples.
    """

    tokens: Sequence[int]
    limit: int
    seed: int


def generate(
    model: Any, rows: Sequence[Row], *, stop_tokens: frozenset[int], temperature: float, top_p: float
) -> list[list[int]]:
    """The tokens generated for each row, with the one that ended it; without such a one it hit its limit.

    Rows of another limit than most (those with little room left) are generated apart, so that no row's limit
    is another's. A batch too large for the GPU's memory is halved until it fits.

    Args:
        model: a causal language model of ``transformers``.
        rows: at least one.
        stop_tokens: each of them ends a row.
        temperature: 0 takes the likeliest token each time.
        top_p: the probability mass that is sampled from.
    """
    done: dict[int, list[int]] = {}
    for limit in sorted({row.limit for row in rows}, reverse=True):
        places = [place for place, row in enumerate(rows) if row.limit == limit]
        alike = [rows[place] for place in places]
        found = _in_halves(model, alike, stop_tokens, temperature, top_p)
        done |= zip(places, found, strict=True)
    return [done[place] for place in range(len(rows))]


def _in_halves(
    model: Any, rows: list[Row], stop_tokens: frozenset[int], temperature: float, top_p: float
) -> list[list[int]]:
    import torch

    try:
        return _together(model, rows, stop_tokens, temperature, top_p)
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
    torch.cuda.empty_cache()
    half = len(rows) // 2
    parts = (rows[:half], rows[half:])
    return [found for part in parts for found in _in_halves(model, part, stop_tokens, temperature, top_p)]


def _together(
    model: Any, rows: list[Row], stop_tokens: frozenset[int], temperature: float, top_p: float
) -> list[list[int]]:
    import torch
    from transformers import GenerationConfig, LogitsProcessorList

    width = max(len(row.tokens) for row in rows)
    stops = sorted(stop_tokens)
    pad = stops[0] if stops else 0
    ids = [[pad] * (width - len(row.tokens)) + list(row.tokens) for row in rows]
    mask = [[0] * (width - len(row.tokens)) + [1] * len(row.tokens) for row in rows]
    processors = [] if temperature == 0 else [Sampling(rows, width, temperature, top_p)]
    with torch.inference_mode():
        made = model.generate(
            input_ids=torch.tensor(ids, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            generation_config=GenerationConfig(
                max_new_tokens=rows[0].limit,
                do_sample=False,
                eos_token_id=stops or None,
                pad_token_id=pad,
            ),
            logits_processor=LogitsProcessorList(processors),
        )
    return [_up_to_stop(row, stop_tokens) for row in made[:, width:].tolist()]


def _up_to_stop(tokens: list[int], stop_tokens: frozenset[int]) -> list[int]:
    end = next((at for at, token in enumerate(tokens, 1) if token in stop_tokens), len(tokens))
    return tokens[:end]


class Sampling:
    """A logits processor after which the largest entry of each row is a sample of its own.

    Args:
        rows: whose seeds the noise follows.
        width: the length of the padded prompts.
        temperature: above 0.
        top_p: the probability mass that is sampled from.
    """

    def __init__(self, rows: Sequence[Row], width: int, temperature: float, top_p: float) -> None:
        self._seeds, self._width = [row.seed for row in rows], width
        self._temperature, self._top_p = temperature, top_p

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores of the next token of each row with noise; shapes (rows, length) and (rows, words)."""
        import torch

        weights = torch.log_softmax(scores.float() / self._temperature, dim=-1)
        if self._top_p < 1:
            weights = weights.masked_fill(_tail(weights, self._top_p), -torch.inf)
        step = input_ids.shape[1] - self._width
        return weights + torch.stack([self._noise(seed, step, weights) for seed in self._seeds])

    def _noise(self, seed: int, step: int, like: torch.Tensor) -> torch.Tensor:
        import torch

        from toolenv.seeding import mix

        generator = torch.Generator(device=like.device)
        generator.manual_seed(mix(seed, step) % 2**63)
        uniform = torch.rand(like.shape[-1], generator=generator, device=like.device, dtype=torch.float64)
        return -torch.log(-torch.log(uniform.clamp_min(1e-300))).to(like.dtype)


def _tail(weights: torch.Tensor, top_p: float) -> torch.Tensor:
    """Whether a token is outside the smallest set of likeliest ones that hold ``top_p``."""
    ordered, places = weights.sort(dim=-1, descending=True)
    before = ordered.exp().cumsum(dim=-1) - ordered.exp()
    return (before >= top_p).scatter(-1, places, before >= top_p)
