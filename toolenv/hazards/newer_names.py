"""Other names for fields and parameters, as a later version of an interface would have them."""

from __future__ import annotations

from collections.abc import Collection

_OTHER_WORDS = {
    "address": "location", "amount": "quantity", "available": "on_hand", "capacity": "max_load",
    "city": "place", "code": "key", "cost": "charge", "count": "tally", "currency": "money_type",
    "date": "on_day", "day": "date_of", "description": "summary", "distance": "length_of_way",
    "duration": "time_taken", "email": "mail", "end": "until", "fee": "charge", "from": "origin",
    "id": "ref", "items": "entries", "level": "grade", "limit": "ceiling", "location": "site",
    "message": "text", "name": "label", "number": "index_no", "password": "secret",
    "price": "unit_amount", "query": "search_for", "rate": "ratio", "result": "outcome",
    "score": "rating", "size": "extent", "start": "begins", "status": "state", "symbol": "ticker",
    "temperature": "thermal_reading", "text": "content", "time": "clock", "title": "heading",
    "to": "destination", "token": "session_key", "total": "sum_due", "type": "category",
    "unit": "measure", "user": "member", "username": "login", "value": "figure", "weight": "mass",
    "width": "breadth", "year": "annum",
}  # fmt: skip


def newer_name(name: str, taken: Collection[str]) -> str:
    """Another name for a field, which none of those ``taken`` has or contains."""
    words = [_OTHER_WORDS.get(word, word) for word in name.split("_")]
    wanted = "_".join(words)
    if wanted == name:
        wanted = f"attr_{_abbreviated(name)}"
    folded = {_folded(one) for one in taken}
    while _folded(wanted) in folded:
        wanted = f"{wanted}_v2"
    return wanted


def _abbreviated(name: str) -> str:
    """``warehouse_zone`` → ``wrhs_zn``: first letters and consonants."""
    words = (
        word[:1] + "".join(sign for sign in word[1:] if sign not in "aeiouy") for word in name.split("_")
    )
    return "_".join(words)


def _folded(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())
