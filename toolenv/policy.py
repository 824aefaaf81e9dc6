"""Policies: whatever makes the decisions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from toolenv.actions import problem_of_usage, shown
from toolenv.errors import ServerError, UsageError
from toolenv.hooks import check_function, check_methods
from toolenv.ledger import AGENT, Ledger, add_ledgers, under_role
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Observation, Usage, total_usage
from toolenv.waiting import Waiting

if TYPE_CHECKING:
    from concurrent.futures import Future

PolicyFunction: TypeAlias = Callable[[Observation], Action]
Answer: TypeAlias = tuple[Action, Any]
"""A decision, and the memory for the next one."""

Raised: TypeAlias = Exception | SystemExit | GeneratorExit
"""What a policy's code may raise in place of a decision: ``sys.exit`` in it ends its episode, not the run."""


def raised(error: Raised) -> Exception | SystemExit:
    """What a policy raised, as its episode is told: a ``GeneratorExit`` would pass there for its own end."""
    if not isinstance(error, GeneratorExit):
        return error
    told = RuntimeError("the policy raised GeneratorExit")
    told.__cause__ = error
    return told


@runtime_checkable
class Policy(Protocol):
    """Makes decisions; stateless between episodes.

    What must persist inside one episode (a plan, a random stream) is ``memory``: ``None`` at the first
    decision, then whatever the last one returned. A policy may be shared by many threads.

    Attributes:
        name: shown in tables and stored with every episode.
    """

    name: str

    def act(self, observation: Observation, memory: Any) -> Answer:
        """Decide."""
        ...


@runtime_checkable
class Privileged(Protocol):
    """A policy that is told the truth (oracles, scripts). For reference rows only."""

    def brief(self, task: Task) -> Any:
        """The memory to start an episode of ``task`` with."""
        ...


@runtime_checkable
class Seeded(Protocol):
    """A policy that makes choices by chance: it is told the episode's seed."""

    def start(self, seed: int) -> Any:
        """The memory to start an episode with; its choices are a function of ``seed``."""
        ...


@runtime_checkable
class Batched(Protocol):
    """A policy that decides for several episodes at once, faster than for one after the other."""

    def act_batch(
        self, observations: Sequence[Observation], memories: Sequence[Any]
    ) -> Sequence[Answer | Exception]:
        """Decide for each; in place of an answer, the exception that ``act`` would have raised.

        Args:
            observations: at least one.
            memories: one for each observation.
        """
        ...


@runtime_checkable
class Continuous(Protocol):
    """A policy that takes up a decision at any time, beside those it is working on."""

    def submit(self, observation: Observation, memory: Any) -> Future[Answer]:
        """Begin to decide, and return at once; may be called from any thread."""
        ...


@runtime_checkable
class Waitable(Protocol):
    """A policy that waits for servers and says for what, so that one thread waits for many decisions."""

    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        """Decide; :func:`toolenv.waiting.block` of it is ``act``."""
        ...


class Ask(NamedTuple):
    """A decision wanted of a policy that is made of no others."""

    policy: Policy
    observation: Observation
    memory: Any


Deliberation: TypeAlias = Generator[Ask, Answer, Answer]
"""What leads to a decision: yields whom it asks, is sent each answer, returns its own."""


@runtime_checkable
class Composite(Protocol):
    """A policy made of others that says whom it asks, so that those may decide for many episodes at once.

    Attributes:
        parts: the others by role.
    """

    parts: Mapping[str, Policy]

    def begin(self, task: Task | None = None, seed: int | None = None) -> Any:
        """The memory to start an episode with: the truth for parts that are told it, the seed for others."""
        ...

    def deliberate(self, observation: Observation, memory: Any) -> Deliberation:
        """Decide; :func:`toolenv.deliberation.conclude` of it is ``act``."""
        ...


class FunctionPolicy:
    """A plain function ``observation -> Action`` as a policy."""

    def __init__(self, function: PolicyFunction, name: str = "") -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def act(self, observation: Observation, memory: Any) -> Answer:
        """Call the function; memory is passed through."""
        return self.function(observation), memory


def as_policy(policy: Policy | PolicyFunction) -> Policy:
    """Any policy or callable as a :class:`Policy`.

    Raises:
        UsageError: it is neither, a method of it could not be called as it will be, it decides in a coroutine
            (``async def``), or its name is none.
    """
    # By name, for each episode: isinstance takes four times as long.
    if hasattr(policy, "act") and hasattr(policy, "name") and not isinstance(policy, type):
        check_methods(policy)
        if not isinstance(policy.name, str) or not policy.name.strip():
            raise UsageError(
                f"policy {type(policy).__qualname__}: its name is {shown(policy.name)}, expected a str that"
                " is not empty: it stands in tables and with every episode"
            )
        return policy
    if callable(policy) and not isinstance(policy, type):
        check_function(policy)
        return FunctionPolicy(policy)
    raise UsageError(
        f"{shown(policy)} is no policy: give an object with `name` and `act(observation, memory) -> "
        "(action, memory)`, or a function `observation -> action`"
    )


def preflight(of: object) -> Usage:
    """Try whatever a policy, a simulated user or a suite needs before its first episode, if it can be tried.

    Returns:
        What that cost; nothing where there was nothing to be tried.

    Raises:
        PreflightError: it cannot be used.
        UsageError: what it cost is no usage.
    """
    return total_usage(preflight_ledger(of).values())


def preflight_ledger(of: object) -> Ledger:
    """:func:`preflight`, and what it cost by role.

    A policy made of several may say so by a method ``preflight_by_role() -> Mapping[str, Usage]``; whatever
    else has a ``preflight() -> Usage | None`` has one role. The errors are those of :func:`preflight`.
    """
    by_role = getattr(of, "preflight_by_role", None)
    check = getattr(of, "preflight", None)
    if callable(by_role):
        costs: Mapping[str, Any] = by_role()
        if not isinstance(costs, Mapping):
            told = f"preflight_by_role returned {shown(costs)}, expected a mapping of roles to Usage"
            raise UsageError(f"preflight of {getattr(of, 'name', type(of).__name__)!r}: {told}")
    else:
        costs = {AGENT: check() if callable(check) else None}
    for cost in costs.values():
        if problem := problem_of_usage(cost):
            raise UsageError(f"preflight of {getattr(of, 'name', type(of).__name__)!r}: {problem}")
    return {role: NO_TOKENS if cost is None else cost for role, cost in costs.items()}


def preflight_parts(parts: Iterable[tuple[str, object]]) -> Ledger:
    """Try several, each under its role, and return what it cost by role.

    Raises:
        ServerError: one of them cannot be used; its ledger and usage hold what those before it cost, too.
    """
    spent: Ledger = {}
    for role, part in parts:
        try:
            own = preflight_ledger(part)
        except ServerError as error:
            own = error.ledger or {AGENT: error.usage or NO_TOKENS}
            error.ledger = add_ledgers([spent, under_role(role, own)])
            error.usage = total_usage(error.ledger.values())
            raise
        spent = add_ledgers([spent, under_role(role, own)])
    return spent
