from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

import toolenv.metrics
from toolenv.episode import Episode
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
"""DESIGN.md, handles for inspection."""


def test_the_promised_metrics_exist_and_are_defined() -> None:
    assert list(catalogue()) == NAMES
    for one in catalogue().values():
        assert one.title
        assert len(one.definition) > 40
        assert "\n" not in one.definition
        assert one.over <= {"feasible", "infeasible"}


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
    assert list(catalogue.__wrapped__()) == [*NAMES, "brand_new"]
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
