"""The retail tools. Section numbers are those of TOOLS.md; so is the order of the steps.

No argument's type is checked: upstream checks none either, and which of several mistakes is reported, and
what was changed before it, follows from that order. A tool owns its arguments and may keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from envs_registry.tau_bench.common import (
    calculate,
    dump,
    find,
    get_user_details,
    stop,
    think,
    transfer_to_human_agents,
)
from envs_registry.tau_bench.database import Record, View, own_copy

_REASONS: Final = ("no longer needed", "ordered by mistake")


# ---- shared steps ----


def _order(data: View, order_id: Any, status: str, otherwise: str) -> Record:
    """An order that has a status, for reading."""
    order = find(data["orders"], order_id, "order not found")
    if order["status"] != status:
        stop(otherwise)
    return order


def _method(data: View, order: Record, payment_method_id: Any) -> Record:
    """A payment method of the order's user, for reading."""
    methods = data["users"][order["user_id"]]["payment_methods"]
    if payment_method_id not in methods:
        stop("payment method not found")
    method: Record = methods[payment_method_id]
    return method


def _check_items(order: Record, item_ids: Any, otherwise: Callable[[Any], str]) -> None:
    """Block ITEMS: no id more often than the order has it."""
    have = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > have.count(item_id):
            stop(otherwise(item_id))


def _not_found(item_id: Any) -> str:
    return f"{item_id} not found"


def _item(order: Record, item_id: Any) -> Record:
    """The first item of that id."""
    found: Record = next(item for item in order["items"] if item["item_id"] == item_id)
    return found


def _variants(data: View, item: Record) -> Mapping[Any, Record]:
    variants: Mapping[Any, Record] = data["products"][item["product_id"]]["variants"]
    return variants


def _price_difference(data: View, order: Record, item_ids: Any, new_item_ids: Any) -> float:
    """Block PRICE: what the new items cost more than the old ones, unrounded."""
    if len(item_ids) != len(new_item_ids):
        stop("the number of items to be exchanged should match")
    difference: float = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        old = _item(order, item_id)
        variants = _variants(data, old)
        if not (new_item_id in variants and variants[new_item_id]["available"]):
            stop(f"new item {new_item_id} not found or available")
        difference += variants[new_item_id]["price"] - old["price"]
    return difference


def _is_short(method: Record, amount: Any) -> bool:
    return bool(method["source"] == "gift_card" and method["balance"] < amount)


def _charge_card(data: View, order: Record, method_id: str, amount: Any) -> None:
    """Take an amount from a gift card of the order's user, or give it back if negative; rounded at once."""
    card = data["users"].edit(order["user_id"])["payment_methods"][method_id]
    card["balance"] -= amount
    card["balance"] = round(card["balance"], 2)


def _transaction(kind: str, amount: Any, method_id: Any) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _address(*parts: Any) -> Record:
    return dict(zip(("address1", "address2", "city", "state", "country", "zip"), parts, strict=True))


# ---- tools that read ----


def find_user_id_by_email(data: View, email: Any) -> str:
    """Section 9.4."""
    wanted = email.lower()
    for user_id, user in data["users"].items():
        if user["email"].lower() == wanted:
            return user_id
    stop("user not found")


def find_user_id_by_name_zip(data: View, first_name: Any, last_name: Any, zip: Any) -> str:
    """Section 9.5."""
    for user_id, user in data["users"].items():
        name = user["name"]
        if (
            name["first_name"].lower() == first_name.lower()
            and name["last_name"].lower() == last_name.lower()
            and user["address"]["zip"] == zip
        ):
            return user_id
    stop("user not found")


def get_order_details(data: View, order_id: Any) -> str:
    """Section 9.6."""
    return dump(find(data["orders"], order_id, "order not found"))


def get_product_details(data: View, product_id: Any) -> str:
    """Section 9.7."""
    return dump(find(data["products"], product_id, "product not found"))


def list_all_product_types(data: View) -> str:
    """Section 9.9."""
    products = {product["name"]: product["product_id"] for _, product in data["products"].items()}
    return dump(dict(sorted(products.items())))


# ---- tools that change an order or a user ----


