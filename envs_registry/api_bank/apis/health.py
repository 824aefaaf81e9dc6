"""Health records and symptoms (APIS.md 5.8 and 5.9)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import OUTCOME, Result, argument, every
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import DATETIME, normal_time, parse, read, settled


def _identity(value: Any) -> Any:
    return value.upper().strip()


def _moment(value: Any) -> datetime:
    return settled(read(value, DATETIME))


@api(
    "QueryHealthData",
    every(
        argument("user_id", _identity),
        argument("start_time", _moment),
        argument("end_time", _moment),
        OUTCOME,
    ),
)
def query_health_data(state: State, user_id: Any, start_time: Any, end_time: Any) -> Any:
    """A user's records from one moment to another."""
    user = _identity(user_id)
    start, end = read(start_time, DATETIME), read(end_time, DATETIME)
    if not user:
        raise Failure("The user id cannot be empty.")
    if isinstance(start, ValueError) and isinstance(end, ValueError):
        raise Failure(f"{start}; {end}")
    first, last = settled(start), settled(end)
    if first > last:
        raise Failure("The start time cannot be later than the end time.")
    if user not in state.read("HealthData"):
        raise Failure("The user id does not exist.")
    records = state.read("HealthData")[user]
    found = [record for record in records if first <= parse(record["time"], DATETIME) <= last]
    if not found:
        raise Failure("There is no health data in the given time span.")
    return found


def _same_user(tested: Result, recorded: Result) -> bool:
    """The id of a tested call may be a number; that both give health data is all that is asked of those."""
    sides = (tested["input"], recorded["input"])
    given = all("health_data" in side for side in sides)
    return given and _identity(str(sides[0]["user_id"])) == _identity(sides[1]["user_id"])


@api("RecordHealthData", every(_same_user, argument("time", normal_time), OUTCOME))
def record_health_data(state: State, user_id: Any, time: Any, health_data: Any) -> Any:
    """Add measures to a user's record of that moment."""
    user = _identity(user_id)
    if not user:
        raise Failure("The user id cannot be empty.")
    moment = normal_time(time)
    if health_data is None or len(health_data) == 0:
        raise Failure("The health data cannot be empty.")
    _check_measures(health_data)
    _store(state, user, moment, health_data)
    return SUCCESS


def _check_measures(health_data: Any) -> None:
    seen = []
    for item in health_data:
        if "name" not in item:
            raise Failure("The health data has invalid format.")
        if item["name"] in seen:
            raise Failure("The health data cannot contain duplicate items.")
        seen.append(item["name"])


def _store(state: State, user: str, moment: str, health_data: Sequence[Any]) -> None:
    """The last record of that moment is completed, else one is added.

    A measure without value ends it: those before it stay in a record that was there.
    """
    table = state.write("HealthData")
    records = table[user] = list(table.get(user, ()))
    at = next((at for at in reversed(range(len(records))) if records[at]["time"] == moment), None)
    record = {"time": moment} if at is None else dict(records[at])
    try:
        for item in health_data:
            record[item["name"]] = item["value"]
    finally:
        if at is not None:
            records[at] = record
    if at is None:
        records.append(record)


def _symptom(value: Any) -> Any:
    if not value.strip():
        raise ValueError("an empty symptom is no symptom")
    return value.strip().lower()


@api("SymptomSearch", every(argument("symptom", _symptom), OUTCOME))
def symptom_search(state: State, symptom: Any) -> Any:
    """What a symptom may mean."""
    if not symptom.strip().lower():
        raise Failure("The symptom cannot be empty.")
    return [{key: known[key] for key in ("name", "description")} for known in _known(state, symptom)]


@api("EmergencyKnowledge", every(argument("symptom", _symptom), OUTCOME))
def emergency_knowledge(state: State, symptom: Any) -> Any:
    """What to do about a symptom."""
    if not symptom.strip():
        # Upstream trips over its own message; this is what agents then read.
        raise Failure("'Exception' object has no attribute 'lower'")
    return [{key: known[key] for key in ("name", "aid")} for known in _known(state, symptom)]


def _known(state: State, symptom: str) -> Any:
    name = symptom.strip().lower()
    if name not in state.read("Symptom"):
        raise Failure("The symptom does not exist.")
    return state.read("Symptom")[name]
