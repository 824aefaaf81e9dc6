"""How calls change an episode's state, and that nothing else changes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import envs_registry
from envs_registry.api_bank.settings import Setting, settings
from toolenv.agents.registry import make_agent
from toolenv.canonical import digest
from toolenv.env import ToolEnv
from toolenv.kernel.protocol import Noted
from toolenv.rollout import rollout
from toolenv.source import make_source

from .conftest import NewWorld, outcome

TOKEN = "a9s8d7f6g5h4j3k2l1"  # JohnDoe's
NOON, LATER = "2023-05-05 12:00:00", "2023-05-06 12:00:00"


def test_added_keys_are_numbers_and_may_replace_each_other(new_world: NewWorld) -> None:
    """APIS.md 8: ``len + 1``, which after a deletion overwrites an entry added before."""
    world = new_world()
    for time in (NOON, LATER):
        outcome(world, "AddAlarm", token=TOKEN, time=time)
    assert outcome(world, "DeleteAlarm", token=TOKEN, time=NOON) == "success"
    assert outcome(world, "AddAlarm", token=TOKEN, time=NOON) == "success"
    missing = f"You have no alarm clock at time : {LATER}"
    assert outcome(world, "QueryAlarm", token=TOKEN, time=LATER) == missing
    assert world.view()["Alarm"]["12"]["time"] == NOON


def test_meetings_are_found_by_topic_or_start_and_keep_place_and_people(new_world: NewWorld) -> None:
    """APIS.md 5.4."""
    world = new_world()
    told = {"token": TOKEN, "end_time": LATER, "location": "elsewhere", "attendees": []}
    changed = outcome(world, "ModifyMeeting", meeting_topic="Sales Meeting", start_time=NOON, **told)
    assert changed == "success"
    meeting = outcome(world, "QueryMeeting", meeting_topic="", start_time=NOON, **told)
    assert (meeting["end_time"], meeting["location"]) == (LATER, "Conference Room A")
    assert meeting["attendees"] == ["John Smith", "Jane Doe"]


def test_shared_tables_serve_new_and_deleted_accounts_at_once(new_world: NewWorld) -> None:
    """APIS.md 2.5."""
    world = new_world()
    token = outcome(world, "RegisterUser", username="new", password="x", email="y")["token"]
    assert re.fullmatch("[a-z0-9]{18}", token)
    assert outcome(world, "CheckToken", token=token) == {"username": "new"}
    outcome(world, "DeleteAccount", token=token)
    assert outcome(world, "CheckToken", token=token) == "The token is invalid."


def test_what_is_drawn_depends_on_the_seed_alone(new_world: NewWorld) -> None:
    visit = {"patient_name": "X", "date": "2023-5-5", "doctor_name": "Y"}
    ids = [outcome(new_world(seed=seed), "AppointmentRegistration", **visit) for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]
    assert all(re.fullmatch("[0-9]{8}", number) for number in ids)
    world = new_world(seed=1)
    outcome(world, "AppointmentRegistration", **visit)
    found = outcome(world, "QueryRegistration", patient_name="X", date="2023-05-05")
    assert found == {ids[0]: visit | {"date": "2023-05-05"}}


def test_a_partly_wrong_health_record_stays_partly(new_world: NewWorld) -> None:
    """APIS.md 5.8: items before the one without value stay in a record that was there."""
    world = new_world()
    items = [{"name": "pulse", "value": 1}, {"name": "weight"}]
    told = {"user_id": "a12345", "time": "2023-03-15 10:30:00", "health_data": items}
    assert outcome(world, "RecordHealthData", **told) == "'value'"
    records = world.view()["HealthData"]["A12345"]
    assert (records[0]["pulse"], records[0]["heart_rate"]) == (1, 80)
    assert outcome(world, "RecordHealthData", **(told | {"user_id": "new"})) == "'value'"
    assert world.view()["HealthData"]["NEW"] == []


def test_scenes_are_stored_and_shown_in_normal_form(new_world: NewWorld) -> None:
    """APIS.md 5.11: also in the result's ``input``."""
    world = new_world()
    devices = [{"name": " TV", "description": " x "}, {"name": "Lamp", "description": "y"}]
    given = copy.deepcopy(devices)
    answer = world.answer("AddScene", {"name": " Movie Night ", "devices": devices})
    normal = [{"name": "lamp", "description": "y"}, {"name": "tv", "description": "x"}]
    assert answer.result is not None
    assert answer.result["input"]["devices"] == normal == outcome(world, "QueryScene", name="MOVIE NIGHT")
    assert devices == given  # the caller's own arguments are left alone


def test_only_the_text_true_and_true_itself_switch_on(new_world: NewWorld) -> None:
    """APIS.md 2.4, and JSON's own true, which upstream never meets."""
    world = new_world()
    for number, on in enumerate(["True", True, "true", False, 1]):
        outcome(world, "TimedSwitch", name="lamp", time=f"2023-01-0{number + 1} 00:00:00", on=on)
    plans = world.view()["TimeSwitch"]["lamp"]
    assert [plan["on"] for plan in plans] == [True, True, False, False, False]


def test_a_null_for_an_optional_parameter_is_as_good_as_none(new_world: NewWorld) -> None:
    """Models fill in what they need not give; upstream, which reads text, never meets a null."""
    told = {"status": "Forgot Password", "username": "JohnDoe", "email": "johndoe@example.com"}
    answer = new_world().answer("ForgotPassword", {**told, "verification_code": None, "new_password": None})
    assert answer.result is not None
    assert (answer.result["output"], answer.result["input"]) == (970420, told)


