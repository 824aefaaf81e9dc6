"""What both domains share: binding of arguments (TOOLS.md, 3.1), the calculator, thinking, handing over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from envs_registry.tau_bench.domains import DOMAINS
from envs_registry.tau_bench.load import load_tools
from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer

DOMAIN_NAMES = ("retail", "airline")


@pytest.mark.parametrize(
    ("domain", "tool", "arguments", "text"),
    [
        (
            "retail",
            "get_order_details",
            {},
            "GetOrderDetails.invoke() missing 1 required positional argument: 'order_id'",
        ),
        (
            "retail",
            "cancel_pending_order",
            {},
            "CancelPendingOrder.invoke() missing 2 required positional arguments: 'order_id' and 'reason'",
        ),
        (
            "airline",
            "search_onestop_flight",
            {},
            "SearchOnestopFlight.invoke() missing 3 required positional arguments: "
            "'origin', 'destination', and 'date'",
        ),
        (
            "retail",
            "find_user_id_by_name_zip",
            {"zip": "1", "first": "a", "last": "b"},
            "FindUserIdByNameZip.invoke() got an unexpected keyword argument 'first'",
        ),
        (
            "airline",
            "get_user_details",
            {"id": 1, "data": 1},
            "tau_bench.envs.airline.tools.get_user_details.GetUserDetails.invoke() "
            "got multiple values for keyword argument 'data'",
        ),
    ],
)
def test_argument_binding(
    domain: str, tool: str, arguments: dict[str, Any], text: str, new_world: Callable[[str], TauWorld]
) -> None:
    world = new_world(domain)
    assert answer(world, tool, **arguments) == f"Error: {text}"
    assert world.view() == {}


@pytest.mark.parametrize("domain", DOMAIN_NAMES)
def test_parameters_are_those_of_the_schemas_in_their_order(domain: str, tau_folder: Any) -> None:
    """TOOLS.md, 8.2: ``required`` lists all parameters of a tool, in signature order."""
    from envs_registry.tau_bench.binding import parameters_of

    for spec in load_tools(tau_folder, domain):
        assert list(parameters_of(DOMAINS[domain].tools[spec.name])) == spec.parameters["required"]


@pytest.mark.parametrize("domain", DOMAIN_NAMES)
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        ("1/3", "0.33"),
        ("  (1 + 2) * -3.5", "-10.5"),
        ("10 ** 16", "1e+16"),
        ("7 // 2", "3.0"),
        ("2.675", "2.67"),  # the binary value lies below
        ("0.125", "0.12"),  # ties to even
        ("+-2", "-2.0"),
        ("2 ** -1", "0.5"),
        ("(10 ** 400) // (10 ** 399)", "10.0"),
    ],
)
def test_calculate(domain: str, expression: str, value: str, new_world: Callable[[str], TauWorld]) -> None:
    assert answer(new_world(domain), "calculate", expression=expression) == value


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2 + a", "invalid characters in expression"),
        ("2 % 2", "invalid characters in expression"),
        ("__import__('os')", "invalid characters in expression"),
        (["12", "x"], "invalid characters in expression"),
        (5, "'int' object is not iterable"),
        ("1/0", "division by zero"),
        ("1.0/0", "float division by zero"),
        ("", "invalid syntax (<string>, line 0)"),
        ("2 2", "invalid syntax (<string>, line 1)"),
        ("2(3)", "'int' object is not callable"),
        (["1"], "eval() arg 1 must be a string, bytes or code object"),
        ("()", "float() argument must be a string or a real number, not 'tuple'"),
        ("(-8) ** 0.5", "float() argument must be a string or a real number, not 'complex'"),
        ("10 ** 400", "int too large to convert to float"),
    ],
)
def test_calculate_errors(expression: Any, text: str, new_world: Callable[[str], TauWorld]) -> None:
    assert answer(new_world("retail"), "calculate", expression=expression) == f"Error: {text}"


@pytest.mark.parametrize("expression", ["007", "5 +", "(1", "*1", "(*1)", "1.2.3"])
def test_calculate_syntax_errors(expression: str, new_world: Callable[[str], TauWorld]) -> None:
    """Their exact texts depend on the version of Python; equal meaning is enough (9.1)."""
    assert answer(new_world("retail"), "calculate", expression=expression).startswith("Error: ")


@pytest.mark.parametrize(
    "expression",
    ["9**9**9", "9**9**9**9", "(" * 100_000, "-" * 900 + "1", "1+" * 499 + "1", "1 " * 300_000, "9**9999"],
)
def test_hostile_expressions_are_answered(expression: str, new_world: Callable[[str], TauWorld]) -> None:
    """Upstream would compute the first for years; a test that hangs is ended by pytest."""
    world = new_world("retail")
    text = answer(world, "calculate", expression=expression)
    assert text.startswith("Error: ") or text in ("1.0", "-1.0", "500.0")


@pytest.mark.parametrize("domain", DOMAIN_NAMES)
def test_thinking_and_handing_over_change_nothing(domain: str, new_world: Callable[[str], TauWorld]) -> None:
    world = new_world(domain)
    assert answer(world, "think", thought={"any": ["value"]}) == ""
    assert answer(world, "transfer_to_human_agents", summary="s") == "Transfer successful"
    assert world.digest() == new_world(domain).digest()


def test_a_failed_transfer_is_no_tool_error(new_world: Callable[[str], TauWorld]) -> None:
    """It ends the episode all the same (section 11, number 17), which the environment does for good calls."""
    text = new_world("retail").call("transfer_to_human_agents", {})
    assert text == ("Error: TransferToHumanAgents.invoke() missing 1 required positional argument: 'summary'")


def test_a_fork_goes_its_own_way(new_world: Callable[[str], TauWorld]) -> None:
    world = new_world("airline")
    answer(world, "cancel_reservation", reservation_id="4WQ150")
    fork, before = world.fork(), world.digest()
    assert fork.digest() == before
    answer(fork, "cancel_reservation", reservation_id="4WQ150")
    assert (world.digest(), len(world.data["reservations"]["4WQ150"]["payment_history"])) == (before, 2)
    assert len(fork.data["reservations"]["4WQ150"]["payment_history"]) == 4


def test_arguments_are_copied(new_world: Callable[[str], TauWorld]) -> None:
    world = new_world("airline")
    passengers = [{"first_name": name, "last_name": "L", "dob": "1990-01-01"} for name in "abc"]
    answer(world, "update_reservation_passengers", reservation_id="4WQ150", passengers=passengers)
    before = world.digest()
    passengers[0]["first_name"] = "changed later"
    assert world.digest() == before
