"""For maintainers: makes the hashes of a data set's definition out of a trusted copy.

::

    python -m toolenv.data.maintain envs_registry/data/bfcl.json UNPACKED_WHEEL

hashes anew the files of every part whose patterns match something in the copy, and leaves the rest alone. A
new version of a data set moves scores, so it goes with a new ``-vN`` of the ids that read it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolenv.data.manifest import file_hash


def make_manifest(folder: Path, patterns: Iterable[str]) -> dict[str, str]:
    """Relative path → sha256 of the files below a folder that any of the globs matches, in path order."""
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    return {path.relative_to(folder).as_posix(): file_hash(path) for path in paths}


def nest(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """A manifest as definitions hold it: grouped by folder, ``"."`` for none."""
    nested: dict[str, dict[str, str]] = {}
    for path, digest in files.items():
        folder, _, name = path.rpartition("/")
        nested.setdefault(folder or ".", {})[name] = digest
    return nested


def refresh(definition: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A definition with the hashes of the parts that the folder holds made anew."""
    parts = {name: _refreshed(part, folder) for name, part in definition["parts"].items()}
    return {**definition, "parts": parts}


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite a definition file."""
    parser = argparse.ArgumentParser(prog="python -m toolenv.data.maintain", description=main.__doc__)
    parser.add_argument("definition", type=Path, help="envs_registry/data/KEY.json")
    parser.add_argument("folder", type=Path, help="a trusted copy of the data")
    chosen = parser.parse_args(arguments)
    definition = json.loads(chosen.definition.read_text(encoding="utf-8"))
    text = json.dumps(refresh(definition, chosen.folder), indent=1, ensure_ascii=False)
    chosen.definition.write_text(text + "\n", encoding="utf-8")


def _refreshed(part: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    files = make_manifest(folder, part["patterns"])
    return {**part, "files": nest(files) if files else part["files"]}


if __name__ == "__main__":
    main()
