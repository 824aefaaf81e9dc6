"""A checkpoint's name on the Hugging Face hub: what is to be loaded where the hub cannot be reached."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from toolenv.errors import PreflightError

from .local_settings import LocalSettings

Settings = TypeVar("Settings", bound=LocalSettings)

PATIENCE_SECONDS = 10.0
"""How long the hub may take to say whether it has a model: the libraries wait as long for each file, and try
six times."""


def as_it_can_be_loaded(settings: Settings, agent: str) -> Settings:
    """The settings, with the copy on this disk in place of a name on a hub that cannot be reached.

    Args:
        settings: the agent's.
        agent: its name, for the error.

    Raises:
        PreflightError: no network, and no copy.
    """
    if Path(settings.model).is_dir() or os.environ.get("VLLM_USE_MODELSCOPE"):
        return settings
    why = _unreachable(settings.model)
    if not why:
        return settings
    copy = _copy_on_disk(settings.model)
    if copy is None:
        raise PreflightError(
            f"{agent}: cannot be loaded: there is no folder {settings.model!r} here and no copy of a model of"
            f" that name, and the Hugging Face hub cannot be reached ({why}); give a folder with a"
            f" checkpoint, or fetch it first: hf download {settings.model}"
        )
    return replace(settings, model=copy)


def _unreachable(model: str) -> str:
    """Why the hub does not answer; empty if it does, whatever it says: who loads the model will say it."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    try:
        HfApi().model_info(model, timeout=PATIENCE_SECONDS)
    except (HfHubHTTPError, KeyError, TypeError, ValueError):
        return ""
    except Exception as error:  # of the HTTP library below, which is another one in each version
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def _copy_on_disk(model: str) -> str | None:
    """The folder in which the libraries keep a copy of a model of the hub, if they do."""
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(model, local_files_only=True))
    except (OSError, ValueError):
        return None
    return str(folder) if (folder / "config.json").is_file() else None
