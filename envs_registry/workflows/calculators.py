"""Tools that calculate from their arguments alone: a world's formulas, and the ones every world has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from envs_registry.workflows.contracts import OutputField
from envs_registry.workflows.declaration import Field, Formula
from envs_registry.workflows.derived import (
    CURRENCY,
    DATE,
    NUMBER,
    POSITIVE,
    TEXT,
    Derived,
    derive,
    described,
    parse_date,
)
from envs_registry.workflows.units import UNITS, convert
from envs_registry.workflows.world import WorkflowWorld
from toolenv.errors import ToolError

STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "total": sum,
    "mean": lambda values: sum(values) / len(values),
    "highest": max,
    "lowest": min,
}

_MANY = 40
_CONVERTIBLE = sorted(name for name, unit in UNITS.items() if unit.dimension and not unit.is_money)


def formula_tool(formula: Formula, style: int) -> Derived:
    """A world's own calculation."""
    inputs = [field.output for field in formula.inputs]
    name = ("compute_{}", "{}_calculator", "calculate_{}", "work_out_{}")[style].format(formula.key)
    money = formula.unit is not None and formula.unit.is_money

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = [arguments[one] for one in inputs]
        if formula.kind.is_date:
            return {formula.key: formula.kind.compute(parse_date(given[0]).isoformat(), *given[1:])}
        value = round(float(formula.kind.compute(*given)), 2)
        if "exchange_rate" in arguments:
            value = round(value * arguments["exchange_rate"], 2)
        return {formula.key: value}

    parameters = {
        field.output: described(_input(field, formula), _sentence(field.label)) for field in formula.inputs
    }
    rounding = "" if formula.kind.is_date else ", to two decimals"
    does = f"Work out the {formula.label}: {formula.kind.text.format(*inputs)}{rounding}."
    unit = "" if formula.unit is None else formula.unit.name
    if money:
        parameters["exchange_rate"] = described(POSITIVE, f"Units of another currency for one {unit}.")
        does += f" In {unit}; with an exchange rate, that amount times the rate, again to two decimals."
    output = OutputField(formula.key, "date" if formula.kind.is_date else "number", unit)
    return derive(name, "formula", does, parameters, (output,), run, optional=("exchange_rate",))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _input(field: Field, formula: Formula) -> Mapping[str, Any]:
    if field.kind == "date":
        return DATE
    if formula.kind.is_date:
        return {"type": "integer", "minimum": 0, "maximum": 3650}
    return {"type": "number", "minimum": 0, "maximum": 1e9}


def _convert_units(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    source, target = UNITS[arguments["from_unit"]], UNITS[arguments["to_unit"]]
    if source.dimension != target.dimension:
        raise ToolError(f"{source.name} cannot be converted to {target.name}: one is a {source.dimension}")
    return {"value": convert(arguments["value"], source, target), "unit": target.name}


CONVERT_UNITS = derive(
    "convert_units",
    "conversion",
    "Convert a value from one unit of measure to another, to two decimals.",
    {
        "value": described(NUMBER, "The value."),
        "from_unit": {"type": "string", "enum": _CONVERTIBLE, "description": "The unit it is in."},
        "to_unit": {"type": "string", "enum": _CONVERTIBLE, "description": "The unit it is wanted in."},
    },
    (OutputField("value", "number"), OutputField("unit", "text")),
    _convert_units,
)


def _convert_currency(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    rate = world.facts.rate(arguments["from_currency"], arguments["to_currency"])
    return {"amount": round(arguments["amount"] * rate, 2), "currency": arguments["to_currency"]}


CONVERT_CURRENCY = derive(
    "convert_currency",
    "conversion",
    "Convert an amount of money at today's reference rate, to two decimals.",
    {
        "amount": described(NUMBER, "The amount."),
        "from_currency": described(CURRENCY, "The currency it is in."),
        "to_currency": described(CURRENCY, "The currency it is wanted in."),
    },
    # Whoever converts one euro has read the rate.
    (OutputField("amount", "number", fact="exchange.rate"), OutputField("currency", "text")),
    _convert_currency,
)


def _summarise(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    statistic = arguments["statistic"]
    return {"statistic": statistic, "result": round(float(STATISTICS[statistic](arguments["values"])), 4)}


SUMMARISE = derive(
    "summarise_values",
    "summary",
    "Summarise a list of numbers: their total, mean, highest or lowest, to four decimals.",
    {
        "values": {
            "type": "array", "items": dict(NUMBER), "minItems": 1, "maxItems": _MANY,
            "description": "The numbers.",
        },
        "statistic": {"type": "string", "enum": list(STATISTICS), "description": "What to work out."},
    },
    (OutputField("statistic", "text"), OutputField("result", "number")),
    _summarise,
)  # fmt: skip


def _rank(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    ids, values = arguments["ids"], arguments["values"]
    if len(ids) != len(values):
        raise ToolError(f"{len(ids)} ids and {len(values)} values: give one value for each id")
    best = STATISTICS[arguments["order"]](values)
    return {"id": ids[values.index(best)], "value": best}


RANK = derive(
    "rank_by_value",
    "ranking",
    "Of several IDs with a value each, pick the one with the highest or lowest value.",
    {
        "ids": {
            "type": "array", "items": dict(TEXT), "minItems": 1, "maxItems": _MANY, "description": "The IDs.",
        },
        "values": {
            "type": "array", "items": dict(NUMBER), "minItems": 1, "maxItems": _MANY,
            "description": "Their values, in the same order.",
        },
        "order": {"type": "string", "enum": ["highest", "lowest"], "description": "Which one to pick."},
    },
    (OutputField("id", "id"), OutputField("value", "number")),
    _rank,
)  # fmt: skip


def _days_between(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"days": (parse_date(arguments["until"]) - parse_date(arguments["since"])).days}


DAYS_BETWEEN = derive(
    "days_between",
    "calendar",
    "Count the days from one date to another.",
    {"since": described(DATE, "The first date."), "until": described(DATE, "The second date.")},
    (OutputField("days", "integer", "days"),),
    _days_between,
)


_WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)  # strftime obeys locales


def _weekday(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"weekday": _WEEKDAYS[parse_date(arguments["date"]).weekday()]}


WEEKDAY = derive(
    "weekday_of",
    "calendar",
    "Tell the day of the week of a date.",
    {"date": described(DATE, "The date.")},
    (OutputField("weekday", "text"),),
    _weekday,
)

COMMON: tuple[Derived, ...] = (CONVERT_UNITS, CONVERT_CURRENCY, SUMMARISE, RANK, DAYS_BETWEEN, WEEKDAY)
"""The calculators that every world has."""
