"""Which files Python runs on: the standard library and the folders of shared libraries, nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

PACKAGES = ("site-packages", "dist-packages")
"""Folders of installed packages, which no code inside the sandbox gets to see."""

EXTRAS = ("/usr/share/zoneinfo",)
"""Public data that the standard library reads."""


def standard_library() -> list[str]:
    """Where the standard library is: the module path of an interpreter started without packages."""
    return [path for path in sys.path if os.path.exists(path)]


def library_folders() -> list[str]:
    """The folders of the shared libraries that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        mapped = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/" in line}
    own = tuple(standard_library())
    shared = (path for path in mapped if ".so" in os.path.basename(path) and not path.startswith(own))
    return sorted({os.path.dirname(os.path.realpath(path)) for path in shared if path.startswith("/")})


def package_folders(readable: list[str]) -> list[str]:
    """The folders of installed packages below some folders: those beside the standard library."""
    beside = {os.path.dirname(path) if path.endswith("lib-dynload") else path for path in readable}
    return sorted(os.path.join(os.path.realpath(one), name) for one in beside for name in PACKAGES)


def without_packages(readable: list[str]) -> Iterator[str]:
    """The same files told one by one where a folder holds installed packages, which are left out."""
    library = [os.path.realpath(path) for path in standard_library()]
    for path in map(os.path.realpath, readable):
        holds_more = any(one.startswith(path + "/") and "lib-dynload" not in one for one in library)
        if not os.path.isdir(path) or not (path in library or holds_more):
            yield path
            continue
        for name in os.listdir(path):
            inner = os.path.join(path, name)
            if name not in PACKAGES and (path in library or (".so" in name and os.path.isfile(inner))):
                yield inner
