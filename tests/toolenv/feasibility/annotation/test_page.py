from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.toolenv.feasibility.annotation.samples import HOSTILE, make_item, written
from toolenv.feasibility.annotation.answers import MEANING, QUESTION, Answer
from toolenv.feasibility.annotation.page import content_security_policy, render_item, render_overview
from toolenv.feasibility.annotation.session import Session, annotation

TAGS = set(
    [
        "a",
        "b",
        "body",
        "button",
        "caption",
        "code",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "head",
        "header",
        "html",
        "input",
        "label",
        "legend",
        "li",
        "main",
        "meta",
        "nav",
        "ol",
        "p",
        "pre",
        "small",
        "span",
        "style",
        "summary",
        "table",
        "td",
        "textarea",
        "th",
        "title",
        "tr",
    ]
)
ATTRIBUTES = set(
    [
        "action",
        "autocomplete",
        "autofocus",
        "checked",
        "charset",
        "class",
        "content",
        "dir",
        "href",
        "lang",
        "maxlength",
        "method",
        "name",
        "rel",
        "required",
        "role",
        "rows",
        "scope",
        "tabindex",
        "type",
        "value",
    ]
)


class Parsed(HTMLParser):
    """Tags, attributes and texts of a page, as a browser's parser splits them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.values: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.values += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def a_session(path: Path, text: str) -> Iterator[Session]:
    item = make_item(f"evil{text}", text=text)
    file, _ = written(path / "sample.json", [item, make_item("b")])
    with annotation(file, "ann") as session:
        yield session


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Session]:
    yield from a_session(tmp_path, "Move the file.")


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Session]:
    yield from a_session(tmp_path, HOSTILE)


def test_a_page_holds_what_a_person_needs(plain: Session) -> None:
    text = Parsed(render_item(plain, 0)).text
    for part in (
        QUESTION,
        *MEANING.values(),
        "Item 1 of 2",
        "Move the file.",
        "And again.",
        "Masked: 1",
        "masked_0()",
        "Remaining: 2",
        "cp(source, [force])",
        "Remove a file.",
        '"required"',
    ):
        assert part in text


def test_the_form_can_be_used_by_keyboard_alone(plain: Session) -> None:
    page = Parsed(render_item(plain, 0))
    inputs = [(name, value) for tag, name, value in page.values if tag == "input"]
    assert [value for name, value in inputs if name == "value"] == ["yes", "no", "unsure"]
    assert [name for name, _ in inputs].count("autofocus") == 1
    # Nothing is chosen beforehand, and an empty form is not sent.
    assert "checked" not in page.attributes
    assert [name for name, _ in inputs].count("required") == 3


def test_an_earlier_answer_is_shown(plain: Session) -> None:
    plain.record(0, "unsure", "\nfirst line\n</textarea>")
    page = render_item(plain, 0)
    assert 'value="unsure" required checked' in page
    assert ">\nfirst line\n&lt;/textarea&gt;</textarea>" in page


@pytest.mark.parametrize("page", [0, "overview", "problem", "before"])
def test_hostile_texts_are_inert(hostile: Session, page: int | str) -> None:
    if page == "before":
        said = {hostile.items[0].id: {"ann": Answer("yes", HOSTILE)}}
        hostile = Session("adjudication", hostile.items, hostile.log, said)
    hostile.record(0, "no", HOSTILE)
    html = render_overview(hostile) if page == "overview" else render_item(hostile, 0, HOSTILE)
    parsed = Parsed(html)
    assert html.encode()
    assert parsed.tags <= TAGS
    assert parsed.attributes <= ATTRIBUTES
    assert "<script>alert(1)</script>" in parsed.text
    assert "{{ 7 * 7 }}" in parsed.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)
    # Addresses in the page are its own, relative ones.
    assert all(
        re.fullmatch(r"\d+|all", value) for _, name, value in parsed.values if name in ("href", "action")
    )


def test_the_policy_allows_the_one_style_and_no_script(plain: Session) -> None:
    html = render_item(plain, 0)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = content_security_policy()
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "script" not in policy
    assert "unsafe" not in policy
    assert "form-action 'self'" in policy
    assert "url(" not in style
    assert "@import" not in style


def test_the_overview_says_what_is_done(plain: Session) -> None:
    plain.record(1, "yes")
    assert "1 of 2 answered" in render_overview(plain)
    assert "Go on with item 1" in render_overview(plain)
    plain.record(0, "yes")
    assert "All items are answered" in render_overview(plain)
    nothing = Session("adjudication", [], plain.log)
    assert "There is nothing to settle" in render_overview(nothing)
