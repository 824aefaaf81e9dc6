"""What one episode has made of the shared databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from toolenv.seeding import mix

Key: TypeAlias = str | int
Table: TypeAlias = Mapping[Key, Any]


class Failure(Exception):
    """An API's designed failure; its text becomes the result's ``exception``."""


class NoRecordedResponse(Failure):
    """An API that upstream answers from the network was asked something nobody recorded."""


class Search(Protocol):
    """Finds tools by keywords."""

    def __call__(self, keywords: str) -> Any:
        """The documents of the best match."""
        ...


class State:
    """The tables of one episode: a view of a shared database.

    A table is copied, one level deep, when it is first written; records in it are replaced and never changed
    in place, so that the shared ones stay as they are.

    Args:
        base: the shared tables.
        seed: of the episode, for tokens and numbers that upstream draws at random.
        web: the recorded responses of the APIs that need the network.
        search: what ToolSearcher asks; ``None`` where there is nothing to search.

    Attributes:
        hint: what a recorded call with the same arguments drew at random; an API that draws takes it.
    """

    __slots__ = ("_base", "_own", "hint", "search", "seed", "web")

    def __init__(
        self,
        base: Mapping[str, Table],
        seed: int,
        web: Mapping[tuple[str, ...], Any],
        search: Search | None = None,
    ) -> None:
        self._base, self.seed, self.web, self.search = base, seed, web, search
        self._own: dict[str, dict[Key, Any]] = {}
        self.hint: Any = None

    def fork(self) -> State:
        """An independent copy."""
        copy = State(self._base, self.seed, self.web, self.search)
        copy._own = {name: dict(table) for name, table in self._own.items()}
        return copy

    def read(self, name: str) -> Any:
        """A table, not to be changed."""
        return self._own[name] if name in self._own else self._base[name]

    def write(self, name: str) -> dict[Key, Any]:
        """The episode's own copy of a table."""
        if name not in self._own:
            self._own[name] = dict(self._base[name])
        return self._own[name]

    def changed(self) -> dict[str, dict[Key, Any]]:
        """The tables that differ from the shared ones."""
        return {name: table for name, table in self._own.items() if table != self._base[name]}

    def user(self, token: Any) -> str:
        """The user a token belongs to.

        Raises:
            Failure: it belongs to nobody.
        """
        for username, account in self.read("Account").items():
            if account["token"] == token:
                return str(username)
        raise Failure("The token is invalid.")

    def draw(self, *purpose: str | int) -> int:
        """A number for that purpose, the same in each episode of one seed."""
        return mix("api-bank", self.seed, *purpose)


def first_of(table: Table, username: str, **wanted: Any) -> Key | None:
    """The key of the user's first record that has one of the wanted values; ``None`` if there is none."""
    for key, record in table.items():
        if record["username"] == username and any(record[name] == value for name, value in wanted.items()):
            return key
    return None
