"""Units: how tools name them, how people say them, and how one becomes another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolenv.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of measure.

    Attributes:
        name: as the declarations and descriptions write it, e.g. ``"EUR/kg"``.
        slug: as field names write it, e.g. ``"eur_per_kg"``.
        spoken: as people say it, e.g. ``"euros per kilogram"``.
        dimension: units of one dimension convert into each other; ``""`` for none.
        factor, offset: of the value in the dimension's base unit: ``base = value * factor + offset``.
        additive: whether a total of such values means anything; of rates and temperatures it does not.
    """

    name: str
    slug: str
    spoken: str
    dimension: str = ""
    factor: float = 1.0
    offset: float = 0.0
    additive: bool = True

    @property
    def is_money(self) -> bool:
        """Whether it is a currency."""
        return self.dimension == "money"


CURRENCIES: Mapping[str, str] = {
    "EUR": "euros",
    "USD": "US dollars",
    "GBP": "pounds sterling",
    "CHF": "Swiss francs",
    "SEK": "Swedish kronor",
    "CAD": "Canadian dollars",
    "AUD": "Australian dollars",
    "NOK": "Norwegian kroner",
}

_MEASURES = (
    # The factors are exact by definition, but for the horsepower (mechanical) and the psi.
    Unit("kg", "kg", "kilograms", "mass", 1.0),
    Unit("t", "t", "tonnes", "mass", 1000.0),
    Unit("g", "g", "grams", "mass", 0.001),
    Unit("lb", "lb", "pounds", "mass", 0.45359237),
    Unit("oz", "oz", "ounces", "mass", 0.028349523125),
    Unit("km", "km", "kilometres", "length", 1000.0),
    Unit("m", "m", "metres", "length", 1.0),
    Unit("cm", "cm", "centimetres", "length", 0.01),
    Unit("mm", "mm", "millimetres", "length", 0.001),
    Unit("mi", "mi", "miles", "length", 1609.344),
    Unit("ft", "ft", "feet", "length", 0.3048),
    Unit("in", "in", "inches", "length", 0.0254),
    Unit("ha", "ha", "hectares", "area", 10_000.0),
    Unit("m2", "m2", "square metres", "area", 1.0),
    Unit("acres", "acres", "acres", "area", 4046.8564224),
    Unit("ft2", "ft2", "square feet", "area", 0.09290304),
    Unit("l", "l", "litres", "volume", 0.001),
    Unit("m3", "m3", "cubic metres", "volume", 1.0),
    Unit("gal", "gal", "US gallons", "volume", 0.003785411784),
    Unit("ft3", "ft3", "cubic feet", "volume", 0.028316846592),
    Unit("kWh", "kwh", "kilowatt hours", "energy", 3.6),
    Unit("MJ", "mj", "megajoules", "energy", 1.0),
    Unit("kW", "kw", "kilowatts", "power", 1.0),
    Unit("hp", "hp", "horsepower", "power", 0.745699872),
    Unit("kPa", "kpa", "kilopascals", "pressure", 1.0, additive=False),
    Unit("psi", "psi", "pounds per square inch", "pressure", 6.894757293, additive=False),
    Unit("km/h", "km_per_h", "kilometres per hour", "speed", 1.0, additive=False),
    Unit("mph", "mph", "miles per hour", "speed", 1.609344, additive=False),
    Unit("°C", "celsius", "degrees Celsius", "temperature", 1.0, 0.0, additive=False),
    Unit("°F", "fahrenheit", "degrees Fahrenheit", "temperature", 5 / 9, -160 / 9, additive=False),
)

_PLAIN = (
    Unit("%", "percent", "per cent", additive=False),
    Unit("days", "days", "days"),
    Unit("h", "hours", "hours"),
    Unit("min", "minutes", "minutes"),
    Unit("mg", "mg", "milligrams"),
    Unit("ml", "ml", "millilitres"),
    Unit("kcal", "kcal", "kilocalories"),
    Unit("GB", "gb", "gigabytes"),
    Unit("TB", "tb", "terabytes"),
    Unit("points", "points", "points"),
    Unit("units", "units", "units"),
    Unit("people", "people", "people"),
    Unit("m3/s", "m3_per_s", "cubic metres per second"),
    Unit("µg/m3", "ug_per_m3", "micrograms per cubic metre", additive=False),
    Unit("index", "index", "index points", additive=False),
)

UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        *_MEASURES,
        *_PLAIN,
        *(Unit(code, code.lower(), spoken, "money") for code, spoken in CURRENCIES.items()),
    )
}

_CONVERTS_TO: Mapping[str, str] = {
    "kg": "lb", "t": "lb", "g": "oz", "km": "mi", "m": "ft", "cm": "in", "mm": "in", "ha": "acres",
    "m2": "ft2", "l": "gal", "m3": "ft3", "kWh": "MJ", "kW": "hp", "kPa": "psi", "km/h": "mph", "°C": "°F",
}  # fmt: skip
"""What a person may want a measure in instead."""


def get_unit(name: str, where: str) -> Unit:
    """A unit by its name; ``A/B`` is a rate, which has no conversions of its own.

    Raises:
        UnknownNameError: no such unit.
    """
    if name in UNITS:
        return UNITS[name]
    over, separator, under = name.partition("/")
    if separator and over in UNITS and under:
        top = UNITS[over]
        slug, spoken = _singular(under)
        return Unit(name, f"{top.slug}_per_{slug}", f"{top.spoken} per {spoken}", additive=False)
    raise UnknownNameError("unit", name, UNITS, where)


def _singular(name: str) -> tuple[str, str]:
    """The slug and the spoken singular of what a rate is per; any word may stand there."""
    if name not in UNITS:
        return name.replace(" ", "_"), name
    unit = UNITS[name]
    return unit.slug, _SINGULARS.get(unit.spoken, unit.spoken.removesuffix("s"))


_SINGULARS = {
    "square metres": "square metre",
    "cubic metres": "cubic metre",
    "people": "person",
    "days": "day",
}


def preferred_conversion(unit: Unit) -> Unit | None:
    """The unit a person may want this measure in instead, if any. Money is converted by the day's rates."""
    target = _CONVERTS_TO.get(unit.name)
    return None if target is None else UNITS[target]


def convert(value: float, source: Unit, target: Unit) -> float:
    """``value`` in another unit of the same dimension, to two decimals."""
    return round((value * source.factor + source.offset - target.offset) / target.factor, 2)
