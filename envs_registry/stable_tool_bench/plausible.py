"""Plausible values: what kind of text or number a key such as ``first_name`` or ``latitude`` holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


class Dice:
    """A few draws out of 64 random bits."""

    __slots__ = ("bits",)

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        self.bits, draw = divmod(self.bits, high - low + 1)
        return low + draw

    def one_of(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.between(0, len(choices) - 1)]


Maker: TypeAlias = Callable[[Dice], Any]

FIRST_NAMES = ["Ava", "Noah", "Mia", "Liam", "Zoe", "Ravi", "Elena", "Kenji", "Amara", "Lucas", "Omar"]
LAST_NAMES = ["Moreno", "Fischer", "Okafor", "Tanaka", "Silva", "Novak", "Haddad", "Larsen", "Kaur"]
CITIES = ["Oslo", "Lisbon", "Austin", "Kyoto", "Nairobi", "Toronto", "Lyon", "Perth", "Bogota", "Krakow"]
COUNTRIES = ["Norway", "Portugal", "Japan", "Kenya", "Canada", "France", "Australia", "Colombia", "Poland"]
COUNTRY_CODES = ["NO", "PT", "JP", "KE", "CA", "FR", "AU", "CO", "PL"]
LANGUAGES = ["en", "fr", "es", "de", "ja", "pt"]
CURRENCIES = ["USD", "EUR", "GBP", "JPY", "CAD"]
COLOURS = ["amber", "cobalt", "crimson", "emerald", "indigo", "ivory", "scarlet", "silver", "violet"]
THINGS = ["harbor", "meadow", "summit", "lantern", "orchard", "compass", "river", "canyon", "beacon"]
TOPICS = ["travel", "music", "sports", "technology", "finance", "health", "science", "film"]
UNITS = ["km", "kg", "m", "ml"]
ZONES = ["Europe/Oslo", "Europe/Lisbon", "America/Chicago", "Asia/Tokyo", "Africa/Nairobi"]


@lru_cache(maxsize=16_384)
def plain_key(key: str) -> str:
    """A key without case and signs: ``firstName`` and ``first_name`` are one."""
    return _SIGNS.sub("", key).lower()


def is_error(key: str) -> bool:
    """Whether a plain key holds an error report."""
    return _ERROR.search(key) is not None


def plausible(kind: str, key: str, dice: Dice) -> Any:
    """A value of type ``kind`` (``str``, ``int``, ``float`` or ``bool``) that suits a plain key."""
    return _maker(kind, key)(dice)


@cache
def _maker(kind: str, key: str) -> Maker:
    return next(make for pattern, make in _TABLES[kind] if pattern.search(key))


def _phrase(dice: Dice) -> str:
    return f"{dice.one_of(COLOURS)} {dice.one_of(THINGS)}"


def _title(dice: Dice) -> str:
    return f"The {dice.one_of(COLOURS)} {dice.one_of(THINGS)}".title()


def _sentence(dice: Dice) -> str:
    return (
        f"A short text about {dice.one_of(TOPICS)} in {dice.one_of(CITIES)}, "
        f"with the {dice.one_of(COLOURS)} {dice.one_of(THINGS)} as its subject."
    )


def _person(dice: Dice) -> str:
    return f"{dice.one_of(FIRST_NAMES)} {dice.one_of(LAST_NAMES)}"


def _handle(dice: Dice) -> str:
    return f"{dice.one_of(COLOURS)}_{dice.one_of(THINGS)}{dice.between(1, 99)}"


def _hexadecimal(dice: Dice) -> str:
    return f"{dice.between(0, 16**12 - 1):012x}"


def _date(dice: Dice) -> str:
    return f"{dice.between(2019, 2024)}-{dice.between(1, 12):02d}-{dice.between(1, 28):02d}"


def _moment(dice: Dice) -> str:
    return f"{_date(dice)}T{_clock(dice)}:00Z"


def _clock(dice: Dice) -> str:
    return f"{dice.between(0, 23):02d}:{dice.between(0, 59):02d}"


def _link(ending: str = "") -> Maker:
    return lambda dice: f"https://example.com/{dice.one_of(THINGS)}-{dice.between(100, 9999)}{ending}"


def _among(choices: Sequence[Any]) -> Maker:
    return lambda dice: dice.one_of(choices)


def _always(value: Any) -> Maker:
    return lambda _: value


def _whole(low: int, high: int) -> Maker:
    return lambda dice: dice.between(low, high)


def _decimal(low: int, high: int, digits: int = 2) -> Maker:
    scale = 10**digits
    return lambda dice: dice.between(low * scale, high * scale) / scale


def _text(make: Maker) -> Maker:
    return lambda dice: str(make(dice))


def _table(*rows: tuple[str, Maker]) -> tuple[tuple[re.Pattern[str], Maker], ...]:
    return tuple((re.compile(pattern), make) for pattern, make in rows)


_SIGNS = re.compile(r"[\W_]")
_ERROR = re.compile(r"^(inner)?(err|error|errormsg|errormessage|exception|stack|failure)s?$")

# The first pattern that fits counts. Keys of error reports say that there was none.
_TABLES = {
    "str": _table(
        (_ERROR.pattern, _always("")),
        (r"^(status|result|state)?(message|msg|txt|detail|reason)s?$|^statustext$", _always("Success")),
        (r"^(response|request|api|job)?status$", _always("success")),
        (r"(error|status|result|response)code$|^code$", _always("200")),
        (r"email|mail$", lambda dice: f"{_handle(dice)}@example.com"),
        (r"image|img|photo|picture|thumb|avatar|logo|icon|poster|flag$|cover", _link(".jpg")),
        (r"url|link|href|uri|website|homepage|domain|site$|path$", _link()),
        (r"phone(number)?$|mobile$|fax$|tel$", lambda dice: f"+1 202 555 01{dice.between(10, 99)}"),
        (r"years?$|^born|^released$", _text(_whole(1980, 2024))),
        (r"(created|updated|published|modified|release|start|end)(at|on|time)$|timestamp|datetime", _moment),
        (r"date|birthday|dob$|^day$", _date),
        (r"timezone|^tz$", _among(ZONES)),
        (r"time$|^hour", _clock),
        (r"countrycode|^iso|alpha2|^cc$", _among(COUNTRY_CODES)),
        (r"country(name)?$|nationality|^nation$", _among(COUNTRIES)),
        (r"city|town|capital|location|place|region|county|state$|venue", _among(CITIES)),
        (r"zip|postal|postcode", _text(_whole(10000, 99999))),
        (r"address|street", lambda dice: f"{dice.between(1, 250)} {dice.one_of(THINGS).title()} Street"),
        (r"currency", _among(CURRENCIES)),
        (r"language|locale|^lang", _among(LANGUAGES)),
        (r"^lat|latitude", _text(_decimal(-60, 70, 4))),
        (r"^(lon|lng)|longitude", _text(_decimal(-170, 170, 4))),
        (r"gender|^sex$", _among(("female", "male"))),
        (r"firstname|givenname", _among(FIRST_NAMES)),
        (r"lastname|surname|familyname", _among(LAST_NAMES)),
        (r"username|handle|screenname|nickname|login", _handle),
        (r"fullname|author|artist|actor|director|player|person|owner|user|creator|character|coach", _person),
        (r"description|summary|text|bio|overview|content|synopsis|comment|body|caption", _sentence),
        (r"title|headline|^name$|displayname|company|brand|product|album|movie|song|team|league", _title),
        (r"category|genre|topic|tag|type|keyword|group|sport|job", _among(TOPICS)),
        (
            r"price|amount|cost|value|total|count$|score|rate|rating|size|height|width|length",
            _text(_whole(1, 500)),
        ),
        (r"number$|views|likes|votes|rank|followers|temp", _text(_whole(1, 500))),
        (r"percent|change", lambda dice: f"{dice.between(-90, 90) / 10}%"),
        (r"version", lambda dice: f"{dice.between(1, 9)}.{dice.between(0, 20)}"),
        (r"color|colour", lambda dice: f"#{dice.between(0, 0xFFFFFF):06x}"),
        (r"unit$", _among(UNITS)),
        (r"symbol|ticker|abbreviation|code", lambda dice: dice.one_of(THINGS)[:4].upper()),
        (r"id$|uuid|guid|key|token|hash|slug", _hexadecimal),
        (r"", _phrase),
    ),
    "int": _table(
        (r"err", _always(0)),
        (r"^(http|response|request|api)?status(code)?$|^code$|resultcode", _always(200)),
        (r"year", _whole(1980, 2024)),
        (r"timestamp|createdat|updatedat|^created|^updated|epoch", _whole(1_550_000_000, 1_730_000_000)),
        (r"^page$|pagenumber|currentpage|offset", _always(1)),
        (r"count|total|number|quantity|votes|views|likes|follow|results", _whole(1, 5000)),
        (r"height|width", _whole(120, 1080)),
        (r"age$", _whole(18, 80)),
        (r"percent|score|rating|humidity", _whole(1, 100)),
        (r"price|amount|cost|salary|revenue", _whole(5, 2000)),
        (r"month", _whole(1, 12)),
        (r"^day$", _whole(1, 28)),
        (r"hour", _whole(0, 23)),
        (r"minute|second", _whole(0, 59)),
        (r"id$|key", _whole(10_000, 9_999_999)),
        (r"", _whole(1, 1000)),
    ),
    "float": _table(
        (r"^lat|latitude", _decimal(-60, 70, 4)),
        (r"^(lon|lng)|longitude", _decimal(-170, 170, 4)),
        (r"rating|stars", _decimal(1, 5, 1)),
        (r"percent|change|chg", _decimal(-10, 10)),
        (r"temp", _decimal(-10, 35, 1)),
        (r"probability|proportion|confidence|ratio", _decimal(0, 1, 3)),
        (r"", _decimal(1, 500)),
    ),
    "bool": _table(
        (r"err|fail|invalid|blocked|expired|disposable", _always(False)),
        (r"success|^ok$|valid|status|available|active|exists", _always(True)),
        (r"", _among((True, False))),
    ),
}
