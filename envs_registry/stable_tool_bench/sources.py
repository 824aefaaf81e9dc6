"""What the virtual server answers from, in order, and how that is set up.

1. ``cache``: a recorded response, where ``TOOLENV_STABLETOOLBENCH_CACHE`` names a folder in upstream's layout
   (:mod:`envs_registry.stable_tool_bench.cache`) and the call is in it.
2. ``template``: the API's ``template_response``, filled (:mod:`envs_registry.stable_tool_bench.templates`).
3. ``simulator``: a language model, where ``TOOLENV_STABLETOOLBENCH_SIMULATOR`` names one. The server is at
   ``TOOLENV_STABLETOOLBENCH_SIMULATOR_URL``, by default where the openai client looks (``OPENAI_BASE_URL``),
   and its key is ``OPENAI_API_KEY``. Its answers are kept for the life of the process, so that the same call
   gets the same one; a new process asks again.
4. ``generic``: a fixed shape, filled the same way.

Without these variables no file is read and no server asked: only 2 and 4 are left, which are pure functions
of the seed and the call. A result's record in the trace says which it was (``source``), and where a folder of
recorded responses did not hold the call also ``"cache": "miss"`` (FIELD-066).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.cache import ResponseCache
from envs_registry.stable_tool_bench.model_server import ModelServer
from envs_registry.stable_tool_bench.simulator import Simulator
from envs_registry.stable_tool_bench.templates import GENERIC_SHAPE, fill, read_shape
from toolenv.canonical import digest
from toolenv.kernel.protocol import Noted
from toolenv.seeding import mix

CACHE = "TOOLENV_STABLETOOLBENCH_CACHE"
SIMULATOR = "TOOLENV_STABLETOOLBENCH_SIMULATOR"
SIMULATOR_URL = "TOOLENV_STABLETOOLBENCH_SIMULATOR_URL"


@dataclass(frozen=True, slots=True)
class Sources:
    """What is there beside templates.

    Attributes:
        cache: recorded responses.
        simulator: a language model that plays APIs without a template.
    """

    cache: ResponseCache | None = None
    simulator: Simulator | None = None

    def answer(self, api: Api, arguments: Mapping[str, Any], seed: int) -> Noted:
        """The answer to a call, in upstream's form ``{"error": …, "response": …}``, and where it is from.

        Raises:
            DataCorruptError: recorded responses that cannot be read.
            ServerError: the simulator gave no answer.
        """
        note: dict[str, Any] = {}
        if self.cache is not None:
            recorded = self.cache.find(api, arguments)
            if recorded is not None:
                return _noted(recorded, {"source": "cache"})
            note = {"cache": "miss"}
        shape = read_shape(api.template)
        if shape is None and self.simulator is not None:
            return _noted(self.simulator.answer(api, arguments), {"source": "simulator", **note})
        source = "generic" if shape is None else "template"
        key = mix("response", seed, api.spec.name, digest(dict(arguments)))
        filled = fill(GENERIC_SHAPE if shape is None else shape, key, arguments)
        return _noted({"error": "", "response": filled}, {"source": source, **note})


def _noted(answer: Any, note: Mapping[str, Any]) -> Noted:
    """An answer in upstream's form; one that names an error is a failed call."""
    if not (isinstance(answer, dict) and answer.keys() >= {"error", "response"}):
        answer = {"error": "", "response": answer}
    return Noted(answer, note, failed=bool(answer["error"]))


def sources_from_environment() -> Sources:
    """What the environment variables set up; see the module.

    Raises:
        DataMissingError: the folder of recorded responses is not there.
        UsageError: the simulator's address is none.
    """
    named = (os.environ.get(variable, "") for variable in (CACHE, SIMULATOR, SIMULATOR_URL))
    return _sources(*named)


@cache
def _sources(folder: str, model: str, url: str) -> Sources:
    recorded = ResponseCache(Path(folder).expanduser().absolute()) if folder else None
    if recorded is not None:
        recorded.check()
    return Sources(recorded, Simulator(ModelServer(model, url)) if model else None)
