"""Is an environment what it claims to be? Solvable where it says so, and silent about the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolenv.env import ToolEnv
from toolenv.errors import ToolFault
from toolenv.hazards import exposure, hint
from toolenv.hazards.manifest import as_shipped
from toolenv.kernel.protocol import Slot, shown_tools
from toolenv.policy import Policy
from toolenv.rollout import rollout
from toolenv.source import DRAWN, TaskSource
from toolenv.suite import Answering, Questionable
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import ChatMessage, Message, Observation, ToolCall, ToolCalls

UNKNOWN_NAME = "a_tool_that_never_was"
SEEDS_TRIED = 64
"""Where the seed decides whether a task is infeasible, this many are tried to see both its forms."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a task is not what it claims to be.

    Attributes:
        task_id: the task.
        check: ``oracle``, ``do-nothing``, ``leak``, ``hazard``, or ``data`` for the data set's own.
        problem: what was found.
        is_warning: whether the environment is sound all the same: a data set that disagrees with itself.
    """

    task_id: str
    check: str
    problem: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Validation:
    """What a validation looked at, and what it found.

    Attributes:
        tasks: how many tasks were checked.
        flagged: how many carry each flag. A flagged task may fail the check its flag is about; if it
            passes, the flag is wrong, which is a finding too.
        findings: empty if the environment is sound.
        warnings: how the data set disagrees with itself (FIELD-063, FIELD-114).
    """

    tasks: int
    flagged: Counter[str]
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()


def validate_source(source: TaskSource, oracle: Policy, noop: Policy) -> Iterator[tuple[Task, list[Finding]]]:
    """Check every task of a source in each of its forms, one at a time.

    Args:
        source: the tasks and their kernels.
        oracle: plays reference solutions, and stops where a task is infeasible.
        noop: does nothing.
    """
    env = ToolEnv(source)
    for task_id in source.task_ids:
        problems = _check_data(source, task_id)
        for seed in _seeds(source, task_id):
            task = source.get(task_id, seed)
            problems += _check_oracle(env, oracle, task, seed)
            problems += _check_noop(env, noop, task, seed)
            try:
                problems += _check_leaks(env, source, task, seed)
            except ToolFault as fault:  # there is no world
                problems.append(Finding(task.id, "oracle", str(fault)))
                continue
            if task_id in source.hazards and task.label == "feasible":
                problems += _check_hazard(env, source, oracle, task, seed)
        yield task, problems


def summarise(results: Iterable[tuple[Task, list[Finding]]]) -> Validation:
    """Collect what :func:`validate_source` yields."""
    tasks, flagged, findings = 0, Counter[str](), list[Finding]()
    for task, problems in results:
        tasks += 1
        flagged.update(task.flags)
        findings += problems
    return Validation(
        tasks,
        flagged,
        findings=tuple(one for one in findings if not one.is_warning),
        warnings=tuple(one for one in findings if one.is_warning),
    )


def _check_data(source: TaskSource, task_id: str) -> list[Finding]:
    """What the suite itself finds odd about a task."""
    if not isinstance(source.suite, Questionable):
        return []
    lines = source.suite.warnings(as_shipped(source.get(task_id)))
    return [Finding(task_id, "data", line, is_warning=True) for line in lines]


def _seeds(source: TaskSource, task_id: str) -> Iterable[int]:
    """A seed for each form of a task: feasible and infeasible where it is drawn, the only one elsewhere."""
    tried = range(SEEDS_TRIED) if source.condition in DRAWN else (0,)
    return {source.get(task_id, seed).label: seed for seed in tried}.values()


def _check_oracle(env: ToolEnv, oracle: Policy, task: Task, seed: int) -> Iterator[Finding]:
    """The reference solution succeeds where the task is feasible, and a stop is right where it is not."""
    if "no_reference" in task.flags:
        return
    episode = rollout(env, oracle, seed=seed, task_id=task.id).episode
    if task.label == "infeasible":
        right, hopeless = episode.decision == "infeasible", False
    else:
        right, hopeless = episode.success is True, "can_never_pass" in task.flags
    if hopeless and right:
        yield Finding(task.id, "oracle", "flagged can_never_pass, but the reference solution passes")
    elif not episode.valid or not (right or hopeless):
        decided = f"decided by {episode.decided_by}, success {episode.success}"
        yield Finding(task.id, "oracle", episode.error or decided)


def _check_noop(env: ToolEnv, noop: Policy, task: Task, seed: int) -> Iterator[Finding]:
    """Doing nothing is no success, unless the task is flagged for it."""
    if task.label == "infeasible":
        return
    passes = rollout(env, noop, seed=seed, task_id=task.id).episode.success is True
    if passes and "do_nothing_passes" not in task.flags:
        yield Finding(task.id, "do-nothing", "an agent that does nothing succeeds, and no flag says so")
    if not passes and "do_nothing_passes" in task.flags:
        yield Finding(task.id, "do-nothing", "flagged do_nothing_passes, but doing nothing fails")


def _check_leaks(env: ToolEnv, source: TaskSource, task: Task, seed: int) -> Iterator[Finding]:
    """Nothing an agent is shown depends on the label, but for the tools that are gone."""
    observation, info = env.reset(seed=seed, options={"task_id": task.id})
    if info:
        yield Finding(task.id, "leak", f"reset() tells {sorted(info)}")
    kernel = source.kernel(task)
    # Under a hazard the documentation may be outdated on purpose.
    offered = kernel.tools() if task.id in source.hazards else task.offered()
    shown = shown_tools(kernel.start(seed), offered)
    opening = () if source.user is None else (ChatMessage("user", env.trace.opening),)
    expected = Observation((*task.messages, *opening), shown, source.max_turns)
    if observation != expected:
        yield Finding(
            task.id, "leak", "the first observation is not the task's messages and the tools offered"
        )
    if source.max_turns > 1:
        *_, info = env.step(ToolCalls((ToolCall(UNKNOWN_NAME),)))
        if info:
            yield Finding(task.id, "leak", f"step() tells {sorted(info)}")
    if task.mask:
        yield from _check_masked_answers(source, task, seed)


def _check_hazard(
    env: ToolEnv, source: TaskSource, oracle: Policy, task: Task, seed: int
) -> Iterator[Finding]:
    """The hazard strikes on the recovery path, the clean path still works, and neither name nor answer leaks.

    That the recovery path reaches the reference is what the oracle's check says: there it plays the witness.
    """
    instance = source.hazards[task.id]
    recovered = rollout(env, oracle, seed=seed, task_id=task.id).trace
    if "no_reference" not in task.flags:
        yield from _check_paths(source, oracle, task, recovered, seed)
    shown = " ".join(result.text for _, result in recovered.calls())
    advice = hint(task, instance)
    for word in (instance.hazard, advice):
        if word in shown:
            yield Finding(task.id, "leak", f"a result holds {word!r}")
    told = {word for word in _closing_words(recovered) if any(map(str.isdigit, word))}
    for word in sorted(told & set(_words(advice))):
        yield Finding(task.id, "leak", f"the hint holds {word!r}, as the answer does")
    if isinstance(source.suite, Answering):
        yield from _check_answer(source.suite, env, task, recovered, advice)


def _check_paths(
    source: TaskSource, oracle: Policy, task: Task, recovered: Trace, seed: int
) -> Iterator[Finding]:
    """The recovery path meets the hazard, and the clean path works without it."""
    if not exposure(recovered).seen:
        yield Finding(task.id, "hazard", "the recovery path never meets the hazard")
    clean = TaskSource(source.suite, "clean", {task.id: as_shipped(task)}, {}, 0.0, source.max_turns)
    if rollout(ToolEnv(clean), oracle, seed=seed, task_id=task.id).episode.success is not True:
        yield Finding(task.id, "hazard", "the reference solution fails without the hazard")


def _check_answer(
    suite: Answering, env: ToolEnv, task: Task, recovered: Trace, advice: str
) -> Iterator[Finding]:
    """Nothing but a result holds the answer (paper 2, appendix: answer-leakage check).

    Failures are searched, too, unless the call that failed was made with the answer.
    """
    failures = recovered.calls("tool_error", "invalid_arguments")
    untold = (one for call, one in failures if not suite.leaked_answer(task, str(call.arguments)))
    texts = {
        "the request": " ".join(message.content for message in task.messages),
        "the hint": advice,
        "a failure": " ".join(result.text for result in untold),
        **{f"the documentation of {tool.name}": str(tool.to_openai()) for tool in env.tools},
    }
    for place, text in texts.items():
        if form := suite.leaked_answer(task, text):
            yield Finding(task.id, "leak", f"{place} holds the answer, as {form!r}")


def _closing_words(trace: Trace) -> list[str]:
    last = trace.steps[-1].action if trace.steps else None
    return _words(last.text) if isinstance(last, Message) else []


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'()") for word in text.casefold().split()]


def _check_masked_answers(source: TaskSource, task: Task, seed: int) -> Iterator[Finding]:
    """A masked tool answers as one that never was, under each of its names and in every user turn."""
    kernel = source.kernel(task)
    world = kernel.start(seed)
    masked = {alias for tool in task.tools if tool.name in task.mask for alias in (tool.name, tool.wire_name)}
    for turn in range(len(task.turns) + 1):
        never = kernel.call(world, ToolCall(UNKNOWN_NAME), Slot(0, turn)).content
        offered = {alias for tool in kernel.tools(turn) for alias in (tool.name, tool.wire_name)}
        for name in sorted(masked - {""}):
            if name in offered:
                yield Finding(task.id, "leak", f"the masked tool {name!r} is offered")
            answer = kernel.call(world, ToolCall(name), Slot(0, turn))
            if answer.content != never.replace(UNKNOWN_NAME, name) or answer.kind != "masked_tool":
                problem = f"the masked tool {name!r} answers ({answer.kind}): {answer.content[:200]}"
                yield Finding(task.id, "leak", problem)
