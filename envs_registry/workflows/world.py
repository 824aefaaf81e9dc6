"""The world of one episode: facts that never change, and what has been done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from envs_registry.workflows.facts import Facts, Record
from envs_registry.workflows.names import draw_name
from envs_registry.workflows.streams import Stream
from toolenv.canonical import digest
from toolenv.errors import ToolError

Runner: TypeAlias = "Callable[[WorkflowWorld, Mapping[str, Any]], dict[str, Any]]"
"""What a tool does: from the world and checked arguments to its result."""

NOTHING_DONE = digest([])
"""The digest of every world in which nothing has been done."""

_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_PREFIX = ("BK", "CH")


class WorkflowWorld:
    """Facts, and the deeds done so far. A fork shares the facts and copies the deeds.

    Args:
        facts: what was true at the start.
        runners: the tools, by name.
    """

    __slots__ = ("_changes", "_deeds", "_runners", "facts")

    def __init__(self, facts: Facts, runners: Mapping[str, Runner]) -> None:
        self.facts = facts
        self._runners = runners
        self._deeds: dict[str, dict[str, Any]] = {}
        self._changes: dict[tuple[str, str], Any] = {}

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool."""
        return self._runners[name](self, arguments)

    def fork(self) -> WorkflowWorld:
        """An independent copy."""
        copy = WorkflowWorld(self.facts, self._runners)
        if self._deeds:
            copy._deeds, copy._changes = self._deeds.copy(), self._changes.copy()
        return copy

    def digest(self) -> str:
        """Equal for equal deeds, in any order."""
        return digest([self._deeds[code] for code in sorted(self._deeds)]) if self._deeds else NOTHING_DONE

    def view(self) -> Any:
        """The deeds by confirmation code, and the facts they changed."""
        changes = [{"id": at, "field": key, "value": value} for (at, key), value in self._changes.items()]
        return {"deeds": {code: dict(deed) for code, deed in self._deeds.items()}, "changes": changes}

    # -- what tools do ---------------------------------------------------------------------------------

    def find(self, level: int, name: str) -> Record:
        """The thing of that name."""
        record = self.facts.by_name.get((level, " ".join(name.split()).lower()))
        if record is None:
            kind = self.facts.subtopic.kinds[level]
            raise ToolError(f"no {kind.label} is registered with the {kind.known_by} {name[:100]!r}")
        return record

    def get(self, level: int, identifier: str) -> Record:
        """The thing of that identifier."""
        found = self.facts.by_id.get(identifier.strip().upper())
        if found is None or found[0] != level:
            raise ToolError(f"no {self.facts.subtopic.kinds[level].label} has the ID {identifier[:100]!r}")
        return found[1]

    def value(self, record: Record, key: str) -> Any:
        """A fact, as it is now."""
        return (
            self._changes.get((record.id, key), record.values[key]) if self._changes else record.values[key]
        )

    def do(self, tool: str, record: Record, detail: Mapping[str, Any], sets: str = "") -> str:
        """Add a deed and return its confirmation code; the same deed again is one deed (a safe retry).

        Args:
            tool: which deed.
            record: what it is done to.
            detail: the date or amount.
            sets: the fact that becomes ``detail["date"]``, if any; then the deed takes the place of an
                earlier one.
        """
        deed = {"deed": tool, "id": record.id, **detail}
        stream = Stream(self.facts.salt, "code", *map(str, deed.values()))
        code = f"{_PREFIX[bool(sets)]}-" + "".join(stream.choice(_LETTERS) for _ in range(6))
        if sets:
            self._deeds = {one: old for one, old in self._deeds.items() if not _is_of(old, tool, record)}
            self._changes[record.id, sets] = detail["date"]
        self._deeds[code] = deed
        return code

    def receipt(self, code: str) -> tuple[dict[str, Any], str]:
        """A deed by its confirmation code, and who handles it."""
        deed = self._deeds.get(code.strip().upper())
        if deed is None:
            raise ToolError(f"no record has the confirmation code {code[:100]!r}")
        return deed, draw_name("{person}", Stream(self.facts.salt, "handler", code.strip().upper()), set())


def _is_of(deed: Mapping[str, Any], tool: str, record: Record) -> bool:
    return bool(deed["deed"] == tool and deed["id"] == record.id)
