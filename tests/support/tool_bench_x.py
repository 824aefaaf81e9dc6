"""A small tree in ToolBench-X's layout: six tasks, each workflow, each of the five hazards, written by hand.

The answers are worked out by hand in the comments. ``travel/fares`` tasks carry reference and recovery paths,
which only trees of ours do; ``office/printing`` looks like upstream's own: no paths, injection by profiles,
tools that ask the network first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FARES = '''
"""Fares of a ferry line."""
from typing import Dict, List, Optional

FARES = {"NORTH-7": 41.5, "SOUTH-2": 30.0}
SEATS = {"NORTH-7": 3, "SOUTH-2": 5}


def find_fare(route: str) -> Dict[str, float]:
    """Fare of one seat.

    Args:
        route: the route's code, such as NORTH-7.

    Returns:
        The fare in EUR.
    """
    if route not in FARES:
        raise KeyError(f"no route {route}")
    return {"fare_eur": FARES[route]}


def find_party(route: str) -> dict:
    """How many seats are booked.

    Args:
        route: the route's code.
    """
    return {"seats": SEATS[route]}


def total_price(fare_eur: float, seats: int, discount: Optional[float] = None) -> dict:
    """Price of a party.

    Args:
        fare_eur: fare of one seat in EUR.
        seats: number of seats.
        discount: a share to take off.
    """
    return {"total_eur": round(fare_eur * seats * (1 - (discount or 0)), 2)}


def timetable(route: str) -> List[str]:
    """Departures of a route.

    Args:
        route: the route's code.
    """
    return ["08:10", "19:45"]
'''


def _calls(*calls: tuple[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"tool": tool, "arguments": dict(arguments)} for tool, arguments in calls]


FARE = ("find_fare", {"route": "NORTH-7"})
PARTY = ("find_party", {"route": "NORTH-7"})
TOTAL = ("total_price", {"fare_eur": 41.5, "seats": 3})
# 41.5 EUR a seat, 3 seats: 124.5.
PATH = _calls(FARE, PARTY, TOTAL)

NAMES = {
    "specification-drift": "Specification_Uncertainty",
    "invocation-error": "Invocation_Uncertainty",
    "execution-failure": "Execution_Uncertainty",
    "output-drift": "Output_Uncertainty",
    "cross-source-conflict": "Cross-Source_Uncertainty",
}

# What is put behind FARES; each hazard takes hold of one tool and keeps a way to 124.5.
PERTURBED = {
    "specification-drift": """
_clean_fare = find_fare
def find_fare(route: str) -> Dict[str, float]:
    return {"price_per_seat": _clean_fare(route)["fare_eur"]}
""",
    "invocation-error": """
_clean_total = total_price
def total_price(fare_eur: float, seats: int, discount: Optional[float] = None) -> dict:
    if discount is None:
        raise ValueError("the adapter delivered no discount; send 0.0")
    return _clean_total(fare_eur, seats, discount)
""",
    "execution-failure": """
_failures = 0
_clean_party = find_party
def find_party(route: str) -> dict:
    global _failures
    _failures += 1
    if _failures <= 2:
        raise TimeoutError("no answer within 30 s")
    return _clean_party(route)
""",
    "output-drift": """
_clean_total = total_price
def total_price(fare_eur: float, seats: int, discount: Optional[float] = None) -> dict:
    total = _clean_total(fare_eur, seats, discount)["total_eur"]
    return {"status": "ok", "data": {"value": f"EUR {total:,.2f}"}}
""",
    "cross-source-conflict": """
_clean_party = find_party
_asked = 0
def find_party(route: str) -> dict:
    global _asked
    _asked += 1
    stale = _asked == 1
    return {"seats": 2 if stale else _clean_party(route)["seats"], "as_of": "2019" if stale else "today"}
