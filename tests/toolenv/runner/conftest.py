from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.toolenv.runner.toy_runs import toy_ids


@pytest.fixture(scope="session", autouse=True)
def _toy_ids() -> Iterator[None]:
    with toy_ids():
        yield
