"""Certificates of BFCL's 200 multi-turn tasks, τ-bench's 152 masks, API-Bank's 208 and Workflows' 1,106."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.toolenv.feasibility.certificates import real
from toolenv.feasibility.certificates.certify import NO_TOOL_NEEDED, NOT_REACHED, Effort, certify, decide
from toolenv.feasibility.certificates.checker import CLAIMED_AGAINST, check, check_file
from toolenv.feasibility.certificates.records import Certificates
from toolenv.feasibility.certificates.repair import repaired
from toolenv.feasibility.certificates.search import Bound, OutOfBound, Search
from toolenv.source import make_source

ROOT = Path(__file__).parents[4]
SINGLE = [
    ("BFCL", "mv"),
    ("BFCL", "get_watchlist"),
    ("TauBench", "get_user_details"),
    ("APIBank", "Calculator"),
    ("APIBank", "GetUserToken"),
    ("Workflows", "convert_currency"),
    ("Workflows", "summarise_values"),
]
WHOLE = [("BFCL", 200), ("TauBench", 152), ("APIBank", 208), ("Workflows", 1106)]


def problems(made: Certificates, name: str, only: str = "") -> dict[str, str]:
    found = check_file(made, real.suite(name), real.planner(name).rules, real.manifest(name, only))
    return {task: problem for task, problem in found if problem}


@pytest.mark.parametrize(("name", "tasks"), WHOLE)
def test_the_checker_accepts_every_certificate(name: str, tasks: int) -> None:
    made = real.certificates(name)
    assert len(made.tasks) == tasks
    assert problems(made, name) == {}


@pytest.mark.parametrize(("name", "only"), SINGLE)
def test_it_accepts_those_of_single_tools_too(name: str, only: str) -> None:
    assert problems(real.certificates(name, only), name, only) == {}


def test_nothing_of_bfcl_is_left_open() -> None:
    counts = Counter(record.status for record in real.certificates("BFCL").tasks.values())
    assert counts == {"certified": 199, "repaired": 1}


def how_certified(name: str) -> Counter[tuple[str, str]]:
    """Kinds of the claims that stand, with the criterion that each is against."""
    first = [record.certificates[-1] for record in real.certificates(name).tasks.values()]
    return Counter((one.claim.kind, one.criterion) for one in first if one.claim is not None)


def test_nothing_of_workflows_is_left_open() -> None:
    """165 of the 1,106 tasks ask for a change of the world (docs/workflows.md): nothing else makes it."""
    assert how_certified("Workflows") == {("effect", "outcome"): 165, ("twin", "outcome"): 941}


def test_what_can_be_worked_out_needs_no_calculator() -> None:
    """Three dialogues of API-Bank's level 1 ask for nothing but the value of a formula that the user says."""
    tasks = real.certificates("APIBank").tasks
    dropped = {task for task, record in tasks.items() if record.status == "dropped"}
    assert dropped == {f"Calculator-level-1-{number}" for number in (1, 2, 3)}
    assert Counter(record.status for record in tasks.values()) == {"certified": 205, "dropped": 3}
    assert {tasks[task].certificates[0].criterion for task in dropped} == {"outcome"}
    against = Counter(criterion for _, criterion in how_certified("APIBank").elements())
    assert against == {"outcome": 186, "judge": 19}


def test_who_cannot_get_a_token_changes_nobody_s_records() -> None:
    """Without GetUserToken, the alarm of a user who does not say his token cannot be set."""
    suite, planner = real.suite("APIBank"), real.planner("APIBank")
    task = make_source(suite, "clean", subset="level-1").get("AddAlarm-level-1-1")
    made = decide(suite, planner, task.masked(frozenset({"GetUserToken"})), Bound(500))
    assert (made.answer, made.criterion) == ("infeasible", "outcome")
    assert made.claim is not None
    assert (made.claim.kind, set(made.claim.facts)) == ("value", {"table", "way", "owner"})
    assert made.claim.facts["table"] == "Alarm"


