"""Data that is not there: one error names all environments of a command that lack theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from toolenv.errors import DataMissingError, ToolEnvError
from toolenv.runner.plan import source_of


@contextmanager
def naming_all_missing(names: Sequence[str], options: Mapping[str, Any]) -> Iterator[None]:
    """Where data is missing in the block, all environments are looked at, and those that lack some are named.

    Args:
        names: env ids.
        options: keywords of ``gymnasium.make``.

    Raises:
        DataMissingError: for each data set its environments, and the command that fetches it.
    """
    try:
        yield
    except DataMissingError as error:
        lacking = _lacking(names, options)
        if sum(map(len, lacking.values())) < 2:
            raise
        told = (f"no data for {', '.join(envs)}: {why}" for why, envs in lacking.items())
        raise DataMissingError(". And ".join(told)) from error


def _lacking(names: Sequence[str], options: Mapping[str, Any]) -> dict[str, list[str]]:
    """The envs without their data, by what is said of it."""
    found: dict[str, list[str]] = {}
    for name in names:
        try:
            source_of(name, options)
        except DataMissingError as error:
            found.setdefault(str(error), []).append(name)
        except ToolEnvError:  # told when the data is there
            continue
    return found
