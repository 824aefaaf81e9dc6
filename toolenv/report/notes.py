"""What a reader must know beside the numbers of a row, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolenv.feasibility.manifest import FLAGS
from toolenv.metrics.registry import catalogue
from toolenv.metrics.stats import Estimate
from toolenv.report.format import counted, percent, sentence
from toolenv.report.raised_at import raised_at, up_to_raised
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.troubles import trouble_notes
from toolenv.trouble import trouble_of

LINE_CHARACTERS = 300
"""How much of an error's last line a note shows."""

REASONS_SHOWN = 5
"""How many of the reasons why tasks are left out are named."""

AGENT_ERROR_STAYS = (
    " (the agent's own exception, its whole traceback in episodes.jsonl under `error`; --resume does not play"
    " it again: mended, give another --out)"
)

CAPTION = "95% intervals. FCR and false stops are read together. Token costs (TC): infeasible tasks only."

ACCURACY_LEGEND = (
    "Accuracy is above SR where a final message holds the right answer although required steps are missing: "
    "it takes either, SR asks for both (docs/metrics.md, Accuracy and SR)."
)


def caption(rows: Sequence[Row]) -> str:
    """What stands below the tables of metrics; where accuracy is above SR, how the two differ."""
    return f"{CAPTION} {ACCURACY_LEGEND}" if any(is_above(row.metrics) for row in rows) else CAPTION


def is_above(metrics: Mapping[str, Estimate]) -> bool:
    """Whether accuracy is above SR, so that a reader must know how the two differ."""
    return metrics["accuracy"].value > metrics["sr"].value


def notes(rows: Sequence[Row]) -> list[str]:
    """The notes to a table: row by row, then what the flags say of each environment's tasks."""
    measured = [row for row in rows if row.metrics["false_stop_rate"].n]
    paired = {(env, row.agent) for row in measured for env in (row.env, *row.pooled)}
    single = [f"{row.env}, {row.agent}: {text}." for row in rows for text in _row_notes(row, paired)]
    return [*single, *_told_notes(rows), *_flag_notes([row for row in rows if not row.pooled])]


def exclusion_line(env: str, tasks: int, excluded: Mapping[str, int], limit: int | None = None) -> str:
    """How many of a subset's tasks an env has, and why it leaves out the others; empty if all were run.

    Args:
        env: the env id.
        tasks: how many tasks the subset has.
        excluded: how many are left out, by reason.
        limit: how many of its tasks were asked for.
    """
    kept = tasks - sum(excluded.values())
    asked = "" if limit is None or limit >= kept else f", of which {limit:,} were asked for (--limit)"
    if not excluded:
        return f"{env}: {counted(kept, 'task')}{asked}" if asked else ""
    ranked = sorted(excluded.items(), key=lambda one: -one[1])
    reasons = [f"{count:,} × {reason}" for reason, count in ranked[:REASONS_SHOWN]]
    rest = ranked[REASONS_SHOWN:]
    if rest:
        reasons.append(f"{sum(count for _, count in rest):,} for {counted(len(rest), 'other reason')}")
    return f"{env}: {kept:,} of {counted(tasks, 'task')}{asked}; left out: {'; '.join(reasons)}"


