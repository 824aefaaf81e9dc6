from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import partial

import pytest
from rich.console import Console

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.report.rows import Row, Run, build_rows
from toolenv.report.serial import rows_to_json
from toolenv.report.terminal import render_rows
from toolenv.trouble import Trouble

CLEAN, INFEASIBLE = "ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0"

episode = partial(plain_episode, agent="chat:model", input_tokens=9000, output_tokens=1300, success=False)
stop = {"decision": "infeasible", "lenient_decision": "infeasible", "decided_by": "stop_signal"}


def rendered(rows: Sequence[Row], width: int = 120) -> str:
    text = io.StringIO()
    Console(file=text, width=width, force_terminal=True, color_system=None).print(render_rows(rows))
    return text.getvalue()


def clean(number: int, **changes: object) -> list[Episode]:
    return [episode(env=CLEAN, label="feasible", task_id=f"t{i}", **changes) for i in range(number)]


def infeasible(number: int, **changes: object) -> list[Episode]:
    return [episode(env=INFEASIBLE, label="infeasible", task_id=f"t{i}", **changes) for i in range(number)]


def test_every_cell_has_value_interval_and_n() -> None:
    text = rendered(build_rows([Run(clean(25, success=True) + infeasible(25, **stop))]))
    for part in ("100%", "86.7–100", "n=25", "0–13.3", "10.3K"):
        assert part in text
    assert "ToolFeas/BFCL (pooled)" in text


def test_field_009_planned_valid_and_invalid_are_shown() -> None:
    episodes = [*clean(1300), episode(env=CLEAN, label="feasible", task_id="bad", valid=False)]
    lines = rendered(build_rows([Run(episodes, {(CLEAN, "chat:model"): 1302})])).splitlines()
    head = next(number for number, line in enumerate(lines) if "planned" in line)
    column = [line.split()[0] for line in lines[head + 1 : head + 3]]
    assert "planned" in lines[head]
    assert column == ["valid", "agent"]
    assert [lines[head + 4].split()[1], *(line.split()[0] for line in lines[head + 5 : head + 7])] == [
        "1,302",
        "1,300",
        "1",
    ]


def test_all_metrics_fit_120_columns_uncut() -> None:
    episodes = [*clean(1453, success=True), *infeasible(445)[:300], *infeasible(445, **stop)[300:]]
    text = rendered(build_rows([Run(episodes)]))
    assert max(map(len, text.splitlines())) <= 120
    for head in ("strict", "lenient", "early-stop", "task-failure", "ratio", "FASS"):
        assert head in text
    assert "n=1,898" in text
    assert "…" not in text


def test_field_008_fcr_is_never_shown_without_the_false_stop_rate() -> None:
    text = rendered(build_rows([Run(infeasible(3, **stop))]))
    assert "strict" in text
    assert "False" in text
    assert "the false-stop rate is not measured" in text
    paired = rendered(build_rows([Run(infeasible(3, **stop) + clean(3))]))
    assert "not measured" not in paired


def test_field_009_withheld_points_show_bounds_and_the_reason() -> None:
    broken = {"valid": False, "decided_by": "server_error", "success": None}
    (good,) = clean(1, success=True)
    bad = [episode(env=CLEAN, label="feasible", task_id=f"bad{i}", **broken) for i in range(19)]
    text = rendered(build_rows([Run([good, *bad])]))
    assert "withheld" in text
    assert "[5.0–100]" in text
    flat = " ".join(text.split())
    assert "1 of 20 planned episodes valid (coverage 5.0%)" in flat
    assert "over the valid ones alone: SR 100% [20.7–100], n=1" in flat


def test_field_001_050_outcomes_are_printed_separately() -> None:
    endings = ["malformed", "malformed", "truncated", "truncated_by_length", "message"]
    episodes = [
        episode(env=CLEAN, label="feasible", task_id=f"e{number}", decided_by=ending)
        for number, ending in enumerate(endings)
    ]
    lines = rendered(build_rows([Run(episodes)])).splitlines()
    (counts,) = [line.split() for line in lines if line.split()[:1] == [CLEAN] and len(line.split()) > 1]
    # stop, continued, unparsable, truncated, cut at length, no call; tokens exact, estimated, unknown
    assert counts[1:] == ["0", "1", "2", "1", "1", "0", "5", "0", "0"]


