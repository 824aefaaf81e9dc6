"""The types of what an episode's record holds, checked where a file says it: people edit files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType, NoneType
from typing import Any, Final, TypeAlias, get_args

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.types import Label

Types: TypeAlias = Mapping[str, tuple[type, ...]]

LARGEST: Final = 2**53
"""Counts from here on are none: floats, which means are made of, no longer tell them apart."""

_COUNTS: Final = ("trial", "turns", "calls", "input_tokens", "output_tokens")
_LABELS: Final = ("label", "decision", "lenient_decision")

EPISODE: Final[Types] = MappingProxyType(
    {
        **dict.fromkeys(("env", "agent", "task_id", *_LABELS, "decided_by", "error"), (str,)),
        **dict.fromkeys(("trial", "seed", "turns", "calls"), (int,)),
        **dict.fromkeys(("input_tokens", "output_tokens"), (int, NoneType)),
        **dict.fromkeys(("valid", "estimated_tokens"), (bool,)),
        "success": (bool, NoneType),
        "reward": (float, int, NoneType),
        "flags": (list, tuple),
    }
)
FACTS: Final[Mapping[str, Types]] = MappingProxyType(
    {
        "task": {
            "domain": (str,),
            "workflow": (str,),
            "tools": (int, NoneType),
            "reference_calls": (int, NoneType),
        },
        "exposure": {
            **dict.fromkeys(("hazard", "mode", "tool"), (str,)),
            "armed": (bool,),
            "fired": (int,),
            "seen": (int,),
        },
        "reaction": {
            "failure": (str,),
            "first_action": (str,),
            "calls_after": (int,),
            "answered": (bool,),
        },
    }
)
_ROLE: Final[Types] = {
    "input_tokens": (int, NoneType),
    "output_tokens": (int, NoneType),
    "estimated": (bool,),
}
_KINDS: Final[Mapping[str, Types]] = {"episode": EPISODE, "role": _ROLE, **FACTS}


def check_record(plain: Mapping[str, Any]) -> None:
    """Check the fields of an episode's record; those that a record of version 1 lacks may be absent.

    Raises:
        DataCorruptError: one that cannot be; names it with its value.
        KeyError: one is missing.
    """
    _check("episode", plain, "")
    for name in _LABELS:
        if plain[name] not in get_args(Label):
            raise DataCorruptError(str(UnknownNameError(name, plain[name], get_args(Label))))
    for flag in plain["flags"]:
        if type(flag) is not str:
            raise DataCorruptError(f"flags has {flag!r:.80}")
    _check_counts(plain, _COUNTS, "")
    if "task" in plain:
        _check_facts(plain)


def _check_facts(plain: Mapping[str, Any]) -> None:
    if type(plain["accurate"]) not in (bool, NoneType):
        raise DataCorruptError(f"accurate is {plain['accurate']!r:.80}")
    for name in FACTS:
        if plain[name] is not None:
            _check(name, plain[name], f"{name}: ")
    for role, tokens in plain["roles"].items():
        _check("role", tokens, f"role {role!r:.80}: ")
        _check_counts(tokens, ("input_tokens", "output_tokens"), f"role {role!r:.80}: ")


def _check_counts(plain: Mapping[str, Any], names: Iterable[str], place: str) -> None:
    for name in names:
        if not 0 <= (plain[name] or 0) < LARGEST:
            raise DataCorruptError(f"{place}{name} is {plain[name]!r:.80}, no count")


def _check(kind: str, plain: Any, place: str) -> None:
    if type(plain) is not dict:
        raise DataCorruptError(f"{place}{plain!r:.80} is no object")
    wrong = _wrong(kind, tuple([type(plain[name]) for name in _KINDS[kind]]))
    if wrong:
        raise DataCorruptError(f"{place}{wrong} is {plain[wrong]!r:.80}")


@lru_cache(4096)
def _wrong(kind: str, types: tuple[type, ...]) -> str:
    """The first field of another type than it may have, ``""`` if there is none; few combinations occur."""
    pairs = zip(_KINDS[kind].items(), types, strict=True)
    return next((name for (name, allowed), found in pairs if found not in allowed), "")
