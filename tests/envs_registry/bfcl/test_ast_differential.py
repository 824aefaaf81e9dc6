"""Our AST rules against upstream's own ``ast_checker``, out of the pulled wheel.

Upstream raises on some input; there ours must answer False.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from envs_registry.bfcl.ast_rules import PYTHON_CATEGORIES, check_calls

Call: TypeAlias = tuple[str, dict[str, Any]]
Case: TypeAlias = tuple[str, Sequence[Mapping[str, Any]], list[Call], Sequence[Mapping[str, Any]]]
Upstream: TypeAlias = Callable[[Case], str]

VARIATIONS_PER_ENTRY = 40
SYNTHETIC_CASES = 50_000


def compared(cases: Iterator[Case], upstream: Upstream) -> tuple[Counter[str], list[str]]:
    """How often upstream said what, and the cases on which ours said otherwise."""
    verdicts: Counter[str] = Counter()
    disagreements = []
    for case in cases:
        theirs, ours = upstream(case), check_calls(*case)
        verdicts[theirs] += 1
        if ours.success is not (theirs == "accepts"):
            disagreements.append(f"upstream {theirs}, ours {ours}: {case[2]!r} against {case[3]!r}"[:2000])
    return verdicts, disagreements


# ---- changes to a call ----


def wrongly_typed(random: Random, value: Any) -> Any:
    others = [None, True, False, 0, 1, 1.0, 10**400, float("nan"), "", "1", [], {}, ()]
    others += [[value], (value,), {"a": value}, str(value)]
    if isinstance(value, bool | int | float) and value == value and abs(value) < 2**53:
        others += [int(value), float(value), bool(value), -value, value + 1]
    if isinstance(value, list | tuple):
        others += [tuple(value), list(value), json.dumps(value, default=str), dict.fromkeys(map(str, value))]
    if isinstance(value, dict):
        others += [list(value), list(value.items()), [value]]
    return random.choice(others)


def altered_text(random: Random, text: str) -> str:
    place = random.randrange(len(text) + 1)
    return random.choice(
        [
            text.upper(),
            text.lower(),
            text.swapcase(),
            text.replace("'", '"'),
            text.replace('"', "'"),
            text.replace(" ", random.choice(["", "_", "-", ", "])),
            text[:place] + random.choice(" ,./-_*^") + text[place:],
            text[:place] + random.choice("!;:'\"()é\ud800İ") + text[place:],
            text[:place] + text[place + 1 :],
            text + "x",
            text.strip("."),
        ]
    )


def edited_list(random: Random, value: list[Any]) -> Any:
    new, place = list(value), random.randrange(len(value))
    edit = random.randrange(7)
    if edit == 0:
        random.shuffle(new)
    elif edit == 1:
        del new[place]
    elif edit == 2:
        new.insert(place, random.choice(value))
    elif edit == 3:
        return tuple(new)
    else:
        new[place] = changed(random, new[place])
    return new


def edited_dict(random: Random, value: dict[str, Any]) -> dict[str, Any]:
    new, key = dict(value), random.choice(list(value))
    edit = random.randrange(5)
    if edit == 0:
        del new[key]
    elif edit == 1:
        new[key + random.choice("_x ")] = new.pop(key)
    elif edit == 2:
        new["extra"] = random.choice([None, "", 1, []])
    else:
        new[key] = changed(random, new[key])
    return new


def changed(random: Random, value: Any) -> Any:
    if random.random() < 0.3:
        return wrongly_typed(random, value)
    if isinstance(value, str):
        return altered_text(random, value)
    if isinstance(value, list) and value:
        return edited_list(random, value)
    if isinstance(value, dict) and value:
        return edited_dict(random, value)
    return wrongly_typed(random, value)


def with_arguments_changed(random: Random, call: Call, document: Mapping[str, Any]) -> Call:
    name, arguments = call[0], dict(call[1])
    known = list(document["parameters"]["properties"])
    edit = random.randrange(8)
    if edit == 0 and known:
        arguments[random.choice(known)] = random.choice([None, "", 0, "x", [], True])
    elif edit == 1:
        arguments["unheard_of"] = random.choice([None, "", 1])
    elif arguments:
        parameter = random.choice(list(arguments))
        if edit == 2:
            del arguments[parameter]
        elif edit == 3:
            arguments[parameter.swapcase()] = arguments.pop(parameter)
        else:
            arguments[parameter] = changed(random, arguments[parameter])
    return name, arguments


def with_calls_changed(random: Random, calls: list[Call], names: Sequence[str]) -> list[Call]:
    new = list(calls)
    place = random.randrange(len(new)) if new else 0
    edit = random.randrange(7)
    if edit == 0 or not new:
        return []
    if edit == 1:
        del new[place]
    elif edit == 2:
        new.insert(random.randrange(len(new) + 1), new[place])
    elif edit == 3:
        new[place] = random.choice(new)
    elif edit == 4:
        other = random.choice(
            [*names, new[place][0].replace(".", "_"), new[place][0].upper(), "", "no_such_tool"]
        )
        new[place] = other, new[place][1]
    else:
        random.shuffle(new)
    return new


# ---- variations of the real ground truth ----


def some_choice(random: Random, choices: Any) -> Any:
    return random.choice(choices) if isinstance(choices, list) and choices else choices


def some_value(random: Random, option: Any) -> Any:
    if isinstance(option, dict):
        entries = {key: some_choice(random, choices) for key, choices in option.items()}
        return {key: value for key, value in entries.items() if value != "" or random.random() < 0.1}
    if isinstance(option, list) and option and all(isinstance(one, dict) for one in option):
        return [some_value(random, one) for one in option]
    return option


def some_call(random: Random, expected: Mapping[str, Any]) -> Call:
    """A call that mostly satisfies ``expected``: any of the options, or none where that is one."""
    [(name, options)] = expected.items()
    arguments = {}
    for parameter, choices in options.items():
        option = random.choice(choices or [""])
        if option != "" or random.random() < 0.05:
            arguments[parameter] = some_value(random, option)
    return name, arguments


def variation(random: Random, category: str, documents: Any, truth: Any) -> Case:
    by_name = {document["name"]: document for document in documents}
    calls = [some_call(random, expected) for expected in truth]
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        if random.random() < 0.25:
            calls = with_calls_changed(random, calls, list(by_name))
        elif calls:
            place = random.randrange(len(calls))
            document = by_name.get(calls[place][0], documents[0])
            calls[place] = with_arguments_changed(random, calls[place], document)
    return category, documents, calls, truth


def variations(category: str, entries: Any) -> Iterator[Case]:
    for question, answer in entries:
        random = Random(question["id"])
        for _ in range(VARIATIONS_PER_ENTRY):
            yield variation(random, category, question["function"], answer["ground_truth"])


def test_agrees_with_upstream_on_variations_of_the_ground_truth(
    bfcl_entries: dict[str, Any], upstream: Upstream, record_testsuite_property: Callable[[str, object], None]
) -> None:
    total: Counter[str] = Counter()
    for category, entries in bfcl_entries.items():
        verdicts, disagreements = compared(variations(category, entries), upstream)
        assert not disagreements, f"{category}: {len(disagreements)}, e.g.\n" + "\n".join(disagreements[:3])
        assert verdicts["accepts"] > sum(verdicts.values()) / 10, category
        assert verdicts["rejects"] > sum(verdicts.values()) / 4, category
        total += verdicts
    record_testsuite_property("bfcl_ast_verdicts", dict(total))
    assert sum(total.values()) >= 20_000


def test_upstreams_modules_are_gone_again(upstream: Upstream) -> None:
    assert not [name for name in sys.modules if name.split(".")[0] == "bfcl_eval"]


# ---- synthetic documents, truths and values, broken ones among them ----

KINDS = ["string", "integer", "float", "boolean", "array", "tuple", "dict", "any"]
SCALARS = ["", "a", "A b", "it's", None, True, False, 0, 1, 2, 1.0, 2.5, [], {}]
KEYS = "ab"


def some_schema(random: Random) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": random.choice([*KINDS, "array", "array", "dict", "unknown"])}
    if random.random() < 0.95:
        schema["items"] = {"type": random.choice([*KINDS, "dict", "dict", "dict", "unknown"])}
    return schema


def some_option(random: Random) -> Any:
    shape = random.randrange(5)
    if shape == 0:
        return {key: [random.choice(SCALARS) for _ in range(2)] for key in KEYS[: random.randrange(3)]}
    if shape == 1:
        return [some_option(random) for _ in range(random.randrange(3))]
    if shape == 2 and random.random() < 0.4:
        return {key: random.choice(SCALARS) for key in KEYS}
    return random.choice(SCALARS)


def some_document(random: Random, name: str) -> dict[str, Any]:
    properties = {key: some_schema(random) for key in KEYS if random.random() < 0.9}
    required = random.choice([[], [], ["a"]])
    return {"name": name, "parameters": {"type": "dict", "properties": properties, "required": required}}


def some_options(random: Random) -> dict[str, list[Any]]:
    return {
        key: [some_option(random) for _ in range(random.randrange(4))]
        for key in KEYS
        if random.random() < 0.7
    }


def synthetic_case(random: Random) -> Case:
    names = random.choice([["f.x"], ["f.x", "f_x"], ["f.x", "g", "f.x"]])
    documents = [some_document(random, name) for name in names]
    expected = [random.choice([*names, names[0], "h"]) for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3]))]
    truth = [{name: some_options(random)} for name in expected]
    calls = [some_call(random, one) for one in truth]
    for place, call in enumerate(calls):
        if random.random() < 0.4:
            calls[place] = with_arguments_changed(random, call, documents[0])
    if random.random() < 0.5:
        calls = with_calls_changed(random, calls, names)
    return random.choice(PYTHON_CATEGORIES), documents, calls, truth


def test_agrees_with_upstream_on_synthetic_documents(upstream: Upstream) -> None:
    random = Random(0)
    cases = (synthetic_case(random) for _ in range(SYNTHETIC_CASES))
    verdicts, disagreements = compared(cases, upstream)
    assert not disagreements, f"{len(disagreements)}, e.g.\n" + "\n".join(disagreements[:3])
    assert min(verdicts[verdict] for verdict in ("accepts", "rejects", "raises")) > 1_000, verdicts
