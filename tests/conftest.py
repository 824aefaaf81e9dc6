"""What every test may use, and the rule that in CI none may skip."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.real_model import real_folder, real_server
from tests.support.vllm_venv import vllm_python

__all__ = ["bfcl_package", "real_folder", "real_server", "shared_datasets", "vllm_python"]

ROOT = Path(__file__).parent.parent
ReportT = TypeVar("ReportT", pytest.TestReport, pytest.CollectReport)
DATASETS = ROOT.parent / "shared" / "datasets"


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


@pytest.fixture(scope="session")
def shared_datasets() -> Path:
    """The folder of local copies of the upstream data, ``../shared/datasets`` beside the checkout."""
    if not DATASETS.is_dir():
        pytest.skip(f"no local copies of the data at {DATASETS}; `toolenv data pull SUITE` fetches them")
    return DATASETS


@pytest.fixture(scope="session")
def bfcl_package() -> Path:
    """The unpacked ``bfcl_eval`` folder of the pulled wheel."""
    import envs_registry
    from toolenv.data import DataStore
    from toolenv.errors import DataMissingError

    try:
        return DataStore(envs_registry.DATA_FOLDER).require("bfcl", "code") / "bfcl_eval"
    except DataMissingError as error:
        pytest.skip(str(error))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: files run two at a time, and a long one at the end would run alone."""
    slow = {item.path for item in items if any(item.iter_markers("slow"))}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure in CI, where all that tests need is there."""
    report = yield
    return _not_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that skips itself while it is collected."""
    report = yield
    return _not_skipped(report)


def _not_skipped(report: ReportT) -> ReportT:
    if in_ci() and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"
    return report