def test_a_mirror_stands_in_for_the_register() -> None:
    """Workflows: one source alone is taken away, and the other tells the same (docs/workflows.md)."""
    name = "Workflows"
    suite, planner = real.suite(name), real.planner(name)
    task = next(one for one in suite.tasks("default") if not one.metadata["blueprint"].changes_state)
    tool = next(t for t in task.metadata["blueprint"].tools if task.metadata["blueprint"].contracts[t].reads)
    made = decide(suite, planner, task.masked(frozenset({tool})), Bound(500))
    assert (made.answer, made.kind, made.criterion) == ("feasible", "semantic-redundancy", "judge")


def test_doing_nothing_refutes_what_the_notes_say_it_does() -> None:
    """26 of τ-bench's tasks reward doing nothing (NOTES.md); 12 of them have no tool to mask."""
    tasks = real.certificates("TauBench").tasks
    idle = {task for task, flags in real.manifest("TauBench").flags.items() if "do_nothing_passes" in flags}
    refuted = {task for task, record in tasks.items() if record.was_refuted}
    assert len(idle) == 26
    assert refuted == idle & set(tasks)
    assert {tasks[task].reason for task in refuted} == {NO_TOOL_NEEDED}
    assert {tasks[task].certificates[0].kind for task in refuted} == {"do-nothing"}


def test_copying_and_removing_stand_in_for_moving() -> None:
    """FIELD-019: without ``mv``, the log still gets into the archive; upstream's checker misses its reply."""
    record = real.certificates("BFCL", "mv").tasks["multi_turn_base_1"]
    certificate = record.certificates[0]
    assert (certificate.answer, certificate.kind) == ("feasible", "semantic-redundancy")
    assert certificate.criterion == "outcome"
    calls = real.calls_of(record)
    copied = calls.index(("cp", {"source": "log.txt", "destination": "archive"}))
    assert calls[copied + 1] == ("rm", {"file_name": "log.txt"})


def test_a_tool_that_says_the_same_satisfies_the_judge() -> None:
    """``add_to_watchlist`` with a stock that is on the list shows the list."""
    records = real.certificates("BFCL", "get_watchlist").tasks.values()
    first = [record.certificates[0] for record in records]
    refuted = [one for one in first if one.answer == "feasible"]
    assert {one.criterion for one in refuted} == {"judge"}
    assert any(call.name == "add_to_watchlist" for one in refuted for call, _ in one.witness.calls())  # type: ignore[union-attr]


def test_the_id_given_in_the_query() -> None:
    """Paper 1, Appendix B.2: the user says who he is, so that nothing need be looked up (τ-bench)."""
    record = real.certificates("TauBench", "get_user_details").tasks["airline_test_16"]
    assert record.certificates[0].kind == "query-grounded"
    assert record.certificates[0].criterion == "judge"
    assert real.calls_of(record) == [("send_certificate", {"user_id": "ethan_martin_2396", "amount": 150})]


def test_a_refuted_mask_is_repaired() -> None:
    """The mask that stands takes a tool from every solution known: from mv's, and from cp's and rm's."""
    record = real.certificates("BFCL", "mv").tasks["multi_turn_base_1"]
    assert record.status == "repaired"
    assert record.mask is not None
    assert record.certificates[-1].mask == record.mask
    assert record.certificates[-1].answer == "infeasible"
    for certificate in record.certificates[:-1]:
        assert certificate.witness is None or set(record.mask) & {
            call.name for call, _ in certificate.witness.calls()
        }


def test_the_repaired_masks_make_an_environment(tmp_path: Path) -> None:
    path = tmp_path / "masks.json"
    repaired(real.manifest("TauBench"), real.certificates("TauBench")).write(path)
    source = make_source(real.suite("TauBench"), "infeasible", masks=path)
    assert len(source.task_ids) == 152 - 14


def test_answers_do_not_depend_on_the_run() -> None:
    task = make_source(real.suite("BFCL"), "clean", subset="multi_turn_base").get("multi_turn_base_1")
    again = certify(real.suite("BFCL"), real.planner("BFCL"), task, frozenset({"mv"}), real.EFFORT)
    assert again == real.certificates("BFCL", "mv").tasks["multi_turn_base_1"]


@pytest.mark.parametrize("states", [0, 1, 7, 100])
def test_a_search_stays_within_its_bound(states: int) -> None:
    task = make_source(real.suite("BFCL"), "clean", subset="multi_turn_base").get("multi_turn_base_31")
    search = Search(real.planner("BFCL"), task.masked(frozenset({"mv"})), Bound(states))
    with pytest.raises(OutOfBound):
        search.solve("judge")
    assert search.states <= states + 1
    bounded = decide(
        real.suite("BFCL"), real.planner("BFCL"), task.masked(frozenset({"mkdir"})), Bound(states)
    )
    assert bounded.states <= states + 1
    assert bounded.answer in ("unknown", "infeasible")


