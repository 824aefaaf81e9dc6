"""The world behind API-Bank's tasks: the APIs over an episode's own view of the databases."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from envs_registry.api_bank.apis.accounts import RESET
from envs_registry.api_bank.manager import Refused, convert, execute
from envs_registry.api_bank.recording import Answered, Recording, same_outcome
from envs_registry.api_bank.registry import Api
from envs_registry.api_bank.state import NoRecordedResponse, State
from envs_registry.api_bank.tool_search import Document, names_in
from toolenv.canonical import digest
from toolenv.kernel.protocol import Noted

Source: TypeAlias = Literal["recorded", "implementation", "cache_miss"]
"""Where a result comes from; ``cache_miss``: upstream asks the network, and nobody recorded the answer."""

Replay: TypeAlias = Literal["live", "always", "never"]
"""When a call with recorded arguments gets the recorded result.

``live``: unless the episode's own calls have made it untrue. ``always``: whatever the state, for single
calls after a recorded history. ``never``: only where the network would be asked.
"""

TRANSIENT: Final = frozenset({RESET})
"""Tables that hold what an API remembers between calls, and nothing a user would find changed."""

_ATOMS: Final = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call.

    Attributes:
        result: the result record; ``None`` for a call that reached no API.
        failure: what an agent reads instead of an output; ``None`` if there is one.
        source: where the result comes from.
    """

    result: Mapping[str, Any] | None
    failure: str | None
    source: Source


class APIBankWorld:
    """The state of one episode and what answers calls on it.

    Args:
        apis: the APIs that answer, by name.
        documents: their documents, by name.
        state: the episode's tables.
        recording: what the dialogue recorded; ``None`` for nothing.
        replay: when it is played back.
        listed: the tools an agent is shown from the start, where it has to search for the others; ``None``
            where it is shown all.
    """

    __slots__ = ("_apis", "_documents", "_listed", "_recording", "_replay", "_state")

    def __init__(
        self,
        apis: Mapping[str, Api],
        documents: Mapping[str, Document],
        state: State,
        recording: Recording | None = None,
        replay: Replay = "live",
        listed: frozenset[str] | None = None,
    ) -> None:
        self._apis, self._documents, self._state = apis, documents, state
        self._recording = None if replay == "never" else recording
        self._replay: Replay = replay
        self._listed = listed

    def call(self, name: str, arguments: Mapping[str, Any]) -> Noted:
        """Run an API; its source goes into the trace."""
        answer = self.answer(name, arguments)
        record = {"source": answer.source}
        if answer.failure is not None:
            return Noted(f"Error: {answer.failure}", record, failed=True)
        assert answer.result is not None  # only a failure has none
        return Noted(answer.result["output"], record)

    def answer(self, name: str, arguments: Mapping[str, Any], drawn: Any = None) -> Answer:
        """Run an API, for those who need the whole result record.

        Args:
            name: the API.
            arguments: of the call.
            drawn: an output to take a random token or number from, should the API draw one.
        """
        recorded = self._recorded(name, arguments)
        self._state.hint = drawn if recorded is None else recorded.result["output"]
        # The data set writes lists as text, which no API understands: those arguments mean the typed ones.
        meant = recorded.arguments if recorded is not None and recorded.exact else arguments
        answer = self._execute(name, meant)
        if recorded is not None and self._holds(recorded, answer):
            answer = Answer(recorded.result, recorded.result["exception"], "recorded")
        if name == "ToolSearcher" and self._listed is not None and answer.failure is None:
            assert answer.result is not None
            self._listed |= set(names_in(answer.result["output"]))
        return answer

    @property
    def listed(self) -> frozenset[str] | None:
        """The tools an agent is shown now; ``None`` for all it is offered."""
        return self._listed

    def fork(self) -> APIBankWorld:
        """An independent copy."""
        return APIBankWorld(
            self._apis, self._documents, self._state.fork(), self._recording, self._replay, self._listed
        )

    def digest(self) -> str:
        """Equal for two worlds exactly if their tables are."""
        return digest(self._state.changed())

    def view(self) -> dict[str, Any]:
        """The tables that calls have changed, as JSON values."""
        return {name: _plain(table) for name, table in self._state.changed().items()}

    def lasting_changes(self) -> dict[str, Any]:
        """The changed tables that a user would find changed."""
        return {name: table for name, table in self._state.changed().items() if name not in TRANSIENT}

    def _recorded(self, name: str, arguments: Mapping[str, Any]) -> Answered | None:
        if self._recording is None or (name == "ToolSearcher" and self._replay == "live"):
            return None  # what was found then may be masked now
        given = {key: value for key, value in arguments.items() if value is not None}
        return self._recording.find(name, given)

    def _holds(self, recorded: Answered, answer: Answer) -> bool:
        if not recorded.reproduced or (recorded.exact and self._replay == "always"):
            return True
        return recorded.exact and answer.result is not None and same_outcome(answer.result, recorded.result)

    def _execute(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        api, document = self._apis[name], self._documents[name]
        try:
            own = convert(document, {key: _own(value) for key, value in arguments.items()})
        except Refused as refusal:
            return Answer(None, str(refusal), "implementation")
        result, raised = execute(api, document, self._state, own)
        return Answer(result, result["exception"], _source(api, raised))


def _source(api: Api, raised: Exception | None) -> Source:
    if isinstance(raised, NoRecordedResponse):
        return "cache_miss"
    return "recorded" if api.from_web and raised is None else "implementation"


def _own(value: Any) -> Any:
    return value if isinstance(value, _ATOMS) else copy.deepcopy(value)


def _plain(table: Mapping[Any, Any]) -> dict[str, Any]:
    """Keys as text; an added record's number may look like a shipped one's text."""
    shown = {key: copy.deepcopy(record) for key, record in table.items() if isinstance(key, str)}
    for key, record in table.items():
        if not isinstance(key, str):
            shown[str(key) if str(key) not in shown else f"{key} (added)"] = copy.deepcopy(record)
    return shown
