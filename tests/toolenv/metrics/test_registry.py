from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import toolenv.metrics
from toolenv.episode import Episode
from toolenv.metrics.comparison import QUANTITIES
from toolenv.metrics.dimensions import DIMENSIONS
from toolenv.metrics.registry import catalogue, metric
from toolenv.metrics.stats import Estimate, no_data

NAMES = [
    "sr",
    "fcr_strict",
    "fcr_lenient",
    "false_stop_rate",
    "fass",
    "tc_early_stop",
    "tc_task_failure",
    "tc_ratio",
]
"""DESIGN.md, handles for inspection: the main table, in the order of its columns."""

OF_PAPER_2 = {
    "recovery": [
        "accuracy",
        "exposure_rate",
        "accuracy_exposed",
        "first_action_retry",
        "first_action_switch",
        "first_action_other",
        "first_action_stop",
        "post_error_calls",
        "call_expansion",
    ],
    "failures": [
        "ineffective_continuation",
        "early_abandonment",
        "under_utilization",
        "answer_synthesis_failure",
    ],
}
"""docs/metrics.md: the tables of paper 2."""


def test_the_promised_metrics_exist_and_are_defined() -> None:
    tables: dict[str, list[str]] = {}
    for one in catalogue().values():
        tables.setdefault(one.table, []).append(one.name)
    assert tables == {"main": NAMES, **OF_PAPER_2}
    for one in catalogue().values():
        assert one.title
        assert len(one.definition) > 40
        assert "\n" not in one.definition
        assert one.over <= {"feasible", "infeasible"}


def test_the_docs_define_every_name() -> None:
    text = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
    names = [*catalogue(), *(one.name for one in QUANTITIES), *DIMENSIONS]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_a_decorated_function_is_still_a_function_of_episodes() -> None:
    @metric("Own", "rate", "feasible")
    def own(episodes: Iterable[Episode]) -> Estimate:
        """Counts nothing."""
        return no_data(excluded=len(list(episodes)))

    assert (own.name, own.title, own.kind, own.over) == ("own", "Own", "rate", frozenset({"feasible"}))
    assert own([]).excluded == 0
    assert own.definition == "Counts nothing."


METRIC = '''
from toolenv.metrics.registry import metric
from toolenv.metrics.stats import no_data

@metric("New", "rate", "feasible")
def {name}(episodes):
    """New."""
    return no_data()
'''


def test_a_new_module_is_all_a_new_metric_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zz_new.py").write_text(METRIC.format(name="brand_new"))
    monkeypatch.setattr(toolenv.metrics, "__path__", [*toolenv.metrics.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "toolenv.metrics.zz_new", raising=False)
    assert list(catalogue.__wrapped__()) == [*catalogue(), "brand_new"]
    monkeypatch.delitem(sys.modules, "toolenv.metrics.zz_new")
    monkeypatch.delattr(toolenv.metrics, "zz_new")


def test_two_metrics_of_one_name_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zz_twin.py").write_text(METRIC.format(name="sr"))
    monkeypatch.setattr(toolenv.metrics, "__path__", [*toolenv.metrics.__path__, str(tmp_path)])
    with pytest.raises(ValueError, match="two metrics are named 'sr'"):
        catalogue.__wrapped__()
    monkeypatch.delitem(sys.modules, "toolenv.metrics.zz_twin")
    monkeypatch.delattr(toolenv.metrics, "zz_twin")


def test_metrics_and_reports_import_nothing_heavy() -> None:
    code = (
        "import sys; import toolenv.metrics.registry as r, toolenv.report.page,"
        " toolenv.report.terminal, toolenv.report.serial; r.catalogue();"
        "print(sorted({'scipy', 'rich', 'jinja2', 'openai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
