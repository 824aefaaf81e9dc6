"""Certificate files that somebody has edited: refused, rejected by the checker, or still right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.mutations import RAW, as_bytes, damaged, edited, read_or_refused
from tests.toolenv.feasibility.certificates import real
from toolenv.errors import DataCorruptError
from toolenv.feasibility.certificates.certify import certificates_of
from toolenv.feasibility.certificates.checker import check_file
from toolenv.feasibility.certificates.records import Certificates
from toolenv.feasibility.certificates.settle import masked_tasks
from toolenv.hashed_json import content_hash

FEW = 3
EDITS = 100
CASES = [
    ("BFCL", "mv"),
    ("TauBench", ""),
    ("TauBench", "get_user_details"),
    ("APIBank", ""),
    ("Workflows", ""),
]


@cache
def few(name: str, only: str) -> dict[str, Any]:
    """The file form of the first certificates, refuted ones first where there are any."""
    made = real.certificates(name, only)
    ids = sorted(made.tasks, key=lambda one: not made.tasks[one].was_refuted)[:FEW]
    kept = replace(made, tasks={one: made.tasks[one] for one in ids})
    plain: dict[str, Any] = json.loads(as_bytes(kept.to_json()))
    return plain


def resealed(data: dict[str, Any]) -> dict[str, Any]:
    """With the hash made anew, if it can be: a file whose hash is wrong is refused whatever it says."""
    body = {key: value for key, value in data.items() if key != "hash"}
    try:
        return {**body, "hash": content_hash(body)}
    except UnicodeEncodeError:
        return data


def problems(name: str, only: str, made: Certificates) -> Mapping[str, str]:
    rules, manifest = real.planner(name).rules, real.manifest(name, only)
    return dict(check_file(made, real.suite(name), rules, manifest))


@pytest.mark.parametrize(("name", "only"), CASES)
def test_an_edited_file_certifies_nothing_new(name: str, only: str, tmp_path: Path) -> None:
    path, original, ended = tmp_path / "certificates.json", few(name, only), Counter[str]()
    for seed in range(EDITS):
        path.write_bytes(as_bytes(resealed(edited(original, seed))))
        made = read_or_refused(lambda: Certificates.read(path), DataCorruptError, str(path))
        if made is None:
            ended["refused"] += 1
            continue
        found = problems(name, only, made)
        good = {task: made.tasks[task] for task, problem in found.items() if not problem}
        said = {task: (record.status, record.mask) for task, record in good.items()}
        known = {
            task: (one["status"], one["mask"] and tuple(one["mask"]))
            for task, one in original["tasks"].items()
        }
        assert said.items() <= known.items(), seed
        ended["rejected" if len(good) < len(found) else "right"] += 1
    assert all(ended[way] for way in ("refused", "rejected", "right"))


@pytest.mark.parametrize("way", RAW)
def test_a_damaged_file_is_refused(way: str, tmp_path: Path) -> None:
    path = tmp_path / "certificates.json"
    path.write_bytes(damaged(as_bytes(few("TauBench", "")), way))
    with pytest.raises(DataCorruptError, match=r"certificates\.json is not JSON: "):
        Certificates.read(path)


def test_line_endings_and_the_order_of_keys_say_nothing(tmp_path: Path) -> None:
    path, plain = tmp_path / "certificates.json", few("TauBench", "")
    turned = {**dict(reversed(plain.items())), "tasks": dict(reversed(plain["tasks"].items()))}
    path.write_bytes(json.dumps(turned, indent=1).replace("\n", "\r\n").encode())
    assert set(problems("TauBench", "", Certificates.read(path)).values()) == {""}


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataCorruptError, match="is no certificates: it cannot be read"):
        Certificates.read(tmp_path)


def test_how_a_task_is_feasible_is_checked() -> None:
    """`cp` and `rm` for `mv` is another tool, in whatever words; what is infeasible is so by no tool."""
    data = few("BFCL", "mv")
    task = next(iter(data["tasks"]))
    first = data["tasks"][task]["certificates"][0]
    assert (first["answer"], first["kind"]) == ("feasible", "semantic-redundancy")
    for kind in ("do-nothing", "query-grounded", "not-needed", None):
        made = json.loads(json.dumps(data))
        made["tasks"][task]["certificates"][0]["kind"] = kind
        found = problems("BFCL", "mv", Certificates.from_json(resealed(made)))
        assert "by its witness it is 'semantic-redundancy'" in found[task]
    made = json.loads(json.dumps(data))
    assert made["tasks"][task]["certificates"][-1]["answer"] == "infeasible"
    made["tasks"][task]["certificates"][-1]["kind"] = "do-nothing"
    found = problems("BFCL", "mv", Certificates.from_json(resealed(made)))
    assert "infeasible, but feasible by do-nothing" in found[task]


def test_that_nothing_reads_alike_is_checked() -> None:
    """BFCL's single-turn tasks: nothing can be tried, and 'unknown' may not be turned into 'assumed'."""
    suite, manifest = real.suite("BFCL"), real.suite("BFCL").masks("multiple")
    tasks = masked_tasks(suite, manifest)[:40]
    made = certificates_of(suite, real.planner("BFCL"), tasks, manifest, real.EFFORT)
    rules = real.planner("BFCL").rules
    assert set(dict(check_file(made, suite, rules, manifest)).values()) == {""}
    statuses = Counter(one.status for one in made.tasks.values())
    assert set(statuses) == {"assumed", "unknown"}
    sure = next(one for one in made.tasks.values() if one.status == "assumed").certificates[0].bound
    lied = {
        task: replace(one, status="assumed", certificates=(replace(one.certificates[0], bound=sure),))
        for task, one in made.tasks.items()
    }
    found = dict(check_file(replace(made, tasks=lied), suite, rules, manifest))
    assert sum(bool(problem) for problem in found.values()) == statuses["unknown"]
    assert all(" like " in problem for problem in found.values() if problem)


