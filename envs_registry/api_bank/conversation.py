"""A dialogue in chat form: calls are tool calls with replies, and roles come in the order servers take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from envs_registry.api_bank.dialogues import RecordedCall, Said, Turn
from toolenv.rendering import render
from toolenv.types import Action, ChatMessage, Message, ToolCall, ToolCalls

DONE = "Done."
"""What the assistant says where a user speaks right after a tool: strict templates want an answer first."""


def messages(turns: Iterable[Turn]) -> tuple[ChatMessage, ...]:
    """What was said and called, oldest first, as an agent would have seen it.

    Words of the assistant before a call go into the same message; words in a row become one message.
    """
    said: list[ChatMessage] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Said):
            _say(said, turn)
        else:
            _call(said, turn, f"call{number:05d}")
    return tuple(said)


def _say(said: list[ChatMessage], turn: Said) -> None:
    before = said[-1] if said else None
    if before is not None and before.role == "tool" and turn.role == "user":
        said.append(ChatMessage("assistant", DONE))
    elif before is not None and before.role == turn.role and not before.calls:
        said[-1] = ChatMessage(turn.role, f"{before.content}\n{turn.text}")
        return
    said.append(ChatMessage(turn.role, turn.text))


def _call(said: list[ChatMessage], turn: RecordedCall, call_id: str) -> None:
    text = ""
    if said and said[-1].role == "assistant" and not said[-1].calls:
        text = said.pop().content
    call = ToolCall(turn.name, turn.arguments, call_id)
    said.append(ChatMessage("assistant", text, (call,)))
    said.append(ChatMessage("tool", render(turn.result["output"]), call_id=call_id))


def decisions(turns: Sequence[Turn]) -> tuple[Action, ...]:
    """The assistant's side: its calls, one a decision, and a message at the end of each user turn."""
    return tuple(action for part in _user_turns(turns) for action in _decisions(part))


def _user_turns(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """What follows each of the user's turns."""
    part: list[Turn] | None = None
    for turn in turns:
        if isinstance(turn, Said) and turn.role == "user":
            if part is not None:
                yield part
            part = []
        elif part is not None:
            part.append(turn)
    if part is not None:
        yield part


def _decisions(turns: Iterable[Turn]) -> Iterator[Action]:
    words: list[str] = []
    for turn in turns:
        if isinstance(turn, Said):
            words.append(turn.text)
        else:
            yield ToolCalls((ToolCall(turn.name, turn.arguments),), "\n".join(words))
            words = []
    yield Message("\n".join(words) or DONE)
