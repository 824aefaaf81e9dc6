"""Upstream's correctness rules (APIS.md 4.3 and sections 5 and 6)."""

from __future__ import annotations

from typing import Any

import pytest

from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.rules import is_right


def record(name: str, output: Any, exception: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    return {"api_name": name, "input": arguments or None, "output": output, "exception": exception}


TIME = "2023-01-02 03:04:05"
AGENDA = {"token": "t", "content": "a b c", "time": TIME, "location": "here"}
MEETING = {"meeting_topic": "a b c", "token": "t", "attendees": ["x"]}
SCENE = {"name": "Night", "devices": [{"name": "b", "description": "y"}, {"name": "a", "description": "x"}]}
TURNED = {
    "name": " night",
    "devices": [{"name": " A", "description": "x "}, {"name": "B", "description": "y"}],
}
MAIL = {"receiver": "a", "subject": "x", "content": "y"}
HEALTH = {"user_id": "5", "time": TIME, "health_data": 2}
CHANGE = {"appointment_id": "7", "new_appointment_date": None, "new_appointment_doctor": "X"}
STOCK = {"stock_code": "AAPL", "date": "2023-01-05"}


@pytest.mark.parametrize(
    ("name", "tested", "recorded", "right"),
    [
        # jaccard: strictly more than half; a double blank is an empty word
        ("AddAgenda", AGENDA, AGENDA | {"content": "a b c d"}, True),
        ("AddAgenda", AGENDA, AGENDA | {"content": "b c d"}, False),
        ("AddAgenda", AGENDA | {"content": "a b"}, AGENDA | {"content": "a  b"}, True),
        ("AddAgenda", AGENDA | {"content": "A B C"}, AGENDA, False),
        ("AddAgenda", AGENDA | {"token": "other"}, AGENDA, True),
        ("AddAgenda", AGENDA | {"location": "there"}, AGENDA, False),
        ("AddAgenda", {}, AGENDA, False),
        ("QueryReminder", {"content": "A B C", "time": TIME}, {"content": "a b c", "time": TIME}, True),
        ("AddMeeting", MEETING | {"meeting_topic": "a b"}, MEETING, True),
        ("AddMeeting", MEETING | {"attendees": "['x']"}, MEETING, False),
        ("AddMeeting", {"token": "t"}, {"token": "t"}, False),
        # dates in any writing, bad ones never
        ("QueryStock", {"stock_code": " aapl", "date": "2023-1-5"}, STOCK, True),
        ("QueryStock", STOCK | {"date": "never"}, STOCK | {"date": "never"}, False),
        ("TimedSwitch", {"name": "X ", "time": TIME, "on": 1}, {"name": "x", "time": TIME, "on": True}, True),
        ("QueryHistoryToday", {"date": "2020-4-1"}, {"date": "04-01"}, True),
        ("Calculator", {"formula": "1 + 1"}, {"formula": "1+1"}, True),
        ("SymptomSearch", {"symptom": " "}, {"symptom": " "}, False),
        ("AddScene", TURNED, SCENE, True),
        ("AddScene", SCENE | {"devices": "[]"}, SCENE, False),
        ("SendEmail", {"receiver": "A", "subject": " x", "content": "y "}, MAIL, True),
        # arguments that are not looked at
        ("Wiki", {"keyword": "x"}, {"keyword": "y"}, True),
        ("PlayMusic", {"music_name": "x"}, {"music_name": "y"}, True),
        ("Translate", {"src": "x", "tgt_lang": "fr"}, {"src": "x", "tgt_lang": "French"}, True),
        ("RecordHealthData", HEALTH | {"user_id": 5, "health_data": 1}, HEALTH, True),
        ("RecordHealthData", {"user_id": "5", "time": TIME}, HEALTH, False),
        ("ModifyRegistration", CHANGE | {"appointment_id": 7, "new_appointment_doctor": " X"}, CHANGE, True),
        # everything equal
        ("AddAlarm", {"token": "t", "time": TIME}, {"token": "t", "time": "2023-1-2 3:4:5"}, False),
        ("BookHotel", {"room_count": 9.0}, {"room_count": 9}, True),
    ],
)  # fmt: skip
def test_arguments(name: str, tested: dict[str, Any], recorded: dict[str, Any], right: bool) -> None:
    rule = apis("apis")[name].rule
    both = [record(name, "success", None, **arguments) for arguments in (tested, recorded)]
    for side in both:
        side["input"] = side["input"] or {}
    assert is_right(rule, *both) is right


@pytest.mark.parametrize(
    ("name", "tested", "recorded", "right"),
    [
        ("RegisterUser", {"token": "a"}, {"token": "b"}, True),
        ("RegisterUser", {"token": "a"}, None, False),
        ("AddAlarm", None, "success", False),
        ("Wiki", {"url": "x"}, {"url": "y"}, False),
        ("DeleteAgenda", "success", "success", True),
        ("DeleteAgenda", None, "success", False),
        ("SearchEngine", [{"title": "a", "abstract": "b"}] * 2, [{"title": "a", "abstract": "b"}], False),
        ("ToolSearcher", {"name": "x"}, {"name": "x"}, True),
    ],
)
def test_outputs(name: str, tested: Any, recorded: Any, right: bool) -> None:
    told = {"time": TIME, "token": "t"}
    rule = apis("apis")[name].rule
    assert is_right(rule, record(name, tested, **told), record(name, recorded, **told)) is right


def test_search_results_may_come_in_any_order() -> None:
    documents = [{"title": "a", "abstract": "b"}, {"title": "c", "abstract": "d"}]
    rule = apis("apis")["SearchEngine"].rule
    sides = [record("SearchEngine", found, keyword="x") for found in (documents, documents[::-1])]
    assert is_right(rule, *sides)


def test_todays_date_is_right_whatever_it_is() -> None:
    rule = apis("apis")["GetToday"].rule
    assert is_right(rule, record("GetToday", "2001-01-01"), record("GetToday", "2023-03-31"))
    assert not is_right(rule, record("GetToday", None, "x"), record("GetToday", "2023-03-31"))


def test_upstreams_rule_for_deleted_meetings_never_holds() -> None:
    """NOTES.md: it reads the key ``time``; the mended one compares ``start_time``."""
    gold = record("DeleteMeeting", "success", start_time=TIME)
    api = apis("apis")["DeleteMeeting"]
    assert not is_right(api.rule, gold, gold)
    assert is_right(api.mended, gold, gold)


@pytest.mark.parametrize(
    ("name", "tested", "right"),
    [
        ("NearbyRestaurants", record("NearbyRestaurants", "anything", "x", distance=1), True),
        ("NearbyRestaurants", record("Geocoding", "anything", distance=1), False),
        ("TaxCalculator", record("TaxCalculator", {"salary_after_tax": 1, "more": 2}, salary=1), True),
        ("TaxCalculator", record("TaxCalculator", None, distance=1, salary=1), False),
        ("EmailReminder", record("EmailReminder", 1, content="other", distance=1), True),
        ("EmailReminder", record("EmailReminder", 1, content="other", distance=2), False),
        ("UserPosts", record("UserPosts", {"salary_after_tax": 1}, distance=2), False),
    ],
)  # fmt: skip
def test_level_3(name: str, tested: dict[str, Any], right: bool) -> None:
    more = {"TaxCalculator": ("salary", 1), "EmailReminder": ("content", "x")}.get(name, ("distance", 1))
    output: Any = 1 if name == "EmailReminder" else {"salary_after_tax": 1}
    assert (
        is_right(
            apis("lv3_apis")[name].rule, tested, record(name, output, **{"distance": 1, more[0]: more[1]})
        )
        is right
    )
