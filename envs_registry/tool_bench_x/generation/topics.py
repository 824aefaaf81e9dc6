"""What candidates are made for: topics with their subtopics, workflows, and how many of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs_registry.tool_bench_x.layout import HAZARDS, WORKFLOWS, Key, segment
from toolenv.errors import DataCorruptError, DataMissingError, UsageError
from toolenv.seeding import mix

MOST_ROUNDS = 5
"""Candidates retained per workflow and subtopic (paper 2, appendix, candidate-instance statistics)."""


@dataclass(frozen=True, slots=True)
class Order:
    """One candidate to be made.

    Attributes:
        key: where it stands in the tree.
        topic, subtopic: in words.
        hazards: the five, in the order in which they are tried.
        seed: of the model's sampling.
    """

    key: Key
    topic: str
    subtopic: str
    hazards: tuple[str, ...]
    seed: int


def own_topics() -> dict[str, list[str]]:
    """The seven domains and 84 subtopics of our suite Workflows; the paper's own are not in its text."""
    from envs_registry.workflows.reading import subtopic_names

    found: dict[str, list[str]] = {}
    for subtopic, domain in subtopic_names().items():
        found.setdefault(domain, []).append(subtopic.replace("_", " "))
    return found


def read_topics(path: Path) -> dict[str, list[str]]:
    """Topics of one's own: ``{"TOPIC": ["SUBTOPIC", …], …}``, a subtopic that stands twice counted once.

    Raises:
        DataMissingError, DataCorruptError: the file is not there, or not of that form.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataMissingError(f"no topics at {path}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataCorruptError(f"{path} cannot be read as JSON: {error}") from error
    return {topic: list(dict.fromkeys(subtopics)) for topic, subtopics in _checked(value, path)}


def _checked(value: Any, path: Path) -> Iterator[tuple[str, Sequence[str]]]:
    if not isinstance(value, dict) or not value:
        raise DataCorruptError(f"{path}: expected an object of topics with their subtopics")
    for topic, subtopics in value.items():
        if (
            not isinstance(subtopics, list)
            or not subtopics
            or not all(isinstance(one, str) for one in subtopics)
        ):
            raise DataCorruptError(
                f"{path}: topic {topic!r} has {subtopics!r:.80}, expected a list of subtopics"
            )
        yield topic, subtopics


def orders(topics: Mapping[str, Sequence[str]], rounds: int, seed: int) -> list[Order]:
    """What is to be made, in order: each subtopic in each workflow, then all again.

    Raises:
        UsageError: rounds out of range, or two subtopics whose files would have one name.
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise UsageError(
            f"rounds={rounds!r}: give 1 to {MOST_ROUNDS}, the most that a subtopic and workflow keep"
        )
    found: dict[Key, Order] = {}
    for number in range(1, rounds + 1):
        for topic, subtopics in topics.items():
            for subtopic in subtopics:
                for workflow in WORKFLOWS:
                    key = Key(workflow, segment(topic), segment(subtopic), f"task_{number}")
                    if key in found:
                        raise UsageError(f"two subtopics are called {key.topic}/{key.subtopic} as files")
                    hazards = sorted(HAZARDS, key=lambda name: mix("order", seed, str(key), name))
                    sampling = mix("sampling", seed, str(key)) % 2**31
                    found[key] = Order(key, topic, subtopic, tuple(hazards), sampling)
    return list(found.values())