def cancel_pending_order(data: View, order_id: Any, reason: Any) -> str:
    """Section 9.2."""
    order = _order(data, order_id, "pending", "non-pending order cannot be cancelled")
    if reason not in _REASONS:
        stop("invalid reason")
    refunds = []
    for paid in order["payment_history"]:
        amount, method_id = paid["amount"], paid["payment_method_id"]
        refunds.append(_transaction("refund", amount, method_id))
        if "gift_card" in method_id:
            _charge_card(data, order, method_id, -amount)
    order = data["orders"].edit(order_id)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return dump(order)


def exchange_delivered_order_items(
    data: View, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Section 9.3."""
    order = _order(data, order_id, "delivered", "non-delivered order cannot be exchanged")
    _check_items(order, item_ids, _not_found)
    difference = round(_price_difference(data, order, item_ids, new_item_ids), 2)
    if _is_short(_method(data, order, payment_method_id), difference):
        stop("insufficient gift card balance to pay for the price difference")
    order = data["orders"].edit(order_id)
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return dump(order)


def modify_pending_order_address(
    data: View, order_id: Any, address1: Any, address2: Any, city: Any, state: Any, country: Any, zip: Any
) -> str:
    """Section 9.10."""
    _order(data, order_id, "pending", "non-pending order cannot be modified")
    order = data["orders"].edit(order_id)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return dump(order)


def modify_pending_order_items(
    data: View, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> str:
    """Section 9.11."""
    order = _order(data, order_id, "pending", "non-pending order cannot be modified")
    _check_items(order, item_ids, _not_found)
    difference = _price_difference(data, order, item_ids, new_item_ids)
    method = _method(data, order, payment_method_id)
    if _is_short(method, difference):
        stop("insufficient gift card balance to pay for the new item")
    order = data["orders"].edit(order_id)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
    if method["source"] == "gift_card":
        _charge_card(data, order, payment_method_id, difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variant = _variants(data, item)[new_item_id]
        item["item_id"] = new_item_id
        item["price"] = variant["price"]
        item["options"] = own_copy(variant["options"])
    order["status"] = "pending (item modified)"
    return dump(order)


def modify_pending_order_payment(data: View, order_id: Any, payment_method_id: Any) -> str:
    """Section 9.12."""
    order = _order(data, order_id, "pending", "non-pending order cannot be modified")
    method = _method(data, order, payment_method_id)
    history = order["payment_history"]
    if len(history) > 1 or history[0]["transaction_type"] != "payment":
        stop("there should be exactly one payment for a pending order")
    amount, old_id = history[0]["amount"], history[0]["payment_method_id"]
    if old_id == payment_method_id:
        stop("the new payment method should be different from the current one")
    if _is_short(method, amount):
        stop("insufficient gift card balance to pay for the order")
    order = data["orders"].edit(order_id)
    order["payment_history"] += [
        _transaction("payment", amount, payment_method_id),
        _transaction("refund", amount, old_id),
    ]
    if method["source"] == "gift_card":
        _charge_card(data, order, payment_method_id, amount)
    if "gift_card" in old_id:
        _charge_card(data, order, old_id, -amount)
    return dump(order)


def modify_user_address(
    data: View, user_id: Any, address1: Any, address2: Any, city: Any, state: Any, country: Any, zip: Any
) -> str:
    """Section 9.13."""
    find(data["users"], user_id, "user not found")
    user = data["users"].edit(user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return dump(user)


def return_delivered_order_items(data: View, order_id: Any, item_ids: Any, payment_method_id: Any) -> str:
    """Section 9.14."""
    order = _order(data, order_id, "delivered", "non-delivered order cannot be returned")
    _method(data, order, payment_method_id)
    paid_with = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != paid_with:
        stop("payment method should be either the original payment method or a gift card")
    _check_items(order, item_ids, lambda _: "some item not found")
    order = data["orders"].edit(order_id)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return dump(order)


TOOLS: Final[tuple[Callable[..., str], ...]] = (
    calculate,
    cancel_pending_order,
    exchange_delivered_order_items,
    find_user_id_by_email,
    find_user_id_by_name_zip,
    get_order_details,
    get_product_details,
    get_user_details,
    list_all_product_types,
    modify_pending_order_address,
    modify_pending_order_items,
    modify_pending_order_payment,
    modify_user_address,
    return_delivered_order_items,
    think,
    transfer_to_human_agents,
)
