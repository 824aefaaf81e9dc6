"""S, C, and the reasons why a task has no mask (paper 1, §3.2 and §4.1)."""

from __future__ import annotations

from typing import Any

import pytest

from toolenv.errors import UsageError
from toolenv.feasibility import critical_tools as rules
from toolenv.feasibility.critical_tools import Rule, ToolUse, critical_tools

POOL = ("find_user", "get_order", "get_product", "modify_order")
ALL = Rule("all-agents")


def uses(**tools: str) -> list[ToolUse]:
    """One trace an agent; tools are named in one text."""
    return [ToolUse(agent, frozenset(text.split())) for agent, text in tools.items()]


def test_field_060_only_what_all_successful_traces_share_is_critical() -> None:
    found = critical_tools(
        uses(a="find_user get_order modify_order", b="find_user modify_order", c="get_order modify_order"),
        POOL,
        Rule(),
    )
    assert found == (frozenset({"modify_order"}), "")


@pytest.mark.parametrize(
    ("made", "rule", "reason"),
    [
        ({}, Rule(), rules.NO_SUCCESS),
        ({"a": "modify_order"}, Rule(), rules.TOO_FEW_AGENTS),
        ({"a": "modify_order", "b": "modify_order"}, Rule(agents_needed=3), rules.TOO_FEW_AGENTS),
        ({"a": "get_order", "b": "modify_order"}, Rule(), rules.NOTHING_SHARED),
        ({"a": "get_order", "b": ""}, Rule(), rules.NO_TOOL_USED),
        ({"a": "think get_order", "b": "think modify_order"}, Rule(), rules.INERT_ONLY),
        ({"a": "think", "b": "modify_order"}, Rule(), rules.INERT_ONLY),
        ({"a": " ".join(POOL), "b": " ".join(POOL)}, Rule(), rules.EMPTIES_POOL),
        ({"a": "modify_order"}, ALL, rules.NOT_ALL_AGENTS),
        ({"a": "modify_order", "b": "modify_order get_order"}, ALL, rules.AGENTS_DIFFER),
    ],
)
def test_field_060_a_task_that_is_not_eligible_has_a_reason(
    made: dict[str, str], rule: Rule, reason: str
) -> None:
    found = critical_tools(uses(**made), POOL, rule, agents=("a", "b"), inert=("think",))
    assert found == (frozenset(), reason)


def test_the_papers_criterion_is_met_where_all_agents_use_the_same_tools() -> None:
    made = uses(a="get_order modify_order", b="modify_order get_order think")
    assert critical_tools(made, POOL, ALL, agents=("a", "b"), inert=("think",)).tools == {
        "get_order",
        "modify_order",
    }


def test_under_the_papers_criterion_an_agents_trials_are_one_agents() -> None:
    made = [*uses(a="get_order modify_order"), *uses(a="modify_order"), *uses(b="modify_order")]
    assert critical_tools(made, POOL, ALL, agents=("a", "b")).tools == {"modify_order"}


def test_trials_of_one_agent_all_count_as_traces_and_as_one_agent() -> None:
    thrice = [*uses(a="get_order modify_order"), *uses(a="modify_order"), *uses(a="modify_order")]
    assert critical_tools(thrice, POOL, Rule()).reason == rules.TOO_FEW_AGENTS
    assert critical_tools(thrice, POOL, Rule(agents_needed=1)).tools == {"modify_order"}


def test_inert_tools_are_never_critical() -> None:
    made = uses(a="think modify_order", b="think modify_order")
    assert critical_tools(made, POOL, Rule(), inert=("think",)).tools == {"modify_order"}


def test_field_019_a_witness_takes_tools_out_of_the_mask_but_its_agent_does_not_count() -> None:
    witness = ToolUse("c", frozenset({"get_order"}), is_witness=True)
    one = uses(a="get_order modify_order")
    two = [*one, *uses(b="get_order modify_order")]
    assert critical_tools([*one, witness], POOL, Rule()).reason == rules.TOO_FEW_AGENTS
    assert critical_tools([*two, witness], POOL, Rule()).tools == {"get_order"}
    elsewhere = ToolUse("c", frozenset({"find_user"}), is_witness=True)
    assert critical_tools([*two, elsewhere], POOL, Rule()).reason == rules.REFUTED


@pytest.mark.parametrize("needed", [0, -1, True, 1.5, "2"])
def test_a_number_of_agents_that_is_none_is_refused(needed: Any) -> None:
    with pytest.raises(UsageError, match=r"agents_needed=.*at least 1"):
        Rule(agents_needed=needed)


def test_an_unknown_criterion_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'all-agents'"):
        Rule("all-agent")  # type: ignore[arg-type]
