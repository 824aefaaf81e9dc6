"""Generation in batches on a tiny random model: each row as if it were alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_model import save_tiny_model
from toolenv.agents.batch_generation import Row, Sampling, generate
from toolenv.agents.local_settings import TransformersSettings
from toolenv.agents.transformers import TransformersModel

torch = pytest.importorskip("torch", reason="pip install torch==2.13.0")

PROMPTS = ([5, 6, 7], [9] * 40, [1, 2], [200, 100, 50, 25, 12])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TransformersModel:
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return TransformersModel(TransformersSettings(model=str(folder), device="cpu"))


def made(
    model: TransformersModel,
    rows: list[Row],
    *,
    stops: frozenset[int] = frozenset(),
    temperature: float = 0.0,
    top_p: float = 1.0,
) -> list[list[int]]:
    return generate(model.model, rows, stop_tokens=stops, temperature=temperature, top_p=top_p)


@pytest.mark.parametrize(("temperature", "top_p"), [(0.0, 1.0), (1.0, 1.0), (0.7, 0.8)])
def test_a_row_does_not_depend_on_the_others(
    model: TransformersModel, temperature: float, top_p: float
) -> None:
    rows = [Row(prompt, 12, seed) for seed, prompt in enumerate(PROMPTS)]
    together = made(model, rows, temperature=temperature, top_p=top_p)
    alone = [made(model, [row], temperature=temperature, top_p=top_p)[0] for row in rows]
    assert together == alone
    assert made(model, rows[::-1], temperature=temperature, top_p=top_p) == alone[::-1]
    assert [len(row) for row in together] == [12] * 4


def test_the_likeliest_token_is_taken_at_temperature_0(model: TransformersModel) -> None:
    """Against the model's own scores of the whole text, worked out without padding and cache."""
    (tokens,) = made(model, [Row(PROMPTS[0], 6, 0)])
    with torch.no_grad():
        for end in range(len(PROMPTS[0]), len(PROMPTS[0]) + 6):
            text = torch.tensor([[*PROMPTS[0], *tokens][:end]])
            assert int(model.model(text).logits[0, -1].argmax()) == tokens[end - len(PROMPTS[0])]


def test_rows_end_at_their_own_limit_or_at_a_stop_token(model: TransformersModel) -> None:
    rows = [Row(PROMPTS[0], 12, 0), Row(PROMPTS[1], 3, 0), Row(PROMPTS[0], 12, 0)]
    first, short, again = made(model, rows)
    assert (len(first), len(short)) == (12, 3)
    assert first == again
    stop = first[4]
    stopped = made(model, rows, stops=frozenset({stop}))
    assert stopped[0] == first[: first.index(stop) + 1]


def test_a_seed_gives_the_same_sample_and_another_seed_another(model: TransformersModel) -> None:
    def sample(seed: int) -> list[int]:
        return made(model, [Row(PROMPTS[0], 12, seed)], temperature=1.0)[0]

    assert sample(3) == sample(3)
    assert len({tuple(sample(seed)) for seed in range(8)}) == 8


def test_no_global_random_state_is_used_or_moved(model: TransformersModel) -> None:
    torch.manual_seed(1)
    state = torch.get_rng_state()
    one = made(model, [Row(PROMPTS[0], 12, 3)], temperature=1.0)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert made(model, [Row(PROMPTS[0], 12, 3)], temperature=1.0) == one


@pytest.mark.parametrize(
    ("top_p", "expected"),
    [
        (1.0, [0.5, 0.25, 0.125, 0.125]),
        (0.8, [4 / 7, 2 / 7, 1 / 7, 0]),  # 0.5 + 0.25 < 0.8, so the third is in, and then no more
        (0.5, [1, 0, 0, 0]),
        (0.01, [1, 0, 0, 0]),
    ],
)
def test_samples_follow_the_distribution(top_p: float, expected: list[float]) -> None:
    """20,000 draws: a share is within four standard errors of its probability, by hand."""
    draws = 20_000
    scores = torch.tensor([0.5, 0.25, 0.125, 0.125]).log().expand(draws, 4)
    sampling = Sampling([Row([0], 1, seed) for seed in range(draws)], 1, 1.0, top_p)
    chosen = sampling(torch.zeros(draws, 1), scores).argmax(dim=-1)
    for token, share in enumerate(expected):
        error = (share * (1 - share) / draws) ** 0.5
        assert float((chosen == token).float().mean()) == pytest.approx(share, abs=4 * error)


def test_temperature_sharpens_or_flattens() -> None:
    """At T = 2 odds of 4 : 1 are 2 : 1."""
    draws = 20_000
    scores = torch.tensor([0.8, 0.2]).log().expand(draws, 2)
    sampling = Sampling([Row([0], 1, seed) for seed in range(draws)], 1, 2.0, 1.0)
    chosen = sampling(torch.zeros(draws, 1), scores).argmax(dim=-1)
    assert float((chosen == 0).float().mean()) == pytest.approx(2 / 3, abs=4 * (2 / 9 / draws) ** 0.5)


def test_a_batch_too_large_for_the_gpu_is_halved(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made(model, [Row(prompt, 5, 0) for prompt in PROMPTS])
    sizes: list[int] = []
    inner = model.model.generate

    def limited(input_ids: Any, **keywords: Any) -> Any:
        sizes.append(len(input_ids))
        if len(input_ids) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return inner(input_ids=input_ids, **keywords)

    monkeypatch.setattr(model.model, "generate", limited)
    assert made(model, [Row(prompt, 5, 0) for prompt in PROMPTS]) == whole
    assert sizes == [4, 2, 1, 1, 2, 1, 1]


def test_a_checkpoints_own_penalties_do_not_work_beside_ours(
    tmp_path: Path, model: TransformersModel
) -> None:
    from transformers import GenerationConfig

    folder = save_tiny_model(tmp_path)
    own = GenerationConfig(repetition_penalty=50.0, do_sample=True, temperature=3.0, eos_token_id=[7, 8])
    own.save_pretrained(folder)
    penalised = TransformersModel(TransformersSettings(model=str(folder), device="cpu"))
    assert penalised.stop_tokens == {7, 8, 256}
    rows = [Row(PROMPTS[0], 12, 0)]
    assert made(penalised, rows) == made(model, rows)
