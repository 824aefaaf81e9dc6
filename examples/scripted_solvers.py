"""From traces to infeasible tasks, by three scripted agents that solve tasks in different ways.

What all their traces share is taken away, and agents are evaluated on what is left. Run as a script this is
done for a few tasks. The agents can be named on a command line too::

    toolenv run ToolFeas/BFCL-clean-v0 --subset multi_turn_base --out runs/clean --agent oracle \
        --agent examples.scripted_solvers:LooksAround --agent examples.scripted_solvers:Repeats
    toolenv build BFCL --subset multi_turn_base --traces runs/clean --out masks.json --sliced --certified
    toolenv run ToolFeas/BFCL-infeasible-v0 --subset multi_turn_base --agent oracle --agent never-stop \
        --masks masks.json --out runs/masked
    toolenv report runs/masked
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from toolenv.agents.oracle import Oracle
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Message, Observation, ToolCall, ToolCalls

LOOKING = ("ls", "pwd", "get_user_details", "list_all_product_types", "displayCarStatus", "get_watchlist")
"""Tools that only look, in the order of preference."""


class LooksAround:
    """Knows the reference solution, and begins with a look."""

    name = "looks-around"

    def brief(self, task: Task) -> tuple[Action, ...]:
        """What it will do."""
        solution = Oracle().brief(task)
        return self.changed(task, solution) if task.label == "feasible" else solution

    def changed(self, task: Task, solution: tuple[Action, ...]) -> tuple[Action, ...]:
        """The solution as this agent plays it."""
        pool = {tool.name for tool in task.tools}
        found = [name for name in LOOKING if name in pool]
        return (ToolCalls((ToolCall(found[0]),)), *solution) if found else solution

    def act(self, observation: Observation, memory: tuple[Action, ...]) -> tuple[Action, tuple[Action, ...]]:
        """The next of its decisions; words when they have run out."""
        return memory[0] if memory else Message("", usage=NO_TOKENS), memory[1:]


class Repeats(LooksAround):
    """Makes a call twice, and one that cannot work."""

    name = "repeats"

    def changed(self, task: Task, solution: tuple[Action, ...]) -> tuple[Action, ...]:
        """The solution as this agent plays it."""
        first = solution[0] if solution else None
        if not isinstance(first, ToolCalls):
            return solution
        wrong = ToolCalls((ToolCall("no_such_tool", {"at": 1}),))
        return (wrong, first, ToolCalls((first.calls[-1],)), *solution[1:])


def toolenv(*arguments: object) -> None:
    """The command, run beside this file so that it finds the agents above."""
    command = [sys.executable, "-c", "from toolenv.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, cwd=Path(__file__).parent, check=True)


def main() -> None:
    """Five tasks of BFCL's multi-turn category."""
    own = [f"{Path(__file__).stem}:{solver.__name__}" for solver in (LooksAround, Repeats)]
    few, base = ("--subset", "multi_turn_base", "--limit", 5), ("--subset", "multi_turn_base")
    with tempfile.TemporaryDirectory() as folder:
        clean, masks, masked = (Path(folder, name) for name in ("clean", "masks.json", "masked"))
        solvers = [one for spec in ("oracle", *own) for one in ("--agent", spec)]
        toolenv("run", "ToolFeas/BFCL-clean-v0", *few, *solvers, "--out", clean)
        toolenv("build", "BFCL", *base, "--traces", clean, "--out", masks, "--sliced", "--certified")
        judged = ("--agent", "oracle", "--agent", "never-stop", "--masks", masks, "--out", masked)
        toolenv("run", "ToolFeas/BFCL-infeasible-v0", *base, *judged)
        toolenv("report", masked)


if __name__ == "__main__":
    main()