@pytest.mark.parametrize(
    "name", ["[red]x[/red]", "[bold", "[link=http://evil]x[/link]", "\x1b[2J\x07", ":smile:"]
)
def test_names_are_never_markup_or_control_sequences(name: str) -> None:
    episodes = [episode(env=CLEAN, label="feasible", task_id="1", agent=name, flags=(name,))]
    text = rendered(build_rows([Run(episodes)]))
    shown = name.replace("\x1b", "\\x1b").replace("\x07", "\\x07")
    assert text.count(shown) == 4  # both tables, and twice in the note
    assert not {"\x1b", "\x07"} & set(text)


def test_flags_and_unknown_tokens_are_noted() -> None:
    episodes = [
        *clean(2, flags=("can_never_pass",)),
        *infeasible(3, input_tokens=None, **stop),
        episode(env=INFEASIBLE, label="infeasible", task_id="known", estimated_tokens=True, **stop),
        episode(env=CLEAN, label="feasible", task_id="open", success=None),
    ]
    flat = " ".join(rendered(build_rows([Run(episodes)])).split())
    assert "2 tasks flagged can_never_pass (no call sequence" in flat
    assert "episodes correct: chat:model 0 of 2." in flat
    assert "TC early-stop rests on 0 exact and 1 estimated token counts, 3 unknown left out" in flat
    assert "1 episode without a criterion that could be assessed: left out of SR" in flat


def test_field_106_trials_are_noted() -> None:
    episodes = [
        episode(env=CLEAN, label="feasible", task_id="t1", trial=trial, success=bool(s))
        for trial, s in enumerate([1, 0, 1, 1, 0])
    ]
    flat = " ".join(rendered(build_rows([Run(episodes)])).split())
    assert "share of tasks whose trials disagree 100% [20.7–100], n=1; pass^1 60.0%" in flat
    assert "pass^2 30.0%" in flat


def test_of_many_trials_powers_of_two_and_all_are_told() -> None:
    """250 trials of a task, all correct: the note is a line or two, and JSON has every k."""
    rows = build_rows([Run([trial for k in range(250) for trial in clean(1, trial=k, success=True)])])
    told = re.findall(r"pass\^(\d+) 100%", " ".join(rendered(rows).split()))
    assert told == ["1", "2", "4", "8", "16", "32", "64", "128", "250"]
    (row,) = rows_to_json(rows)["rows"]
    assert list(row["trials"]["pass_hat"]) == [str(k) for k in range(1, 251)]


def test_no_rows() -> None:
    assert rendered([]).strip() == "no episodes"


@pytest.mark.parametrize("width", [80, 100, 200])
def test_what_went_wrong_has_each_name_beside_its_counts_and_breaks_no_id_twice(width: int) -> None:
    broken = {"success": None, "valid": False, "decided_by": "agent_error"}
    lost = infeasible(3, trouble=Trouble("agent/exception"), **broken)
    text = rendered(build_rows([Run([*lost, *clean(2, success=True)])]), width)
    table = text[text.index("What went wrong") : text.index("•")]
    assert table.count("environment") == 1, "one table, so that counts stand in the line of their name"
    (line,) = [line for line in table.splitlines() if "agent/exception" in line]
    assert line.split()[-1] == "3"
    assert INFEASIBLE in table or "ToolFeas/BFCL-" in table.split()
    assert "the policy raised an exception" in " ".join(table.split())
    assert "3 episodes invalid by agent_error (agent/exception)" in " ".join(text.split())


def test_how_episodes_ended_is_one_table_at_100_columns() -> None:
    env = "ToolFeas/StableToolBench-specification-drift-v0"
    rows = build_rows([Run([episode(env=env, task_id="t", success=True)])])
    text = rendered(rows, 100)
    assert text[text.index("How valid episodes ended") :].count("environment") == 1
