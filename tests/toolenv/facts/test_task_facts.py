"""Facts of tasks, by hand and on the frozen Workflows set."""

from __future__ import annotations

from collections import Counter

import envs_registry
from tests.support.toy import Toy
from toolenv.facts.task_facts import TaskFacts, task_facts
from toolenv.source import make_source


def test_a_suite_that_says_nothing_has_the_solution_s_numbers() -> None:
    facts = {task.id: task_facts(task) for task in Toy().tasks("default")}
    assert facts["pay-7"] == TaskFacts(tools=1, reference_calls=1)
    assert facts["idle"] == TaskFacts(), "its solution calls nothing"
    assert facts["pay-7"] is facts["pay-30"], "kept once"


def test_the_frozen_set_is_split_as_the_paper_s() -> None:
    """docs/workflows.md, The numbers: 378, 358 and 370; 196, 658 and 252 by the paper's buckets."""
    source = make_source(envs_registry.get_suite("Workflows"))
    facts = [task_facts(source.get(task_id)) for task_id in source.task_ids]
    assert Counter(one.workflow for one in facts) == {"sequential": 378, "parallel": 358, "mixture": 370}
    assert len({one.domain for one in facts}) == 7
    tools = Counter(min(max(one.tools or 0, 3), 5) for one in facts)
    assert tools == {3: 26 + 170, 4: 658, 5: 172 + 43 + 19 + 18}


def test_in_a_hazard_condition_the_clean_solution_counts() -> None:
    suite = envs_registry.get_suite("Workflows")
    clean, hazard = make_source(suite), make_source(suite, "execution-failure")
    for task_id in list(hazard.task_ids)[:50]:
        assert task_facts(hazard.get(task_id)) == task_facts(clean.get(task_id))
