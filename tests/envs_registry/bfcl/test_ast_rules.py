"""Each of BFCL's AST rules by hand; the expected verdicts are upstream's (NOTES.md, "Evaluation rules 1")."""

from __future__ import annotations

from typing import Any

import pytest

from envs_registry.bfcl.ast_rules import PYTHON_CATEGORIES, check_calls, value_passes
from toolenv.errors import UnknownNameError
from toolenv.task import Score


def document(name: str = "f.x", required: tuple[str, ...] = (), **kinds: Any) -> dict[str, Any]:
    properties = {key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in kinds.items()}
    return {
        "name": name,
        "parameters": {"type": "dict", "properties": properties, "required": list(required)},
    }


def array(of: str, kind: str = "array") -> dict[str, Any]:
    return {"type": kind, "items": {"type": of}}


PAY = document("pay", amount="float", count="integer", flag="boolean")
PAID = [{"pay": {"amount": [5.0], "count": [3], "flag": [True]}}]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"amount": 5, "count": 3, "flag": True}, ""),
        ({"amount": 5e0, "count": 3, "flag": True}, ""),
        ({"amount": 5.0, "count": True, "flag": 1}, "pay: parameter 'count': boolean for integer: True"),
        ({"amount": 5.0, "count": 3, "flag": 1}, "pay: parameter 'flag': integer for boolean: 1"),
        ({"amount": "5.0", "count": 3, "flag": True}, "pay: parameter 'amount': string for number: '5.0'"),
        ({"amount": True, "count": 3, "flag": True}, "pay: parameter 'amount': boolean for number: True"),
        ({"amount": 5, "count": 3.0, "flag": True}, "pay: parameter 'count': number for integer: 3.0"),
        ({"amount": 5, "count": 3, "flag": None}, "pay: parameter 'flag': null for boolean: None"),
    ],
)
def test_field_028_only_an_integer_for_a_number_is_let_through(arguments: dict[str, Any], why: str) -> None:
    assert check_calls("simple_python", [PAY], [("pay", arguments)], PAID) == Score(not why, why)


# ---- one call ----

TRIP = document("go.to", required=("city",), city="string", days="integer", mode="string")
GONE = [{"go.to": {"city": ["New York"], "days": ["", 2]}}]


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("go.to", {"city": "New York", "days": 2}, ""),
        ("go.to", {"city": "New York"}, ""),
        ("go_to", {"city": "New York"}, "call of 'go_to', expected 'go.to'"),
        ("go.to", {"days": 2}, "go.to: required parameter 'city' is missing"),
        ("go.to", {"city": "New York", "town": 1}, "go.to: unexpected parameter 'town'"),
        ("go.to", {"city": "New York", "mode": "car"}, "go.to: unexpected parameter 'mode'"),
        ("go.to", {"city": "York"}, "go.to: parameter 'city': wrong value 'York'"),
    ],
)
def test_names_and_parameters(name: str, arguments: dict[str, Any], why: str) -> None:
    assert check_calls("live_simple", [TRIP], [(name, arguments)], GONE) == Score(not why, why)


def test_a_parameter_of_the_truth_must_be_given_unless_marked() -> None:
    truth = [{"f.x": {"a": [1], "b": ["", 1]}}]
    score = check_calls("simple_python", [document(a="integer", b="integer")], [("f.x", {})], truth)
    assert score.why == "f.x: parameter 'a' is missing and may not be left out"


def test_a_parameter_of_the_truth_that_the_document_lacks_can_never_be_given() -> None:
    """As in live_multiple_862-181-3."""
    truth = [{"f.x": {"a": [1], "journey_start_time": ["09:00"]}}]
    for arguments in ({"a": 1}, {"a": 1, "journey_start_time": "09:00"}):
        assert not check_calls("simple_python", [document(a="integer")], [("f.x", arguments)], truth).success


# ---- one value ----

