from __future__ import annotations

import pytest
from rich.text import Text

import envs_registry
from toolenv.report.broken import broken, width_of_words
from toolenv.report.fitted import NAME_WIDTH


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        (
            "ToolFeas/Workflows-specification-drift-v0",
            22,
            ["ToolFeas/Workflows-", "specification-drift-v0"],
        ),
        ("ToolFeas/BFCL-infeasible-v0", 24, ["ToolFeas/BFCL-", "infeasible-v0"]),
        ("planner(a)->executor(b)", 14, ["planner(a)->", "executor(b)"]),
        ("/tmp/data/tool-bench-x", 15, ["/tmp/data/tool-", "bench-x"]),
        ("0123456789", 4, ["0123", "4567", "89"]),
        ("short", 12, ["short"]),
    ],
)
def test_a_name_is_broken_behind_a_hyphen_a_slash_or_an_arrow(
    name: str, width: int, lines: list[str]
) -> None:
    assert broken(Text(name), width).plain.splitlines() == lines


@pytest.mark.parametrize("width", range(1, 40))
def test_nothing_is_left_out_whatever_the_width(width: int) -> None:
    text = "worst case over 0 wrong-labels of ToolFeas/BFCL-infeasible-v0 --- a/b/c->d"
    shown = broken(Text(text), width).plain
    assert shown.replace("\n", "") == text
    assert max(map(len, " ".join(shown.splitlines()).split())) <= width


def test_each_env_id_is_broken_at_most_once() -> None:
    for env in envs_registry.env_ids():
        width = width_of_words(env, NAME_WIDTH)
        lines = broken(Text(env), width).plain.splitlines()
        assert len(lines) <= 2
        assert all(line[-1] in "-/" for line in lines[:-1])