def test_four_results_do_not_name_their_api(new_world: NewWorld) -> None:
    """APIS.md 4.1."""
    world = new_world()
    reset = {"status": "Forgot Password", "username": "JohnDoe", "email": "johndoe@example.com"}
    calls = {
        "CheckToken": {"token": TOKEN},
        "ForgotPassword": reset,
        "RegisterUser": {"username": "n", "password": "x", "email": "y"},
        "DeleteAccount": {"token": TOKEN},
        "GetToday": {},
    }
    results = {name: world.answer(name, arguments).result or {} for name, arguments in calls.items()}
    assert [name for name, result in results.items() if "api_name" in result] == ["GetToday"]
    assert results["GetToday"]["input"] is None
    optional = world.answer("ModifyRegistration", {"appointment_id": "1"}).result or {}
    assert optional["input"]["new_appointment_date"] is None


def test_the_search_engine_ranks_as_documented(data: Path, new_world: NewWorld) -> None:
    """The five sample queries that ship with the table, and their documents."""
    table: Mapping[Any, Any] = settings(data, 1)[0].tables["SearchEngine"]
    for keyword, documents in table["sample_queries"].items():
        assert outcome(new_world(), "SearchEngine", keyword=keyword) == documents[:2]
    assert outcome(new_world(), "SearchEngine", keyword="xyzzy") == table["raw_documents"][:2]


def test_level_3_searches_do_not_break_at_the_second(new_world: NewWorld) -> None:
    """APIS.md 8: a difference that is allowed."""
    world = new_world(level=3)
    flight = {"source": "London", "destination": "San Francisco", "travel_dates": "2022-01-03"}
    first = outcome(world, "FlightSearch", **flight)
    assert first == outcome(world, "FlightSearch", **flight)
    assert first["flights"][0]["departure_date"] == "2022-01-03 12:00:00"


def test_worlds_do_not_share_what_they_change(new_world: NewWorld) -> None:
    """FIELD-015: another episode still sees what one has deleted, and so does the next."""
    first, second = new_world(), new_world()
    assert first.digest() == second.digest()
    alarm = {"token": TOKEN, "time": "2023-03-16 07:00:00"}
    assert outcome(first, "DeleteAlarm", **alarm) == "success"
    assert first.digest() != second.digest()
    assert outcome(second, "QueryAlarm", **alarm)["username"] == "JohnDoe"
    fork = first.fork()
    outcome(fork, "AddAlarm", **alarm)
    assert outcome(first, "QueryAlarm", **alarm).startswith("You have no alarm")
    assert outcome(new_world(), "QueryAlarm", **alarm)["username"] == "JohnDoe"


def test_the_shared_databases_are_as_shipped_after_100_episodes(data: Path) -> None:
    """FIELD-015: a hash of the pristine data, over two agents that call a lot."""
    tables = settings(data, 1)[0].tables
    before = digest(dict(tables))
    env = ToolEnv(make_source(envs_registry.get_suite("APIBank")))
    for name in ("oracle", "random"):
        agent = make_agent(name)
        for number in range(50):
            rollout(env, agent, seed=number, task_id=env.source.task_ids[number * 4])
    assert digest(dict(tables)) == before


def test_a_recorded_call_is_found_in_any_order_of_its_arguments(find: Callable[[str], Setting]) -> None:
    """FIELD-066: keys are canonical; a miss is an answer of its own that says where it comes from."""
    setting = find("Translate-level-1-1")
    call = setting.dialogue.calls[0]
    world = setting.world()
    turned = dict(reversed(list(call.arguments.items())))
    assert len(turned) > 1
    assert world.call("Translate", turned) == Noted(call.result["output"], {"source": "recorded"})
    named = {"src": call.arguments["src"], "tgt_lang": "French"}
    assert world.call("Translate", named) == Noted(call.result["output"], {"source": "recorded"})
    missed = [world.call("Translate", {"src": "Good night"}) for _ in range(2)]
    assert missed[0] == missed[1]
    assert missed[0].failed
    assert missed[0].record == {"source": "cache_miss"}


def test_old_recordings_answer_what_means_the_same(find: Callable[[str], Setting]) -> None:
    """A scene recorded with capital letters, which the databases no longer have."""
    setting = find("QueryScene-level-1-2")
    call = setting.dialogue.calls[0]
    noted = setting.world().call("QueryScene", {"name": " morning ROUTINE"})
    assert noted == Noted(call.result["output"], {"source": "recorded"})
    other = setting.world().call("QueryScene", {"name": "relaxing time"})
    assert other.record == {"source": "implementation"}


def test_a_recorded_result_holds_in_the_state_it_was_recorded_in(find: Callable[[str], Setting]) -> None:
    setting = find("DeleteAlarm-level-1-1")
    calls, world = setting.dialogue.calls, setting.world()
    assert calls[-1].name == "DeleteAlarm"
    first = [world.call(call.name, call.arguments) for call in calls]
    again = world.call(calls[-1].name, calls[-1].arguments)
    assert [noted.record["source"] for noted in first] == ["recorded"] * len(calls)
    assert again.failed
    assert again.record == {"source": "implementation"}


def test_an_id_that_was_recorded_is_drawn_again(find: Callable[[str], Setting]) -> None:
    """Also for a date written otherwise, so that the recorded calls after it stay right."""
    setting = find("QueryRegistration-AppointmentRegistration-level-2-1")
    call = next(one for one in setting.dialogue.calls if one.name == "AppointmentRegistration")
    year, month, day = call.arguments["date"].split("-")
    written = {**call.arguments, "date": f"{year}-{int(month)}-{int(day)}"}
    world = setting.world()
    assert world.call("AppointmentRegistration", written).value == call.result["output"]
