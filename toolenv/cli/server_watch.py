"""Ends a run whose server fails every episode, and says whether going on alone can help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from toolenv.cli.stopped import GO_ON, MENDED, ServerLost
from toolenv.episode import Episode
from toolenv.report.format import counted
from toolenv.report.safe import safe_line
from toolenv.rollout import Rollout
from toolenv.runner.store import RunStore
from toolenv.trouble import LASTING, TROUBLES

FEWEST_FAILURES = 8
"""A run goes on at least until so many episodes in a row have met a failed server."""


def while_server_answers(episodes: Iterable[Rollout], store: RunStore, concurrency: int) -> Iterator[Rollout]:
    """The episodes; stops behind too many in a row that met a failed server.

    Raises:
        ServerLost: 8 in a row, or twice as many as run at a time if that is more.
    """
    most, answered = max(FEWEST_FAILURES, 2 * concurrency), bool(store.done)
    failed, met = list[Episode](), Counter[str]()
    for one in episodes:
        yield one
        met.update(dict(one.episode.trouble.failed_requests))
        answered = answered or one.episode.valid
        failed = [*failed, one.episode] if one.trace.ending == "server_error" else []
        if len(failed) == most:
            raise _lost(failed, met, store, answered)


def _lost(failed: Sequence[Episode], met: Counter[str], store: RunStore, answered: bool) -> ServerLost:
    counts = "".join(f", {number:,} × {name}" for name, number in met.most_common())
    what, how = _way_on({one.trouble.name for one in failed}, answered)
    return ServerLost(
        f"stopped: {len(failed)} episodes in a row met a failed server"
        f" ({safe_line(failed[-1].error, 300)}{counts}); {counted(len(store.done), 'episode')}"
        f" stored in {store.folder}; {what}",
        how,
    )


def _way_on(troubles: set[str], answered: bool) -> tuple[str, str]:
    """What is said of going on, and the words before the command.

    Args:
        troubles: what ended the episodes.
        answered: whether any before them was valid.
    """
    if troubles <= LASTING:
        meanings = ", ".join(f"{name}: {TROUBLES[name]}" for name in sorted(troubles))
        return f"the same requests would fail again ({meanings}): change what is asked, or of whom", MENDED
    if not answered:
        return "no episode before got an answer either: --resume alone would only repeat that", MENDED
    return "--resume goes on, and runs again those that failed", GO_ON
