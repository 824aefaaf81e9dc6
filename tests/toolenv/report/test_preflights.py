"""Preflights in reports: beside all numbers, at the prices of the roles, unknown where they are not known."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from toolenv import Usage
from toolenv.report.preflights import (
    preflights_facts,
    preflights_of,
    preflights_to_json,
    render_preflights,
)
from toolenv.runner.costs import parse_prices
from toolenv.runner.preflights import append_preflight

SETTINGS = {"planner.model": "big", "executor.model": "small"}
PRICES = parse_prices(["big=1000,2000", "small=100,200"])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of a pair, started three times: known, known with a simulated user's, unknown."""
    header = {
        "version": 1,
        "config": {},
        "agent": "pair",
        "agent_settings": SETTINGS,
        "manifests": {},
        "planned": {"E-clean-v0": 2},
    }
    (tmp_path / "run.json").write_text(json.dumps(header))
    append_preflight(tmp_path, {"planner": Usage(1000, 100), "executor": Usage(2000, 10)})
    append_preflight(tmp_path, {"planner": Usage(1000, 100), "environment/user": Usage(50, 5)})
    append_preflight(tmp_path, {"planner": Usage()})
    return tmp_path


def test_tokens_add_up_over_starts_and_roles(run: Path) -> None:
    (found,) = preflights_of([run])
    # By hand: 1000 + 2000 + 1000 + 50 in, 100 + 10 + 100 + 5 out; the third start told nothing.
    assert (found.times, found.known, found.unknown, found.money) == (3, (4050, 215), 1, None)
    assert found.by_role["executor"] == Usage(2000, 10)
    (told,) = preflights_to_json([found])
    assert (told["agent"], told["envs"], told["times"], told["cost"]) == ("pair", ["E-clean-v0"], 3, None)
    assert told["roles"]["executor"]["input_tokens"] == 2000


def test_each_role_pays_its_own_price_and_a_user_has_none(run: Path) -> None:
    (found,) = preflights_of([run], PRICES)
    assert found.money is not None
    # 1000 x 1000 + 100 x 2000 + 2000 x 100 + 10 x 200 per million; two starts hold something without a price.
    assert found.money.amount == pytest.approx(1.402)
    assert found.money.unknown == 2


def test_it_is_shown_in_a_table_and_on_a_page(run: Path) -> None:
    found = preflights_of([run], PRICES)
    out = StringIO()
    Console(file=out, width=120).print(render_preflights(found))
    (line,) = [line.split() for line in out.getvalue().splitlines() if "E-clean-v0" in line]
    assert line[1:] == ["3", "4,050", "215", "1", "1.4020", "2"]
    assert preflights_facts(found) == {
        "preflight of pair, E-clean-v0": "4,050 input and 215 output tokens in 3 preflights, 1 of them"
        " unknown; part of no episode; cost 1.4020"
    }


def test_runs_that_kept_none_are_not_shown(run: Path) -> None:
    (run / "preflights.jsonl").unlink()
    assert preflights_of([run]) == []
