"""Meetings and reminders (APIS.md 5.4 and 5.5)."""

from __future__ import annotations

from typing import Any

from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import MEETING, NAMED, OUTCOME, arguments, deletion, every, words_overlap
from envs_registry.api_bank.state import Failure, Key, State, first_of
from envs_registry.api_bank.times import DATETIME, parse

_REMINDER = every(words_overlap("content", lambda content: content.lower()), arguments("time"), OUTCOME)


@api("AddMeeting", MEETING)
def add_meeting(
    state: State,
    token: Any,
    meeting_topic: Any,
    start_time: Any,
    end_time: Any,
    location: Any,
    attendees: Any,
) -> Any:
    """Add a meeting; whether it ends after it starts is not asked."""
    parse(start_time, DATETIME)
    parse(end_time, DATETIME)
    if meeting_topic.strip() == "":
        raise Failure("Meeting Topic should not be null")
    meeting = {
        "username": state.user(token),
        "meeting_topic": meeting_topic,
        "start_time": start_time,
        "end_time": end_time,
        "location": location,
        "attendees": attendees,
    }
    _append(state, "Meeting", meeting)
    return SUCCESS


# Upstream's rule compares the argument "time", which meetings do not have, so it never holds.
@api("DeleteMeeting", deletion("time"), mended=deletion("start_time"))
def delete_meeting(state: State, **arguments: Any) -> Any:
    """Remove the first meeting of that topic or start."""
    del state.write("Meeting")[_meeting(state, **arguments)]
    return SUCCESS


@api("ModifyMeeting", MEETING)
def modify_meeting(state: State, **arguments: Any) -> Any:
    """Change topic and times of the first meeting of that topic or start; place and people stay."""
    key = _meeting(state, **arguments)
    table = state.write("Meeting")
    changes = {"meeting_topic": arguments["meeting_topic"]} if arguments["meeting_topic"] else {}
    if arguments["start_time"]:
        changes |= {"start_time": arguments["start_time"], "end_time": arguments["end_time"]}
    table[key] = {**table[key], **changes}
    return SUCCESS


@api("QueryMeeting", MEETING)
def query_meeting(state: State, **arguments: Any) -> Any:
    """The first meeting of that topic or start."""
    return state.read("Meeting")[_meeting(state, **arguments)]


def _meeting(
    state: State, token: Any, meeting_topic: Any, start_time: Any, end_time: Any, **ignored: Any
) -> Key:
    for time in (start_time, end_time):
        if time:
            parse(time, DATETIME)
    if meeting_topic.strip() == "" and not start_time:
        raise Failure("Meeting Topic and start_time should not be null both")
    username = state.user(token)
    key = first_of(state.read("Meeting"), username, meeting_topic=meeting_topic, start_time=start_time)
    if key is not None:
        return key
    if meeting_topic:
        raise Failure(f"You have no meeting about {meeting_topic}")
    raise Failure(f"You have no meeting at time : {start_time}")


@api("AddReminder", every(NAMED, _REMINDER))
def add_reminder(state: State, token: Any, content: Any, time: Any) -> Any:
    """Add a reminder."""
    username = _reminding(state, token, content, time)
    _append(state, "Reminder", {"username": username, "content": content, "time": time})
    return SUCCESS


@api("DeleteReminder", deletion("time"))
def delete_reminder(state: State, token: Any, content: Any, time: Any) -> Any:
    """Remove the first reminder with that content or time."""
    del state.write("Reminder")[_reminder(state, token, content, time)]
    return SUCCESS


@api("ModifyReminder", every(NAMED, _REMINDER))
def modify_reminder(state: State, token: Any, content: Any, time: Any) -> Any:
    """Give the first reminder with that content or time both."""
    key = _reminder(state, token, content, time)
    table = state.write("Reminder")
    table[key] = {**table[key], "content": content, "time": time}
    return SUCCESS


@api("QueryReminder", _REMINDER)
def query_reminder(state: State, token: Any, content: Any, time: Any) -> Any:
    """The first reminder with that content or time."""
    return state.read("Reminder")[_reminder(state, token, content, time)]


def _reminding(state: State, token: Any, content: Any, time: Any) -> str:
    parse(time, DATETIME)
    if content.strip() == "":
        raise Failure("Content should not be null")
    return state.user(token)


def _reminder(state: State, token: Any, content: Any, time: Any) -> Key:
    username = _reminding(state, token, content, time)
    key = first_of(state.read("Reminder"), username, content=content, time=time)
    if key is None:
        raise Failure(f"You have no reminder about {content} or at time : {time}")
    return key


def _append(state: State, name: str, record: dict[str, Any]) -> None:
    table = state.write(name)
    table[str(max(map(int, table)) + 1 if table else 0)] = record
