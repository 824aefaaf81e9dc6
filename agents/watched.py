"""Settings that tell which of them are read: one without effect is a mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any


class Watched(dict[str, Any]):
    """Settings that tell which names are asked for; whoever looks at all of them knows them all.

    Args:
        settings: the settings.
        note: told each name that is asked for.
    """

    def __init__(self, settings: Mapping[str, Any], note: Callable[[str], object]) -> None:
        super().__init__(settings)
        self._note = note

    def get(self, name: str, default: Any = None) -> Any:
        """As of any dict."""
        self._note(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self._note(str(name))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._note_all()
        return super().__iter__()

    def keys(self) -> Any:
        """As of any dict."""
        self._note_all()
        return super().keys()

    def items(self) -> Any:
        """As of any dict."""
        self._note_all()
        return super().items()

    def _note_all(self) -> None:
        for name in super().keys():  # noqa: SIM118  (`in self` would ask again)
            self._note(name)