def test_a_search_ends_when_its_time_is_up() -> None:
    """The clock is looked at every 64 calls; the certificate says that it was the time."""
    task = make_source(real.suite("BFCL"), "clean", subset="multi_turn_base").get("multi_turn_base_31")
    masked, asked = task.masked(frozenset({"mv"})), list[int]()

    def is_late() -> bool:
        asked.append(1)
        return len(asked) > 2

    search = Search(real.planner("BFCL"), masked, Bound(5000), is_late)
    with pytest.raises(OutOfBound):
        search.solve("judge")
    assert search.states == 3 * 64
    tau = real.suite("TauBench")
    open_task = (
        make_source(tau, "clean")
        .get("retail_test_67")
        .masked(frozenset(real.manifest("TauBench").masks["retail_test_67"]))
    )
    late = decide(tau, real.planner("TauBench"), open_task, Bound(5000), lambda: True)
    assert (late.answer, late.bound, late.states) == ("unknown", NOT_REACHED, 64)


@pytest.mark.parametrize(
    ("name", "every"), [("BFCL", 25), ("TauBench", 16), ("APIBank", 12), ("Workflows", 15)]
)
def test_no_solution_is_found_where_a_claim_says_there_is_none(name: str, every: int) -> None:
    """For every masked tool alone, in some tasks: the search, told nothing of the claim, finds nothing."""
    source = make_source(real.suite(name), "clean", subset=real.SUBSETS[name])
    planner, contradicted, tried = real.planner(name), [], 0
    for task_id, mask in list(real.manifest(name).masks.items())[::every]:
        for tool in mask:
            task = source.get(task_id).masked(frozenset({tool}))
            claim = next((one for one in planner.claims(task) if not planner.rules.problem(task, one)), None)
            if claim is not None:
                tried += 1
                try:
                    found = Search(planner, task, Bound(200)).solve(CLAIMED_AGAINST[claim.kind])
                except OutOfBound:
                    found = None
                if found is not None:
                    contradicted.append((task_id, tool, claim))
    assert contradicted == []
    assert tried > 10


def test_a_witness_needs_each_of_its_calls() -> None:
    """Without any one of them the checker refuses it; the shortest witness is kept."""
    name = "TauBench"
    made = real.certificates(name, "get_user_details")
    source = make_source(real.suite(name), "clean")
    long = [one.certificates[0] for one in made.tasks.values() if one.was_refuted]
    for certificate in [one for one in long if one.witness is not None and len(one.witness.steps) > 2][:10]:
        assert certificate.witness is not None
        for at in range(len(certificate.witness.steps) - 1):
            steps = certificate.witness.steps
            shorter = replace(certificate.witness, steps=(*steps[:at], *steps[at + 1 :]))
            task = source.get(certificate.task_id)
            assert check(
                real.suite(name), real.planner(name).rules, task, replace(certificate, witness=shorter)
            )


def test_the_bound_on_masks_holds() -> None:
    task = make_source(real.suite("BFCL"), "clean", subset="multi_turn_base").get("multi_turn_base_1")
    record = certify(
        real.suite("BFCL"), real.planner("BFCL"), task, frozenset({"mv"}), Effort(real.EFFORT.search, masks=1)
    )
    assert (record.status, len(record.certificates)) == ("dropped", 1)


def test_the_checker_imports_nothing_that_searches() -> None:
    code = (
        "import sys\n"
        "import toolenv.feasibility.certificates.checker, envs_registry.bfcl.claims, "
        "envs_registry.tau_bench.claims, envs_registry.api_bank.claims, envs_registry.workflows.claims\n"
        "names = ('search', 'certify', 'candidates', 'planning', 'witness', 'hitting', 'repair', 'exhaust')\n"
        "found = [m for m in sys.modules if m.startswith(('toolenv.feasibility', 'envs_registry')) "
        "and m.rpartition('.')[2] in names]\n"
        "print(found)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stdout.strip() == "[]"
