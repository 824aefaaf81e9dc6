"""Actors on a Ray cluster: the same episodes, whatever becomes of the actors."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.toolenv.cli.command import environment, spawn, spawned, wait_for_episodes
from tests.toolenv.runner.elsewhere import ENVS
from toolenv.errors import ServerError, UnknownNameError, UsageError
from toolenv.runner.ray import Cluster, RayCrew
from toolenv.runner.select import Workplace
from toolenv.runner.worker import Orders

RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
"""By itself Ray lets its actors wait for whatever else is running, as other tests and their servers are."""

ERRORS = ("RayActorError", "WorkerCrashedError", "NodeDiedError", "ObjectLostError", "OutOfMemoryError")

OWN = """
import time

from toolenv import Message, NO_TOKENS

def polite(observation):
    return Message("Done.", usage=NO_TOKENS)

def slow(observation):
    time.sleep(0.1)
    return polite(observation)
"""

SOON_FOUND_DEAD = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "300",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}
"""Settings of a head node, which else takes half a minute to find out that another one is lost."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the runs of ``ray_runs.py`` came to, all on one cluster."""
    out = tmp_path_factory.mktemp("ray") / "found.json"
    command = [sys.executable, "-W", "error", str(Path(__file__).with_name("ray_runs.py")), str(out)]
    done = subprocess.run(
        command, env=environment(**RAY), capture_output=True, text=True, timeout=560, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(out.read_text())
    return result


@pytest.mark.slow
def test_2000_episodes_with_actors_killed_at_random_equal_the_local_run(found: dict[str, Any]) -> None:
    """Ten times SIGKILL; whole records are compared, as JSON text."""
    killed = found["killed"]
    assert (killed["episodes"], killed["distinct"], killed["equal"]) == (2000, 2000, True)
    assert killed["replaced"] >= 10


@pytest.mark.slow
def test_actors_play_several_episodes_at_a_time(found: dict[str, Any]) -> None:
    assert found["in_threads"] == {"equal": True}


@pytest.mark.slow
def test_policies_that_decide_for_many_episodes_do_so_in_each_actor(found: dict[str, Any]) -> None:
    """In batches, and at any time; the episodes are those of the same agent asked alone in one process."""
    assert found["decided_together"] == {"InBatches": True, "AtAnyTime": True}


@pytest.mark.slow
def test_a_job_that_kills_its_actors_is_given_up_and_no_other_is(found: dict[str, Any]) -> None:
    """The task is there clean and masked: two of 80 jobs."""
    assert found["deadly"] == {"episodes": 80, "given up": [[True, "environment_error"]], "invalid": 2}


@pytest.mark.slow
def test_a_mistake_of_the_policy_is_told_as_in_one_process(found: dict[str, Any]) -> None:
    assert found["mistaken"]["told"].startswith(
        "policy 'confused' gave no action: dict {'tool': 'pay'} is none of"
    )


@pytest.mark.slow
def test_actors_that_will_never_have_a_place_are_refused(found: dict[str, Any]) -> None:
    assert found["crowded"]["told"] == (
        "3 Ray actors with a processor each do not fit: the cluster has room for 2"
    )


def records_in(folder: Path) -> list[str]:
    return sorted((folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines())


@contextmanager
def existing_cluster(more: Mapping[str, str] = RAY) -> Iterator[str]:
    """The address of a cluster that somebody else started."""
    options = ("--head", "--port=0", "--num-cpus=2", "--include-dashboard=false")
    with node(r"--address='([0-9.:]+)'", *options, more=more) as (_, told):
        yield told[1]


@contextmanager
def node(says: str, *options: str, more: Mapping[str, str]) -> Iterator[tuple[int, re.Match[str]]]:
    """A node of a cluster: its process group, and what it says when it is up."""
    command = [str(Path(sys.executable).with_name("ray")), "start", "--block", *options]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(
        [*command, "--object-store-memory=100000000"],
        env=environment(**more),
        start_new_session=True,
        **pipes,
    ) as process:
        assert process.stdout is not None
        try:
            lines = iter(process.stdout.readline, "")
            told = next(filter(None, (re.search(says, line) for line in lines)))
            yield process.pid, told
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a node takes long to end where another was lost
            process.wait(timeout=60)


@pytest.mark.slow
def test_the_command_line_runs_on_a_cluster_of_its_own_or_an_existing_one(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    command = ("run", *ENVS, "--agent", "own:polite", "--limit", 30, "--concurrency", 2, "--out")
    assert spawned(*command, "here", cwd=tmp_path).code == 0
    alone = spawned(*command, "alone", "--runner", "ray", cwd=tmp_path, env=environment(**RAY))
    assert alone.code == 0, alone.err
    assert records_in(tmp_path / "alone") == records_in(tmp_path / "here")
    with existing_cluster() as address:
        for name, options, more in (
            ("a", ("--ray-address", address), {}),
            ("b", (), {"RAY_ADDRESS": address}),
        ):
            there = environment(**RAY, **more)
            joined = spawned(*command, name, "--runner", "ray", *options, cwd=tmp_path, env=there)
            assert joined.code == 0, joined.err
            assert records_in(tmp_path / name) == records_in(tmp_path / "here")


@pytest.mark.slow
def test_a_node_of_the_cluster_that_is_lost_with_its_actors_holds_nothing_up(tmp_path: Path) -> None:
    """One of three actors is gone for good, since there is no room for another: two play it all."""
    (tmp_path / "own.py").write_text(OWN)
    command = ("run", *ENVS, "--agent", "own:slow", "--limit", 60, "--concurrency", 3, "--out")
    there, runs = {**RAY, **SOON_FOUND_DEAD}, tmp_path / "runs"
    with (
        existing_cluster(there) as address,
        node("Ray runtime started", f"--address={address}", "--num-cpus=1", more=there) as (second, _),
        spawn(
            *command,
            "runs/there",
            "--runner",
            "ray",
            "--ray-address",
            address,
            cwd=tmp_path,
            env=environment(**RAY),
        ) as running,
    ):
        assert wait_for_episodes(running, runs, "there", 1)
        os.killpg(second, signal.SIGKILL)
        _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert spawned(*command, "runs/here", cwd=tmp_path).code == 0
    assert records_in(runs / "there") == records_in(runs / "here")


@pytest.mark.slow
def test_a_cluster_that_wants_a_token_is_given_the_users(tmp_path: Path) -> None:
    """As ``ray start --head`` makes one from Ray 2.60 on, where the user has a token."""
    (tmp_path / "own.py").write_text(OWN)
    for name, token in (("good", "a" * 64), ("bad", "b" * 64)):
        (tmp_path / name).write_text(token)
    command = ("run", *ENVS, "--agent", "own:polite", "--limit", 3, "--runner", "ray", "--ray-address")
    good, bad = ({"RAY_AUTH_TOKEN_PATH": str(tmp_path / name)} for name in ("good", "bad"))
    with existing_cluster({**good, "RAY_AUTH_MODE": "token"}) as address:
        joined = spawned(*command, address, "--out", "a", cwd=tmp_path, env=environment(**good))
        assert joined.code == 0, joined.err
        assert len(records_in(tmp_path / "a")) == 6
        refused = spawned(*command, address, "--out", "b", cwd=tmp_path, env=environment(**bad))
    assert refused.code != 0
    assert f"no Ray cluster at {address}: " in refused.err
    assert "one that wants a token takes the ~/.ray/auth_token of its head node" in refused.err


def test_an_address_at_which_nobody_listens_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself tries for two minutes; it is not even asked."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ray = SimpleNamespace(exceptions=SimpleNamespace(**dict.fromkeys(ERRORS, OSError)), is_initialized=bool)
    monkeypatch.setattr("toolenv.runner.ray.import_ray", lambda: ray)
    with pytest.raises(ServerError, match=rf"^no Ray cluster at {address}: .*refused"):
        RayCrew(Orders(NotImplemented, {}), Cluster(address), 1)


def test_settings_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown runner 'rai'; did you mean 'ray'\?"):
        Workplace("rai")
    with pytest.raises(UsageError, match="settings of ray are of no use to runner 'processes'"):
        Workplace("processes", cluster=Cluster(actors=2))
    with pytest.raises(UsageError, match="concurrency=0: give a whole number of at least 1"):
        Workplace(concurrency=0)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"--runner ray needs ray .*pip install -e '\.\[ray\]'"):
        Workplace("ray")
    Workplace("local")
