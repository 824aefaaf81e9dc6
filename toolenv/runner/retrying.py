"""Episodes that met failed infrastructure, played again; nothing that was spent on them is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolenv.facts.roles import role_usage
from toolenv.ledger import AGENT, add_ledgers
from toolenv.rollout import Rollout, role_tokens
from toolenv.runner.plan import Job
from toolenv.trace import Trace
from toolenv.trouble import add_counts, may_pass
from toolenv.types import Usage, total_usage
from toolenv.usage import as_retried


def retrying(play: Callable[[Job], Rollout], retries: int) -> Callable[[Job], Rollout]:
    """``play``, again for a job whose episode is invalid by a failure that may pass.

    Args:
        play: plays a job.
        retries: how often it is played again at most.
    """

    def persist(job: Job) -> Rollout:
        earlier: list[Rollout] = []
        while True:
            one = play(job)
            if not is_to_be_played_again(one, len(earlier), retries):
                return joined(earlier, one)
            earlier.append(one)

    return persist


def is_to_be_played_again(one: Rollout, earlier: int, retries: int) -> bool:
    """Whether an episode, played so often before, is invalid by a failure that may pass."""
    return not one.episode.valid and may_pass(one.episode.trouble.name) and earlier < retries


def with_troubles(one: Rollout, failed_requests: Mapping[str, int], recalled: int) -> Rollout:
    """A rollout with what its requests to servers met.

    Args:
        one: as played.
        failed_requests: attempts that failed, by trouble.
        recalled: replies that came out of the response cache.
    """
    if not failed_requests and not recalled:
        return one
    met: dict[str, Any] = {"failed_requests": add_counts([failed_requests.items()]), "recalled": recalled}
    trace, episode = one.trace, one.episode
    return Rollout(
        replace(episode, trouble=replace(episode.trouble, **met)),
        replace(trace, trouble=replace(trace.trouble, **met)),
    )


def joined(earlier: Sequence[Rollout], last: Rollout) -> Rollout:
    """The last play of an episode, with what the ones before it cost and met.

    Their tokens are marked as spent on attempts that were thrown away (FIELD-011).
    """
    if not earlier:
        return last
    trace = _with_costs(last.trace, [one.trace for one in earlier])
    plays = [*earlier, last]
    trouble = replace(
        trace.trouble,
        plays=sum(one.trace.trouble.plays for one in plays),
        failed_requests=add_counts(one.trace.trouble.failed_requests for one in plays),
        recalled=sum(one.trace.trouble.recalled for one in plays),
    )
    trace, usage = replace(trace, trouble=trouble), trace.usage
    episode = replace(
        last.episode,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        estimated_tokens=usage.estimated,
        roles=role_tokens(trace),
        trouble=replace(trouble, name=last.episode.trouble.name, lost_by_role={}),
    )
    return Rollout(episode, trace)


def _with_costs(trace: Trace, earlier: Sequence[Trace]) -> Trace:
    thrown_away = [_retried(role_usage(one.own)) for one in earlier]
    own = {} if trace.lost_usage is None else dict(trace.trouble.lost_by_role) or {AGENT: trace.lost_usage}
    lost = add_ledgers([*thrown_away, own])
    trouble = replace(trace.trouble, lost_by_role=lost)
    return replace(trace, lost_usage=total_usage(lost.values()), trouble=trouble)


def _retried(ledger: Mapping[str, Usage]) -> dict[str, Usage]:
    return {role: as_retried(usage) for role, usage in ledger.items()}
