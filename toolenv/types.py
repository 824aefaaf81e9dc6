"""What passes between a policy and an environment: tools, actions, results, observations.

All of it is immutable; what is made anew in every step is a named tuple, which is built in half the time of
a frozen dataclass. Tool names here are a dataset's own (``triangle_properties.get``); servers that
allow only ``[a-zA-Z0-9_-]{1,64}`` get :attr:`ToolSpec.wire_name`, and an environment accepts either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from toolenv.errors import SchemaError
from toolenv.pickling import quickly_pickled
from toolenv.read_only import frozen, thawed

LARGEST_COUNT = 2**40
"""More tokens than any generation has: so many are no count, and a thousand times as many are still exact."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Label: TypeAlias = Literal["feasible", "infeasible"]
ResultKind: TypeAlias = Literal[
    "ok", "tool_error", "unknown_tool", "masked_tool", "invalid_arguments", "malformed"
]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as an agent sees it.

    Attributes:
        name: the dataset's own name; traces, masks and metrics use it.
        description: what the tool does.
        parameters: JSON Schema of the arguments, ``type: object`` at the top. Read-only all through, since
            every episode and agent is shown the same one; :meth:`to_openai` gives a copy.
        wire_name: ``[a-zA-Z0-9_-]{1,64}``, unique within its pool; :func:`toolenv.names.with_wire_names`
            assigns it. Equal to ``name`` where that is already legal.

    Raises:
        SchemaError: ``parameters`` is no mapping.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    wire_name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping):
            told = f"parameters is {self.parameters!r:.80}, expected a JSON Schema object (a dict)"
            raise SchemaError(f"tool {self.name!r:.80}: {told}")
        object.__setattr__(self, "parameters", frozen(self.parameters))

    def to_openai(self) -> dict[str, Any]:
        """The ``{"type": "function", …}`` form of OpenAI-compatible servers, under the wire name; a copy."""
        function = {
            "name": self.wire_name or self.name,
            "description": self.description,
            "parameters": thawed(self.parameters),
        }
        return {"type": "function", "function": function}


@quickly_pickled
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        name: the tool's name, the dataset's or the wire form.
        arguments: parsed arguments, JSON values only.
        id: pairs the call with its reply; the environment assigns one where empty or repeated.
        problem: why the arguments could not be read, if they could not. Such a call is answered
            with an error and never run; it lets one bad call among several get its own reply.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    problem: str = ""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of the generations behind one action, failed attempts included.

    ``None`` means unknown and is never shown or averaged as 0. Cached input tokens are part of
    ``input_tokens`` and reasoning tokens part of ``output_tokens``, for every provider alike.

    Attributes:
        input_tokens, output_tokens: totals over all generations, or ``None`` if any is unknown.
        cached_input_tokens, reasoning_tokens: the parts of the above that servers report.
        retried_input_tokens, retried_output_tokens: the parts spent on attempts that were thrown away.
        generations: how many generations were made.
        estimated: whether any count comes from a local tokenizer instead of the server.
        recalled_input_tokens, recalled_output_tokens: the parts that came out of the response cache: an
            earlier run spent them, and this one did not.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    retried_input_tokens: int = 0
    retried_output_tokens: int = 0
    generations: int = 1
    estimated: bool = False
    recalled_input_tokens: int = 0
    recalled_output_tokens: int = 0

    @property
    def known(self) -> bool:
        """Whether both totals are known."""
        return self.input_tokens is not None and self.output_tokens is not None

    @property
    def total_tokens(self) -> int | None:
        """Input plus output tokens, the paper's tok(i) (§4.3), or ``None`` if unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return total_usage((self, other))


def total_usage(usages: Iterable[Usage]) -> Usage:
    """All of them together; of none, :data:`NO_TOKENS`. A total is unknown if any part of it is."""
    usages = tuple(usages)
    if all(usage is NO_TOKENS for usage in usages):
        return NO_TOKENS
    inputs: int | None = 0
    outputs: int | None = 0
    cached = reasoning = retried_in = retried_out = generations = recalled_in = recalled_out = 0
    estimated = False
    for usage in usages:
        inputs = None if inputs is None or usage.input_tokens is None else inputs + usage.input_tokens
        outputs = None if outputs is None or usage.output_tokens is None else outputs + usage.output_tokens
        cached += usage.cached_input_tokens
        reasoning += usage.reasoning_tokens
        retried_in += usage.retried_input_tokens
        retried_out += usage.retried_output_tokens
        generations += usage.generations
        estimated = estimated or usage.estimated
        recalled_in += usage.recalled_input_tokens
        recalled_out += usage.recalled_output_tokens
    return Usage(
        inputs,
        outputs,
        cached,
        reasoning,
        retried_in,
        retried_out,
        generations,
        estimated,
        recalled_in,
        recalled_out,
    )


NO_TOKENS = Usage(input_tokens=0, output_tokens=0, generations=0)
"""The usage of a policy that asks no model: known to be nothing."""


@quickly_pickled
@dataclass(frozen=True, slots=True)
class ToolCalls:
    """One decision: call one or several tools together. Every call gets exactly one reply.

    ``usage`` and ``raw`` (here and below) travel with the action into traces and are not compared.
    ``raw`` is any JSON value worth keeping for a reader, e.g. reasoning text; agents never see it again.
    """

    calls: tuple[ToolCall, ...]
    text: str = ""
    usage: Usage | None = field(default=None, compare=False, kw_only=True)
    raw: Any = field(default=None, compare=False, kw_only=True)


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Message:
    """One decision: words without a call. The final answer, or the end of a user turn."""

    text: str
    usage: Usage | None = field(default=None, compare=False, kw_only=True)
    raw: Any = field(default=None, compare=False, kw_only=True)


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Stop:
    """One decision: the claim that the task cannot be done with the tools offered.

    Attributes:
        reason: which capability is missing.
        confidence: in [0, 1], or ``None``.
    """

    reason: str = ""
    confidence: float | None = None
    usage: Usage | None = field(default=None, compare=False, kw_only=True)
    raw: Any = field(default=None, compare=False, kw_only=True)


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Malformed:
    """One decision that is none: output that could not be read as a call, a message or a stop.

    Never a stop and never dropped: the environment answers with an error the agent can read.

    Attributes:
        raw: the output's text.
        why: what is wrong with it.
        kind: ``unparsable`` (a call that could not be parsed) or ``length`` (cut off at the token limit).
        record: what ``raw`` is to other actions: any JSON value worth keeping for a reader of the trace.
    """

    raw: str
    why: str
    kind: Literal["unparsable", "length"] = "unparsable"
    usage: Usage | None = field(default=None, compare=False, kw_only=True)
    record: Any = field(default=None, compare=False, kw_only=True)


Action: TypeAlias = ToolCalls | Message | Stop | Malformed


class ToolResult(NamedTuple):
    """The reply to one call.

    Attributes:
        content: what the agent reads; never empty.
        kind: how the call went. For traces: the agent learns it from ``content`` alone.
        full: the whole text where ``content`` was cut or stands for an empty text.
        record: facts for traces and judges only (coercions, sources, hazards); JSON values.
    """

    content: str
    kind: ResultKind = "ok"
    full: str | None = None
    record: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """What the tool returned, before any cut: what judges compare."""
        return self.content if self.full is None else self.full


class ChatMessage(NamedTuple):
    """One message of the conversation, in chat form."""

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """All an agent may know: the conversation so far, the tools offered now, the decisions left.

    Attributes:
        messages: system, user, assistant and tool messages, oldest first.
        tools: the tools offered at this moment; may be empty.
        turns_left: decisions left in this user turn.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    turns_left: int