""",
}
RECOVERY = {
    "specification-drift": PATH,
    "invocation-error": _calls(FARE, PARTY, TOTAL, ("total_price", {**TOTAL[1], "discount": 0.0})),
    "execution-failure": _calls(FARE, PARTY, PARTY, PARTY, TOTAL),
    "output-drift": PATH,
    "cross-source-conflict": _calls(FARE, PARTY, PARTY, TOTAL),
}
HINTS = {
    "specification-drift": ("find_fare", "The fare stands in another field than documented."),
    "invocation-error": ("total_price", "An optional argument does not get its default; send it."),
    "execution-failure": ("find_party", "The tool fails twice, then works: call it again."),
    "output-drift": ("total_price", "The number is wrapped in a text; take it out."),
    "cross-source-conflict": ("find_party", "The first reading is stale; ask again and look at the date."),
}

PRINTER = '''
"""Written as upstream writes: the network first, then rules."""
import json, os
from typing import Any, Dict, Optional
import urllib.request

{control}

def toner_level(printer: str) -> Dict[str, Any]:
    """Toner left in a printer.

    Args:
        printer: the printer's name.

    Returns:
        The level.
    """
    {inject}
    error: Optional[str] = None
    try:
        with urllib.request.urlopen("http://127.0.0.1:9/toner", timeout=1) as reply:
            return json.load(reply)
    except Exception as failure:
        error = type(failure).__name__
    return {{"ok": True, "source": "rule-engine", "error": error, "percent": 61}}
'''
CONTROL = """
strict_no_hint_profile = {"before_tool_logic": {"enabled": True, "probability": 1.0, "max_times": 2}}
guided_with_hint_profile = {"before_tool_logic": {"enabled": True, "probability": 1.0, "max_times": 0}}
EXCEPTION_HINTS = {"toner_level::before_tool_logic": {
    "exception_category": "Execution Uncertainty", "minimal_prompt_hint": "Call it again until it answers."}}
_CONFIG = {}
_COUNT = 0

def set_injection_config(config):
    _CONFIG.update(config)

def get_exception_hints():
    return EXCEPTION_HINTS

def maybe_inject(failpoint):
    global _COUNT
    point = _CONFIG.get("profiles", {}).get(_CONFIG.get("profile"), {}).get(failpoint, {})
    if _COUNT < point.get("max_times", 0):
        _COUNT += 1
        raise ConnectionError(f"at toner_level::{failpoint} (seed {os.environ['FAIL_SEED']})")
"""


def write_tree(folder: Path) -> Path:
    """Write the tree and return its folder."""
    workflows = {
        "sequential": ("specification-drift", "output-drift"),
        "parallel": ("execution-failure", "cross-source-conflict"),
        "mixture": ("invocation-error",),
    }
    for workflow, hazards in workflows.items():
        records = []
        for number, hazard in enumerate(hazards, 1):
            name = f"task_{number}"
            tools: list[Any] = ["find_fare", "find_party", "total_price"]
            if workflow == "mixture":  # upstream writes objects here
                tools = [{"tool_name": tool, "type": "sequential"} for tool in tools]
            records.append({
                "id": name,
                "user_prompt": "What does our party on the ferry NORTH-7 pay in EUR? Only the number.",
                "tools_used": tools,
                "final_answer": "124.5",
                "distractors": ["timetable"] if hazard == "output-drift" else [],
                "reference_calls": PATH,
                "recovery_calls": {hazard: RECOVERY[hazard]},
            })  # fmt: skip
            place = f"{workflow}/{{}}travel/fares/{name}"
            _write(folder / "tools" / f"{place.format('')}.py", FARES)
            perturbed = folder / "tools_exception" / f"{place.format(NAMES[hazard] + '/')}.py"
            _write(perturbed, FARES + PERTURBED[hazard])
            tool, text = HINTS[hazard]
            hint = {"exception_category": NAMES[hazard].replace("_", " "), "minimal_prompt_hint": text}
            _write_json(perturbed.with_suffix(".hints.json"), {f"{tool}::before_return": hint})
        _write_json(folder / "tasks" / workflow / "travel" / "fares.json", {"tasks": records})
    _write_printer(folder)
    return folder


def _write_printer(folder: Path) -> None:
    record = {
        "id": "task_1",
        "user_prompt": "How much toner is left in PR-9, in percent?",
        "tools_used": ["toner_level"],
        "expected_answer": 61,
    }
    place = "office/printing/task_1.py"
    _write_json(folder / "tasks/sequential/office/printing.json", [record])
    _write(folder / "tools/sequential" / place, PRINTER.format(control="", inject=""))
    inject = 'maybe_inject("before_tool_logic")'
    _write(
        folder / "tools_exception/sequential/Execution_Uncertainty" / place,
        PRINTER.format(control=CONTROL, inject=inject),
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_json(path: Path, value: Any) -> None:
    _write(path, json.dumps(value, indent=1))
