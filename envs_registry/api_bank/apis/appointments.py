"""Appointments with doctors (APIS.md 5.6)."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import OUTCOME, Result, argument, equal, every, nothing_invented
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import DATE, normal_date, read, settled, write

LOWEST_ID: Final = 10_000_000
IDS: Final = 90_000_000


def stripped(value: Any) -> Any:
    """A text without blanks around it."""
    return value.strip()


def _optional(treated: Any) -> Any:
    return lambda value: None if value is None else treated(value)


@api(
    "AppointmentRegistration",
    every(
        argument("patient_name", stripped),
        argument("date", normal_date),
        argument("doctor_name", stripped),
        nothing_invented,
        equal("exception"),
    ),
)
def appointment_registration(state: State, patient_name: Any, date: Any, doctor_name: Any) -> Any:
    """Make an appointment; the output is its drawn id."""
    patient, doctor = patient_name.strip(), doctor_name.strip()
    if not patient or not doctor:
        raise Failure("Patient name or doctor name cannot be empty.")
    day = normal_date(date)
    for known in _of_patient(state, patient, day).values():
        if known["doctor_name"] == doctor:
            raise Failure("This appointment has already been registered.")
        raise Failure("This patient has already been registered in this day.")
    table = state.write("Appointments")
    number = _draw_id(state, patient, day)
    table[number] = {"patient_name": patient, "date": day, "doctor_name": doctor}
    return number


def _draw_id(state: State, patient: str, day: str) -> str:
    taken = state.read("Appointments")
    if state.hint is not None and state.hint not in taken:
        return str(state.hint)
    attempt = 0
    while (number := str(LOWEST_ID + state.draw("appointment", patient, day, attempt) % IDS)) in taken:
        attempt += 1
    return number


@api("CancelRegistration", every(argument("appointment_id", stripped), OUTCOME))
def cancel_registration(state: State, appointment_id: Any) -> Any:
    """Cancel an appointment."""
    number = appointment_id.strip()
    if number not in state.read("Appointments"):
        raise Failure("The appointment ID is incorrect.")
    del state.write("Appointments")[number]
    return SUCCESS


def _modification(tested: Result, recorded: Result) -> bool:
    """The id of a tested call may be a number."""
    return bool(str(tested["input"]["appointment_id"]).strip() == recorded["input"]["appointment_id"].strip())


@api(
    "ModifyRegistration",
    every(
        _modification,
        argument("new_appointment_date", _optional(normal_date)),
        argument("new_appointment_doctor", _optional(stripped)),
        OUTCOME,
    ),
)
def modify_registration(
    state: State, appointment_id: Any, new_appointment_date: Any, new_appointment_doctor: Any
) -> Any:
    """Change an appointment's day, doctor, or both."""
    number = appointment_id.strip()
    appointments = state.read("Appointments")
    if number not in appointments:
        raise Failure("The appointment ID does not exist.")
    moment = None if new_appointment_date is None else read(new_appointment_date, DATE)
    doctor = None if new_appointment_doctor is None else new_appointment_doctor.strip()
    if doctor == "":
        raise Failure("Fail because the doctor name is empty.")
    day = None if moment is None else write(settled(moment), DATE)
    given = {"date": day, "doctor_name": doctor}
    changes = {name: value for name, value in given.items() if value is not None}
    _refuse_idle(changes, appointments[number])
    state.write("Appointments")[number] = {**appointments[number], **changes}
    return SUCCESS


def _refuse_idle(changes: dict[str, Any], appointment: dict[str, Any]) -> None:
    idle = [name for name, value in changes.items() if appointment[name] == value]
    if not changes or len(idle) == 2:
        raise Failure("Fail because no modification is made.")
    if idle:
        raise Failure(f"Fail because {'date' if idle == ['date'] else 'doctor'} is not changed.")


@api("QueryRegistration", every(argument("patient_name", stripped), argument("date", normal_date), OUTCOME))
def query_registration(state: State, patient_name: Any, date: Any) -> Any:
    """A patient's appointments on a day, by id."""
    found = _of_patient(state, patient_name.strip(), normal_date(date))
    if not found:
        raise Failure("No appointments found.")
    return found


def _of_patient(state: State, patient: str, day: str) -> dict[str, Any]:
    return {
        number: known
        for number, known in state.read("Appointments").items()
        if known["patient_name"] == patient and normal_date(known["date"]) == day
    }