VALUES = [
    # strings: spaces, ,./-_*^ and case do not count, single quotes are double quotes
    ("string", ["April 1, 2024"], "april 1 2024", True),
    ("string", ["April 1, 2024"], "A-p_r*i^l/1.2024", True),
    ("string", ["it's"], 'IT"S', True),
    ("string", ["what?"], "what", False),
    ("string", ["", "x"], "", True),
    ("any", ["x"], "X", True),
    ("any", ["x"], 1, False),
    # a first option of another type names a variable or constant: compared exactly
    ("integer", ["n_max"], "n_max", True),
    ("integer", ["n_max"], "N_MAX", False),
    ("string", [None, "Abc"], None, True),
    ("string", [None, "Abc"], "Abc", True),
    ("string", [None, "Abc"], "abc", False),
    ("string", ["Abc", None], None, False),
    ("string", [True], True, True),
    ("string", [True], "True", False),
    # numbers
    ("float", [5], 5, True),
    ("float", ["", 2.5], 2.5, True),
    ("integer", [3], -3, False),
    # arrays: order counts, strings standardised, elements' types strict and one level deep
    (array("string"), [["New York", "Rome"]], ["new york", "rome"], True),
    (array("string"), [["New York", "Rome"]], ["rome", "new york"], False),
    (array("string"), [["Rome"]], "Rome", False),
    (array("float"), [[1.0, 2.0]], [1, 2], False),
    (array("float"), [[1, 2]], [1, 2], True),
    (array("float"), [[1, 2]], [1.0, 2], True),
    (array("integer"), [[1, 0]], [True, False], False),
    (array("integer"), [[1], [1, 2]], [1, 2], True),
    (array("array"), [[[1, 2], [3]]], [[1, 2], [3]], True),
    (array("integer"), [["", [1]], [1]], [1], True),
    (array("integer"), ["", [1]], [], True),
    (array("integer"), [], [], False),
    (array("integer"), [["a", "b"]], ["A", "b"], True),
    # tuples arrive as lists; a Python tuple is taken for one only where a tuple is expected
    (array("float", "tuple"), [[1.5, 2.5]], [1.5, 2.5], True),
    (array("float", "tuple"), [[1.5, 2.5]], (1.5, 2.5), True),
    (array("float"), [[1.5, 2.5]], (1.5, 2.5), False),
    # objects: keys and their options; a key may be absent only where marked; nested values are literal
    ("dict", [{"size": ["Large"], "hot": ["", True]}], {"size": "large"}, True),
    ("dict", [{"size": ["Large"], "hot": ["", True]}], {"size": "large", "hot": 1}, True),
    ("dict", [{"size": ["Large"], "hot": ["", True]}], {"hot": True}, False),
    ("dict", [{"size": ["Large"]}], {"size": "large", "ice": 1}, False),
    ("dict", [{"size": ["Large"]}, {"size": ["Small"]}], {"size": "small"}, True),
    ("dict", [{"at": [{"x": 1.5}]}], {"at": {"x": 1.5}}, True),
    ("dict", [{"at": [{"x": [1.5]}]}], {"at": {"x": 1.5}}, False),
    ("dict", [""], {}, False),
    # lists of objects: same length, position by position
    (array("dict"), [[{"n": ["Li"]}, {"n": [2]}]], [{"n": "li"}, {"n": 2}], True),
    (array("dict"), [[{"n": ["Li"]}, {"n": [2]}]], [{"n": 2}, {"n": "li"}], False),
    (array("dict"), [[{"n": ["Li"]}]], [{"n": "li"}, {"n": "li"}], False),
    (array("dict"), [""], [], True),
    (array("dict"), [[{"n": [1]}], []], [], True),
]


@pytest.mark.parametrize(("schema", "options", "value", "passes"), VALUES, ids=range(len(VALUES)))
def test_values(schema: Any, options: list[Any], value: Any, passes: bool) -> None:
    schema = schema if isinstance(schema, dict) else {"type": schema}
    assert value_passes(value, schema, options) is passes


INCOMPARABLE = [
    (array("dict"), ["", [{"n": [1]}]], ["n"]),  # strings where objects are expected
    (array("dict"), [[{"n": [1]}], None], [{}]),  # an option without a length
    ("dict", [{"n": 1}], {"n": 1}),  # options that are no list
    ("dict", [{"m": [1]}, "text"], {"n": 1}),
    ({"type": "array"}, [[1]], [1]),  # no items
    ("number", [1], 1),  # no Gorilla type
    ({}, [1], 1),
    ("float", [1.0], 10**400),  # beyond a float
]


