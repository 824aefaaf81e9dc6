"""Data sets that the project does not hold: definitions, a verified cache, and the ways into it.

A definition (``envs_registry/data/KEY.json``) says where a data set is published, under which licence, and
the sha256 of every file a suite reads. :class:`DataStore` pulls by definition and hands out folders that were
checked.

A support layer: it imports :mod:`toolenv.errors` alone.
"""

from toolenv.data.definitions import load_source, load_sources
from toolenv.data.manifest import Problem
from toolenv.data.places import data_root, source_path
from toolenv.data.reading import read_json, read_json_lines
from toolenv.data.source import DataSource, Layout, Part, RepositoryArchive, Wheel
from toolenv.data.status import DataStatus
from toolenv.data.store import DataStore

__all__ = [
    "DataSource",
    "DataStatus",
    "DataStore",
    "Layout",
    "Part",
    "Problem",
    "RepositoryArchive",
    "Wheel",
    "data_root",
    "load_source",
    "load_sources",
    "read_json",
    "read_json_lines",
    "source_path",
]
