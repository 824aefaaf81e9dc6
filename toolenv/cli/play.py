"""``toolenv play``: be the agent yourself."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, cast

import typer

from toolenv.cli import app
from toolenv.cli.env_ids import OneEnv, env_name
from toolenv.cli.task_options import Subset
from toolenv.env import ToolEnv
from toolenv.report.format import counted
from toolenv.runner.plan import make
from toolenv.transcript import printable, render_conversation
from toolenv.types import NO_TOKENS, Action, Message, Observation, Stop, ToolCall, ToolCalls

HELP = (
    "Type: NAME {json arguments} to call a tool, stop REASON, say TEXT, tools to see their schemas, quit"
    " (or q, Ctrl-D) to leave, or help."
)


@app.command()
def play(
    env: OneEnv,
    task: Annotated[
        str | None, typer.Option(metavar="ID", help="The task; by default --seed draws one.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the episode.")] = 0,
    subset: Subset = None,
) -> None:
    """Play one episode by hand; the verdict is printed at its end.

    Who leaves before is shown what had been called, and there is no verdict.
    """
    made = make(env_name(env), {} if subset is None else {"subset": subset})
    tool_env = cast(ToolEnv, made.unwrapped)
    observation, info = made.reset(seed=seed, options=None if task is None else {"task_id": task})
    typer.echo(HELP)
    shown, done = 0, False
    while not done:
        shown = _show(observation, shown)
        action = _ask(tool_env)
        if action is None:
            _leave(tool_env)
            return
        observation, _, terminated, truncated, info = made.step(action)
        done = terminated or truncated
    _show(observation, shown)
    typer.echo(json.dumps({"task": info["task_id"], **info["verdict"]}, indent=1))


def _show(observation: Observation, shown: int) -> int:
    """Print the messages not shown yet, and return how many there are in all."""
    typer.echo(render_conversation(replace(observation, messages=observation.messages[shown:])))
    return len(observation.messages)


def _leave(env: ToolEnv) -> None:
    played = counted(len(env.trace.steps), "decision")
    typer.echo(f"You left task {env.trace.task_id} after {played}; there is no verdict.")
    for call, result in env.trace.calls():
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        typer.echo(printable(f"  {call.name} {arguments} -> {result.kind}"))


def _ask(env: ToolEnv) -> Action | None:
    """What was typed; ``None`` for leaving."""
    while True:
        try:
            typed = typer.prompt("you", prompt_suffix="> ")
        except (typer.Abort, KeyboardInterrupt):  # Ctrl-D, Ctrl-C
            typer.echo()
            return None
        word, _, rest = typed.strip().partition(" ")
        if word in ("quit", "q") and not rest and word not in {tool.name for tool in env.tools}:
            return None
        if word == "help":
            typer.echo(HELP)
        elif word == "tools":
            for tool in env.tools:
                typer.echo(printable(json.dumps(tool.to_openai()["function"], ensure_ascii=False)))
        elif word == "stop":
            return Stop(rest, usage=NO_TOKENS)
        elif word == "say":
            return Message(rest, usage=NO_TOKENS)
        else:
            call = _call(word, rest)
            if call is not None:
                return ToolCalls((call,), usage=NO_TOKENS)


def _call(name: str, text: str) -> ToolCall | None:
    """The call that was typed; ``None``, with the reason printed, if it is none."""
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        typer.echo(f"Arguments are no JSON: {error}. {HELP}")
        return None
    if not isinstance(arguments, dict):
        typer.echo(f"Arguments are no JSON object: {text}. {HELP}")
        return None
    return ToolCall(name, arguments)