@pytest.mark.parametrize(("name", "only"), CASES)
@pytest.mark.parametrize("value", [[], {}, [[]], None, 0, ""])
def test_facts_that_cannot_be_looked_up_prove_nothing(name: str, only: str, value: Any) -> None:
    data = json.loads(json.dumps(few(name, only)))
    claims = [
        one["claim"]
        for record in data["tasks"].values()
        for one in record["certificates"]
        if one["claim"] is not None
    ]
    for claim in claims:
        claim["facts"] = dict.fromkeys(claim["facts"], value)
    found = problems(name, only, Certificates.from_json(resealed(data)))
    unproven = [task for task, one in data["tasks"].items() if one["status"] in ("certified", "repaired")]
    assert all(found[task] for task in unproven)


def test_a_file_without_tasks_is_no_certificate() -> None:
    with pytest.raises(DataCorruptError, match="'tasks' is empty, so that nothing is certified"):
        Certificates.from_json(resealed({**few("TauBench", ""), "tasks": {}}))


@pytest.mark.parametrize(
    ("place", "value", "why"),
    [
        (("status",), "certain", "unknown status 'certain'; did you mean 'certified'?"),
        (("mask",), "mv", "'mask' is 'mv', expected a list of names"),
        (
            ("certificates", 0, "answer"),
            "infeasable",
            r"certificates\[0\]: unknown answer 'infeasable'; did you mean 'infeasible'",
        ),
        (
            ("certificates", 0, "claim", "turn"),
            True,
            r"certificates\[0\]: claim: 'turn' is True, expected a whole",
        ),
        (
            ("certificates", 0, "claim", "facts"),
            [],
            r"certificates\[0\]: claim: 'facts' is \[\], expected an object",
        ),
        (("certificates", 0, "witness"), 1, r"certificates\[0\]: witness is 1, expected an object"),
        (
            ("certificates", 0, "witness"),
            {},
            r"certificates\[0\]: witness: trace version None cannot be read",
        ),
    ],
)
def test_errors_name_the_value_and_its_place(place: tuple[Any, ...], value: Any, why: str) -> None:
    data = json.loads(json.dumps(few("Workflows", "")))
    task, at = next(iter(data["tasks"].items()))
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    with pytest.raises(DataCorruptError, match=rf"^c\.json: task '{task}': {why}"):
        Certificates.from_json(resealed(data), "c.json")
