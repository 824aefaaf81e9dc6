"""What each API of API-Bank may tell, at the most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from envs_registry.api_bank.apis.web import REQUESTS
from envs_registry.api_bank.effects import COMPUTES, CONSTANTS, FROM_WEB, READS, told_of
from envs_registry.api_bank.outcome import reference_of
from envs_registry.api_bank.settings import Setting
from toolenv.task import Task

_NUMBER: Final = re.compile(r"(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?![\w.]*[0-9])")


def tells(task: Task, tool: str, text: Any) -> bool:
    """Whether an API may tell a value that the agent has not given it.

    A text is told if it stands anywhere in what the API may read, a number if it is one of the numbers there.
    What a calculator makes of numbers given to it is not found out, so it tells no value that is asked for.
    """
    if tool in COMPUTES and not isinstance(text, str):
        return False
    texts, numbers = _told(reference_of(task).setting, tool)
    if isinstance(text, str):
        return any(text.casefold() in one for one in texts) or _is_among(text, numbers)
    return float(text) in numbers


def _is_among(text: str, numbers: frozenset[float]) -> bool:
    return _NUMBER.fullmatch(text) is not None and float(text) in numbers


_KNOWN: dict[tuple[int, str, str], tuple[frozenset[str], frozenset[float]]] = {}


def _told(setting: Setting, tool: str) -> tuple[frozenset[str], frozenset[float]]:
    """The texts, in lower case, and the numbers that an API may tell in a dialogue's world."""
    key = (id(setting.tables), setting.folder, tool)
    if key not in _KNOWN:
        _KNOWN[key] = _split(_shared(setting, tool))
    texts, numbers = _KNOWN[key]
    recorded = [call.result["output"] for call in setting.dialogue.calls if call.name == tool]
    if not recorded:
        return texts, numbers
    own_texts, own_numbers = _split(recorded)
    return texts | own_texts, numbers | own_numbers


def _shared(setting: Setting, tool: str) -> Iterator[Any]:
    for table in READS[setting.folder].get(tool, ()):
        yield told_of(tool, setting.tables[table])
    if tool in FROM_WEB and tool in REQUESTS:
        yield [answer for (name, *_), answer in setting.web.items() if name == tool]
    yield CONSTANTS[setting.folder].get(tool, ())


def _split(values: Iterable[Any]) -> tuple[frozenset[str], frozenset[float]]:
    texts, numbers = set[str](), set[float]()
    for leaf in _leaves(list(values)):
        if isinstance(leaf, str):
            texts.add(leaf.casefold())
            numbers.update(float(match) for match in _NUMBER.findall(leaf))
        elif isinstance(leaf, int | float):
            numbers.add(float(leaf))
    return frozenset(texts), frozenset(numbers)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _leaves(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
