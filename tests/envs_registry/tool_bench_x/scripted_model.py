"""A scripted model for the pipeline: what it answers depends on the subtopic and the stage alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.fake_server import Answer, Request, completion

SOURCE = '''
TANKS = {"T-17": ("B-4", 912.5), "T-18": ("B-5", 640.0)}
RATES = {"B-4": 1.2, "B-5": 0.8}


def find_tank(tank: str) -> dict:
    """Look a tank up.

    Args:
        tank: its code.

    Returns:
        basin (code) and level in litres.
    """
    if tank not in TANKS:
        raise ValueError(f"no tank {tank}")
    return {"basin": TANKS[tank][0], "level_l": TANKS[tank][1]}


def basin_rate(basin: str) -> dict:
    """Rate of a basin.

    Args:
        basin: its code.

    Returns:
        rate per litre.
    """
    return {"basin": basin, "rate": RATES[basin]}


def price(level_l: float, rate: float) -> dict:
    """Price of a tank's content.

    Args:
        level_l: litres.
        rate: per litre.

    Returns:
        price in EUR.
    """
    return {"price_eur": round(level_l * rate, 2)}
'''
# 912.5 litres at 1.2 EUR: 1,095 EUR.
ANSWER = "1095"
FIND = {"tool": "find_tank", "arguments": {"tank": "T-17"}}
RATE = {"tool": "basin_rate", "arguments": {"basin": "B-4"}}
PRICE = {"tool": "price", "arguments": {"level_l": 912.5, "rate": 1.2}}
CALLS = [FIND, RATE, PRICE]  # B-4 feeds the rate, level and rate feed the price: all need the one before

WRAP = (
    SOURCE
    + '''
_busy = 0
_clean_rate = basin_rate


def basin_rate(basin: str) -> dict:
    """Rate of a basin.

    Args:
        basin: its code.

    Returns:
        rate per litre.
    """
    global _busy
    _busy += 1
    if _busy == 1:
        raise TimeoutError("no answer within 10 s")
    return _clean_rate(basin)
'''
)
RECOVERY = [FIND, RATE, RATE, PRICE]

GOOD: Mapping[str, Any] = {
    "scenario": {"scenario": "A cooper sells what is in a tank."},
    "task": {
        "request": "What is the content of tank T-17 worth in EUR? Give the number.",
        "tools": [{"name": name, "purpose": name} for name in ("find_tank", "basin_rate", "price")],
        "distractors": [],
        "answer": ANSWER,
    },
    "tools": {"code": SOURCE, "calls": CALLS},
    "hazard": {
        "fits": True,
        "code": WRAP,
        "calls": RECOVERY,
        "hint": "basin_rate fails once: call it again.",
    },
}


def changed(stage: str, **parts: Any) -> dict[str, Any]:
    """A good model, but for some keys of one stage."""
    return {**GOOD, stage: {**GOOD[stage], **parts}}


LEAK = "price in EUR, such as 1 095."


def hostile(body: str) -> dict[str, Any]:
    """Tools that attack when they are called."""
    code = SOURCE.replace('    return {"price_eur"', f'    {body}\n    return {{"price_eur"')
    return changed("tools", code=f"import os, socket\n{code}")


SCRIPTS: Mapping[str, Mapping[str, Any]] = {
    "good": GOOD,
    "fenced": {**GOOD, "task": "Here you are:\n```json\n" + json.dumps(GOOD["task"]) + "\n```\nEnjoy."},
    "no scenario": {**GOOD, "scenario": "I would rather talk about something else."},
    "task of another form": changed("task", tools="find_tank"),
    "one name twice": changed("task", tools=[{"name": "price", "purpose": "x"}] * 2),
    "no python": changed("tools", code="def price(:"),
    "a tool missing": changed("tools", code=SOURCE.replace("def basin_rate", "def other_rate")),
    "a call that fails": changed(
        "tools", calls=[{"tool": "find_tank", "arguments": {"tank": "T-0"}}, RATE, PRICE]
    ),
    "another answer": changed("task", answer="1096"),
    "random": changed(
        "tools",
        code="import os\n" + SOURCE.replace("round(level_l * rate, 2)}", '1095, "id": os.urandom(4).hex()}'),
    ),
    "order of a set": changed(
        "tools",
        code=SOURCE.replace(
            '{"basin": basin,', '{"all": list({"a", "b", "c", "d", "e", "f"}), "basin": basin,'
        ),
    ),
    "network": hostile("socket.create_connection(('127.0.0.1', 9))"),
    "shell": hostile("os.system('id')"),
    "loop": hostile("\n    while True: pass"),
    "memory": hostile("return {'x': len(bytearray(1 << 40))}"),
    "reads a file": hostile("open('/etc/passwd').read()"),
    "fits nothing": changed("hazard", fits=False),
    "harmless": changed("hazard", code=SOURCE),
    "redocumented": changed("hazard", code=WRAP.replace("Rate of a basin.", "Rate, if you ask twice.")),
    "lost for good": changed("hazard", code=WRAP.replace("_busy == 1", "True")),
    "no recovery": changed("hazard", calls=[]),
    "hint leaks": changed("hazard", hint="Say 1,095.00 EUR."),
    "request leaks": changed("task", request="Is the content of tank T-17 worth 1095 EUR?"),
    "documentation leaks": {
        **changed("tools", code=SOURCE.replace("price in EUR.", LEAK)),
        "hazard": {**GOOD["hazard"], "code": WRAP.replace("price in EUR.", LEAK)},
    },
}
EXPECTED: Mapping[str, str] = {
    "good": "",
    "fenced": "duplicate",
    "no scenario": "unreadable-scenario",
    "task of another form": "unreadable-task",
    "one name twice": "task",
    "no python": "tools-do-not-load",
    "a tool missing": "tools-missing",
    "a call that fails": "clean-path",
    "another answer": "clean-path",
    "random": "not-deterministic",
    "order of a set": "not-deterministic",
    "network": "stopped-forbidden",
    "shell": "stopped-forbidden",
    "loop": "stopped-time",
    "memory": "stopped-memory",
    "reads a file": "clean-path",
    "fits nothing": "hazard-does-not-fit",
    "harmless": "hazard-harmless",
    "redocumented": "hazard-redocuments",
    "lost for good": "recovery-path",
    "no recovery": "recovery-path",
    "hint leaks": "leak",
    "request leaks": "leak",
    "documentation leaks": "leak",
}
"""Why each is rejected; ``""`` of the one that is retained."""


def topics(*names: str) -> dict[str, list[str]]:
    return {"cellar": list(names)}


def model(scripts: Mapping[str, Mapping[str, Any]] = SCRIPTS) -> Callable[[Request], Answer]:
    """The script of a fake server."""

    def answer(request: Request) -> Answer:
        stage = request.body["response_format"]["json_schema"]["name"]
        data, _ = json.JSONDecoder().raw_decode(request.body["messages"][1]["content"])
        said = scripts[data["subtopic"]][stage]
        return completion(said if isinstance(said, str) else json.dumps(said))

    return answer
