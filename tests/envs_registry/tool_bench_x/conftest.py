from __future__ import annotations

from pathlib import Path

import pytest

from envs_registry.tool_bench_x import ToolBenchX
from tests.support.tool_bench_x import write_tree


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small tree, not to be changed."""
    return write_tree(tmp_path_factory.mktemp("tool-bench-x"))


@pytest.fixture(scope="session")
def suite(tree: Path) -> ToolBenchX:
    return ToolBenchX(tree)
