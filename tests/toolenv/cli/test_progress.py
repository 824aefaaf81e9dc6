"""Progress goes on while no episode ends: by a line now and then, or beside the bar."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.support.fake_server import MODEL, FakeServer, completion, error
from tests.toolenv.runner.toy_runs import CLEAN, toy_ids
from toolenv.agents.registry import make_agent
from toolenv.cli import progress as module
from toolenv.cli.progress import following, on_a_terminal, tally_of, watched
from toolenv.model_server.backoff import Backoff
from toolenv.runner.conduct import Conduct
from toolenv.runner.plan import RunConfig, plan
from toolenv.runner.progress import Tally
from toolenv.runner.select import Workplace, run_at


def test_lines_come_while_nothing_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock says that 100 seconds have gone at each look; nobody calls with an episode."""
    moments, twice, told = iter(range(0, 10**9, 100)), threading.Event(), list[str]()

    def tell(line: str, err: bool) -> None:
        assert err
        told.append(line)
        if len(told) == 2:
            twice.set()

    monkeypatch.setattr(module, "QUIET_SECONDS", 0.01)
    monkeypatch.setattr("typer.echo", tell)
    with module.in_lines("an agent", Tally(10, 0, lambda: 0.0), lambda: float(next(moments))):
        assert twice.wait(60)
    assert told[:2] == ["an agent: 0/10"] * 2


def test_no_thread_stays_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0.01)
    before = set(threading.enumerate())
    with following("an agent", Tally(10, 0, lambda: 0.0)):
        (watcher,) = set(threading.enumerate()) - before
        assert watcher.daemon
    watcher.join(60)
    assert not watcher.is_alive()


def test_the_bar_is_asked_again_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the bar stands what the tally says now, not what it said when an episode ended last."""
    from rich.progress import Progress

    now = 0.0
    column = module._beside("an\x1b[31m agent", Tally(10, 0, lambda: now, at_once=4))
    bar = Progress(column)
    bar.add_task("")
    (task,) = bar.tasks
    assert str(column.render(task)) == "an\\x1b[31m agent 0/10"
    now = 75.0
    assert str(column.render(task)) == "an\\x1b[31m agent 0/10 · 4 in flight, none ended for 75 s"
    with on_a_terminal("x", Tally(10, 0, lambda: now)) as show:
        show()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("concurrency", [1, 3])
def test_requests_are_counted_as_they_fail(concurrency: int) -> None:
    """By hand: three episodes whose first request fails once and whose second attempt is a stop."""
    place = watched(Workplace(concurrency=concurrency, conduct=Conduct(backoff=Backoff(0.0))))
    busy = error(503, "busy for now")
    script = iter([busy, busy, busy] if concurrency > 1 else [busy, None, busy, None, busy, None])
    stop = completion("STOP: no tool")
    with toy_ids(), FakeServer(lambda request: next(script, None) or stop) as server:
        policy = make_agent(f"chat:{MODEL}", {"base_url": server.base_url})
        jobs, _ = plan(RunConfig((CLEAN,), "chat", limit=3))
        tally = tally_of(place, {}, len(jobs), len(jobs))
        for one in run_at(place, jobs, policy, lambda: policy, {}):
            tally.add(one)
    assert tally.failed_requests.total() == 3
    assert "3 failed requests (server/" in tally.line()
    failures = place.conduct.failures
    assert failures is not None
    assert failures.counts() == tally.failed_requests
    assert "busy for now" in failures.latest
    assert watched(replace(place, runner="processes")).conduct.failures is failures
