"""A sample's texts for people. Tasks and tools come from outside: nothing of theirs is obeyed, only shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from toolenv.feasibility.annotation.answers import MEANING, QUESTION, Answer
from toolenv.feasibility.annotation.sample import Item, SampledTurn
from toolenv.json_values import mend_surrogates
from toolenv.transcript import printable
from toolenv.types import ToolSpec


def inert(text: str) -> str:
    """``text`` without anything a terminal or a browser would obey; markup is left to the page's escaping."""
    return printable(mend_surrogates(text))


def signature(tool: ToolSpec) -> str:
    """``name(required, [optional])``."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    needed = set(map(str, required)) if isinstance(required, Sequence) else set()
    names = list(map(str, properties)) if isinstance(properties, Mapping) else []
    return f"{tool.name}({', '.join(name if name in needed else f'[{name}]' for name in names)})"


def schema_text(tool: ToolSpec) -> str:
    """The schema of a tool's arguments, a line each."""
    return json.dumps(dict(tool.parameters), indent=1, ensure_ascii=False)


def item_text(item: Item, place: str, said_before: Mapping[str, Answer]) -> str:
    """An item for a terminal, safe to print. Lines of the task's own begin with a bar: none can pose as ours.

    Args:
        item: the task.
        place: where in the sample it stands.
        said_before: in an adjudication, the annotators' answers by name.
    """
    lines = [f"== {place}: {_barred(item.id)}"]
    for number, turn in enumerate(item.turns, 1):
        lines += _turn_lines(number, turn)
    lines += ["", f"MASKED ({len(item.masked)})", *_tool_lines(item.masked)]
    lines += ["", f"REMAINING ({len(item.remaining)})", *_tool_lines(item.remaining)]
    lines += ["", QUESTION, *(f"  {choice}: {meaning}" for choice, meaning in MEANING.items())]
    lines += [f"{name} said {answer.choice}: {_barred(answer.note)}" for name, answer in said_before.items()]
    return "\n".join(lines)


def _turn_lines(number: int, turn: SampledTurn) -> list[str]:
    added = [f"offered from here on: {_barred(', '.join(turn.adds))}"] if turn.adds else []
    return ["", f"TURN {number}", *added, *(_barred(f"[{said.role}] {said.text}") for said in turn.said)]


def _tool_lines(tools: Sequence[ToolSpec]) -> list[str]:
    return [_barred(f"{signature(tool)}: {tool.description}") for tool in tools]


def _barred(text: str) -> str:
    return "| " + inert(text).replace("\n", "\n| ")


def schemas_text(tools: Sequence[ToolSpec]) -> str:
    """The schemas of tools for a terminal, safe to print."""
    return "\n".join(
        _barred(f"{tool.name}: {json.dumps(dict(tool.parameters), ensure_ascii=False)}") for tool in tools
    )
