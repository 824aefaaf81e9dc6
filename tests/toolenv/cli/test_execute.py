"""Preparing and executing runs, apart from the command line's parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, Payer, ten_episodes, toy_ids
from toolenv import Observation
from toolenv.agents.planner import PlannerExecutor
from toolenv.append_only import locked
from toolenv.cli import execute as module
from toolenv.cli.execute import check_apart, execute, folder_name, prepare
from toolenv.cli.stopped import Interrupted
from toolenv.errors import PreflightError, StoreError, UsageError
from toolenv.runner.conduct import Conduct
from toolenv.runner.plan import RunConfig
from toolenv.runner.reading import read_episodes
from toolenv.runner.select import Workplace


@pytest.fixture(autouse=True)
def _toys() -> Iterator[None]:
    with toy_ids():
        yield


class Connected(Payer):
    """Counts its preflights; interrupts the decision of that number."""

    name = "connected"

    def __init__(self, *, interrupt_at: int = 0, answers: bool = True) -> None:
        self.preflights = self.decisions = 0
        self.interrupt_at, self.answers = interrupt_at, answers

    def preflight(self) -> None:
        self.preflights += 1
        if not self.answers:
            raise PreflightError("no model server answers")

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        self.decisions += 1
        if self.decisions == self.interrupt_at:
            raise KeyboardInterrupt
        return super().act(observation, memory)


@pytest.fixture
def using(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes every agent spec mean the given policy."""

    def use(policy: Any) -> Any:
        monkeypatch.setattr(module, "make_agent", lambda spec, options: policy)
        return policy

    return use


