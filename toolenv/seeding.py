"""Counter-based randomness: a number is a pure function of a seed and what it is for.

Building a ``numpy`` generator costs more than a whole step of an environment, and a shared stream
would make results depend on the order of calls; a hash of the key does neither.
"""

from __future__ import annotations

from hashlib import blake2b


def mix(*key: int | str) -> int:
    """A uniform 64-bit integer that depends on the whole key, the same on every machine."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "little")


def uniform(*key: int | str) -> float:
    """A number in [0, 1) that depends on the whole key."""
    return mix(*key) / 2.0**64


def episode_seed(seed: int, episode: int) -> int:
    """The seed of an episode after ``reset(seed=seed)``, counted from 0; of the first, ``seed`` itself."""
    return seed if episode == 0 else mix("episode", seed, episode)
