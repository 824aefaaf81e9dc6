"""An agent's calls in the form that world and trace take: the tool's own name, clean arguments, one id."""

from __future__ import annotations

from collections.abc import Mapping

from toolenv.hygiene import clean_name
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.quick import new_call
from toolenv.types import Action, Malformed, ToolCall, ToolCalls, ToolSpec

_EMPTY = ""
"""What most calls have for an id and a problem; told by identity, the quickest way."""


MAX_CALLS = 128
"""Calls in one decision; more are no decision."""


def no_decision(action: Action) -> Malformed:
    """A decision that is none: itself, or what stands for none or too many calls."""
    if isinstance(action, Malformed):
        return action
    many = isinstance(action, ToolCalls) and action.calls
    why = f"more than {MAX_CALLS} calls at once" if many else "a tool call without any call"
    return Malformed("", why, usage=action.usage)


class IncomingCalls:
    """The calls of one episode; no two bear the same id.

    Attributes:
        mended: the ids of those with text in their arguments that could not be taken as it was.
    """

    __slots__ = ("_ids", "mended")

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self.mended: set[str] = set()

    def accept(self, call: ToolCall, offered: Mapping[str, ToolSpec]) -> ToolCall:
        """The call under the tool's own name; what cannot be used of it becomes its ``problem``.

        Args:
            call: as the agent made it.
            offered: the tools by every name that they may be called by.
        """
        given = call.name if type(call.name) is str else str.__str__(call.name)
        spec = offered.get(given)
        name = clean_name(given) if spec is None else spec.name
        call_id = self._unused_id(clean_name(call.id) if call.id is not _EMPTY else "")
        problem = clean_name(call.problem) if call.problem is not _EMPTY else ""
        try:
            arguments, mended = clean_json(call.arguments)
        except UnusableValueError as error:
            return new_call(name, {}, call_id, problem or str(error))
        if mended:
            self.mended.add(call_id)
        return new_call(name, arguments, call_id, problem)

    def _unused_id(self, wanted: str) -> str:
        number = len(self._ids)
        while not wanted or wanted in self._ids:
            wanted, number = _FIRST_IDS[number] if number < len(_FIRST_IDS) else _id(number), number + 1
        self._ids.add(wanted)
        return wanted


def _id(number: int) -> str:
    """Nine letters and digits: the strictest form servers ask for."""
    return f"call{number:05d}"


_FIRST_IDS = tuple(map(_id, range(64)))
