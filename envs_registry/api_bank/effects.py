"""What each API of API-Bank may change and tell, as declared here by hand.

``tests/envs_registry/api_bank/test_effects.py`` holds the declarations against what the APIs do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from envs_registry.api_bank.apis import level3_life, level3_people
from envs_registry.api_bank.apis.lookups import TODAY, event_text
from envs_registry.api_bank.registry import Folder

Way: TypeAlias = Literal["added", "removed", "more", "fewer"]
"""What happens to a table: records come or go (a changed one does both), or their number rises or falls."""

_ADDS: Final[tuple[Way, ...]] = ("added", "more")
_REMOVES: Final[tuple[Way, ...]] = ("removed", "fewer")
_CHANGES: Final[tuple[Way, ...]] = ("added", "removed")
_PUTS: Final[tuple[Way, ...]] = ("added", "removed", "more")

CHANGES: Final[Mapping[Folder, Mapping[str, tuple[str, tuple[Way, ...]]]]] = {
    "apis": {
        "AddAgenda": ("Agenda", _ADDS),
        "AddAlarm": ("Alarm", _ADDS),
        "AddMeeting": ("Meeting", _ADDS),
        "AddReminder": ("Reminder", _ADDS),
        "AddScene": ("Scenes", _ADDS),
        "AppointmentRegistration": ("Appointments", _ADDS),
        "BookHotel": ("Hotel", _ADDS),
        "CancelRegistration": ("Appointments", _REMOVES),
        "CancelTimedSwitch": ("TimeSwitch", _REMOVES),
        "DeleteAccount": ("Account", _REMOVES),
        "DeleteAgenda": ("Agenda", _REMOVES),
        "DeleteAlarm": ("Alarm", _REMOVES),
        "DeleteMeeting": ("Meeting", _REMOVES),
        "DeleteReminder": ("Reminder", _REMOVES),
        "DeleteScene": ("Scenes", _REMOVES),
        "ForgotPassword": ("Account", _CHANGES),
        "ModifyAgenda": ("Agenda", _CHANGES),
        "ModifyAlarm": ("Alarm", _CHANGES),
        "ModifyMeeting": ("Meeting", _CHANGES),
        "ModifyPassword": ("Account", _CHANGES),
        "ModifyRegistration": ("Appointments", _CHANGES),
        "ModifyReminder": ("Reminder", _CHANGES),
        "ModifyScene": ("Scenes", _CHANGES),
        "OpenBankAccount": ("BankAccounts", _ADDS),
        "RecordHealthData": ("HealthData", _PUTS),
        "RegisterUser": ("Account", _ADDS),
        "TimedSwitch": ("TimeSwitch", _PUTS),
    },
    "lv3_apis": {
        "AddMeeting": (level3_life.BOOKED, _ADDS),
        "PersonalInfoUpdate": (level3_people.PROFILES, _PUTS),
    },
}
"""The table that an API may change for good, and how; the APIs that are not here change none."""

KEYED: Final = frozenset({"Account", "HealthData", "Scenes", "TimeSwitch", level3_people.PROFILES})
"""Tables whose keys mean something to a user; elsewhere they are numbers that the API gives."""

LISTED: Final = frozenset({"HealthData", "TimeSwitch"})
"""Keyed tables that hold a list of records under each key."""

OWNED: Final = frozenset({"Account", "Agenda", "Alarm", "Meeting", "Reminder"})
"""Tables whose records belong to a user."""

BY_EMAIL: Final = frozenset({"ForgotPassword"})
"""The APIs that change the record of a user whose e-mail they are given."""

NEW_USERS: Final = frozenset({"RegisterUser"})
"""The APIs that change such a table for users that were not there. The others ask for a user's token."""

GIVES_TOKENS: Final = frozenset({"GetUserToken"})
"""Who tells the token of a user that is there. (RegisterUser tells that of the user it adds.)"""

DEEDS: Final = frozenset({"EmailReminder", "PlayMusic", "SendEmail"})
"""APIs that do something which leaves no trace in a table: the call itself is what is asked for."""

WORKED_OUT: Final = frozenset({"Calculator"})
"""What these tell can be worked out by whoever has read the numbers; they find nothing out."""

MEANS: Final = frozenset({"GetUserToken"})
"""What these tell is asked for only where no other call wants it."""

