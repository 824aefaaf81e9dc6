"""Dialogues as tasks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from envs_registry.api_bank.reference import DialogueReference
from envs_registry.api_bank.registry import Folder
from envs_registry.api_bank.schemas import load_documents, tool_spec
from envs_registry.api_bank.settings import SEARCHER, Setting, settings
from envs_registry.api_bank.subsets import SIZES, Subset
from envs_registry.api_bank.world import APIBankWorld
from toolenv.errors import DataCorruptError
from toolenv.task import Task, Turn
from toolenv.types import ChatMessage, ToolSpec

YEAR: Final = ChatMessage("system", "The current year is 2023.")
"""Upstream's prompt for levels 1 and 2 says so too: users name days without a year."""

START: Final = frozenset({SEARCHER})


def load_tasks(data: Path, subset: Subset) -> tuple[Task, ...]:
    """The tasks of a subset, in the order of their ids.

    Raises:
        DataMissingError: the data is absent.
        DataCorruptError: the dialogues are not those that are pinned.
    """
    chosen = [one for one in settings(data, subset.level) if one.dialogue.is_closed == subset.closed]
    if len(chosen) != SIZES[subset.level, subset.closed]:
        raise DataCorruptError(
            f"API-Bank {subset.name}: {len(chosen)} dialogues, expected {SIZES[subset.level, subset.closed]}"
        )
    return tuple(_task(setting, subset) for setting in chosen)


def _task(setting: Setting, subset: Subset) -> Task:
    dialogue = setting.dialogue
    first, *later = dialogue.user_texts
    context = () if dialogue.level == 3 else (YEAR,)
    reference = DialogueReference(setting, searches=subset.pool == "search")
    return Task(
        id=dialogue.id + subset.suffix,
        messages=(*context, ChatMessage("user", first)),
        tools=_pool(setting, subset),
        reference=reference,
        turns=tuple(Turn((ChatMessage("user", text),)) for text in later),
        flags=frozenset({"query_grounded"} if _is_grounded(reference) else ()),
        metadata={"level": dialogue.level, "pool": subset.pool, "setting": setting},
    )


def _pool(setting: Setting, subset: Subset) -> tuple[ToolSpec, ...]:
    tools = specs(setting.data, setting.folder)
    if subset.pool == "search":
        return tuple(tools.values())
    used = {call.name for call in setting.dialogue.calls}
    return tuple(
        tool for name, tool in tools.items() if name != SEARCHER and (subset.pool == "all" or name in used)
    )


@cache
def specs(data: Path, folder: Folder) -> Mapping[str, ToolSpec]:
    """The tools of a folder's APIs, by name."""
    return {name: tool_spec(document) for name, document in load_documents(data, folder).items()}


def make_world(task: Task, seed: int) -> APIBankWorld:
    """A fresh world for one episode of a task; its ToolSearcher knows the tools that are not masked."""
    setting: Setting = task.metadata["setting"]
    if task.metadata["pool"] != "search":
        return setting.world(seed)
    offered = frozenset(tool.name for tool in task.tools) - task.mask - START
    return setting.world(seed, found_among=offered, shown=START)


def _is_grounded(reference: DialogueReference) -> bool:
    """Whether all that the needed calls would fetch stands in the user's words."""
    said = "\n".join(reference.setting.dialogue.user_texts).casefold()
    fetched = [list(_texts(call.result["output"])) for call in reference.needed]
    return bool(fetched) and all(
        texts and all(text.casefold() in said for text in texts) for texts in fetched
    )


def _texts(output: object) -> list[str]:
    """The texts and numbers of an output; none in one that only reports success."""
    if isinstance(output, Mapping):
        return [text for value in output.values() for text in _texts(value)]
    if isinstance(output, list):
        return [text for value in output for text in _texts(value)]
    return [] if output in ("success", None) else [str(output)]
