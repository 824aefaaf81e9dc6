"""An agent's own exception and where it came from, read from the traceback that its episode keeps."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

_FRAME = re.compile(
    r'^ +(?:\| +)?File "(?P<file>.+)", line (?P<line>\d+), in (?P<function>.+)$', re.MULTILINE
)
_RAISED = re.compile(r"^(?! )(?!Traceback \().+$", re.MULTILINE)
_GROUP = re.compile(r"^  \| (?=\S)(?P<line>.+)$", re.MULTILINE)
_INSTALLED = re.compile(r"site-packages|dist-packages|[/\\]lib(64)?[/\\]python3\.\d+[/\\]|^<frozen ")
_ROOT = Path(__file__).parents[2]
_NOT_THEIRS = (
    *(str(_ROOT / name) + "/" for name in ("toolenv", "agents", "envs_registry")),
    sysconfig.get_path("stdlib") + "/",
)


def raised_at(error: str) -> str:
    """The innermost frame of a traceback that is the user's own, ``FILE:LINE in FUNCTION``.

    Args:
        error: the traceback, as Python writes it.

    Returns:
        Empty where all is of toolenv, of Python or of an installed package, or there is no traceback.
    """
    for frame in reversed(list(_FRAME.finditer(error))):
        file = frame["file"]
        if not _INSTALLED.search(file) and not file.startswith(_NOT_THEIRS):
            name = re.split(r"[/\\]", file)[-1]
            return f"{name}:{frame['line']} in {frame['function']}"
    return ""


def up_to_raised(error: str) -> str:
    """An error up to the line that names its exception, ``TYPE: FIRST LINE OF THE MESSAGE``.

    Behind it come further lines of the message, notes, and the members of a group of exceptions.

    Args:
        error: a traceback, as Python writes it, or the end of one; any other text is given back as it is.
    """
    group = _GROUP.search(error)
    if group is not None:
        return f"{error[: group.start()]}{group['line']}"
    frames = list(_FRAME.finditer(error))
    raised = _RAISED.search(error, frames[-1].end()) if frames else None
    return error if raised is None else error[: raised.end()]
