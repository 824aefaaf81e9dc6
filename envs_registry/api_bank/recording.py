"""The calls a dialogue recorded, as answers to the same calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from envs_registry.api_bank.apis.web import REQUESTS
from envs_registry.api_bank.dialogues import Dialogue, RecordedCall
from envs_registry.api_bank.rules import Rule, is_right
from envs_registry.api_bank.tool_search import names_in
from toolenv.canonical import canonical
from toolenv.errors import DataCorruptError


def key_of(name: str, arguments: Mapping[str, Any]) -> str:
    """The same for two calls exactly if API and arguments are equal, in whatever order they stand."""
    return f"{name} {canonical(dict(arguments))}"


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded result.

    Attributes:
        arguments: those it was recorded with, in the declared types.
        result: the result record.
        reproduced: whether the implementations give it too, where the dialogue's calls are made in order. If
            so it holds in the state it was recorded in; if not, it is all there is.
        exact: whether it was looked up with its own arguments, rather than with others that upstream's rule
            takes for the same.
    """

    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    reproduced: bool
    exact: bool = True


class Recording:
    """The recorded results of one dialogue, by call.

    Args:
        calls: the recorded calls.
        replay: makes calls in order on a fresh world without recordings; gives their result records, or
            ``None`` for one that could not be made.
        rules: upstream's rule of when two calls of an API are the same, by API.
    """

    def __init__(
        self,
        calls: Sequence[RecordedCall],
        replay: Callable[[Sequence[RecordedCall]], Iterable[Mapping[str, Any] | None]],
        rules: Mapping[str, Rule],
    ) -> None:
        self._answers: dict[str, Answered] = {}
        self._alike: dict[str, list[tuple[Rule, Answered]]] = {}
        for call, again in zip(calls, replay(calls), strict=True):
            reproduced = again is not None and same_outcome(again, call.result)
            answer = Answered(call.arguments, call.result, reproduced)
            for arguments in (call.arguments, call.given):
                known = self._answers.setdefault(key_of(call.name, arguments), answer)
                if not same_outcome(known.result, call.result):
                    raise DataCorruptError(
                        f"two recorded calls {call.name}{dict(arguments)} differ in result"
                    )
            self._allow_others(call, rules[call.name], answer)

    def find(self, name: str, arguments: Mapping[str, Any]) -> Answered | None:
        """What was recorded for a call, or for one whose arguments mean the same by upstream's rule."""
        exact = self._answers.get(key_of(name, arguments))
        if exact is not None:
            return exact
        for rule, answer in self._alike.get(name, ()):
            if is_right(rule, {**answer.result, "input": arguments}, answer.result):
                return answer
        return None

    def _allow_others(self, call: RecordedCall, rule: Rule, answer: Answered) -> None:
        """Let other arguments find an answer too, unless its API's rule does not look at arguments."""
        if not is_right(rule, {**answer.result, "input": {}}, answer.result):
            self._alike.setdefault(call.name, []).append((rule, replace(answer, exact=False)))


def same_outcome(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two results have the same output and exception."""
    return bool(left["output"] == right["output"] and left["exception"] == right["exception"])


def web_responses(dialogues: Iterable[Dialogue]) -> dict[tuple[str, ...], Any]:
    """What the APIs that need the network were asked and answered, over all dialogues."""
    return {
        REQUESTS[call.name](**call.arguments): call.result["output"]
        for dialogue in dialogues
        for call in dialogue.calls
        if call.name in REQUESTS
    }


def searches(calls: Iterable[RecordedCall]) -> dict[str, str]:
    """Keywords → the tool that was found for them."""
    return {
        call.arguments["keywords"].strip(): names_in(call.result["output"])[-1]
        for call in calls
        if call.name == "ToolSearcher"
    }
