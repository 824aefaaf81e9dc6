"""What can go wrong around an agent: one vocabulary for requests, episodes, summaries and reports.

A trouble is named ``kind/reason``. The kind says whose it is: the agent's, the environment's, a model
server's, or a budget's that ran out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from toolenv.pickling import quickly_pickled
from toolenv.types import Usage

Kind: TypeAlias = Literal["agent", "environment", "server", "budget"]

Counts: TypeAlias = tuple[tuple[str, int], ...]
"""How often each trouble was met, names sorted."""

TROUBLES: Mapping[str, str] = MappingProxyType(
    {
        "agent/exception": "the policy raised an exception",
        "environment/tool": "a tool, or the world behind it, has a bug",
        "environment/user": "a simulated user has a bug",
        "environment/grader": "the judgement raised an exception",
        "environment/replay": "a recorded episode does not repeat",
        "environment/worker": "the processes that played it died, one after the other",
        "server/connection": "no connection could be made",
        "server/dropped": "the connection broke before the reply was whole",
        "server/timeout": "no whole reply in the time given",
        "server/rate_limit": "HTTP 429: too many requests or tokens",
        "server/overloaded": "HTTP 503 or 529: too busy",
        "server/internal_error": "another HTTP 5xx, 409 or 425",
        "server/bad_request": "another HTTP 4xx: the request was refused",
        "server/refused_tools": "HTTP 4xx that speaks of tools",
        "server/unknown_model": "it does not have the model",
        "server/not_found": "HTTP 404, or 3xx: nothing is served there",
        "server/auth": "HTTP 401 or 403: the key was refused",
        "server/quota": "the account is exhausted",
        "server/no_message": "HTTP 200 without a message",
        "server/not_json": "HTTP 200 whose body is no JSON object: empty, cut off, a web page",
        "server/stream": "HTTP 200 with a stream that nobody asked for",
        "server/error_in_reply": "HTTP 200 with an error in it",
        "server/broken_generation": "the server says that the generation failed, or was broken off",
        "server/content_filter": "the provider's filter withheld the reply, or part of it",
        "server/mixed_reply": "the reply to another request",
        "server/too_large": "a reply larger than any completion",
        "server/no_usage": "it does not report the tokens that a budget needs",
        "server/bad_answer": "a simulator or judge did not answer as asked",
        "server/other": "anything else",
        "budget/context_window": "the conversation outgrew the model's context window",
        "budget/deadline": "the episode ran out of time",
        "budget/turns": "the episode ran out of decisions",
        "budget/length": "the last reply was cut at the token limit",
    }
)
"""Every trouble and what it means."""

LASTING = frozenset(
    {
        "server/bad_request",
        "server/refused_tools",
        "server/unknown_model",
        "server/not_found",
        "server/auth",
        "server/quota",
        "server/no_usage",
        "server/content_filter",
    }
)
"""Troubles of servers that the same request would meet again: it is not tried again."""

_OF_ENDINGS: Mapping[str, str] = {
    "agent_error": "agent/exception",
    "environment_error": "environment/tool",
    "grader_error": "environment/grader",
    "server_error": "server/other",
    "deadline": "budget/deadline",
    "context_window": "budget/context_window",
    "truncated": "budget/turns",
    "truncated_by_length": "budget/length",
}


def kind_of(name: str) -> Kind:
    """Whose trouble it is."""
    kind = name.partition("/")[0]
    return next(one for one in get_args(Kind) if one == kind)


def may_pass(name: str) -> bool:
    """Whether another try may go better: a server that failed, and is not bound to fail again."""
    return name.startswith("server/") and name not in LASTING


def trouble_of(decided_by: str) -> str:
    """The trouble that decided an episode whose trace does not say more; ``""`` where there was none."""
    return _OF_ENDINGS.get(decided_by, "")


def within(outer: str, inner: str) -> str:
    """The role ``inner`` of a policy that plays ``outer`` in another; either may be ``""``."""
    return f"{outer}/{inner}" if outer and inner else outer or inner


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Trouble:
    """What went wrong around one episode.

    Attributes:
        name: what ended it, of :data:`TROUBLES`; ``""`` if nothing did.
        role: whose server or part that was in a policy made of several, or ``user``, ``simulator``.
        plays: how often the episode was played; those before the last met infrastructure that failed.
        failed_requests: attempts at requests that failed, by name, whether or not a later one went well.
        recalled: replies that came out of the response cache.
        lost_by_role: the tokens that led to no decision (``Trace.lost_usage``) by role.
    """

    name: str = ""
    role: str = ""
    plays: int = 1
    failed_requests: Counts = ()
    recalled: int = 0
    lost_by_role: Mapping[str, Usage] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        lost = {role: asdict(usage) for role, usage in self.lost_by_role.items()}
        return {**plain, "failed_requests": dict(self.failed_requests), "lost_by_role": lost}

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> Trouble:
        """Read one back; ``None`` is none."""
        if data is None:
            return NO_TROUBLE
        lost = {role: Usage(**usage) for role, usage in data["lost_by_role"].items()}
        failed = add_counts([data["failed_requests"].items()])
        return cls(**{**data, "failed_requests": failed, "lost_by_role": lost})


NO_TROUBLE = Trouble()


def add_counts(counts: Iterable[Iterable[tuple[str, int]]]) -> Counts:
    """Several counts as one."""
    total: dict[str, int] = {}
    for one in counts:
        for name, number in one:
            total[name] = total.get(name, 0) + number
    return tuple(sorted(total.items()))
