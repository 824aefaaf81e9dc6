"""The scripted recovery policies: each skill alone, on results written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.depot import CONTRACTS, DepotSuite
from toolenv.agents.drifted import MISSING, Reader, is_failure
from toolenv.agents.rebinding import Remark, reconstructed, remark_in, under_other_name
from toolenv.agents.recovery import SKILLS, make, worth
from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError, UsageError
from toolenv.plan import Computed, Contract, Given, OutputField, Taken
from toolenv.rollout import rollout
from toolenv.source import make_source

WEIGH = CONTRACTS["weigh"]
NORMALISING = Reader(WEIGH, normalises=True)
REMAPPING = Reader(WEIGH, remaps=True)
PLAIN = Reader(WEIGH)
RIGHT = {"item_code": "LMP-104", "weight": 1250.5, "packed_on": "2024-03-05"}


def test_without_skill_a_value_is_where_it_is_documented() -> None:
    assert PLAIN.read(RIGHT, ("weight",)) == 1250.5
    for other in ({"data": RIGHT}, {"Weight": 1250.5}, [RIGHT], "text", None, 3):
        assert PLAIN.read(other, ("weight",)) is MISSING


@pytest.mark.parametrize(
    "result",
    [
        RIGHT,
        {"status": "success", "data": RIGHT},
        {"data": {"record": {"inner": RIGHT}}},
        {**RIGHT, "weight": "1250.5 kg"},
        {**RIGHT, "weight": "+1,250.5"},
        {**RIGHT, "weight": {"value": 1250.5}},
        {"ItemCode": "LMP-104", "WEIGHT": 1250.5},
        {"item-code": "LMP-104", "weight_": "1,250.50 kg"},
    ],
)
def test_normalising_undoes_surface_forms(result: Any) -> None:
    assert NORMALISING.read(result, ("weight",)) == 1250.5


@pytest.mark.parametrize(
    ("form", "plain"),
    [
        (' "LMP-104" ', "LMP-104"),
        ("5 March 2024", "2024-03-05"),
        ("31 December 1999", "1999-12-31"),
        ("5 Marsch 2024", "5 Marsch 2024"),
        ("LMP-104", "LMP-104"),
    ],
)
def test_normalising_texts(form: str, plain: str) -> None:
    assert NORMALISING.read({"packed_on": form}, ("packed_on",)) == plain


@pytest.mark.parametrize(
    ("form", "number"),
    [("(3.5)", -3.5), ("-3.5 kg", -3.5), ("+0", 0), ("1,234,567", 1234567), ("none", "none")],
)
def test_normalising_numbers(form: str, number: Any) -> None:
    assert NORMALISING.read({"weight": form}, ("weight",)) == number


@pytest.mark.parametrize(
    "result",
    [
        {**RIGHT, "weight": [1250.5]},
        {"item_code": "LMP-104", "mass": 1250.5, "packed_on": "2024-03-05"},
        [{"field": key, "value": value} for key, value in RIGHT.items()],
        {**RIGHT, "weight": 1250500.0, "weight_unit": "g"},
        {**RIGHT, "weight": 1.2505, "unit": "t"},
    ],
)
def test_remapping_undoes_a_changed_contract(result: Any) -> None:
    assert REMAPPING.read(result, ("weight",)) == 1250.5


def test_remapping_needs_exactly_one_stranger_for_one_missing_field() -> None:
    two = {"item_code": "LMP-104", "mass": 1250.5, "size": 3}
    assert REMAPPING.read(two, ("weight",)) is MISSING


def test_arrays() -> None:
    listing = Contract((OutputField("ids", "array"), OutputField("price", "number", "EUR")))
    remapping = Reader(listing, remaps=True)
    assert remapping.read({"ids": {"0": "A", "1": "B"}}, ("ids", 1)) == "B"
    assert remapping.read({"ids": {"0": "A", "1": "B"}}, ("ids",)) == ["A", "B"]
    table = {"columns": ["price", "name"], "rows": [[1, "a"], [2, "b"]]}
    assert remapping.read(table, ("*", "price")) == [1, 2]
    assert Reader(listing).read([{"price": 1}, {"price": 2}], ("*", "price")) == [1, 2]
    assert Reader(listing).read([{"price": 1}, {}], ("*", "price")) is MISSING
    assert Reader(listing, normalises=True).read({"data": [{"price": "1 EUR"}]}, (0, "price")) == 1


def test_a_whole_result_in_an_envelope() -> None:
    assert Reader(Contract(), normalises=True).read({"status": "success", "result": "Hola"}, ()) == "Hola"
    assert Reader(Contract()).read("Hola", ()) == "Hola"


def test_failures_say_so() -> None:
    assert is_failure("Error: the tool timed out")
    assert is_failure({"error": "no such file"})
    assert not is_failure({"error": ""})
    assert not is_failure("Erased")


# ---- rebinding ----


def test_a_remark_in_a_result_and_in_an_error() -> None:
    inside = {"charge": 0, "request": {"received": {"weight": 0}, "note": "has its default"}}
    assert remark_in(inside) == Remark({"weight": 0}, "has its default")
    error = "Error: bad [request received: {\"a\": [1]}; 'a' is not forwarded; 'b' is]"
    assert remark_in(error) == Remark({"a": [1]}, "'a' is not forwarded; 'b' is")
    assert remark_in("Error: bad [request received: {oops}; x]") is None
    assert remark_in({"request": "none"}) is None


def test_reconstructions() -> None:
    meant = {"since": "a", "until": "b"}
    swapped = Remark({"since": "b", "until": "a"}, "arguments are shown as they were bound")
    assert reconstructed(swapped, meant, meant) == {"since": "b", "until": "a"}
    alias = Remark({"until": "b"}, "'since' is not forwarded by this version; 'begins' is")
    assert reconstructed(alias, meant, meant) == {"begins": "a", "until": "b"}
    loose = Remark({"weight": 12}, "'weight' is read loosely unless sent as JSON text")
    assert reconstructed(loose, {"weight": 12.7}, {"weight": 12.7}) == {"weight": "12.7"}
    assert reconstructed(Remark({"weight": 12}, "who knows"), {"weight": 12.7}, {"weight": 12.7}) is None


def test_two_quoted_names_tell_a_renaming() -> None:
    assert under_other_name("it does not take 'a'; it takes 'b'", {"a": 1, "c": 2}) == {"b": 1, "c": 2}
    assert under_other_name("no item 'x'", {"a": 1}) is None
    assert under_other_name("'a', 'b' and 'c'", {"a": 1}) is None


# ---- following a plan ----


@pytest.mark.parametrize("name", SKILLS)
def test_every_policy_solves_the_clean_tasks(name: str) -> None:
    source = make_source(DepotSuite())
    for task_id in source.task_ids:
        assert rollout(ToolEnv(source), make(name, {}), seed=0, task_id=task_id).episode.success is True


def test_what_was_not_read_is_not_known() -> None:
    assert worth(Taken(0, ("a",)), {0: {("a",): 5}}) == 5
    assert worth(Taken(0, ("b",)), {0: {("a",): 5}}) is MISSING
    assert worth([Given(1), Taken(1, ())], {}) == [1, None]
    assert worth({"x": Given(1)}, {}) == {"x": 1}
    with pytest.raises(UsageError, match="computes 'sum'"):
        worth(Computed("sum", ()), {})


def test_bad_specs_and_tasks_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'retry-only'"):
        make("retry", {})
    from tests.support.toy import Toy

    with pytest.raises(UsageError, match="'pay-7' carries no plan"):
        make("", {}).brief(Toy().tasks("default")[0])
    assert make("", {}).name == "recovery"
    assert make("naive", {}).name == "naive"
