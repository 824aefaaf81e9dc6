"""SIGKILL at ten moments of a run with a chat agent, eight episodes at a time (FIELD-076)."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import MODEL
from tests.support.faulty_server import FaultyServer
from tests.toolenv.cli.command import spawn, spawned, wait_for_episodes
from toolenv.runner.reading import EPISODES_FILE

pytestmark = pytest.mark.slow

EPISODES, CONCURRENCY, REQUESTS_EACH = 240, 8, 2


def run(server: FaultyServer, out: str, *more: object) -> tuple[object, ...]:
    return (
        *("run", "ToolFeas/Workflows-clean-v0", "--agent", f"chat:{MODEL}", "--base-url", server.base_url),
        *("--limit", EPISODES, "--concurrency", CONCURRENCY, "--out", out, *more),
    )


def lines_of(folder: Path) -> list[bytes]:
    return (folder / EPISODES_FILE).read_bytes().splitlines()


def unmarked(line: bytes) -> Any:
    """A record without what says that replies came out of the cache."""

    def clean(value: Any) -> Any:
        if isinstance(value, list):
            return [clean(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {name: clean(one) for name, one in value.items() if not _marks(name)}

    return clean(json.loads(line))


def _marks(name: str) -> bool:
    return name.startswith("recalled") or name == "trouble"


@pytest.mark.parametrize("cached", [False, True])
def test_killed_ten_times_and_resumed_equals_one_run(tmp_path: Path, cached: bool) -> None:
    with FaultyServer(share=0) as server:
        assert spawned(*run(server, "whole"), cwd=tmp_path).code == 0
        whole = lines_of(tmp_path / "whole")
        assert len(whole) == EPISODES
        asked = len(server.books)
        assert asked == EPISODES * REQUESTS_EACH
        command = run(server, "killed", "--resume", *(("--cache", "replies") if cached else ()))
        size = (tmp_path / "whole" / EPISODES_FILE).stat().st_size
        for moment in [0, *sorted(random.Random(7).sample(range(int(0.75 * size)), 9))]:
            with spawn(*command, cwd=tmp_path) as process:
                assert wait_for_episodes(process, tmp_path, "killed", moment), process.communicate()
                process.kill()
                process.communicate()
            assert process.returncode == -signal.SIGKILL
        ended = spawned(*command, cwd=tmp_path)
        assert (ended.code, ended.err) == (0, "")
        killed = lines_of(tmp_path / "killed")
        again = len(server.books) - asked
    assert len(killed) == EPISODES
    assert sorted(map(json.dumps, map(unmarked, killed))) == sorted(map(json.dumps, map(unmarked, whole)))
    if cached:
        # A reply that arrived is never asked for again: only those in flight at a kill are.
        assert again <= EPISODES * REQUESTS_EACH + 10 * CONCURRENCY
    else:
        assert sorted(killed) == sorted(whole)


def test_a_run_made_again_from_the_cache_needs_no_server(tmp_path: Path) -> None:
    with FaultyServer(share=0) as server:
        command = run(server, "first", "--cache", "replies", "--trials", 2)
        assert spawned(*command, cwd=tmp_path).code == 0
        assert len(server.books) == 2 * EPISODES * REQUESTS_EACH, "trials are not one"
    again = spawned(*(one if one != "first" else "second" for one in command), cwd=tmp_path)
    assert again.code == 0, again.err
    first, second = lines_of(tmp_path / "first"), lines_of(tmp_path / "second")
    assert sorted(map(json.dumps, map(unmarked, first))) == sorted(map(json.dumps, map(unmarked, second)))
    for line in second:
        record = json.loads(line)
        assert record["episode"]["trouble"]["recalled"] == REQUESTS_EACH
        for step in record["trace"]["steps"]:
            usage = step["action"]["usage"]
            assert usage["recalled_input_tokens"] == usage["input_tokens"] > 0
            assert step["action"]["raw"]["recalled"] is True
    assert f"{2 * EPISODES * REQUESTS_EACH:,} replies out of the response cache" in " ".join(
        again.out.split()
    )