def test_preparing_writes_nothing(tmp_path: Path) -> None:
    prepared = prepare(RunConfig(envs=(CLEAN, INFEASIBLE), agent="random"), tmp_path / "run")
    assert (len(prepared.jobs), prepared.policy.name) == (7, "random")
    assert prepared.header["planned"] == {CLEAN: 4, INFEASIBLE: 3}
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_tried_before_anything_is_written(tmp_path: Path, using: Any) -> None:
    using(Connected(answers=False))
    with pytest.raises(PreflightError, match="no model server answers"):
        prepare(ten_episodes(), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_tried_once_and_only_where_something_is_to_be_run(tmp_path: Path, using: Any) -> None:
    policy = using(Connected())
    execute(prepare(ten_episodes(), tmp_path))
    assert policy.preflights == 1
    execute(prepare(ten_episodes(), tmp_path, resume=True))
    assert policy.preflights == 1


def test_a_second_process_in_a_folder_asks_no_server(tmp_path: Path, using: Any) -> None:
    policy = using(Connected())
    lock = locked(tmp_path / ".lock", tmp_path)
    with pytest.raises(StoreError, match=r"is in use by another process$"):
        prepare(ten_episodes(), tmp_path, resume=True)
    lock.release()
    assert policy.preflights == 0
    execute(prepare(ten_episodes(), tmp_path, resume=True))
    assert policy.preflights == 1


def test_the_order_of_chosen_tasks_is_no_part_of_a_run(tmp_path: Path, using: Any) -> None:
    """Seeds come from task ids. With a limit the first ones are taken, so that the order says which."""
    using(Connected())
    pair = ("pay-7", "pay-30")
    execute(prepare(ten_episodes(tasks=pair), tmp_path / "a"))
    turned = prepare(ten_episodes(tasks=pair[::-1]), tmp_path / "a", resume=True)
    execute(turned)
    keys = [one.key for one in read_episodes(tmp_path / "a")]
    assert sorted(keys) == sorted(job.key for job in turned.jobs)
    assert len(set(keys)) == len(keys)
    with pytest.raises(StoreError, match="tasks is"):
        prepare(ten_episodes(tasks=pair[:1]), tmp_path / "a", resume=True)
    execute(prepare(ten_episodes(tasks=pair, limit=1), tmp_path / "b"))
    with pytest.raises(StoreError, match="tasks is"):
        prepare(ten_episodes(tasks=pair[::-1], limit=1), tmp_path / "b", resume=True)


WORKFLOWS = "ToolFeas/Workflows-clean-v0"
UNCOVERED = "toolenv: --cache keeps nothing of connected, which runs in this process\n"


class Local(Connected):
    """Decides for many at once, as a model in this process does."""

    def act_batch(self, observations: Any, memories: Any) -> Any:
        return [self.act(*one) for one in zip(observations, memories, strict=True)]


def test_a_cache_of_which_nothing_would_be_kept_is_refused(tmp_path: Path, using: Any) -> None:
    place = Workplace(conduct=Conduct(cache=tmp_path / "replies"))
    policy = using(Local())
    with pytest.raises(UsageError, match=r"--cache keeps replies of servers, and connected runs in this"):
        prepare(RunConfig((WORKFLOWS,), "connected", limit=1), tmp_path / "run", place=place)
    assert (policy.preflights, list(tmp_path.iterdir())) == (0, [])
    prepare(RunConfig((WORKFLOWS,), "connected", limit=1), tmp_path / "run")


def test_environments_that_may_ask_servers_have_replies_to_keep(
    tmp_path: Path, using: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The toy suite does not say that it only computes."""
    using(Local())
    prepare(ten_episodes(), tmp_path / "run", place=Workplace(conduct=Conduct(cache=tmp_path / "replies")))
    assert capsys.readouterr().err == UNCOVERED


def test_parts_that_a_cache_does_not_cover_are_named(
    tmp_path: Path, using: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Workplace(conduct=Conduct(cache=tmp_path / "replies"))
    using(PlannerExecutor(Local(), Connected()))
    prepare(ten_episodes(), tmp_path / "run", place=place)
    out, err = capsys.readouterr()
    assert err == UNCOVERED
    assert out == ""
    using(Connected())
    prepare(ten_episodes(), tmp_path / "run", place=place)
    assert capsys.readouterr().err == ""


def test_an_interrupt_says_what_is_kept_and_resuming_goes_on(tmp_path: Path, using: Any) -> None:
    using(Connected(interrupt_at=8))
    with pytest.raises(Interrupted, match=f"what had finished is kept in {tmp_path}"):
        execute(prepare(ten_episodes(), tmp_path))
    # Two decisions an episode: three have ended when the eighth decision is interrupted.
    assert len(list(read_episodes(tmp_path))) == 3
    using(Connected())
    execute(prepare(ten_episodes(), tmp_path, resume=True))
    assert len(list(read_episodes(tmp_path))) == 10


def test_a_run_that_another_process_began_meanwhile_is_left_alone(tmp_path: Path) -> None:
    first, second = (prepare(RunConfig(envs=(CLEAN,), agent="random"), tmp_path / "run") for _ in range(2))
    execute(first)
    with pytest.raises(StoreError, match="already holds a run"):
        execute(second)
    assert len(list(read_episodes(tmp_path / "run"))) == 4


def test_runs_of_one_table_need_names_and_folders_of_their_own(tmp_path: Path, using: Any) -> None:
    configs = [RunConfig(envs=(CLEAN,), agent=spec) for spec in ("a", "b")]
    using(Connected())
    same_name = [prepare(config, tmp_path / config.agent) for config in configs]
    with pytest.raises(
        UsageError, match="'a' and 'b' have the same name 'connected'; run and report them apart"
    ):
        check_apart(same_name)
    check_apart(same_name[:1])
    other = Connected()
    other.name = "other"
    using(other)
    with pytest.raises(UsageError, match="'a' and 'b' have the same folder"):
        check_apart([same_name[0], prepare(configs[1], tmp_path / "a")])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("random", "random"),
        ("chat:Qwen/Qwen3.5-4B", "chat-Qwen-Qwen3.5-4B"),
        ("planner(a)->executor(b)", "planner-a-executor-b"),
        ("..", "run"),
        ("../../etc", "etc"),
        ("", "run"),
        ("模型", "run"),
    ],
)
def test_folder_names_are_plain_and_stay_in_their_place(text: str, name: str) -> None:
    assert folder_name(text) == name
