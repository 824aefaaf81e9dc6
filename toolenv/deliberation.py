"""Decisions of policies made of others, as questions to the ones that are not.

A composite yields what it asks and is sent the answers. Whoever runs it answers in whatever way is best:
one by one (:func:`conclude`), or together with what other episodes ask (:mod:`toolenv.runner.batched`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias, TypeVar, cast

from toolenv.actions import shown
from toolenv.errors import RAISED, NoActionError
from toolenv.policy import Answer, Ask, Composite, Deliberation, Policy, Raised, Seeded, raised
from toolenv.seeding import mix
from toolenv.task import Task
from toolenv.types import Observation

Result = TypeVar("Result")
Outcome: TypeAlias = Answer | Raised | None
"""What a question led to; ``None`` before the first one."""


def opening(policy: Policy, task: Task | None, seed: int | None) -> Any:
    """The memory a policy starts an episode with.

    Args:
        policy: who decides.
        task: given to those that are told the truth; ``None`` tells nobody.
        seed: the episode's, for those that make choices by chance.
    """
    told = getattr(policy, "brief", None)  # by name, for each episode: isinstance takes four times as long
    try:
        if hasattr(policy, "deliberate"):
            return cast(Composite, policy).begin(None if told is None else task, seed)
        if task is not None and told is not None:
            return told(task)
        return cast(Seeded, policy).start(seed) if seed is not None and hasattr(policy, "start") else None
    except GeneratorExit as error:
        raise raised(error) from error


def part_seed(seed: int | None, part: int | str) -> int | None:
    """The seed of one part of a policy: parts that are the same model sample apart."""
    return None if seed is None else mix(seed, part)


def deliberation(policy: Policy, observation: Observation, memory: Any) -> Deliberation:
    """What leads to a policy's decision; of one that is made of no others, a single question.

    Raises:
        NoActionError: what comes back is no pair of action and memory.
    """
    deliberate = getattr(policy, "deliberate", None)  # a quarter of the time that isinstance takes
    if deliberate is None:
        answer: Any = yield Ask(policy, observation, memory)
    else:
        answer = yield from generator_of(deliberate(observation, memory), policy, "deliberate")
    if type(answer) is tuple and len(answer) == 2:
        return answer
    return _pair(answer, policy)


def _pair(answer: object, policy: Policy) -> Answer:
    """The pair in an answer that is no plain one, such as a list of two or a named tuple."""
    kinds: tuple[Any, ...] = (tuple, list)
    for kind in kinds:
        if issubclass(type(answer), kind):
            parts = kind(kind.__iter__(answer))  # whatever its class makes of that
            if len(parts) == 2:
                return parts[0], parts[1]
    raise NoActionError(
        f"policy {policy.name!r}", f"it returned {shown(answer)}, expected the pair (action, memory)"
    )


def generator_of(made: object, policy: Policy, method: str) -> Generator[Any, Any, Any]:
    """``made``, if it is a generator.

    Raises:
        NoActionError: a policy's method that has to return one did not.
    """
    if issubclass(type(made), Generator):
        return cast("Generator[Any, Any, Any]", made)
    raise NoActionError(f"policy {policy.name!r}", f"{method} returned {shown(made)}, expected a generator")


def conclude(asking: Generator[Ask, Answer, Result]) -> Result:
    """Answer each question by ``act``, and return the result.

    An exception of a policy is raised where the question was asked.
    """
    result = advance(asking, None, lambda policy: True)
    assert not isinstance(result, Ask)
    return result


def advance(
    asking: Generator[Ask, Answer, Result], outcome: Outcome, answered_here: Callable[[Policy], bool]
) -> Ask | Result:
    """Go on to the next question that is not answered here, or to the result.

    Args:
        asking: what is asked, at its beginning or at a question.
        outcome: what that question led to; ``None`` at the beginning.
        answered_here: whether a policy is to be asked by ``act``, at once.
    """
    try:
        while True:
            if outcome is None:
                ask = next(asking)
            elif issubclass(type(outcome), RAISED):  # which asks nothing of what a policy returned
                ask = asking.throw(raised(cast(Raised, outcome)))
            else:
                ask = asking.send(cast(Answer, outcome))
            if not answered_here(ask.policy):
                return ask
            outcome = _asked(ask)
    except StopIteration as end:
        result: Result = end.value
        return result


def _asked(ask: Ask) -> Answer | Raised:
    try:
        return ask.policy.act(ask.observation, ask.memory)
    except RAISED as error:
        below = error.__traceback__.tb_next if error.__traceback__ is not None else None
        return error.with_traceback(below)  # whichever way it was asked, an episode's record is the same


def leaves(policy: Policy) -> Iterator[Policy]:
    """The policies that a policy asks, itself if it is made of no others."""
    if isinstance(policy, Composite):
        for part in policy.parts.values():
            yield from leaves(part)
    else:
        yield policy
