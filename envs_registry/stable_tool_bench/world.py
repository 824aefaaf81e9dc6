"""The virtual server as a world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.sources import Sources
from toolenv.canonical import digest
from toolenv.kernel.protocol import Noted


class VirtualServer:
    """Answers calls of a task's APIs. All of them only read, so it holds no more than which have answered.

    Args:
        apis: the task's APIs by tool name.
        seed: decides what is made up.
        sources: what answers come from.
        answered: names of the tools that have answered without an error.
    """

    def __init__(
        self, apis: Mapping[str, Api], seed: int, sources: Sources, answered: Iterable[str] = ()
    ) -> None:
        self._apis, self._seed, self._sources = apis, seed, sources
        self._answered = set(answered)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Noted:
        """The answer to a call, with its source."""
        answer = self._sources.answer(self._apis[name], arguments, self._seed)
        if not answer.failed:
            self._answered.add(name)
        return answer

    def fork(self) -> VirtualServer:
        """An independent copy."""
        return VirtualServer(self._apis, self._seed, self._sources, self._answered)

    def digest(self) -> str:
        """Equal if the same tools have answered."""
        return digest(sorted(self._answered))

    def view(self) -> Any:
        """The tools that have answered."""
        return {"answered": sorted(self._answered)}
