"""Units that are whole multiples of one another, and conversion without a rounding error."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

_SCALES: tuple[Mapping[str, str], ...] = (
    {"mg": "1", "g": "1000", "kg": "1000000", "t": "1000000000"},
    {"mm": "1", "cm": "10", "m": "1000", "km": "1000000"},
    {"ml": "1", "cl": "10", "l": "1000"},
    {"s": "1", "min": "60", "h": "3600", "days": "86400"},
    {"W": "1", "kW": "1000", "MW": "1000000"},
    {"Wh": "1", "kWh": "1000", "MWh": "1000000"},
    {"B": "1", "kB": "1000", "MB": "1000000", "GB": "1000000000"},
    {"Pa": "1", "hPa": "100", "kPa": "1000", "bar": "100000"},
    {"per mille": "1", "%": "10"},
)
_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK", "PLN", "CAD", "AUD")

MULTIPLES: Mapping[str, Mapping[str, Decimal]] = MappingProxyType({
    **{unit: {name: Decimal(size) for name, size in scale.items()} for scale in _SCALES for unit in scale},
    **{
        name: {f"{code} cents": Decimal(1), code: Decimal(100)}
        for code in _CURRENCIES
        for name in (code, f"{code} cents")
    },
})  # fmt: skip
"""By unit: the units of the same quantity, itself included, each in multiples of the smallest."""


def convert(value: int | float, unit: str, target: str) -> int | float | None:
    """A number in another unit; ``None`` if one of the units is unknown or they measure different things.

    Exact wherever the result has at most 15 digits: ``0.7`` kg are ``700.0`` g and come back as ``0.7``. A
    whole number stays one where it can.
    """
    scale = MULTIPLES.get(unit, {})
    if unit not in scale or target not in scale:
        return None
    exact = Decimal(repr(value)) * scale[unit] / scale[target]
    if isinstance(value, int) and exact == exact.to_integral_value():
        return int(exact)
    return float(round(exact, 15 - exact.adjusted()))
