"""``toolenv play``: be the agent yourself."""

from __future__ import annotations

import json
from typing import Annotated, cast

import typer

import envs_registry
from toolenv.cli import app
from toolenv.env import ToolEnv
from toolenv.runner.plan import make
from toolenv.transcript import printable, render_conversation
from toolenv.types import NO_TOKENS, Action, Message, Stop, ToolCall, ToolCalls

HELP = "Type: NAME {json arguments} to call a tool, stop REASON, say TEXT, or tools to see their schemas."


@app.command()
def play(
    env: Annotated[str, typer.Argument(metavar="ENV", help="Environment id; see: toolenv envs")],
    task: Annotated[
        str | None, typer.Option(metavar="ID", help="The task; by default one drawn by --seed.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the episode.")] = 0,
    subset: Annotated[str | None, typer.Option(help="Subset of the suite.")] = None,
) -> None:
    """Play one episode by hand; the verdict is printed at its end."""
    envs_registry.parse_env_id(env)
    made = make(env, {} if subset is None else {"subset": subset})
    tool_env = cast(ToolEnv, made.unwrapped)
    observation, _ = made.reset(seed=seed, options=None if task is None else {"task_id": task})
    done, shown = False, 0
    while not done:
        typer.echo(
            render_conversation(
                type(observation)(observation.messages[shown:], observation.tools, observation.turns_left)
            )
        )
        shown = len(observation.messages)
        observation, _, terminated, truncated, info = made.step(_ask(tool_env))
        done = terminated or truncated
    typer.echo(json.dumps({"task": info["task_id"], **info["verdict"]}, indent=1))


def _ask(env: ToolEnv) -> Action:
    while True:
        line = typer.prompt("you", prompt_suffix="> ").strip()
        word, _, rest = line.partition(" ")
        if word == "tools":
            for tool in env.tools:
                typer.echo(printable(json.dumps(tool.to_openai()["function"], ensure_ascii=False)))
        elif word == "stop":
            return Stop(rest, usage=NO_TOKENS)
        elif word == "say":
            return Message(rest, usage=NO_TOKENS)
        else:
            try:
                arguments = json.loads(rest or "{}")
            except ValueError as error:
                typer.echo(f"Arguments are no JSON: {error}. {HELP}")
                continue
            return ToolCalls((ToolCall(word, arguments),), usage=NO_TOKENS)
