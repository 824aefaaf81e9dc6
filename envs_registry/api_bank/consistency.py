"""Where API-Bank's data disagrees with itself: its recordings, its code and its table of APIs.

The code counts (upstream's maintainers on issue 106, FIELD-098); what was recorded with older code is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from envs_registry.api_bank.dialogues import RENAMED, Dialogue
from envs_registry.api_bank.recording import same_outcome
from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.schemas import csv_differences
from envs_registry.api_bank.settings import SEARCHER, Setting, settings
from envs_registry.api_bank.subsets import Level

REVISION: Final = "483554eae102"
"""The commit of upstream that the findings are about."""


def disagreements(setting: Setting) -> tuple[str, ...]:
    """What is odd about a dialogue, a line each, with upstream's revision (FIELD-063, FIELD-098)."""
    dialogue = setting.dialogue
    found = (
        *_renamed(dialogue),
        *_outdated(setting),
        *_never_right(setting),
        *_listed_otherwise(dialogue, setting.data),
    )
    return tuple(f"{line} (upstream {REVISION})" for line in dict.fromkeys(found))


def _renamed(dialogue: Dialogue) -> Iterator[str]:
    for call in dialogue.calls:
        for name in call.given:
            if (call.name, name) in RENAMED:
                now = RENAMED[call.name, name]
                yield f"{call.name} was recorded with parameter {name!r}, which is {now!r} now"


def _outdated(setting: Setting) -> Iterator[str]:
    """Calls that, made again in order, do not return what was recorded."""
    calls = [call for call in setting.dialogue.calls if call.name != SEARCHER]
    for call, again in zip(calls, setting.replayed(calls), strict=True):
        if again is not None and not same_outcome(again, call.result):
            then, now = call.result["output"], again["exception"] or again["output"]
            yield f"{call.name}{dict(call.arguments)} returned {then!r:.80} when recorded and now {now!r:.80}"


def _never_right(setting: Setting) -> Iterator[str]:
    for call in setting.dialogue.calls:
        api = apis(setting.folder)[call.name]
        if api.rule is not api.mended and call.name != SEARCHER:
            yield f"upstream's rule for {call.name} never holds, so a mended one judges it"


def _listed_otherwise(dialogue: Dialogue, data: Path) -> Iterator[str]:
    """Of the table that documents the APIs of levels 1 and 2; once each, where an API is first called."""
    if dialogue.level != 3:
        for name, line in _differences(data).items():
            if _first_callers(data, dialogue.level).get(name) == dialogue.id:
                yield f"all_apis.csv: {line}"


@cache
def _differences(data: Path) -> Mapping[str, str]:
    return csv_differences(data)


@cache
def _first_callers(data: Path, level: Level) -> Mapping[str, str]:
    dialogues = [setting.dialogue for setting in reversed(settings(data, level))]
    return {call.name: dialogue.id for dialogue in dialogues for call in dialogue.calls}
