"""Every error text of TOOLS.md, section 9, and that a refused call changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer

PENDING = {"order_id": "#W1080318"}  # a T-Shirt for 53.43 on credit_card_3577130; the gift card holds 91
POOR = {"order_id": "#W7634667", "payment_method_id": "gift_card_4019778"}  # which holds 17
DELIVERED = {"order_id": "#W4250821"}  # paid with credit_card_8041020; gift_card_6052478 holds 10
PROCESSED = {"order_id": "#W2611340"}
UNKNOWN = {"order_id": "W1080318"}  # the sign at the beginning is missing
CARD = {"payment_method_id": "credit_card_3577130"}
ADDRESS = dict.fromkeys(("address1", "address2", "city", "state", "country", "zip"), "x")
SHIRT = {"item_ids": ["8349118980"], "new_item_ids": ["8349118980"]}
KEYBOARD = {"item_ids": ["5222576926"], "new_item_ids": ["1151293680"]}
NOTHING = {"item_ids": [], "new_item_ids": []}

CASES: list[tuple[str, str, dict[str, Any], str]] = [
    # 9.2
    ("cancel_pending_order", "9.2.1", {**UNKNOWN, "reason": "x"}, "order not found"),
    (
        "cancel_pending_order",
        "9.2.2",
        {**PROCESSED, "reason": "x"},
        "non-pending order cannot be cancelled",
    ),
    ("cancel_pending_order", "9.2.3", {**PENDING, "reason": "No longer needed"}, "invalid reason"),
    # 9.3
    ("exchange_delivered_order_items", "9.3.1", {**UNKNOWN, **NOTHING, **CARD}, "order not found"),
    (
        "exchange_delivered_order_items",
        "9.3.2",
        {**PENDING, **NOTHING, **CARD},
        "non-delivered order cannot be exchanged",
    ),
    (
        "exchange_delivered_order_items",
        "9.3.3",
        {**DELIVERED, "item_ids": ["5222576926", "5222576926", "1"], "new_item_ids": [], **CARD},
        "5222576926 not found",
    ),
    (
        "exchange_delivered_order_items",
        "9.3.4 length",
        {**DELIVERED, "item_ids": ["5222576926"], "new_item_ids": [], **CARD},
        "the number of items to be exchanged should match",
    ),
    (
        "exchange_delivered_order_items",
        "9.3.4 not available",
        {**DELIVERED, "item_ids": ["5222576926"], "new_item_ids": ["9690244451"], **CARD},
        "new item 9690244451 not found or available",
    ),
    (
        "exchange_delivered_order_items",
        "9.3.4 of another product",
        {**DELIVERED, "item_ids": ["5222576926"], "new_item_ids": ["9970989750"], **CARD},
        "new item 9970989750 not found or available",
    ),
    ("exchange_delivered_order_items", "9.3.5", {**DELIVERED, **NOTHING, **CARD}, "payment method not found"),
    (
        "exchange_delivered_order_items",
        "9.3.6",
        {**DELIVERED, **KEYBOARD, "payment_method_id": "gift_card_6052478"},
        "insufficient gift card balance to pay for the price difference",
    ),
    # 9.4 to 9.8
    ("find_user_id_by_email", "9.4", {"email": "omar.kim@example.com"}, "user not found"),
    (
        "find_user_id_by_name_zip",
        "9.5 zip",
        {"first_name": "Omar", "last_name": "Kim", "zip": "32215"},
        "user not found",
    ),
    (
        "find_user_id_by_name_zip",
        "9.5 zip of another type",
        {"first_name": "Omar", "last_name": "Kim", "zip": 32214},
        "user not found",
    ),
    (
        "find_user_id_by_name_zip",
        "9.5 last name of another type, no such first name",
        {"first_name": "Nobody", "last_name": 5, "zip": ""},
        "user not found",
    ),
    ("get_order_details", "9.6", UNKNOWN, "order not found"),
    ("get_product_details", "9.7 an item id", {"product_id": "8349118980"}, "product not found"),
    ("get_user_details", "9.8", {"user_id": "omar_kim"}, "user not found"),
    # 9.10
    ("modify_pending_order_address", "9.10.1", {**UNKNOWN, **ADDRESS}, "order not found"),
    (
        "modify_pending_order_address",
        "9.10.2",
        {**DELIVERED, **ADDRESS},
        "non-pending order cannot be modified",
    ),
    # 9.11
    ("modify_pending_order_items", "9.11.1", {**UNKNOWN, **NOTHING, **CARD}, "order not found"),
    (
        "modify_pending_order_items",
        "9.11.2",
        {**DELIVERED, **NOTHING, **CARD},
        "non-pending order cannot be modified",
    ),
    (
        "modify_pending_order_items",
        "9.11.3",
        {**PENDING, "item_ids": ["1"], "new_item_ids": [], **CARD},
        "1 not found",
    ),
    (
        "modify_pending_order_items",
        "9.11.4 length",
        {**PENDING, "item_ids": [], "new_item_ids": ["8349118980"], **CARD},
        "the number of items to be exchanged should match",
    ),
    (
        "modify_pending_order_items",
        "9.11.4 unknown",
        {**PENDING, "item_ids": ["8349118980"], "new_item_ids": ["0"], **CARD},
        "new item 0 not found or available",
    ),
    (
        "modify_pending_order_items",
        "9.11.5",
        {**PENDING, **NOTHING, "payment_method_id": "paypal_1"},
        "payment method not found",
    ),
    (
        "modify_pending_order_items",
        "9.11.6",
        {**POOR, "item_ids": ["5320792178"], "new_item_ids": ["5370728469"]},
        "insufficient gift card balance to pay for the new item",
    ),
    # 9.12
    ("modify_pending_order_payment", "9.12.1", {**UNKNOWN, **CARD}, "order not found"),
    (
        "modify_pending_order_payment",
        "9.12.2",
        {**PROCESSED, **CARD},
        "non-pending order cannot be modified",
    ),
    (
        "modify_pending_order_payment",
        "9.12.3",
        {**PENDING, "payment_method_id": "paypal_1"},
        "payment method not found",
    ),
    (
        "modify_pending_order_payment",
        "9.12.5",
        {**PENDING, **CARD},
        "the new payment method should be different from the current one",
    ),
    (
        "modify_pending_order_payment",
        "9.12.6",
        POOR,
        "insufficient gift card balance to pay for the order",
    ),
    # 9.13
    ("modify_user_address", "9.13.1", {"user_id": "omar_kim", **ADDRESS}, "user not found"),
    # 9.14: the payment is looked at before the items
    ("return_delivered_order_items", "9.14.1", {**UNKNOWN, "item_ids": [], **CARD}, "order not found"),
    (
        "return_delivered_order_items",
        "9.14.2",
        {**PENDING, "item_ids": [], **CARD},
        "non-delivered order cannot be returned",
    ),
    (
        "return_delivered_order_items",
        "9.14.3",
        {**DELIVERED, "item_ids": ["1"], **CARD},
        "payment method not found",
    ),
    (
        "return_delivered_order_items",
        "9.14.4",
        {**DELIVERED, "item_ids": ["1"], "payment_method_id": "paypal_7425862"},
        "payment method should be either the original payment method or a gift card",
    ),
    (
        "return_delivered_order_items",
        "9.14.5",
        {**DELIVERED, "item_ids": ["1"], "payment_method_id": "gift_card_6052478"},
        "some item not found",
    ),
    # Section 11, number 7, and wrong types: Python's own words
    (
        "exchange_delivered_order_items",
        "a text in place of a list",
        {**DELIVERED, "item_ids": "123", "new_item_ids": [], **CARD},
        "1 not found",
    ),
    (
        "modify_pending_order_items",
        "an object in place of a list",
        {**PENDING, "item_ids": {"a": 1}, "new_item_ids": [], **CARD},
        "'dict' object has no attribute 'count'",
    ),
    (
        "return_delivered_order_items",
        "a number in place of a list",
        {**DELIVERED, "item_ids": 5, "payment_method_id": "gift_card_6052478"},
        "'int' object is not iterable",
    ),
    (
        "modify_pending_order_items",
        "a number in place of the second list",
        {**PENDING, "item_ids": [], "new_item_ids": 5, **CARD},
        "object of type 'int' has no len()",
    ),
    ("get_order_details", "a list for a key", {"order_id": ["#W1080318"]}, "unhashable type: 'list'"),
    ("find_user_id_by_email", "a number", {"email": 5}, "'int' object has no attribute 'lower'"),
    (
        "find_user_id_by_name_zip",
        "a number for a first name",
        {"first_name": 5, "last_name": "Kim", "zip": "32214"},
        "'int' object has no attribute 'lower'",
    ),
    (
        "find_user_id_by_name_zip",
        "a number for the last name of somebody",
        {"first_name": "omar", "last_name": 5, "zip": "32214"},
        "'int' object has no attribute 'lower'",
    ),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [pytest.param(tool, arguments, text, id=f"{tool} {step}") for tool, step, arguments, text in CASES],
)
def test_error_texts(
    tool: str, arguments: dict[str, Any], text: str, new_world: Callable[[str], TauWorld]
) -> None:
    world = new_world("retail")
    assert answer(world, tool, **arguments) == f"Error: {text}"
    assert world.digest() == new_world("retail").digest()


def test_9_12_4_a_second_change_of_payment(new_world: Callable[[str], TauWorld]) -> None:
    world = new_world("retail")
    change = {**PENDING, "payment_method_id": "gift_card_3749819"}
    assert not answer(world, "modify_pending_order_payment", **change).startswith("Error")
    assert answer(world, "modify_pending_order_payment", **PENDING, **CARD) == (
        "Error: there should be exactly one payment for a pending order"
    )


@pytest.mark.parametrize("tool", ["cancel_pending_order", "modify_pending_order_items"])
def test_an_order_is_modified_once(tool: str, new_world: Callable[[str], TauWorld]) -> None:
    """The status ``pending (item modified)`` is not ``pending`` (9.2.2, 9.11.10)."""
    world = new_world("retail")
    answer(world, "modify_pending_order_items", **PENDING, **SHIRT, **CARD)
    arguments = {"reason": "no longer needed"} if tool.startswith("cancel") else {**SHIRT, **CARD}
    assert answer(world, tool, **PENDING, **arguments).startswith("Error: non-pending order cannot be")


@pytest.mark.parametrize("empty", ["", {}])
def test_an_empty_text_or_object_is_an_empty_list(empty: Any, new_world: Callable[[str], TauWorld]) -> None:
    """Section 11, number 7: and what is stored is a list."""
    worlds = [new_world("retail") for _ in range(2)]
    for world, items in zip(worlds, ([], empty), strict=True):
        given = {"item_ids": items, "new_item_ids": items, "payment_method_id": "gift_card_6052478"}
        assert '"exchange_items": []' in answer(world, "exchange_delivered_order_items", **DELIVERED, **given)
    assert worlds[0].digest() == worlds[1].digest()
