"""Every error text that APIS.md documents, by the call that meets it on the shipped databases."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import NewWorld, outcome

TOKEN = "a9s8d7f6g5h4j3k2l1"  # JohnDoe's
NOBODY = "0" * 18
DAY, NOON = "2023-05-05", "2023-05-05 12:00:00"
MISMATCH = "time data '2023/01/01' does not match format '%Y-%m-%d'"
BAD_TIME = "time data 'noon' does not match format '%Y-%m-%d %H:%M:%S'"

AGENDA = {"token": TOKEN, "content": "x", "time": NOON, "location": "y"}
MEETING = {
    "token": TOKEN,
    "meeting_topic": "x",
    "start_time": NOON,
    "end_time": NOON,
    "location": "y",
    "attendees": ["z"],
}
REMINDER = {"token": TOKEN, "content": "x", "time": NOON}
VISIT = {"patient_name": "John Doe", "date": "2023-04-12", "doctor_name": "Dr. Smith"}
HEALTH = {"user_id": "A12345", "start_time": "2023-01-01 00:00:00", "end_time": "2023-12-31 00:00:00"}
MEASURE = {"user_id": "A12345", "time": NOON, "health_data": [{"name": "pulse", "value": 1}]}
HOTEL = {
    "hotel_name": "Hilton",
    "check_in_time": "2023-06-01",
    "check_out_time": "2023-06-02",
    "room_count": 2,
    "adult_count": 2,
    "child_count": 0,
}
MAIL = {"receiver": "ab@cd.com", "subject": "x", "content": "y"}
RESET = {"username": "JohnDoe", "email": "johndoe@example.com"}

CASES: list[tuple[str, dict[str, Any], str]] = [
    # 2.4 the manager
    ("AddAlarm", {"token": TOKEN, "tme": NOON}, "invalid parameter name. parameter: tme"),
    ("BookHotel", HOTEL | {"room_count": "-1"}, "invalid parameter type. parameter: -1"),
    ("BookHotel", HOTEL | {"room_count": ""}, "invalid parameter type. parameter: "),
    ("AddAlarm", {"token": TOKEN}, "AddAlarm.call() missing 1 required positional argument: 'time'"),
    ("AddAlarm", {}, "AddAlarm.call() missing 2 required positional arguments: 'token' and 'time'"),
    (
        "AddReminder",
        {},
        "AddReminder.call() missing 3 required positional arguments: 'token', 'content', and 'time'",
    ),
    # 4.2 Python's own
    ("QueryAlarm", {"token": TOKEN, "time": 5}, "strptime() argument 1 must be str, not int"),
    ("Wiki", {"keyword": 5}, "'int' object has no attribute 'replace'"),
    ("GetUserToken", {"username": [], "password": ""}, "unhashable type: 'list'"),
    ("QueryStock", {"stock_code": "AAPL", "date": "2022-02-30"}, "day is out of range for month"),
    ("AddAlarm", {"token": TOKEN, "time": NOON + " x"}, "unconverted data remains:  x"),
    # 5.1 accounts
    ("GetUserToken", {"username": "nobody", "password": "x"}, "The username does not exist."),
    ("GetUserToken", {"username": "JohnDoe", "password": "x"}, "The password is incorrect."),
    ("CheckToken", {"token": NOBODY}, "The token is invalid."),
    ("DeleteAccount", {"token": NOBODY}, "The token is invalid."),
    ("RegisterUser", {"username": "foo", "password": "x", "email": "y"}, "The username already exists."),
    (
        "ModifyPassword",
        {"token": TOKEN, "old_password": "x", "new_password": "y"},
        "The old password is incorrect.",
    ),
    (
        "ForgotPassword",
        {"status": "Forgot Password"},
        "The username and email are required for the first call.",
    ),
    (
        "ForgotPassword",
        {"status": "Forgot Password"} | RESET | {"username": "x"},
        "The username does not exist.",
    ),
    ("ForgotPassword", {"status": "Forgot Password"} | RESET | {"email": "x"}, "The email is incorrect."),
    (
        "ForgotPassword",
        {"status": "Verification Code", "verification_code": 970420, "new_password": "x"},
        "You need to call the API with status 'Forgot Password' at first.",
    ),
    (
        "ForgotPassword",
        {"status": "x"},
        "The status is only 'Forgot Password' or 'Verification Code'.",
    ),
    # 5.2 agenda
    ("AddAgenda", AGENDA | {"time": "noon"}, BAD_TIME),
    ("AddAgenda", AGENDA | {"content": " "}, "Content should not be null"),
    ("AddAgenda", AGENDA | {"token": NOBODY}, "The token is invalid."),
    ("DeleteAgenda", AGENDA, "You have no meeting about x"),
    ("DeleteAgenda", AGENDA | {"content": ""}, f"You have no meeting at time : {NOON}"),
    ("ModifyAgenda", AGENDA, "You have no agenda about x"),
    ("ModifyAgenda", AGENDA | {"content": ""}, f"You have no agenda at time : {NOON}"),
    ("ModifyAgenda", AGENDA | {"content": "", "time": ""}, "Error"),
    ("QueryAgenda", AGENDA, "You have no agenda about x"),
    ("QueryAgenda", AGENDA | {"content": ""}, f"You have no agenda at time : {NOON}"),
    ("QueryAgenda", AGENDA | {"content": "", "time": ""}, "Error"),
    # 5.3 alarms
    ("AddAlarm", {"token": TOKEN, "time": "noon"}, BAD_TIME),
    ("DeleteAlarm", {"token": TOKEN, "time": NOON}, f"You have no alarm clock at time : {NOON}"),
    (
        "ModifyAlarm",
        {"token": TOKEN, "from_time": NOON, "to_time": NOON},
        f"You have no agenda at time : {NOON}",
    ),
    ("QueryAlarm", {"token": TOKEN, "time": NOON}, f"You have no alarm clock at time : {NOON}"),
    # 5.4 meetings
    ("AddMeeting", MEETING | {"meeting_topic": " "}, "Meeting Topic should not be null"),
    (
        "DeleteMeeting",
        MEETING | {"meeting_topic": "", "start_time": ""},
        "Meeting Topic and start_time should not be null both",
    ),
    ("ModifyMeeting", MEETING, "You have no meeting about x"),
    ("QueryMeeting", MEETING | {"meeting_topic": ""}, f"You have no meeting at time : {NOON}"),
    ("QueryMeeting", MEETING | {"meeting_topic": " "}, "You have no meeting about  "),
    # 5.5 reminders
    ("AddReminder", REMINDER | {"content": " "}, "Content should not be null"),
    ("DeleteReminder", REMINDER, f"You have no reminder about x or at time : {NOON}"),
    ("ModifyReminder", REMINDER, f"You have no reminder about x or at time : {NOON}"),
    ("QueryReminder", REMINDER, f"You have no reminder about x or at time : {NOON}"),
    # 5.6 appointments
    (
        "AppointmentRegistration",
        VISIT | {"patient_name": " "},
        "Patient name or doctor name cannot be empty.",
    ),
    ("AppointmentRegistration", VISIT, "This appointment has already been registered."),
    (
        "AppointmentRegistration",
        VISIT | {"doctor_name": "Dr. X"},
        "This patient has already been registered in this day.",
    ),
    ("AppointmentRegistration", VISIT | {"date": "2023/01/01"}, MISMATCH),
    ("CancelRegistration", {"appointment_id": "1"}, "The appointment ID is incorrect."),
    ("ModifyRegistration", {"appointment_id": "1"}, "The appointment ID does not exist."),
    (
        "ModifyRegistration",
        {"appointment_id": "12345678", "new_appointment_doctor": " ", "new_appointment_date": "x"},
        "Fail because the doctor name is empty.",
    ),
    ("ModifyRegistration", {"appointment_id": "12345678"}, "Fail because no modification is made."),
    (
        "ModifyRegistration",
        {"appointment_id": "12345678", "new_appointment_doctor": "Dr. Smith"},
        "Fail because doctor is not changed.",
    ),
    (
        "ModifyRegistration",
        {"appointment_id": "12345678", "new_appointment_date": "2023-04-12"},
        "Fail because date is not changed.",
    ),
    (
        "ModifyRegistration",
        {
            "appointment_id": "12345678",
            "new_appointment_date": "2023-04-12",
            "new_appointment_doctor": "Dr. Smith",
        },
        "Fail because no modification is made.",
    ),
    (
        "ModifyRegistration",
        {"appointment_id": "12345678", "new_appointment_date": "2023-04-12", "new_appointment_doctor": "X"},
        "Fail because date is not changed.",
    ),
    (
        "ModifyRegistration",
        {
            "appointment_id": "12345678",
            "new_appointment_date": "2023-04-13",
            "new_appointment_doctor": "Dr. Smith",
        },
        "Fail because doctor is not changed.",
    ),
    ("QueryRegistration", {"patient_name": "X", "date": DAY}, "No appointments found."),
    # 5.7 bank
    ("QueryBalance", {"token": NOBODY}, "The token is incorrect."),
    ("QueryBalance", {"token": 5}, "The token is incorrect."),
    # 5.8 health
    ("QueryHealthData", HEALTH | {"user_id": " "}, "The user id cannot be empty."),
    (
        "QueryHealthData",
        HEALTH | {"start_time": "noon", "end_time": "noon"},
        f"{BAD_TIME}; {BAD_TIME}",
    ),
    ("QueryHealthData", HEALTH | {"start_time": "noon"}, BAD_TIME),
    (
        "QueryHealthData",
        HEALTH | {"end_time": "2022-01-01 00:00:00"},
        "The start time cannot be later than the end time.",
    ),
    ("QueryHealthData", HEALTH | {"user_id": "X"}, "The user id does not exist."),
    (
        "QueryHealthData",
        HEALTH | {"end_time": "2023-01-01 00:00:00"},
        "There is no health data in the given time span.",
    ),
    ("RecordHealthData", MEASURE | {"user_id": " "}, "The user id cannot be empty."),
    ("RecordHealthData", {"user_id": "A12345", "time": NOON}, "The health data cannot be empty."),
    ("RecordHealthData", MEASURE | {"health_data": []}, "The health data cannot be empty."),
    ("RecordHealthData", MEASURE | {"health_data": [{}]}, "The health data has invalid format."),
    (
        "RecordHealthData",
        MEASURE | {"health_data": "[{'name': 'x', 'value': 1}]"},
        "The health data has invalid format.",
    ),
    (
        "RecordHealthData",
        MEASURE | {"health_data": [{"name": "x", "value": 1}] * 2},
        "The health data cannot contain duplicate items.",
    ),
    ("RecordHealthData", MEASURE | {"health_data": [{"name": "x"}]}, "'value'"),
    # 5.9 look-ups
    ("QueryHistoryToday", {"date": "01-01"}, "The date is not in the database."),
    ("QueryHistoryToday", {"date": "02-29"}, "day is out of range for month"),
    ("QueryHistoryToday", {"date": "May"}, "time data 'May' does not match format '%m-%d'"),
    ("QueryStock", {"stock_code": " ", "date": "x"}, "The stock code cannot be empty."),
    ("QueryStock", {"stock_code": "AAPL", "date": "2023/01/01"}, MISMATCH),
    ("QueryStock", {"stock_code": "XXXX", "date": DAY}, "The stock code does not exist."),
    (
        "QueryStock",
        {"stock_code": "aapl ", "date": "1999-01-01"},
        "The stock price of this date is not maintained.",
    ),
    ("SymptomSearch", {"symptom": " "}, "The symptom cannot be empty."),
    ("SymptomSearch", {"symptom": "x"}, "The symptom does not exist."),
    ("EmergencyKnowledge", {"symptom": " "}, "'Exception' object has no attribute 'lower'"),
    ("EmergencyKnowledge", {"symptom": "x"}, "The symptom does not exist."),
    # 5.10 hotel
    (
        "BookHotel",
        HOTEL | {"room_count": 1, "adult_count": 3},
        "The number of adults is greater than 2. Two rooms are ordered.",
    ),
    (
        "BookHotel",
        HOTEL | {"check_in_time": "2023-04-02", "check_out_time": "2023-04-03"},
        "The room is not available.",
    ),
    # 5.11 home
    ("AddScene", {"name": " ", "devices": []}, "Scene name cannot be empty."),
    ("AddScene", {"name": "new", "devices": [{"name": "x"}]}, "Invalid device format."),
    ("AddScene", {"name": "new", "devices": "[x]"}, "Invalid device format."),
    (
        "AddScene",
        {"name": "new", "devices": [{"name": "x", "description": ""}, {"name": " X", "description": ""}]},
        "Device name cannot be duplicated.",
    ),
    ("AddScene", {"name": "Relaxing Time", "devices": []}, "Scene name already exists."),
    ("ModifyScene", {"name": "x", "devices": []}, "The scene does not exist."),
    ("DeleteScene", {"name": "x"}, "The scene does not exist."),
    ("DeleteScene", {"name": " "}, "Scene name cannot be empty."),
    ("QueryScene", {"name": "x"}, "Scene not found."),
    ("TimedSwitch", {"name": " ", "time": NOON, "on": True}, "Name cannot be empty."),
    ("CancelTimedSwitch", {"name": " ", "time": NOON}, "name cannot be empty."),
    ("CancelTimedSwitch", {"name": "x", "time": NOON}, "device name does not exist."),
    ("CancelTimedSwitch", {"name": "Light", "time": NOON}, "time does not exist."),
    # 5.12 urls and keywords
    ("ImageCaption", {"url": "x"}, "The url should end with .jpg, .jpeg or .png."),
    ("ImageCaption", {"url": "x.jpg"}, "The image of this url failed to be processed."),
    ("SpeechRecognition", {"url": "x"}, "The url should end with .wav."),
    ("SpeechRecognition", {"url": "x.wav"}, "The audio of this url failed to be processed."),
    ("DocumentQA", {"url": "x", "question": " "}, "The question is empty."),
    ("DocumentQA", {"url": "x", "question": "y"}, "The document of this url failed to be processed."),
    ("Wiki", {"keyword": "x"}, "Keyword not found."),
    ("PlayMusic", {"music_name": " "}, "The music name cannot be empty."),
    ("SendEmail", MAIL | {"receiver": "Ab@cd.com"}, "Email address of the receiver is invalid."),
    ("SendEmail", MAIL | {"receiver": "a@cd.com"}, "Email address of the receiver is invalid."),
    ("SendEmail", MAIL | {"receiver": "a" * 100_000}, "Email address of the receiver is invalid."),
    ("SendEmail", MAIL | {"subject": " "}, "Subject cannot be empty."),
    ("SendEmail", MAIL | {"content": " "}, "Content cannot be empty."),
    # 5.15 the network
    ("Dictionary", {"keyword": "x"}, "There is no recorded response to this request of Dictionary."),
    ("Translate", {"src": "x"}, "There is no recorded response to this request of Translate."),
    ("Translate", {"src": "x", "tgt_lang": "Klingon"}, "Language not supported."),
    ("Translate", {"src": "x", "src_lang": "Klingon", "tgt_lang": "?"}, "Language not supported."),
]

LEVEL_3: list[tuple[str, dict[str, Any], str]] = [
    ("AccountInfo", {"username": "John", "password": "x"}, "User not found."),
    ("PersonalInfoUpdate", {"username": "X", "password": "x", "address": "y"}, "User not found."),
    ("Geocoding", {"address": "Berlin"}, "'Berlin'"),
    ("GetOccupationSalary", {"occupation": "x"}, "The occupation is not in the database."),
    (
        "GetWeatherForCoordinates",
        {"latitude": "1.", "longitude": ".5"},
        "'NoneType' object is not subscriptable",
    ),
    ("GetWeatherForCoordinates", {"latitude": "-1", "longitude": 1}, "invalid parameter type."),
    ("LikeCount", {"post_id": 16}, "Post with ID 16 does not exist."),
    ("MovieRecommendations", {"preferences": "Action"}, "'A'"),
    ("OrganizationMembers", {"organization": "x"}, "'x'"),
    ("QueryMeeting", {"user_name": "x"}, "'x'"),
    ("TravelStatus", {"member_name": "x"}, "'x'"),
    ("UserMoviePreferences", {"user_name": "x"}, "'x'"),
    ("UserPosts", {"user_id": "6"}, "6"),
    ("UserWatchedMovies", {"user_name": "x"}, "User not found."),
    ("TaxCalculator", {"salary": -1}, ""),
    ("FlightSearch", {"source": "x", "destination": "y", "travel_dates": "2023/01/01"}, MISMATCH),
    (
        "AddMeeting",
        {"meeting_topic": " ", "start_time": NOON, "end_time": NOON, "location": "", "attendees": []},
        "Meeting Topic should not be null",
    ),
    (
        "EmailReminder",
        {"content": " ", "time": NOON, "location": "", "recipient": ""},
        "Content should not be empty",
    ),
]

FORMULAS = [
    ("", "invalid formula"),
    ("1 + a", "invalid formula"),
    ("(1+2", "invalid formula"),
    ("12", "invalid formula"),
    ("1+", "invalid formula"),
    ("-1", "invalid formula"),
    ("((1+2)*3)", "')' is not in list"),
    ("12+", "list index out of range"),
    ("()+12", "list index out of range"),
    (")12+3(", "list index out of range"),
    ("1++2", "unsupported operand type(s) for +: 'float' and 'str'"),
    ("2*-3", "can't multiply sequence by non-int of type 'float'"),
    ("10/0", "float division by zero"),
    ("-12", "invalid formula"),  # upstream never returns
    ("1+1" * 1000, "invalid formula"),  # too long
]


@pytest.mark.parametrize(("name", "arguments", "text"), CASES)
def test_a_documented_error(new_world: NewWorld, name: str, arguments: dict[str, Any], text: str) -> None:
    world = new_world()
    assert outcome(world, name, **arguments) == text
    assert world.lasting_changes().keys() <= {"HealthData"}


@pytest.mark.parametrize(("name", "arguments", "text"), LEVEL_3)
def test_a_documented_error_of_level_3(
    new_world: NewWorld, name: str, arguments: dict[str, Any], text: str
) -> None:
    world = new_world(level=3)
    assert outcome(world, name, **arguments) == text


@pytest.mark.parametrize(("formula", "text"), FORMULAS)
def test_formulas_that_fail(new_world: NewWorld, formula: str, text: str) -> None:
    """APIS.md 5.13."""
    assert outcome(new_world(), "Calculator", formula=formula) == text


@pytest.mark.parametrize(
    ("formula", "value"),
    [("1+2*3", 7.0), ("(1+2)*3", 9.0), ("2(3+4)", 2.0), (" 10 / 4 ", 2.5), ("8-2-1", 5.0)],
)
def test_formulas_with_a_value(new_world: NewWorld, formula: str, value: float) -> None:
    """APIS.md 5.13: what stands before a parenthesis without a sign is the value."""
    assert outcome(new_world(), "Calculator", formula=formula) == value


def test_errors_that_need_a_call_before(new_world: NewWorld) -> None:
    world = new_world()
    assert outcome(world, "ForgotPassword", status="Forgot Password", **RESET) == 970420
    missing = "The new password and verification code are required for the second call."
    assert outcome(world, "ForgotPassword", status="Verification Code") == missing
    wrong = outcome(
        world, "ForgotPassword", status="Verification Code", verification_code="1", new_password="x"
    )
    assert wrong == "The verification code is incorrect."
    token = outcome(world, "RegisterUser", username="new", password="x", email="y")["token"]
    assert outcome(world, "QueryBalance", token=token) == "The user does not have an account."
    assert outcome(world, "DeleteAccount", token=TOKEN) == {"status": "success"}
    lost = outcome(
        world, "ForgotPassword", status="Verification Code", verification_code=970420, new_password="x"
    )
    assert lost == "'JohnDoe'"
