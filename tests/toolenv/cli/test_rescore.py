"""What counts as judged otherwise."""

from __future__ import annotations

from dataclasses import replace

from tests.support.episodes import plain_episode
from toolenv.cli.rescore import differing
from toolenv.facts.reaction import Reaction

OLD = plain_episode(task_id="t", error="File 'x.py', line 3")
AGAIN = replace(OLD, error="File 'x.py', line 9", accurate=True, reaction=Reaction())


def test_facts_that_an_earlier_version_did_not_record_and_moved_lines_are_no_difference() -> None:
    assert differing(OLD, AGAIN) == []


def test_the_fields_that_changed_are_named_and_no_others() -> None:
    assert differing(OLD, replace(AGAIN, turns=2, calls=3)) == ["turns", "calls"]
    assert differing(replace(OLD, reaction=Reaction()), AGAIN) == ["accurate"]