def exclusion_lines(headers: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """:func:`exclusion_line` by env id, of the envs of runs that leave out tasks, or of which few were run.

    Args:
        headers: ``run.json`` of each run; those of earlier versions do not tell.
    """
    lines: dict[str, dict[str, None]] = {}
    for header in headers:
        for env, origin in header.get("origins", {}).items():
            counts = {reason: len(ids) for reason, ids in origin.get("excluded", {}).items()}
            limit = header.get("config", {}).get("limit")
            lines.setdefault(env, {})[exclusion_line(env, origin.get("tasks", 0), counts, limit)] = None
    return {env: " / ".join(told) for env, found in lines.items() if (told := [one for one in found if one])}


def _row_notes(row: Row, paired: set[tuple[str, str]]) -> Iterator[str]:
    yield from _withheld(row)
    if row.metrics["fcr_strict"].n and (row.env, row.agent) not in paired:
        yield (
            "the false-stop rate is not measured, and an agent that always stops has an FCR of 0;"
            " run the clean environment too"
        )
    if not row.pooled:
        yield from _invalid(row)
        yield from trouble_notes(row)
        yield from _differing(row)
        yield from _refuted(row)
        yield from _excluded(row)
        yield from _trials(row)


def _told_notes(rows: Sequence[Row]) -> Iterator[str]:
    told = dict.fromkeys(row.agent for row in rows if row.privileged)
    if told:
        yield f"told the truth, and so a reference and no result: {', '.join(told)}."


def _withheld(row: Row) -> Iterator[str]:
    if not row.over_valid:
        return
    metrics = [(catalogue()[name], estimate) for name, estimate in row.over_valid.items() if estimate.n]
    known = "; ".join(f"{metric.title} {sentence(estimate, metric.kind)}" for metric, estimate in metrics)
    over = f"; over the valid ones alone: {known}" if known else ""
    yield (
        f"{row.valid:,} of {counted(row.planned, 'planned episode')} valid (coverage"
        f" {percent(row.coverage)}%); a metric with fewer than 90% of its own has no point estimate,"
        f" and its brackets hold what the missing ones could make of it{over}"
    )


def _invalid(row: Row) -> Iterator[str]:
    """What made episodes invalid: each kind with its number and the last line of one example (FIELD-105)."""
    examples = {one.decided_by: one for one in reversed(row.invalid_episodes)}
    for kind, count in row.invalid_by.items():
        lines = up_to_raised(examples[kind].error).strip().splitlines() if kind in examples else []
        example = f"; {examples[kind].task_id}: {safe_line(lines[-1], LINE_CHARACTERS)}" if lines else ""
        place = raised_at(examples[kind].error) if lines and kind == "agent_error" else ""
        example += f" ({safe_line(place)})" if place else ""
        again = AGENT_ERROR_STAYS if kind == "agent_error" else ""
        yield f"{counted(count, 'episode')} invalid by {ending_text(kind)}{example}{again}"


def ending_text(decided_by: str) -> str:
    """What made episodes invalid, with the name that the table of what went wrong has for it."""
    trouble = trouble_of(decided_by)
    return f"{decided_by} ({trouble})" if trouble == "agent/exception" else decided_by


def _differing(row: Row) -> Iterator[str]:
    if row.differing:
        settings = ", ".join(f"{name} ({'; '.join(values)})" for name, values in row.differing.items())
        yield f"not pooled, because its runs are not alike: they differ in {settings}"


def _refuted(row: Row) -> Iterator[str]:
    if row.refuted.episodes:
        yield (
            f"{counted(row.refuted.episodes, 'infeasible episode')} of {counted(row.refuted.tasks, 'task')}"
            " solved without the masked tools: the label of these is in doubt, and they count as false"
            " continues; toolenv build … --refutations DIR takes such tasks out, or masks less"
        )


def _excluded(row: Row) -> Iterator[str]:
    unassessed = row.metrics["sr"].excluded
    if unassessed:
        yield f"{counted(unassessed, 'episode')} without a criterion that could be assessed: left out of SR"
    for name in ("tc_early_stop", "tc_task_failure"):
        one = row.metrics[name]
        if one.excluded or one.estimated:
            yield (
                f"{catalogue()[name].title} rests on {one.n - one.estimated:,} exact and {one.estimated:,}"
                f" estimated token counts, {one.excluded:,} unknown left out"
            )


def _flag_notes(rows: Sequence[Row]) -> Iterator[str]:
    """A note for each env and flag, with every agent's score on the flagged tasks."""
    for env, flag in dict.fromkeys((row.env, flag) for row in rows for flag in row.flagged):
        members = [row for row in rows if row.env == env and flag in row.flagged]
        tasks = max(row.flagged[flag].tasks for row in members)
        meaning = f" ({FLAGS[flag]})" if flag in FLAGS else ""
        counts = [(row.agent, row.flagged[flag]) for row in members]
        correct = ", ".join(f"{agent} {count.succeeded:,} of {count.episodes:,}" for agent, count in counts)
        yield f"{env}: {counted(tasks, 'task')} flagged {flag}{meaning}; episodes correct: {correct}."


def _trials(row: Row) -> Iterator[str]:
    if row.trials is None:
        return
    most, chances_of = max(row.trials.pass_hat), row.trials.pass_hat
    told = [k for k in chances_of if k == most or k.bit_count() == 1]  # all of them are in --json
    chances = ", ".join(f"pass^{k} {sentence(chances_of[k], 'rate')}" for k in told)
    yield f"share of tasks whose trials disagree {sentence(row.trials.flipping, 'rate')}; {chances}"
