"""Whether a reply is the one to the request that was made: proxies and servers have mixed them up.

Two things tell. Every request bears an id of its own, which some servers (vLLM) and gateways repeat in the
reply's id or headers: another request's there is proof. And a server that has answered under the very name
that it was asked for keeps to it. Where neither is said, nothing is known, and the reply is taken.
"""

from __future__ import annotations

import os
import re
from itertools import count

from toolenv.model_server.outcome import Failure, Reply
from toolenv.model_server.transport import Response
from toolenv.types import Usage

_MARK = re.compile(r"toolenv-[0-9a-f]{32}")
_ECHOES = ("x-request-id", "x-client-request-id")


def new_request_id() -> str:
    """An id that no other request has."""
    return f"toolenv-{_series}{next(_numbers):08x}"


def _begin_series() -> None:
    global _series
    _series = os.urandom(12).hex()


_series, _numbers = "", count()
_begin_series()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_series)  # or a child's ids would be its parent's


class OwnReplies:
    """Tells the replies of one server apart; shared by threads."""

    def __init__(self) -> None:
        self._faithful: dict[str, bool] = {}

    def checked(
        self, outcome: Reply | Failure, response: Response, model: str, request_id: str
    ) -> Reply | Failure:
        """``outcome``, or a failure if it is another request's reply.

        Args:
            outcome: what the response says.
            response: as it came.
            model: the model that was asked.
            request_id: the request's id.
        """
        if not isinstance(outcome, Reply):
            return outcome
        headers = response.headers
        ids = _MARK.findall(" ".join([outcome.id, *[headers[name] for name in _ECHOES if name in headers]]))
        if ids and request_id not in ids:
            return _mixed(f"it bears the id {ids[0]}, and the request {request_id}")
        answered = outcome.model
        if answered and self._faithful.setdefault(model, answered == model) and answered != model:
            return _mixed(f"it is of model {answered!r}, and {model!r} was asked")
        return outcome


def _mixed(why: str) -> Failure:
    return Failure(f"the reply to another request: {why}", "server/mixed_reply", 200, usage=Usage())
