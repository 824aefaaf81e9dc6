"""A task is a pure function of seed, index and variant (DESIGN.md; FIELD-046)."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.evaluation import content, fingerprint
from envs_registry.workflows.generate import generate
from envs_registry.workflows.identifiers import TaskNumber, parse_task_id
from envs_registry.workflows.streams import Stream
from toolenv.errors import UnknownNameError, UsageError
from toolenv.task import Task

NUMBERS = [TaskNumber(3, index, index % 3) for index in range(0, 1500, 11)]
PROGRAM = """
from envs_registry.workflows.evaluation import fingerprint
from envs_registry.workflows.generate import generate
from envs_registry.workflows.identifiers import TaskNumber
numbers = [TaskNumber(3, index, index % 3) for index in range(0, 1500, 11)]
print(fingerprint(map(generate, numbers)))
"""


def test_the_same_bytes_in_other_processes_whatever_their_hash_seed() -> None:
    expected = fingerprint(map(generate, NUMBERS))
    for hash_seed in ("0", "1", "4294967295"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stdout.strip() == expected, done.stderr


def test_the_same_bytes_in_eight_threads_and_in_any_order() -> None:
    def generated(numbers: Iterable[TaskNumber]) -> dict[str, object]:
        with ThreadPoolExecutor(8) as pool:
            return {task.id: content(task) for task in pool.map(generate, numbers)}

    alone = {task.id: content(task) for task in map(generate, NUMBERS)}
    assert generated(NUMBERS) == alone
    assert generated(reversed(NUMBERS)) == alone


def test_a_stream_is_that_of_its_key() -> None:
    # By hand: the first word of BLAKE2b-512 over the key's text, the last of its eight little-endian words.
    from hashlib import blake2b

    digest = blake2b(b"('a', 1)", digest_size=64, salt=bytes(16)).digest()
    word = int.from_bytes(digest[56:], "little")
    assert Stream("a", 1).below(1000) == word * 1000 // 2**64
    assert [Stream("a", 1).below(9) for _ in range(3)] == [Stream("a", 1).below(9)] * 3


def test_draws_cover_their_range_evenly() -> None:
    stream = Stream("coverage")
    counts = [0] * 7
    for _ in range(7000):
        counts[stream.below(7)] += 1
    assert all(850 < count < 1150 for count in counts)  # five standard deviations are 146
    assert sorted(stream.shuffled(range(50))) == list(range(50))
    assert {stream.between(-2, 2) for _ in range(200)} == {-2, -1, 0, 1, 2}


def test_a_task_survives_pickling() -> None:
    task = SUITE.generate(0, 17)
    copy: Task = pickle.loads(pickle.dumps(task))
    assert copy == task
    assert content(copy) == content(task)


@pytest.mark.parametrize("number", [TaskNumber(0, 0), TaskNumber(12, 251), TaskNumber(0, 252 * 7 + 100, 5)])
def test_an_id_tells_its_number(number: TaskNumber) -> None:
    assert parse_task_id(number.task_id) == number
    assert generate(number).id == number.task_id


def test_any_252_indexes_hold_each_workflow_of_each_subtopic_once() -> None:
    cells = {(TaskNumber(0, index).subtopic, TaskNumber(0, index).workflow) for index in range(100, 352)}
    assert len(cells) == 252


@pytest.mark.parametrize(
    "task_id", ["", "loans", "loans-sequential-0", "loans-circular-0-0", "loans-mixture-0-0~x"]
)
def test_what_is_no_id_is_named(task_id: str) -> None:
    with pytest.raises(UsageError, match="is no task id: expected SUBTOPIC-WORKFLOW-SEED-ROUND"):
        parse_task_id(task_id)


def test_an_unknown_subtopic_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'river_gauges'"):
        SUITE.variant("river_guages-mixture-0-0", 1)


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="whole numbers of at least 0"):
        SUITE.generate(-1, 0)
    with pytest.raises(UsageError, match="whole numbers of at least 0"):
        SUITE.variant("loans-mixture-0-0", -2)
