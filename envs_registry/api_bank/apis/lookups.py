"""What is looked up in a table, and what needs none (APIS.md 5.9 and 5.12)."""

from __future__ import annotations

import re
from typing import Any, Final

from envs_registry.api_bank.apis.appointments import stripped
from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import EXACT, NAMED, OUTCOME, Result, argument, equal, every
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import month_day

TODAY: Final = "2023-03-31"
"""Upstream's constant today."""

LONGEST_ADDRESS: Final = 320
"""No e-mail address is longer (RFC 3696); longer text would keep the pattern busy."""

_ADDRESS = re.compile(r"[a-z0-9]+[._]?[a-z0-9]+@\w+[.]\w{2,3}")
_TOO_DIFFICULT: Final = "The question is too difficult to answer."


@api("QueryHistoryToday", every(argument("date", month_day), OUTCOME))
def query_history_today(state: State, date: Any) -> Any:
    """What happened on a day of the year."""
    day = month_day(date)
    if day not in state.read("History"):
        raise Failure("The date is not in the database.")
    return [event_text(event) for event in state.read("History")[day]]


def event_text(event: dict[str, str]) -> str:
    """An event as it is told."""
    return ", ".join(f"{name}: {event[name].strip()}" for name in ("Title", "Date", "Description"))


@api("ImageCaption", EXACT)
def image_caption(state: State, url: Any) -> Any:
    """What a picture shows."""
    address = url.strip()
    if not address.endswith((".jpg", ".jpeg", ".png")):
        raise Failure("The url should end with .jpg, .jpeg or .png.")
    captions = (image["caption"] for image in state.read("ImageCaptioning") if image["url"] == address)
    caption = next(captions, None)
    if caption is None:
        raise Failure("The image of this url failed to be processed.")
    return caption


@api("SpeechRecognition", EXACT)
def speech_recognition(state: State, url: Any) -> Any:
    """What is said in a recording."""
    address = url.strip()
    if not address.endswith(".wav"):
        raise Failure("The url should end with .wav.")
    if address not in state.read("SpeechRecognition"):
        raise Failure("The audio of this url failed to be processed.")
    return state.read("SpeechRecognition")[address]


@api("DocumentQA", every(argument("url", stripped), argument("question", stripped), OUTCOME))
def document_qa(state: State, url: Any, question: Any) -> Any:
    """Upstream answers no question: it looks for it where none can be."""
    address = url.strip()
    if not question.strip():
        raise Failure("The question is empty.")
    if address not in state.read("QuestionAnswering"):
        raise Failure("The document of this url failed to be processed.")
    return _TOO_DIFFICULT


@api("Wiki", every(NAMED, OUTCOME))
def wiki(state: State, keyword: Any) -> Any:
    """The summary of an article."""
    entry = keyword.replace("_", " ").strip().lower()
    if entry not in state.read("Wiki"):
        raise Failure("Keyword not found.")
    return {key: state.read("Wiki")[entry][key] for key in ("url", "summary")}


@api("PlayMusic", equal("output"))
def play_music(state: State, music_name: Any) -> Any:
    """A link to a piece of music."""
    name = music_name.lower().strip()
    if not name:
        raise Failure("The music name cannot be empty.")
    return f"music://{name}"


@api(
    "SendEmail",
    every(
        argument("receiver", lambda address: address.strip().lower()),
        argument("subject", stripped),
        argument("content", stripped),
        OUTCOME,
    ),
)
def send_email(state: State, receiver: Any, subject: Any, content: Any) -> Any:
    """Send a message, which nobody keeps."""
    address, about, text = receiver.strip(), subject.strip(), content.strip()
    if len(address) > LONGEST_ADDRESS or not _ADDRESS.fullmatch(address):
        raise Failure("Email address of the receiver is invalid.")
    if not about:
        raise Failure("Subject cannot be empty.")
    if not text:
        raise Failure("Content cannot be empty.")
    return SUCCESS


def _any_day(tested: Result, recorded: Result) -> bool:
    return tested["output"] is not None and tested["exception"] is None and tested["input"] is None


@api("GetToday", _any_day)
def get_today(state: State) -> Any:
    """The day it always is."""
    return TODAY
