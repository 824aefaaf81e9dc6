"""Scenes and switches of a smart home (APIS.md 5.11)."""

from __future__ import annotations

from typing import Any

from envs_registry.api_bank.registry import SUCCESS, api
from envs_registry.api_bank.rules import OUTCOME, argument, arguments, equal, every, nothing_invented
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import normal_time


def _name(value: Any) -> Any:
    return value.strip().lower()


def _devices(devices: Any) -> list[dict[str, Any]]:
    """Devices in normal form, by name."""
    normal = [
        {**device, "name": _name(device["name"]), "description": device["description"].strip()}
        for device in devices
    ]
    return sorted(normal, key=lambda device: str(device["name"]))


_SCENE = every(argument("name", _name), argument("devices", _devices))


@api("AddScene", every(_SCENE, nothing_invented, equal("exception")))
def add_scene(state: State, name: Any, devices: Any) -> Any:
    """Make a scene."""
    scene = _scene(name)
    _mend_devices(devices)
    if scene in state.read("Scenes"):
        raise Failure("Scene name already exists.")
    state.write("Scenes")[scene] = devices
    return SUCCESS


@api("ModifyScene", every(_SCENE, OUTCOME))
def modify_scene(state: State, name: Any, devices: Any) -> Any:
    """Give a scene other devices."""
    scene = _scene(name)
    _mend_devices(devices)
    if scene not in state.read("Scenes"):
        raise Failure("The scene does not exist.")
    state.write("Scenes")[scene] = devices
    return SUCCESS


@api("DeleteScene", every(argument("name", _name), OUTCOME))
def delete_scene(state: State, name: Any) -> Any:
    """Remove a scene."""
    scene = _scene(name)
    if scene not in state.read("Scenes"):
        raise Failure("The scene does not exist.")
    del state.write("Scenes")[scene]
    return SUCCESS


@api("QueryScene", every(argument("name", _name), OUTCOME))
def query_scene(state: State, name: Any) -> Any:
    """The devices of a scene."""
    scene = _scene(name)
    if scene not in state.read("Scenes"):
        raise Failure("Scene not found.")
    return state.read("Scenes")[scene]


def _scene(name: Any) -> str:
    scene = str(_name(name))
    if not scene:
        raise Failure("Scene name cannot be empty.")
    return scene


def _mend_devices(devices: Any) -> None:
    """Bring the given list into normal form, in place: the result's ``input`` shows it so."""
    seen = set()
    for device in devices:
        if "name" not in device or "description" not in device:
            raise Failure("Invalid device format.")
        device["name"] = _name(device["name"])
        device["description"] = device["description"].strip()
        if device["name"] in seen:
            raise Failure("Device name cannot be duplicated.")
        seen.add(device["name"])
    devices.sort(key=lambda device: device["name"])


@api("TimedSwitch", every(argument("name", _name), argument("time", normal_time), arguments("on"), OUTCOME))
def timed_switch(state: State, name: Any, time: Any, on: Any) -> Any:
    """Plan a switch; the plan for that moment is replaced."""
    device = _name(name)
    if not device:
        raise Failure("Name cannot be empty.")
    moment = normal_time(time)
    table = state.write("TimeSwitch")
    plans = list(table.get(device, ()))
    plan = {"time": moment, "on": on}
    at = _planned(plans, moment)
    table[device] = [*plans, plan] if at is None else [*plans[:at], plan, *plans[at + 1 :]]
    return SUCCESS


@api("CancelTimedSwitch", every(argument("name", _name), argument("time", normal_time), OUTCOME))
def cancel_timed_switch(state: State, name: Any, time: Any) -> Any:
    """Cancel the plan for that moment."""
    device = _name(name)
    if not device:
        raise Failure("name cannot be empty.")
    moment = normal_time(time)
    if device not in state.read("TimeSwitch"):
        raise Failure("device name does not exist.")
    plans = state.read("TimeSwitch")[device]
    at = _planned(plans, moment)
    if at is None:
        raise Failure("time does not exist.")
    state.write("TimeSwitch")[device] = [*plans[:at], *plans[at + 1 :]]
    return SUCCESS


def _planned(plans: list[dict[str, Any]], moment: str) -> int | None:
    return next((at for at, plan in enumerate(plans) if plan["time"] == moment), None)
