"""Tools that change the world, and the one that reads what they added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_registry.workflows.contracts import OutputField
from envs_registry.workflows.declaration import Subtopic
from envs_registry.workflows.derived import (
    CURRENCY,
    DATE,
    POSITIVE,
    TEXT,
    Derived,
    derive,
    described,
    parse_date,
)
from envs_registry.workflows.world import WorkflowWorld
from toolenv.errors import ToolError

_CODE = OutputField("confirmation", "id", fact="deed.confirmation", meaning="the confirmation code")


def dated_tool(subtopic: Subtopic) -> Derived:
    """Do something to a thing on a date."""
    deed = subtopic.dated
    kind = subtopic.kinds[deed.level]
    sets = "" if deed.sets is None else deed.sets.key

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = world.get(deed.level, arguments[kind.id_field])
        date = parse_date(arguments["date"]).isoformat()
        if date <= world.facts.today:
            raise ToolError(f"{date} is not after today, {world.facts.today}")
        return {"confirmation": world.do(deed.tool, record, {"date": date}, sets), "status": "recorded"}

    ask = deed.ask.format(f"one {kind.label}", date="a given date")
    return derive(
        deed.tool,
        "deed",
        f"{ask[0].upper()}{ask[1:]}. The date must lie after today.",
        {
            kind.id_field: described(TEXT, f"The ID of the {kind.label}."),
            "date": described(DATE, "The date, YYYY-MM-DD."),
        },
        (_CODE, OutputField("status", "text")),
        run,
    )


def amounted_tool(subtopic: Subtopic) -> Derived:
    """Do something to a thing with an amount of what the world's first formula gives."""
    deed, unit = subtopic.amounted, subtopic.formulas[0].unit
    assert unit is not None
    kind = subtopic.kinds[deed.level]
    money = subtopic.currency is not None
    amount = "amount" if money else f"amount_{unit.slug}"

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = world.get(deed.level, arguments[kind.id_field])
        detail: dict[str, Any] = {amount: round(float(arguments[amount]), 2)}
        if money:
            detail["currency"] = arguments["currency"]
        return {"confirmation": world.do(deed.tool, record, detail), "status": "recorded"}

    ask = deed.ask.format(f"one {kind.label}", amount="an amount")
    parameters = {
        kind.id_field: described(TEXT, f"The ID of the {kind.label}."),
        amount: described(POSITIVE, "The amount." if money else f"The amount, in {unit.name}."),
    }
    if money:
        parameters["currency"] = described(CURRENCY, "The currency of the amount.")
    return derive(
        deed.tool,
        "deed",
        f"{ask[0].upper()}{ask[1:]}.",
        parameters,
        (_CODE, OutputField("status", "text")),
        run,
    )


def receipt_tool(subtopic: Subtopic, style: int) -> Derived:
    """From a confirmation code to who handles it."""

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        deed, handler = world.receipt(arguments["confirmation"])
        code = arguments["confirmation"].strip().upper()
        return {
            "confirmation": code,
            "about": deed["id"],
            "handled_by": handler,
            "recorded_on": world.facts.today,
        }

    name = ("get_confirmation", "confirmation_details", "fetch_confirmation", "read_confirmation")[style]
    return derive(
        name,
        "receipt",
        f"Look up what was recorded under a confirmation code in the {subtopic.register}.",
        {"confirmation": described(TEXT, "The confirmation code.")},
        (
            _CODE,
            OutputField("about", "id", meaning="the ID of what it is about"),
            OutputField("handled_by", "text", fact="deed.handled_by", meaning="who handles it"),
            OutputField("recorded_on", "date"),
        ),
        run,
    )
