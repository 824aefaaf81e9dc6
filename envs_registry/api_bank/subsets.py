"""The subsets: which dialogues, and which tools an agent is offered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, get_args

from toolenv.errors import UsageError

Level: TypeAlias = Literal[1, 2, 3]
"""Upstream's levels: call what is given; find it first; plan several."""

Pool: TypeAlias = Literal["all", "dialogue", "search"]
"""``all``: every API of the level, shown from the start. ``dialogue``: those the dialogue uses, no others.
``search``: every API, of which an agent is shown those it has found with ToolSearcher."""

POOLS: Final[tuple[Pool, ...]] = get_args(Pool)

SIZES: Final[Mapping[tuple[Level, bool], int]] = {
    (1, True): 209,
    (1, False): 4,
    (2, True): 49,
    (2, False): 1,
    (3, True): 50,
}
"""Dialogues of each level that end with the assistant's words, and that do not."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Tasks that belong together.

    Attributes:
        name: also its mask file's.
        level: upstream's.
        pool: the tools on offer.
        closed: whether the dialogues end with the assistant's words, as those of the paper do.
    """

    name: str
    level: Level
    pool: Pool
    closed: bool = True

    @property
    def suffix(self) -> str:
        """What ids of its tasks end in: another pool makes another task."""
        usual: Pool = "all" if self.level == 1 else "search"
        return "" if self.pool == usual else f"@{self.pool}"


_LEVEL_1 = Subset("level-1", 1, "all")

SUBSETS: Final[Mapping[str, Subset]] = {
    "default": _LEVEL_1,
    **{
        subset.name: subset
        for subset in (
            _LEVEL_1,
            Subset("level-1-dialogue", 1, "dialogue"),
            Subset("level-1-open", 1, "all", closed=False),
            Subset("level-2", 2, "search"),
            Subset("level-2-all", 2, "all"),
            Subset("level-2-dialogue", 2, "dialogue"),
            Subset("level-2-open", 2, "search", closed=False),
            Subset("level-3", 3, "search"),
            Subset("level-3-all", 3, "all"),
            Subset("level-3-dialogue", 3, "dialogue"),
        )
    },
}
"""Every subset by name; the default is the paper's."""


def with_pool(subset: Subset, pool: Pool | None) -> Subset:
    """The subset of the same dialogues with another pool; the subset itself for ``None``.

    Raises:
        UsageError: there is none.
    """
    if pool is None:
        return subset
    for other in SUBSETS.values():
        if other == replace(subset, name=other.name, pool=pool):
            return other
    raise UsageError(f"subset {subset.name!r} of suite APIBank has no form with pool={pool!r}")
