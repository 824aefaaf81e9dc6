"""Which categories BFCL has, what each means, and the subsets made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["calls", "multi_turn", "no_call_expected", "call_expected"]
"""How a category is judged: by upstream's AST rules, by upstream's state and response checks, or only by
whether a call was made. A category without an answer file is never read as one with empty answers."""


@dataclass(frozen=True, slots=True)
class Category:
    """One upstream category.

    Attributes:
        name: upstream's name, also a subset of ours.
        size: the number of entries in the pinned wheel.
        kind: how it is judged.
    """

    name: str
    size: int
    kind: Kind

    @property
    def file(self) -> str:
        """The data file, relative to the ``bfcl_eval`` folder."""
        return f"data/BFCL_v4_{self.name}.json"

    @property
    def answers(self) -> str:
        """The ground-truth file, relative to the ``bfcl_eval`` folder."""
        return f"data/possible_answer/BFCL_v4_{self.name}.json"


CATEGORIES: Mapping[str, Category] = {
    category.name: category
    for category in (
        Category("simple_python", 400, "calls"),
        Category("multiple", 200, "calls"),
        Category("parallel", 200, "calls"),
        Category("parallel_multiple", 200, "calls"),
        Category("live_simple", 258, "calls"),
        Category("live_multiple", 1053, "calls"),
        Category("live_parallel", 16, "calls"),
        Category("live_parallel_multiple", 24, "calls"),
        Category("multi_turn_base", 200, "multi_turn"),
        Category("multi_turn_miss_func", 200, "multi_turn"),
        Category("multi_turn_miss_param", 200, "multi_turn"),
        Category("multi_turn_long_context", 200, "multi_turn"),
        Category("irrelevance", 240, "no_call_expected"),
        Category("live_irrelevance", 884, "no_call_expected"),
        Category("live_relevance", 16, "call_expected"),
    )
}

SUBSETS: Mapping[str, tuple[str, ...]] = {
    # The paper's 1,453 cannot be told apart from its text; candidate B leaves no masked pool empty.
    "default": ("multiple", "live_multiple", "multi_turn_base"),
    "candidate-a": ("multiple", "parallel_multiple", "live_multiple"),
    "candidate-c": ("simple_python", "live_multiple"),
    **{name: (name,) for name in CATEGORIES},
}
"""Every subset, as the categories it is made of."""

UNAVAILABLE: Mapping[str, str] = {
    "simple_java": "Java literals are not read yet",
    "simple_javascript": "JavaScript literals are not read yet",
    "memory": "it needs conversations held beforehand to fill the memory",
    "web_search": "it needs a live search engine",
    "format_sensitivity": "it varies prompt formats and scores no task of its own",
}
"""Upstream categories that are no subset, and why."""