@pytest.mark.parametrize(("schema", "options", "value"), INCOMPARABLE, ids=range(len(INCOMPARABLE)))
def test_what_upstream_cannot_compare_is_a_failure_that_says_so(
    schema: Any, options: list[Any], value: Any
) -> None:
    documents, truth = [document(a=schema)], [{"f.x": {"a": options}}]
    score = check_calls("simple_python", documents, [("f.x", {"a": value})], truth)
    assert score.success is False
    assert score.why.startswith("not comparable with the ground truth")


# ---- several calls ----

TOOLS = [document("other", a="integer"), document(a="integer", b="integer"), document("g", a="string")]


def numbers(*values: int) -> list[tuple[str, dict[str, int]]]:
    return [("f.x", {"a": value}) for value in values]


PARALLEL = [
    ([1, 2], numbers(1, 2), True),
    ([1, 2], numbers(2, 1), True),
    ([1, 2], numbers(1, 1), False),
    ([1, 2], numbers(1), False),
    ([1, 2], numbers(1, 2, 2), False),
    ([1, 2], [], False),
    ([], [], True),
]


@pytest.mark.parametrize(
    "category", ["parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple"]
)
@pytest.mark.parametrize(("wanted", "calls", "passes"), PARALLEL, ids=range(len(PARALLEL)))
def test_parallel_calls_match_in_any_order_each_once(
    category: str, wanted: list[int], calls: Any, passes: bool
) -> None:
    truth = [{"f.x": {"a": [value]}} for value in wanted]
    assert check_calls(category, TOOLS, calls, truth).success is passes


def test_parallel_matching_is_greedy() -> None:
    """The first expected call takes the only call that would suit the second: upstream's quirk."""
    truth = [{"f.x": {"a": [1, 2]}}, {"f.x": {"a": [1]}}]
    assert not check_calls("parallel", TOOLS, numbers(1, 2), truth).success
    assert check_calls("parallel", TOOLS, numbers(2, 1), truth).success


def test_parallel_says_why_the_remaining_calls_do_not_match() -> None:
    truth = [{"f.x": {"a": [1]}}, {"g": {"a": ["x"]}}]
    score = check_calls("parallel_multiple", TOOLS, numbers(1, 2), truth)
    assert score.why == "no call matches expected call 2 of 2: call of 'f.x', expected 'g'"


@pytest.mark.parametrize(
    ("category", "calls", "why"),
    [
        ("multiple", numbers(1), ""),
        ("live_multiple", numbers(1, 1), "number of calls: 2, expected 1"),
        ("multiple", [("other", {"a": 1})], "call of 'other', expected 'f.x'"),
        ("simple_python", numbers(1), "call of 'f.x', expected 'other'"),  # looks at the first document only
        ("simple_python", numbers(1, 1), "number of calls: 2, expected 1"),
        ("simple_python", [], "number of calls: 0, expected 1"),
    ],
)
def test_one_call_among_several_tools(category: str, calls: Any, why: str) -> None:
    assert check_calls(category, TOOLS, calls, [{"f.x": {"a": [1]}}]) == Score(not why, why)


def test_an_expected_tool_without_a_document_is_a_failure() -> None:
    score = check_calls("multiple", TOOLS, numbers(1), [{"absent": {}}])
    assert score == Score(
        False, "not comparable with the ground truth (LookupError: no document for 'absent')"
    )


def test_why_stays_short() -> None:
    score = check_calls("simple_python", [TRIP], [("go.to", {"city": "x" * 100_000})], GONE)
    assert len(score.why) < 300


def test_other_categories_are_refused_by_name() -> None:
    assert len(PYTHON_CATEGORIES) == 8
    with pytest.raises(UnknownNameError, match="simple_python"):
        check_calls("simple_pyton", [PAY], [], PAID)
    with pytest.raises(UnknownNameError):
        check_calls("simple_java", [PAY], [], PAID)
