"""Names of tools and parameters, by upstream's standardisation, but one name for one API.

Upstream cuts function names to their last 64 characters, and looks a call up by the end of its name; so four
of its queries offer two APIs under one name. Here names are whole, no two APIs share one (FIELD-020), and
what a server allows at most 64 characters of is the wire name (:mod:`toolenv.names`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from toolenv.errors import SchemaError

RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})
"""Names that upstream's generated Python could not use; they get the prefix ``is_``."""

_PREFIX = "is_"
_NOT_KEPT = re.compile(r"[^\u4e00-\u9fa5^a-zA-Z0-9_]")
_UNDERSCORES = re.compile(r"_{2,}")
_CATEGORY_BREAKS = re.compile(r"[ ,/]+")


class ApiId(NamedTuple):
    """What tells one API from all others, as upstream writes it."""

    category: str
    tool: str
    api: str


def standard_name(text: str) -> str:
    """Upstream's standard form of a tool's, an API's or a parameter's name; may be empty."""
    plain = _UNDERSCORES.sub("_", _NOT_KEPT.sub("_", text)).lower().strip("_")
    return f"get_{plain}" if plain[:1].isdigit() else plain


def unreserved(name: str) -> str:
    """A standard name that is no reserved word."""
    return _PREFIX + name if name in RESERVED else name


def standard_category(category: str) -> str:
    """A category as upstream's folders are named, e.g. ``"News, Media"`` → ``"News_Media"``."""
    return _UNDERSCORES.sub("_", _CATEGORY_BREAKS.sub("_", category))


def api_name(identity: ApiId) -> str:
    """The API's own part of its function name; upstream's name of its cache file."""
    return unreserved(standard_name(identity.api))


def function_names(identities: Iterable[ApiId]) -> dict[ApiId, str]:
    """A name for every API: ``<api>_for_<tool>``, as upstream's before it is cut.

    Where APIs would share a name, each of them gets the hash of its identity added, so that a name does not
    depend on the order.

    Raises:
        SchemaError: two APIs share even that.
    """
    distinct = sorted(set(identities))
    plain = {one: f"{api_name(one)}_for_{standard_name(one.tool)}" for one in distinct}
    uses = Counter(plain.values())
    names = {one: name if uses[name] == 1 else f"{name}_{_hash(one)}" for one, name in plain.items()}
    double = [name for name, count in Counter(names.values()).items() if count > 1]
    if double:
        raise SchemaError(f"StableToolBench: two APIs are named {double[0]!r}")
    return names


def parameter_name(original: str, taken: Collection[str]) -> str:
    """A parameter's name as upstream shows it; numbered where another parameter has it already."""
    name = wanted = unreserved(standard_name(original)) or "parameter"
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def without_prefix(name: str) -> str:
    """A parameter's standard name before :func:`unreserved`: ``is_id`` → ``id``."""
    bare = name.removeprefix(_PREFIX)
    return bare if bare in RESERVED else name


def _hash(identity: ApiId) -> str:
    return hashlib.sha256("\x1f".join(identity).encode("utf-8", "surrogatepass")).hexdigest()[:8]
