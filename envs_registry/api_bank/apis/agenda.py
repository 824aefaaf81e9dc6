"""Agenda and alarms (APIS.md 5.2 and 5.3)."""

from __future__ import annotations

from typing import Any

from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import EXACT, NAMED, OUTCOME, arguments, deletion, every, words_overlap
from envs_registry.api_bank.state import Failure, Key, State, first_of
from envs_registry.api_bank.times import DATETIME, parse

_RULE = every(words_overlap("content"), arguments("time", "location"), OUTCOME)


@api("AddAgenda", every(NAMED, _RULE))
def add_agenda(state: State, token: Any, content: Any, time: Any, location: Any) -> Any:
    """Add an item. Its key is a number, which never meets a shipped one, but may meet another added one."""
    parse(time, DATETIME)
    if content.strip() == "":
        raise Failure("Content should not be null")
    item = {"username": state.user(token), "content": content, "time": time, "location": location}
    table = state.write("Agenda")
    table[len(table) + 1] = item
    return SUCCESS


@api("DeleteAgenda", deletion("time"))
def delete_agenda(state: State, token: Any, content: Any, time: Any, location: Any) -> Any:
    """Remove the first item with that content or time; the messages speak of meetings."""
    _, key = _find(state, token, content, time)
    if key is None:
        if content:
            raise Failure(f"You have no meeting about {content}")
        if time:
            raise Failure(f"You have no meeting at time : {time}")
    else:
        del state.write("Agenda")[key]
    return SUCCESS


@api("ModifyAgenda", _RULE)
def modify_agenda(state: State, token: Any, content: Any, time: Any, location: Any) -> Any:
    """Replace the first item with that content or time."""
    username, key = _find(state, token, content, time)
    item = {"username": username, "content": content, "time": time, "location": location}
    state.write("Agenda")[_present(key, content, time)] = item
    return SUCCESS


@api("QueryAgenda", _RULE)
def query_agenda(state: State, token: Any, content: Any, time: Any, location: Any) -> Any:
    """The first item with that content or time."""
    _, key = _find(state, token, content, time)
    return state.read("Agenda")[_present(key, content, time)]


def _find(state: State, token: Any, content: Any, time: Any) -> tuple[str, Key | None]:
    if time:
        parse(time, DATETIME)
    username = state.user(token)
    return username, first_of(state.read("Agenda"), username, content=content, time=time)


def _present(key: Key | None, content: Any, time: Any) -> Key:
    if key is not None:
        return key
    if content:
        raise Failure(f"You have no agenda about {content}")
    # Upstream's ModifyAgenda hands this error over as an output; failing with it says the same.
    raise Failure(f"You have no agenda at time : {time}" if time else "Error")


@api("AddAlarm", EXACT)
def add_alarm(state: State, token: Any, time: Any) -> Any:
    """Set an alarm; for its key see AddAgenda."""
    parse(time, DATETIME)
    alarm = {"username": state.user(token), "time": time}
    table = state.write("Alarm")
    table[len(table) + 1] = alarm
    return SUCCESS


@api("DeleteAlarm", EXACT)
def delete_alarm(state: State, token: Any, time: Any) -> Any:
    """Remove the first alarm at that time."""
    del state.write("Alarm")[_alarm(state, token, time)]
    return SUCCESS


@api("ModifyAlarm", EXACT)
def modify_alarm(state: State, token: Any, from_time: Any, to_time: Any) -> Any:
    """Move the first alarm at that time; the message speaks of an agenda."""
    parse(from_time, DATETIME)
    parse(to_time, DATETIME)
    username = state.user(token)
    key = first_of(state.read("Alarm"), username, time=from_time)
    if key is None:
        raise Failure(f"You have no agenda at time : {from_time}")
    state.write("Alarm")[key] = {"username": username, "time": to_time}
    return SUCCESS


@api("QueryAlarm", EXACT)
def query_alarm(state: State, token: Any, time: Any) -> Any:
    """The first alarm at that time."""
    return state.read("Alarm")[_alarm(state, token, time)]


def _alarm(state: State, token: Any, time: Any) -> Key:
    parse(time, DATETIME)
    key = first_of(state.read("Alarm"), state.user(token), time=time)
    if key is None:
        raise Failure(f"You have no alarm clock at time : {time}")
    return key
