"""The offline judge: a proxy, and no measure of the data set's own.

Upstream ships no reference answers and asks a language model whether a query is solved
(:mod:`envs_registry.stable_tool_bench.sopr`). The proxy asks what can be told from the trace: whether every
API that the query was written for answered a full call, and whether the agent then said anything. It does not
look at what was said; an agent that calls the right APIs and reports nonsense passes, and one that solves a
query in a way of its own fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envs_registry.stable_tool_bench.apis import Api
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls

CLOSING = "These are the results that the tools returned for your request."


@dataclass(frozen=True)
class ProxyReference:
    """Success by proxy, see the module.

    Attributes:
        relevant: the APIs a query was written for, by upstream's annotation (``relevant APIs``). Where there
            are none, nothing says what success would be (FIELD-065).
    """

    relevant: Sequence[Api]

    def score(self, trace: Trace) -> Score:
        """Every relevant API called with its required parameters and answered, then words."""
        if not self.relevant:
            return Score(None, "proxy: the data set names no relevant API")
        answered = [call for call, _ in trace.calls("ok")]
        for api in self.relevant:
            if not any(_calls(call, api) for call in answered):
                return Score(False, f"proxy: no full and answered call of {api.spec.name}")
        last = trace.steps[-1].action
        if trace.ending != "message" or not (isinstance(last, Message) and last.text.strip()):
            return Score(False, "proxy: no final message")
        return Score(True)

    def solution(self) -> tuple[Action, ...]:
        """One call of each relevant API together, then a closing message; empty without relevant APIs."""
        if not self.relevant:
            return ()
        calls = tuple(ToolCall(api.spec.name, dict(api.required)) for api in self.relevant)
        return (ToolCalls(calls), Message(CLOSING))


def _calls(call: ToolCall, api: Api) -> bool:
    return call.name == api.spec.name and api.required.keys() <= call.arguments.keys()
