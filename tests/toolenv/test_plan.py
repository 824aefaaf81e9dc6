"""Plans: what feeds what."""

from __future__ import annotations

from tests.support.depot import plan_for
from toolenv.plan import (
    Computed,
    Contract,
    Given,
    OutputField,
    Plan,
    PlannedCall,
    PlannedMessage,
    Taken,
    Use,
    plan_in,
    taken_in,
)


def test_uses_in_order() -> None:
    plan = plan_for("lamp", "north")
    assert [call.tool for call in plan.calls] == ["find_item", "weigh", "freight"]
    assert plan.uses == (
        Use(1, "item_code", Taken(0, ("item_code",))),
        Use(2, "weight", Taken(1, ("weight",))),
        Use(None, "", Taken(2, ("charge",))),
    )
    assert plan.needed == {0: (("item_code",),), 1: (("weight",),), 2: (("charge",),)}


def test_calls_made_together_keep_their_numbers() -> None:
    both = (PlannedCall("f", {}), PlannedCall("g", {}))
    after = PlannedCall("h", {"items": [Taken(0, ("a",)), Taken(1, ("b",)), Taken(0, ("a",))], "n": Given(1)})
    plan = Plan((both, (after,), PlannedMessage(("Done.",))))
    assert [use.consumer for use in plan.uses] == [2, 2, 2]
    assert plan.needed == {0: (("a",),), 1: (("b",),)}


def test_parts_within_parts() -> None:
    part = Computed("sum", ({"x": Taken(0, ())}, [Given(3), Taken(1, ("y", 0))]))
    assert list(taken_in(part)) == [Taken(0, ()), Taken(1, ("y", 0))]
    assert list(taken_in("text")) == list(taken_in(Given([Taken(0, ())]))) == []


def test_what_is_not_documented_promises_nothing() -> None:
    plan = Plan((), {"f": Contract((OutputField("price", "number", "EUR"),))})
    assert (plan.contract("f").unit_of("price"), plan.contract("f").unit_of("name")) == ("EUR", "")
    assert plan.contract("g") == Contract()


def test_a_plan_in_metadata() -> None:
    plan = Plan(())
    assert plan_in({"plan": plan}) is plan
    assert plan_in({"plan": "text"}) is plan_in({}) is None
