"""Where data sets lie on disk."""

from __future__ import annotations

import os
from pathlib import Path

from toolenv.errors import DataError

VARIABLE = "TOOLENV_DATA"
"""The environment variable that names the root."""


def data_root() -> Path:
    """The folder that holds one folder per data set.

    ``TOOLENV_DATA`` if set and not empty, else the platform's user cache folder for toolenv.

    Raises:
        DataError: ``TOOLENV_DATA`` is a path that no folder can have.
    """
    named = os.environ.get(VARIABLE, "")
    if named:
        try:
            root = Path(named).expanduser().absolute()
            root.exists()
        except (OSError, RuntimeError) as error:  # a name that is too long, a home that there is not
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"{VARIABLE}={named} cannot be used: {reason}") from error
        return root
    import platformdirs

    return Path(platformdirs.user_cache_dir("toolenv", appauthor=False))


def source_path(key: str, root: Path | None = None) -> Path:
    """Where the data set of that key lies, whether it is there or not."""
    return (data_root() if root is None else root) / key