READS: Final[Mapping[Folder, Mapping[str, tuple[str, ...]]]] = {
    "apis": {
        "CheckToken": ("Account",),
        "EmergencyKnowledge": ("Symptom",),
        "GetUserToken": ("Account",),
        "ImageCaption": ("ImageCaptioning",),
        "QueryAgenda": ("Agenda",),
        "QueryAlarm": ("Alarm",),
        "QueryBalance": ("Bank",),
        "QueryHealthData": ("HealthData",),
        "QueryHistoryToday": ("History",),
        "QueryMeeting": ("Meeting",),
        "QueryRegistration": ("Appointments",),
        "QueryReminder": ("Reminder",),
        "QueryScene": ("Scenes",),
        "QueryStock": ("Stock",),
        "SearchEngine": ("SearchEngine",),
        "SpeechRecognition": ("SpeechRecognition",),
        "SymptomSearch": ("Symptom",),
        "Wiki": ("Wiki",),
    },
    "lv3_apis": {},
}
"""The tables of which an API's outputs tell, beyond what its own arguments say and :data:`CONSTANTS`."""

KEY: Final = "(key)"
"""Stands for the key of a record among its fields."""

FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "CheckToken": frozenset({KEY}),
    "EmergencyKnowledge": frozenset({"name", "aid"}),
    "SymptomSearch": frozenset({"name", "description"}),
    "GetUserToken": frozenset({"token"}),
    "QueryBalance": frozenset({"balance"}),
    "Wiki": frozenset({"url", "summary"}),
}
"""The fields of its records that an API tells, where these are not all."""

FROM_WEB: Final = frozenset({"Dictionary", "Translate"})
"""APIs whose outputs are the recorded responses of all dialogues."""

CONSTANTS: Final[Mapping[Folder, Mapping[str, Any]]] = {
    "apis": {
        "BookHotel": list(range(1, 100)),
        "DocumentQA": "The question is too difficult to answer.",
        "ForgotPassword": 970420,
        "GetToday": TODAY,
        "OpenBankAccount": "failed",
        "PlayMusic": "music://",
    },
    "lv3_apis": {
        "AccountInfo": list(level3_people.USERS.values()),
        "ClothingRecommendation": [
            level3_life.CLOTHES,
            level3_life.HOT_CLOTHES,
            "Umbrella",
            "Waterproof shoes",
            "Raincoat",
        ],
        "FlightSearch": [
            level3_life.FLIGHTS,
            [f"{day} {time}" for *_, day in level3_life.FLIGHTS for time in ("12:00:00", "15:00:00")],
        ],
        "Geocoding": list(level3_life.PLACES.values()),
        "GetOccupationSalary": list(level3_life.SALARIES.values()),
        "GetWeatherForCoordinates": list(level3_life.WEATHER.values()),
        "HotelAvailability": level3_life.HOTELS,
        "LikeCount": [
            level3_people.LIKES * post
            for post in range(1, 1 + level3_people.POSTS * len(level3_people.USERS))
        ],
        "MovieRecommendations": list(level3_people.FILMS.values()),
        "NearbyRestaurants": level3_life.RESTAURANTS,
        "OrganizationMembers": list(level3_people.ORGANIZATIONS.values()),
        "QueryMeeting": list(level3_people.MEETINGS.values()),
        "TravelStatus": list(level3_people.STATUS.values()),
        "UserMoviePreferences": list(level3_people.PREFERENCES.values()),
        "UserPosts": list(range(1, 1 + level3_people.POSTS * len(level3_people.USERS))),
        "UserWatchedMovies": list(level3_people.WATCHED.values()),
    },
}
"""What an API tells of its own."""

COMPUTES: Final = frozenset({"Calculator", "TaxCalculator"})
"""APIs that tell a number made of their arguments."""


def told_of(name: str, table: Any) -> list[Any]:
    """The part of a table that an API may tell."""
    fields = FIELDS.get(name)
    if name == "QueryHistoryToday":
        return [event_text(event) for events in table.values() for event in events]
    if fields is None:
        return [list(table), *(table.values() if isinstance(table, Mapping) else ())]
    return [value for key, value in _fields(table) if key in fields]


def _fields(table: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, record in table.items():
        yield KEY, key
        for one in record if isinstance(record, list) else [record]:
            yield from one.items()
