"""Tools without which a task cannot be done, one group at a time: the others of the pool cannot stand in."""

from __future__ import annotations

from collections.abc import Iterator

from envs_registry.workflows.blueprint import Blueprint, Origin, ReferenceCall


def indispensable_groups(blueprint: Blueprint) -> tuple[tuple[str, ...], ...]:
    """Groups of tools that tell the same, the one that the reference calls first.

    A group is indispensable if it makes the change that is asked for, or if it alone tells a fact that the
    answer depends on and that does more than identify something. What is only calculated can be worked out by
    hand.
    """
    origins = [feed.origin for call in blueprint.calls for feed in call.feeds] + [blueprint.origin]
    return tuple(dict.fromkeys(group for origin in origins for group in _told_by(blueprint, origin))) + tuple(
        (call.tool,) for call in blueprint.calls if blueprint.contracts[call.tool].changes_state
    )


def _told_by(blueprint: Blueprint, origin: Origin) -> Iterator[tuple[str, ...]]:
    """The group that tells a value, if nothing else in the pool tells it."""
    call: ReferenceCall = blueprint.calls[origin.call]
    contract = blueprint.contracts[call.tool]
    fact = contract.field(str(origin.path[0])).fact
    if not (contract.reads and fact in blueprint.critical_facts):
        return
    other = contract.alternative if contract.alternative in blueprint.contracts else ""
    group = (call.tool, other) if other else (call.tool,)
    told = {name for name, known in blueprint.contracts.items() if fact in known.facts}
    if told <= set(group):
        yield group
