"""Answer leakage (paper 2, appendix): whether what an agent is given at the start holds the answer."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from functools import cache

from envs_registry.workflows.answers import MONTHS, Answer, fold
from envs_registry.workflows.toolbox import get_toolbox

_NO_LETTER = re.compile(r"[\W_]+")


def leaks(answer: Answer, said: str, subtopic: str, pool: Iterable[str]) -> bool:
    """Whether any form of an answer stands in what is said or in the documentation of the tools on offer."""
    squeezed, documented = squeeze(said), squeezed_tools(subtopic)
    forms = leaked_forms(answer)
    return any(form in squeezed for form in forms) or any(
        form in documented[name] for name in pool for form in forms
    )


def squeeze(text: str) -> str:
    """Letters and digits alone, in lower case: the paper's normalisation."""
    return _NO_LETTER.sub("", fold(text))


def leaked_forms(answer: Answer) -> tuple[str, ...]:
    """Squeezed forms of an answer that no text an agent is given may hold before it has called a tool."""
    if answer.kind == "date":
        day = datetime.date.fromisoformat(answer.value)
        month = MONTHS[day.month - 1]
        forms = [answer.value, f"{day.day}{month}{day.year}", f"{month}{day.day}{day.year}"]
        return tuple(map(squeeze, [*forms, *(form.replace(month, month[:3]) for form in forms[1:])]))
    if answer.kind == "number":
        return tuple(dict.fromkeys((squeeze(answer.text), squeeze(f"{answer.value:.2f}"))))
    return (squeeze(answer.text),)


@cache
def squeezed_tools(subtopic: str) -> Mapping[str, str]:
    """What agents are told about each tool of a world, squeezed."""
    tools = get_toolbox(subtopic).tools
    return {
        name: squeeze(f"{name} {tool.spec.description} {tool.spec.parameters}")
        for name, tool in tools.items()
    }
