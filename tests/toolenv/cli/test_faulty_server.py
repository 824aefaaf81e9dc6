"""A run against a server that fails a fifth of its requests in twelve ways, held against its books."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import MODEL
from tests.support.faulty_server import FAULTS, FaultyServer
from tests.toolenv.cli.command import Ended
from toolenv.cli import main
from toolenv.rollout import Rollout
from toolenv.runner.plan import source_of
from toolenv.runner.reading import read_rollouts
from toolenv.trouble import TROUBLES

pytestmark = pytest.mark.slow

ENV = "ToolFeas/Workflows-clean-v0"
EPISODES = 400
ATTEMPTS, RETRIES = 2, 2


@dataclass(frozen=True)
class Finished:
    """A run and what the server knows of it."""

    folder: Path
    ended: Ended
    server: FaultyServer
    rollouts: Mapping[str, Rollout]
    texts: Mapping[str, str]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("faulty") / "run"
    with FaultyServer() as server:
        ended = command(
            *("run", ENV, "--agent", f"chat:{MODEL}", "--base-url", server.base_url, "--out", folder),
            *("--limit", EPISODES, "--concurrency", 16, "--retries", RETRIES, "--backoff", 0.001),
            *("--agent-option", "timeout=3", "--agent-option", f"attempts={ATTEMPTS}"),
        )
    rollouts = list(read_rollouts(folder))
    source = source_of(ENV, {})
    texts = {}
    for one in rollouts:
        task = source.get(one.trace.task_id, one.trace.seed)
        texts[task.id] = next(message.content for message in task.messages if message.role == "user")
    by_task = {one.trace.task_id: one for one in rollouts}
    assert len(by_task) == len(rollouts), "an episode was counted twice"
    return Finished(folder, ended, server, by_task, texts)


def command(*arguments: object) -> Ended:
    """A command in this process; what it prints is the caller's to read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["toolenv", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code
    return Ended(code if isinstance(code, int) else 0, "", "")


def test_no_episode_is_lost(finished: Finished) -> None:
    assert finished.ended.code == 0
    assert len(finished.rollouts) == EPISODES


def test_all_twelve_happened(finished: Finished) -> None:
    happened = Counter(one.fault for one in finished.server.books)
    assert set(happened) == {"", *FAULTS}
    assert 0.15 < 1 - happened[""] / happened.total() < 0.25


def test_every_request_is_in_the_record_of_its_episode(finished: Finished) -> None:
    """Request by request: what the server did is what the client says it met."""
    for task, one in finished.rollouts.items():
        entries = [entry for entry in finished.server.books if entry.task == finished.texts[task]]
        met = Counter(FAULTS[entry.fault] for entry in entries if entry.fault)
        assert dict(one.trace.trouble.failed_requests) == dict(met), task
        assert one.trace.usage.generations == sum(entry.generated for entry in entries), task


def test_field_011_tokens_are_those_of_the_servers_books(finished: Finished) -> None:
    known = 0
    for task, one in finished.rollouts.items():
        told = finished.server.told_of(finished.texts[task])
        assert (one.episode.input_tokens, one.episode.output_tokens) == (told or (None, None)), task
        known += told is not None
    assert known > EPISODES / 2


def test_what_may_pass_is_tried_again_and_what_may_not_is_shown(finished: Finished) -> None:
    for one in finished.rollouts.values():
        trouble = one.episode.trouble
        if one.episode.valid:
            assert trouble.name == ""
        elif trouble.name == "server/refused_tools":
            assert dict(trouble.failed_requests)["server/refused_tools"] == 1
        else:
            assert trouble.plays == 1 + RETRIES, "it was given up before its last play"
    ends = Counter(one.episode.trouble.name for one in finished.rollouts.values() if not one.episode.valid)
    assert ends["server/refused_tools"] > 0
    assert any(one.episode.valid and one.episode.trouble.plays > 1 for one in finished.rollouts.values())


def test_the_summary_names_each_with_its_count(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    command("report", finished.folder, "--json")
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    counts: dict[str, Any] = row["troubles"]["counts"]
    books = Counter(FAULTS[one.fault] for one in finished.server.books if one.fault)
    assert {name: one["requests"] for name, one in counts.items() if one["requests"]} == dict(books)
    invalid = Counter(one.episode.trouble.name for one in finished.rollouts.values() if not one.episode.valid)
    assert {name: one["invalid"] for name, one in counts.items() if one["invalid"]} == dict(invalid)
    assert (row["planned"], row["valid"] + row["invalid"]) == (EPISODES, EPISODES)
    command("report", finished.folder)
    shown = capsys.readouterr().out
    assert "What went wrong" in shown
    for name in books:
        assert name in shown
        assert TROUBLES[name].split()[0] in shown


def test_calls_under_one_id_get_a_reply_each(finished: Finished) -> None:
    """FIELD-018: two calls that came under one id have one of their own, and one reply each."""
    steps = [step for one in finished.rollouts.values() for step in one.trace.steps if step.results]
    assert steps
    for step in steps:
        ids = [call.id for call in step.action.calls]  # type: ignore[union-attr]
        assert len(set(ids)) == len(ids) == len(step.results) == 2
