"""SoPR, the data set's own measure: a language model says whether an answer solves its query.

The logic is upstream's (StableToolEval). An episode that did not end with words for the user, or ended with a
refusal to go on, is unsolved without asking. Otherwise the judge reads the query and the final answer; where
that leaves it unsure, it reads the calls and their results as well. Solved counts 1, unsure 0.5, unsolved 0;
an episode is judged several times and the mean taken. Upstream takes all queries as solvable, so the rate is
over all episodes.

It is no reward: it needs a model, costs money, and is as good as its judge. It runs on stored episodes::

    python -m envs_registry.stable_tool_bench sopr RUN_DIRECTORY --model MODEL --base-url URL

An answer or a tool's result that tells the judge what to say is data to it, see
:mod:`envs_registry.stable_tool_bench.model_server` (FIELD-070).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from envs_registry.stable_tool_bench import sopr_prompts
from envs_registry.stable_tool_bench.model_server import ModelServer
from toolenv.errors import ServerError, UsageError
from toolenv.judge import decide
from toolenv.metrics.stats import Estimate, no_data, wilson_of_mean
from toolenv.rollout import Rollout
from toolenv.trace import Trace
from toolenv.types import Message

Status: TypeAlias = Literal["solved", "unsure", "unsolved"]
Stage: TypeAlias = Literal["rule", "answer", "trace"]

WORTH: Mapping[Status, float] = {"solved": 1.0, "unsure": 0.5, "unsolved": 0.0}
REPEATS = 4
"""How often an episode is judged, as upstream's default."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One judgement of one episode.

    Attributes:
        status: what was found.
        stage: what it was found from: a ``rule`` without the judge, the ``answer``, or the whole ``trace``.
        reason: why, in the judge's words or ours.
    """

    status: Status
    stage: Stage
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """All judgements of one episode.

    Attributes:
        rollout: the episode.
        opinions: one a repeat; one in all where no judge was asked; empty if the judge failed.
        error: how the judge failed.
    """

    rollout: Rollout
    opinions: tuple[Opinion, ...]
    error: str = ""

    @property
    def score(self) -> float | None:
        """The mean worth of the opinions; ``None`` if the judge failed: that is no outcome."""
        if not self.opinions:
            return None
        return sum(WORTH[one.status] for one in self.opinions) / len(self.opinions)


class SoprJudge:
    """Judges episodes with a model; may be shared by threads.

    Args:
        server: the judge. At a temperature of 0 repeats agree, unless the server is not deterministic.
        repeats: how often an episode is judged.
    """

    def __init__(self, server: ModelServer, repeats: int = REPEATS) -> None:
        if repeats < 1:
            raise UsageError(f"repeats={repeats!r}: give at least 1")
        self.server, self.repeats = server, repeats

    def opinions(self, query: str, trace: Trace) -> tuple[Opinion, ...]:
        """What is found of an episode.

        Raises:
            ServerError: the judge gave no verdict.
        """
        settled = settled_by_rule(trace)
        if settled is not None:
            return (settled,)
        return tuple(self._ask(query, trace, seed) for seed in range(self.repeats))

    def _ask(self, query: str, trace: Trace, seed: int) -> Opinion:
        opinion = self._stage("answer", sopr_prompts.answer_data(query, trace), seed)
        if opinion.status != "unsure":
            return opinion
        if all_calls_failed(trace):
            return Opinion("unsolved", "rule", "every tool call failed")
        return self._stage("trace", sopr_prompts.trace_data(query, trace), seed)

    def _stage(self, stage: Literal["answer", "trace"], data: Mapping[str, Any], seed: int) -> Opinion:
        question = sopr_prompts.QUESTIONS[stage]
        # Each repeat has seeds of its own, those of its further attempts included.
        first = seed * self.server.attempts
        found = self.server.ask(question, data, sopr_prompts.SCHEMA, name="verdict", seed=first)
        return Opinion(found["status"], stage, found["reason"])


def settled_by_rule(trace: Trace) -> Opinion | None:
    """The verdict that needs no judge: no final answer, or one that gives up."""
    last = trace.steps[-1].action if trace.steps else None
    if trace.ending != "message" or not isinstance(last, Message):
        return Opinion("unsolved", "rule", f"no final answer: the episode ended by {trace.ending}")
    if not last.text.strip():
        return Opinion("unsolved", "rule", "the final answer is empty")
    if decide(trace).strict == "infeasible":
        return Opinion("unsolved", "rule", "the agent gave up")
    return None


def all_calls_failed(trace: Trace) -> bool:
    """Whether calls were made and none of them got an answer."""
    return bool(trace.calls()) and not trace.calls("ok")


def judge_all(
    rollouts: Iterable[Rollout], query_of: Callable[[str], str], judge: SoprJudge, *, concurrency: int = 1
) -> Iterator[Judged]:
    """Judge the valid episodes on feasible tasks, in their order; others are left out.

    Args:
        rollouts: stored episodes.
        query_of: the query of a task id.
        judge: asked about each.
        concurrency: how many episodes are judged at once.
    """

    def judged(one: Rollout) -> Judged:
        try:
            return Judged(one, judge.opinions(query_of(one.trace.task_id), one.trace))
        except ServerError as error:
            return Judged(one, (), str(error))

    wanted = [one for one in rollouts if one.episode.valid and one.episode.label == "feasible"]
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        yield from pool.map(judged, wanted)


def sopr(judged: Sequence[Judged]) -> Estimate:
    """Solvable pass rate: the mean score of judged episodes, those on which the judge failed left out.

    Several trials of one task count as one observation in the interval, as in the engine's rates.
    """
    scores = [(one.rollout.episode, one.score) for one in judged]
    known = [(episode, score) for episode, score in scores if score is not None]
    excluded = len(scores) - len(known)
    if not known:
        return no_data(excluded)
    tasks = len({(episode.env, episode.task_id) for episode, _ in known})
    mean = sum(score for _, score in known) / len(known)
    spread = wilson_of_mean(mean * tasks, tasks)
    method = "wilson" if tasks == len(known) else "wilson over tasks"
    return replace(spread, value=mean, n=len(known), method=method, excluded=excluded)
