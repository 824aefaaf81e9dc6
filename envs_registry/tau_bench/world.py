"""The world of one episode: the domain's tools over its own view of the shared database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_registry.tau_bench.binding import check_names
from envs_registry.tau_bench.database import Database, View, own_copy
from envs_registry.tau_bench.domains import TERMINAL_TOOLS, Domain
from toolenv.errors import ToolError

DATA_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What Python raises where a value has the wrong type, key or size. Upstream checks no types: it shows the
agent these errors (section 3). Any other exception is a bug of a tool."""


class TauWorld:
    """A domain's database and tools.

    Args:
        domain: the tools.
        data: the database as this episode sees it.
    """

    def __init__(self, domain: Domain, data: View) -> None:
        self._domain, self.data = domain, data

    @classmethod
    def create(cls, domain: Domain, database: Database) -> TauWorld:
        """A world in which nothing has happened yet."""
        return cls(domain, database.open())

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; the result, errors included, is upstream's to the letter.

        Raises:
            ToolError: upstream's ``Error: …``. A terminal tool returns it instead: even a failed call of
                one ends the episode.
        """
        tool = self._domain.tools[name]
        try:
            check_names(self._domain.name, tool, arguments)
            return tool(self.data, **{key: own_copy(value) for key, value in arguments.items()})
        except DATA_ERRORS as error:
            raise ToolError(f"Error: {error}") from error
        except ToolError as failure:
            if name in TERMINAL_TOOLS:
                return str(failure)
            raise

    def fork(self) -> TauWorld:
        """An independent copy."""
        return TauWorld(self._domain, self.data.fork())

    def digest(self) -> str:
        """Equal for two worlds exactly if their databases are, by upstream's rule."""
        return self.data.digest()

    def view(self) -> dict[str, Any]:
        """The records that are not as the data set ships them: ``{table: {key: record}}``."""
        return self.data.differences()
