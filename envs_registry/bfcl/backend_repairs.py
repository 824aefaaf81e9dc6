"""What is changed in upstream's multi-turn backends, method by method.

Every change wraps the method; a call that none of the following concerns is upstream's own:

- State that upstream shares between instances is each instance's own: the lists that tweets get by default,
  the cards and bookings of long contexts, the long weather report, the precision of ``decimal``.
- A call that would take minutes or gigabytes fails with an error instead, as it would for want of memory.
"""

from __future__ import annotations

import copy
import decimal
import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

Method: TypeAlias = Callable[..., Any]

MAX_DIGITS: Final = 10_000
"""Digits of precision a calculation may ask for; the data set's tasks ask for up to 10."""

MAX_ENTRIES: Final = 10_000
"""Files and directories a file system may hold for a directory to be copied; the tasks' own hold 126."""

MAX_BITS: Final = 100_000
"""Binary digits of a power; Python writes integers of up to about 14,000."""

PLAIN_DECIMALS: Final = decimal.Context(
    prec=28,
    rounding=decimal.ROUND_HALF_EVEN,
    Emin=-999_999,
    Emax=999_999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[decimal.DivisionByZero, decimal.InvalidOperation, decimal.Overflow],
)
"""Python's own defaults, whatever the running program made of them."""


def _with_own_defaults(method: Method) -> Method:
    """Default lists are fresh in every call, not one list for all tweets of the process."""
    parameters = inspect.signature(method).parameters.values()
    defaults = {one.name: one.default for one in parameters if isinstance(one.default, list)}

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        return method(self, **{**copy.deepcopy(defaults), **arguments})

    return call


def _with_own_records(load: Method) -> Method:
    """The cards and bookings that a long context adds belong to this instance alone."""

    @functools.wraps(load)
    def call(self: Any, /, *arguments: Any, **options: Any) -> None:
        load(self, *arguments, **options)
        if self.long_context:
            self.credit_card_list = copy.deepcopy(self.credit_card_list)
            self.booking_record = copy.deepcopy(self.booking_record)

    return call


def _with_own_reply(method: Method) -> Method:
    """The report, one dictionary that every call changes, is copied before another thread can change it."""
    changing = threading.Lock()

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        with changing:
            return copy.deepcopy(method(self, **arguments))

    return call


def _with_own_decimals(method: Method) -> Method:
    """Precision set inside does not outlive the call, and the caller's decimal context does not matter."""

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        with decimal.localcontext(PLAIN_DECIMALS):
            return method(self, **arguments)

    return call


def _with_bounded_precision(method: Method) -> Method:
    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        if _whole(arguments.get("precision")) > MAX_DIGITS:
            raise ValueError(f"precision is limited to {MAX_DIGITS} digits")
        return method(self, **arguments)

    return call


def _with_bounded_power(method: Method) -> Method:
    """Refuses integers that Python could not write, with Python's error, before they are computed."""

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        base, exponent = arguments.get("base"), arguments.get("exponent")
        if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
            _refuse_beyond_text(exponent * (base.bit_length() - 1))
        return method(self, **arguments)

    return call


def _with_bounded_rounding(method: Method) -> Method:
    """Places far left of any digit give 0 however far they are."""

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        places = arguments.get("decimal_places")
        if isinstance(places, int) and places < -MAX_DIGITS:
            arguments["decimal_places"] = -MAX_DIGITS
        return method(self, **arguments)

    return call


def _with_bounded_copies(method: Method) -> Method:
    """Upstream's copies share what is below them, so that their number can double with every call."""

    @functools.wraps(method)
    def call(self: Any, /, **arguments: Any) -> Any:
        if _holds_more(self.root, MAX_ENTRIES):
            raise OSError("No space left on device")
        return method(self, **arguments)

    return call


def _refuse_beyond_text(bits: int) -> None:
    if bits > MAX_BITS:
        str(1 << MAX_BITS)
        raise OverflowError("int too large to convert to text")  # where Python's own limit is switched off


def _whole(value: Any) -> int:
    try:
        return int(value)
    except (OverflowError, TypeError, ValueError):
        return 0


def _holds_more(directory: Any, limit: int) -> bool:
    waiting, seen = [directory], 0
    while waiting and seen <= limit:
        seen += 1
        waiting.extend(getattr(waiting.pop(), "contents", {}).values())
    return seen > limit


REPAIRS: Final[Mapping[tuple[str, str], tuple[Callable[[Method], Method], ...]]] = {
    ("GorillaFileSystem", "cp"): (_with_bounded_copies,),
    ("MathAPI", "logarithm"): (_with_bounded_precision,),
    ("MathAPI", "power"): (_with_bounded_power,),
    ("MathAPI", "round_number"): (_with_bounded_rounding,),
    ("MathAPI", "square_root"): (_with_own_decimals, _with_bounded_precision),
    ("TravelAPI", "_load_scenario"): (_with_own_records,),
    ("TwitterAPI", "post_tweet"): (_with_own_defaults,),
    ("VehicleControlAPI", "get_outside_temperature_from_google"): (_with_own_reply,),
}
"""Upstream's methods, by class and name, and what each is wrapped in, innermost first."""
