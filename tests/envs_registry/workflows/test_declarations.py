"""The declared worlds, what is derived from them, and what a broken declaration gets."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import pytest

from envs_registry.workflows.declaration import plural_of
from envs_registry.workflows.pool import LEAST_DISTRACTORS
from envs_registry.workflows.reading import _read, _Reader, get_subtopic, subtopic_names
from envs_registry.workflows.shapes import catalogue
from envs_registry.workflows.toolbox import get_toolbox
from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.names import with_wire_names
from toolenv.schema import to_json_schema

SUBTOPICS = list(subtopic_names())


@pytest.mark.parametrize("name", SUBTOPICS)
def test_every_world_has_answers_on_each_level_and_names_apart(name: str) -> None:
    subtopic = get_subtopic(name)
    for kind in subtopic.kinds:
        assert any(field.can_answer for field in kind.fields.values())
        outputs = [kind.id_field, kind.name_field, *(field.output for field in kind.fields.values())]
        assert len(set(outputs)) == len(outputs)
        assert kind.phrase.count("{}") == 1
    assert len({kind.prefix for kind in subtopic.kinds}) == len({kind.label for kind in subtopic.kinds}) == 3
    for relation in subtopic.relations:
        assert relation.phrase.count("{}") == relation.inverse.count("{}") == 1
    assert all(motive[0].isupper() and motive[-1] in ".?!" for motive in subtopic.motives)
    assert len(subtopic.motives) >= 3


@pytest.mark.parametrize("name", SUBTOPICS)
def test_every_derived_tool_is_fit_for_any_server(name: str) -> None:
    tools = [tool.spec for tool in get_toolbox(name).tools.values()]
    assert len(tools) == 30
    for tool in with_wire_names(tools):
        assert tool.wire_name == tool.name
        jsonschema_rs.meta.validate(tool.parameters)
        assert to_json_schema(tool.parameters)[1] == ()
        assert tool.description.endswith(".")
        assert all(one.get("description") for one in tool.parameters["properties"].values())


@pytest.mark.parametrize("name", SUBTOPICS)
def test_sources_come_in_pairs_with_their_authority_stated(name: str) -> None:
    toolbox = get_toolbox(name)
    for tool in toolbox.tools.values():
        contract = tool.contract
        if not contract.reads:
            assert (contract.alternative, contract.authority) == ("", "")
            continue
        other = toolbox.tools[contract.alternative]
        assert other.contract.alternative == contract.name
        assert other.contract.output == contract.output
        assert other.spec.parameters == tool.spec.parameters
        assert {contract.authority, other.contract.authority} == {"registry of record", "mirror"}
        words = (
            "the registry of record" if contract.authority == "registry of record" else "a community mirror"
        )
        assert words in tool.spec.description


@pytest.mark.parametrize("name", SUBTOPICS)
def test_every_world_offers_each_workflow_with_four_tools(name: str) -> None:
    offered = catalogue(name)
    assert {size for workflow, size in offered if workflow == "sequential"} >= set(range(2, 8))
    assert {size for workflow, size in offered if workflow == "parallel"} <= {2, 3, 4, 5}
    assert {size for workflow, size in offered if workflow == "mixture"} >= {3, 4, 5, 6, 7, 8}
    assert {(workflow, 4) for workflow in ("sequential", "parallel", "mixture")} <= set(offered)


def test_there_are_always_enough_distractors() -> None:
    from envs_registry.workflows import SUITE

    for task in SUITE.tasks("default"):
        assert len(task.tools) - len(task.metadata["blueprint"].critical) >= LEAST_DISTRACTORS


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("shipment", "shipments"),
        ("policy", "policies"),
        ("day", "days"),
        ("branch", "branches"),
        ("lens", "lenses"),
        ("species", "species"),
        ("rail booking", "rail bookings"),
        ("press", "presses"),
    ],
)
def test_plurals(noun: str, plural: str) -> None:
    assert plural_of(noun) == plural


def read_with(**changes: Any) -> None:
    """Read one declaration with some of its values changed; ``None`` takes one away."""
    data = {**copy.deepcopy(dict(_read("industry")["container_freight"])), **changes}
    _Reader(
        "container_freight", "industry", {key: value for key, value in data.items() if value is not None}
    ).subtopic()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"register": None}, r"worlds/industry.toml, \[container_freight\]: 'register' is missing"),
        ({"item": "shipment | SHP"}, "'item': expected that it has 5 parts"),
        (
            {"full": "a | b | USD | product | item.weight"},
            "'full': expected that it has the inputs that 'product'",
        ),
        ({"full": "a | b | USD | product | item.weight, parent.kilo_rate"}, "takes facts of every level"),
        (
            {"date": "a | b | USD | product | item.weight, parent.kilo_rate"},
            "'date': expected that it gives a date",
        ),
        ({"on_date": "move | item | move it to {date}"}, "'on_date': expected that it asks with"),
        (
            {"on_date": "move | thing | move {} to {date}"},
            "'on_date': expected that it is done to one of item",
        ),
        (
            {"on_date": "move | item | move {} to {date} | weight"},
            "'on_date': expected that it changes a date",
        ),
        ({"item_facts": ["weight: gross weight | kg"]}, "'weight': expected that it has a range"),
        (
            {"item_facts": ["weight: gross weight | kg | 9-3"]},
            "'weight': expected that it has a range that goes up",
        ),
        (
            {"item_facts": ["sails: sailing | date | soon"]},
            "'sails': expected that it says if its dates are past",
        ),
        (
            {"item": "shipment | SHP | shipper | Maersk | the shipment for {}"},
            "the names 'Maersk' have no part",
        ),
    ],
)
def test_a_broken_declaration_is_named_with_its_place(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataCorruptError, match=problem):
        read_with(**changes)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"full": "a | b | USD | produkt | item.weight, parent.kilo_rate"},
            "kind of formula 'produkt'.*'product'",
        ),
        ({"full": "a | b | USD | product | item.wait, parent.kilo_rate"}, "fact 'item.wait'.*'item.weight'"),
        ({"item_facts": ["weight: gross weight | kgs | 1-9"]}, "unit 'kgs'.*'kg'"),
        (
            {"item": "shipment | SHP | shipper | {compny} | the shipment for {}"},
            "part of a name 'compny'.*'company'",
        ),
    ],
)
def test_an_unknown_name_in_a_declaration_offers_the_nearest(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnknownNameError, match=problem):
        read_with(**changes)


def test_an_unknown_subtopic_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'container_freight'"):
        get_subtopic("container_fright")
