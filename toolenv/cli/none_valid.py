"""What helps where no episode of an agent is valid: to go on alone rarely does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from toolenv.report.format import counted
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line

AGAIN = "give another --out (--resume does not play them again)"
HELP: Mapping[str, str] = {
    "agent_error": f"the policy raised an exception: mend it, then {AGAIN}",
    "environment_error": (
        "the environment failed, or the process that played it died: see what went wrong, and toolenv"
        f" validate ENV, then {AGAIN}"
    ),
    "grader_error": f"the judgement failed: see toolenv validate ENV, then {AGAIN}",
    "server_error": "a server failed: mend what it says, then --resume plays them again",
    "deadline": "their time ran out: --resume with a longer --deadline plays them again",
}
"""What helps against each kind of invalid episode."""


def none_valid(rows: Sequence[Row], arms: Mapping[str, Counter[str]]) -> list[str]:
    """A line for each agent of which no episode is valid: why, and what helps.

    Args:
        rows: of a table; a run is all rows of one agent.
        arms: the arms without a valid episode by their agent's name: invalid episodes by kind.
    """
    agents = dict.fromkeys(row.agent for row in rows)
    without = {one: _invalid(rows, one) for one in agents if not _valid(rows, one)}
    every = {**without, **arms}.items()
    return [f"no episode of {safe_line(name)} is valid{_why(met)}" for name, met in every]


def _valid(rows: Iterable[Row], agent: str) -> int:
    return sum(row.valid for row in rows if row.agent == agent)


def _invalid(rows: Iterable[Row], agent: str) -> Counter[str]:
    met = Counter[str]()
    for row in rows:
        if row.agent == agent and not row.pooled:
            met.update(row.invalid_by)
    return met


def _why(met: Counter[str]) -> str:
    told = [f"{counted(number, 'time')} {HELP.get(kind, kind)}" for kind, number in met.most_common()]
    return f": {'; '.join(told)}" if told else ""
