"""Models that run in this process have no replies of a server, which is what ``--cache`` keeps."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from toolenv.deliberation import leaves
from toolenv.errors import UsageError
from toolenv.policy import Batched, Continuous, Policy
from toolenv.report.safe import safe_line
from toolenv.source import TaskSource
from toolenv.suite import only_computes


def check_cache(policy: Policy, sources: Iterable[TaskSource]) -> None:
    """Refuse a response cache in which nothing would ever be kept; say so of parts that it does not cover.

    Args:
        policy: who decides.
        sources: of the run's environments, whose simulated users and tools may ask servers, too.

    Raises:
        UsageError: all of the policy runs in this process, and no environment asks a server.
    """
    parts = list(leaves(policy))
    local = [one for one in parts if isinstance(one, Batched | Continuous)]
    names = " and ".join(dict.fromkeys(safe_line(one.name, 200) for one in local))
    if local and len(local) == len(parts) and all(map(_asks_nobody, sources)):
        raise UsageError(
            f"--cache keeps replies of servers, and {names} runs in this process: nothing would be kept, and "
            "a run made again would cost all again; leave --cache out, or serve the model and take chat:MODEL"
        )
    if local:
        typer.echo(f"toolenv: --cache keeps nothing of {names}, which runs in this process", err=True)


def _asks_nobody(source: TaskSource) -> bool:
    return only_computes(source.suite) and not hasattr(source.user, "preflight")
