"""The local page as HTML: no scripts, no network, nothing in a task is ever markup."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from toolenv.feasibility.annotation.answers import CHOICES, MEANING, NOTE_LIMIT, QUESTION
from toolenv.feasibility.annotation.session import Session
from toolenv.feasibility.annotation.shown import inert, schema_text, signature

if TYPE_CHECKING:
    from jinja2 import Template

_PACKAGE = "toolenv.feasibility.annotation"


def render_item(session: Session, index: int, problem: str = "") -> str:
    """The page of one item; ``problem`` says why its last answer was not kept."""
    item = session.items[index]
    return _template("item.html.j2").render(
        **_common(session),
        item=item,
        index=index,
        answer=session.answer(index),
        said_before=session.said_before.get(item.id, {}),
        problem=problem,
        question=QUESTION,
        choices=CHOICES,
        meaning=MEANING,
        note_limit=NOTE_LIMIT,
        signature=signature,
        schema_text=schema_text,
    )


def render_overview(session: Session) -> str:
    """The page that lists all items and says what is done."""
    answers = [session.answer(index) for index in range(len(session.items))]
    return _template("overview.html.j2").render(**_common(session), answers=answers)


def content_security_policy() -> str:
    """What browsers may do with the pages: apply their one style, and send their forms back."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


def _common(session: Session) -> dict[str, Any]:
    from markupsafe import Markup

    return {
        "session": session,
        "total": len(session.items),
        "next_open": session.next_open(),
        "style": Markup(_style()),
    }


@cache
def _style() -> str:
    return (files(_PACKAGE) / "templates" / "page.css").read_text(encoding="utf-8")


@cache
def _template(name: str) -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: inert(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
