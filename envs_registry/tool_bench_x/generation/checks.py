"""The automatic checks of paper 2's appendix: clean path, recovery path, answer leakage.

Each runs the model's code in the sandbox, as an environment will, in a fresh process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from envs_registry.tool_bench_x.answers import answer_of, leaked_form
from envs_registry.tool_bench_x.compartment import Compartment, Module, StoppedToolError
from envs_registry.tool_bench_x.generation.reasons import Rejected
from envs_registry.tool_bench_x.generation.shape import shape_of
from envs_registry.tool_bench_x.generation.values import is_told, values_in, values_of
from envs_registry.tool_bench_x.injection import clean_module, perturbed_module
from envs_registry.tool_bench_x.layout import Call
from envs_registry.tool_bench_x.reading import Outline, OutlineReader
from envs_registry.tool_bench_x.world import error_text, shown_text
from toolenv.errors import ToolFault
from toolenv.sandbox import MEBIBYTE, Limits, Raised, Returned

OTHER_HASH_SEED = 1
LIMITS = Limits(seconds=5.0, memory=256 * MEBIBYTE, network="kill")
"""Code that nobody has looked at yet: whoever reaches for the network is killed, and the candidate says
so."""


class CleanPath(NamedTuple):
    """What a clean path gave.

    Attributes:
        module: the clean tools.
        outline: what they say of themselves.
        outcomes: one per call.
    """

    module: Module
    outline: Outline
    outcomes: tuple[Returned | Raised, ...]


def check_clean(
    source: str, name: str, request: str, tools: Sequence[str], calls: Sequence[Call], answer: str
) -> CleanPath:
    """Run the reference path, twice, and look at what it gives.

    Raises:
        Rejected: with the reason.
    """
    with OutlineReader() as reader:
        outline = reader.read(source)
    if outline.problem:
        raise Rejected("tools-do-not-load", outline.problem)
    _check_tools(outline, tools, calls)
    module = replace(clean_module(source, name, request), limits=LIMITS)
    outcomes = play(module, calls, "tools-do-not-load")
    for call, outcome in zip(calls, outcomes, strict=True):
        if isinstance(outcome, Raised):
            raise Rejected("clean-path", f"{call.tool}: {error_text(outcome)}")
    if not _holds(outcomes[-1], answer):
        raise Rejected("clean-path", f"the last result does not hold the answer {answer!r}")
    if play(replace(module, hash_seed=OTHER_HASH_SEED), calls, "tools-do-not-load") != outcomes:
        raise Rejected("not-deterministic", "the clean path gives other results in another process")
    return CleanPath(module, outline, outcomes)


def check_workflow(workflow: str, calls: Sequence[Call], path: CleanPath, request: str) -> None:
    """The calls depend on each other as the workflow says.

    Raises:
        Rejected: they do not.
    """
    found = shape_of(calls, [one.value for one in path.outcomes if isinstance(one, Returned)], request)
    if found != workflow:
        raise Rejected("workflow", f"the calls are {found}, not {workflow}")


def check_perturbed(
    source: str, name: str, request: str, clean: CleanPath, calls: Sequence[Call], tools: Sequence[str]
) -> tuple[Module, str]:
    """The perturbed tools load, are documented as before, and disturb the clean path, the same way each time.

    Args:
        source, name, request: of the module.
        clean: the clean path.
        calls: the clean path's calls.
        tools: all tools on offer.

    Returns:
        The module, and the first tool of the path that behaves otherwise.

    Raises:
        Rejected: with the reason.
    """
    with OutlineReader() as reader:
        outline = reader.read(source)
    if outline.problem:
        raise Rejected("perturbed-do-not-load", outline.problem)
    for tool in tools:
        if outline.functions.get(tool) != clean.outline.functions[tool]:
            raise Rejected("hazard-redocuments", f"{tool} has another signature or docstring")
    module = replace(perturbed_module(source, name, request), limits=LIMITS)
    outcomes = play(module, calls, "perturbed-do-not-load")
    if outcomes == clean.outcomes:
        raise Rejected("hazard-harmless", "the clean path meets nothing unusual")
    if play(replace(module, hash_seed=OTHER_HASH_SEED), calls, "perturbed-do-not-load") != outcomes:
        raise Rejected("not-deterministic", "the perturbed tools give other results in another process")
    pairs = zip(calls, outcomes, clean.outcomes, strict=True)
    return module, next(call.tool for call, outcome, before in pairs if outcome != before)


def check_recovery(
    module: Module, clean: CleanPath, calls: Sequence[Call], tools: Sequence[str], request: str, answer: str
) -> tuple[str, ...]:
    """The recovery path meets the hazard and ends in a result that holds the answer.

    What the clean path takes from a result, it too must have been told, in whatever form: a path that knows
    better is none.

    Returns:
        The texts of its failures, which an agent may see.

    Raises:
        Rejected: with the reason.
    """
    if not calls:
        raise Rejected("recovery-path", "there is none")
    for call in calls:
        if call.tool not in tools:
            raise Rejected("recovery-path", f"it calls {call.tool!r}, which is no tool")
    outcomes = play(module, calls, "perturbed-do-not-load")
    if outcomes == play(clean.module, calls, "tools-do-not-load"):
        raise Rejected("recovery-path", "it never meets the hazard")
    if not _holds(outcomes[-1], answer):
        raise Rejected("recovery-path", f"its last result does not hold the answer {answer!r}")
    _check_told(calls, outcomes, clean, request)
    return tuple(error_text(one) for one in outcomes if isinstance(one, Raised))


def check_leakage(
    answer: str, request: str, outline: Outline, tools: Sequence[str], failures: Iterable[str], hint: str
) -> None:
    """Nothing that an agent is given beside results holds the answer, exact or normalised.

    Raises:
        Rejected: something does.
    """
    places = {
        "the request": request,
        **{f"the documentation of {tool}": f"{tool} {outline.functions[tool]}" for tool in tools},
        "a failure": " ".join(failures),
        "the hint": hint,
    }
    for place, text in places.items():
        if form := leaked_form(answer, text):
            raise Rejected("leak", f"{place} holds {form!r}")


def play(module: Module, calls: Sequence[Call], unloadable: str) -> tuple[Returned | Raised, ...]:
    """The outcomes of calls in a fresh process.

    Args:
        module: the tools.
        calls: the calls.
        unloadable: the reason to reject a module that does not load.

    Raises:
        Rejected: the module does not load, returns no JSON, or had to be stopped.
    """
    compartment = Compartment(module)
    try:
        return tuple(compartment.call(call.tool, call.arguments) for call in calls)
    except StoppedToolError as error:
        raise Rejected(f"stopped-{error.stopped.cause}", str(error)) from error
    except ToolFault as error:
        raise Rejected(unloadable, str(error)) from error
    finally:
        compartment.close()


def _check_told(
    calls: Sequence[Call], outcomes: Sequence[Returned | Raised], clean: CleanPath, request: str
) -> None:
    results = [one.value for one in clean.outcomes if isinstance(one, Returned)]
    known = values_in(request)
    fed = values_of(results) - known
    for call, outcome in zip(calls, outcomes, strict=True):
        for value in sorted(values_of(dict(call.arguments)) & fed):
            if not is_told(value, known):
                raise Rejected(
                    "recovery-path", f"{call.tool} is given {value!r}, which no tool has told by then"
                )
        known |= values_in(shown_text(outcome))


def _check_tools(outline: Outline, tools: Sequence[str], calls: Sequence[Call]) -> None:
    absent = [tool for tool in tools if tool not in outline.functions]
    if absent:
        raise Rejected("tools-missing", f"the module has no {', '.join(absent)}")
    strangers = [call.tool for call in calls if call.tool not in tools]
    if strangers:
        raise Rejected("clean-path", f"it calls {strangers[0]!r}, which is no tool of the task")


def _holds(outcome: Returned | Raised, answer: str) -> bool:
    shown: Any = outcome
    return isinstance(outcome, Returned) and answer_of(answer).is_in(shown_text(shown))
