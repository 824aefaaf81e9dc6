from __future__ import annotations

import base64
import hashlib
import re
from functools import partial
from html.parser import HTMLParser

import pytest

from tests.support.episodes import plain_episode
from toolenv.metrics.registry import catalogue
from toolenv.report.page import SAMPLE_CHARACTERS, Sample, render_page
from toolenv.report.rows import INVALID_SHOWN, Run, build_rows

CLEAN = "ToolFeas/BFCL-clean-v0"
TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "h1",
    "h2",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "b",
    "small",
    "p",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "pre",
    "code",
    "div",
    "svg",
    "rect",
    "circle",
}
ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "title",
    "colspan",
    "width",
    "height",
    "viewbox",
    "aria-hidden",
    "x",
    "y",
    "cx",
    "cy",
    "r",
}

episode = partial(plain_episode, input_tokens=90, output_tokens=10, success=True)

HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></title></style><img src=x onerror=alert(1)>",
    "\" onmouseover=alert(1) x='",
    "{{ 7*7 }}{% for x in y %}",
    "<meta http-equiv=refresh content='0;url=http://evil'>",
    "\x1b[2J\x1b]0;owned\x07",
    "\u202egnp.exe\ud800\x00",
    "&lt;b&gt; &amp;",
]


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, list[str]] = {}
        self.data: list[str] = []
        self.stack: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "meta":
            self.stack.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data.append(data)

    @property
    def text(self) -> str:
        return "".join(self.data)


def parsed(html: str) -> Page:
    page = Page(html)
    assert page.stack == []
    assert page.tags <= TAGS
    assert set(page.attributes) <= ATTRIBUTES
    return page


def hostile_page(text: str) -> str:
    rows = build_rows(
        [
            Run(
                [
                    episode(task_id=text, agent=text, env=text, flags=(text,), decided_by=text),
                    episode(
                        task_id=text + "2", agent=text, env=text, valid=False, decided_by=text, error=text
                    ),
                ]
            )
        ]
    )
    sample = Sample(text, text, text, "feasible", "feasible", text, text)
    return render_page(rows, [sample], about={text: text}, title=text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_everywhere(text: str) -> None:
    html = hostile_page(text)
    html.encode("utf-8")
    page = parsed(html)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", html)
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", text)
    escaped = escaped.replace("\u202e", "\\u202e").replace("\ud800", "\\ud800")
    # title and h1, about twice, name, agent, flag, sample's five, the invalid list's …: as text, all of it
    assert page.text.count(escaped) >= 14


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    html = render_page(build_rows([Run([episode(task_id="1")])]))
    page = parsed(html)
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert page.attributes["content"][0] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert page.attributes["http-equiv"] == ["Content-Security-Policy"]
    assert "url(" not in style[1]
    assert "http" not in html.replace("http-equiv", "")


def test_the_page_shows_table_counts_definitions_and_invalid_episodes() -> None:
    episodes = [
        *(episode(task_id=f"good{number}") for number in range(1400)),
        *(
            episode(
                task_id=f"bad{number}",
                valid=False,
                success=None,
                decided_by="server_error",
                error="503 from server",
            )
            for number in range(INVALID_SHOWN + 3)
        ),
    ]
    page = parsed(render_page(build_rows([Run(episodes, {(CLEAN, "agent"): 1520})]), about={"seed": "7"}))
    text = " ".join(page.text.split())
    for part in ("1,520 planned", "1,400 valid", "103 invalid", "100%", "99.7–100", "n=1,400", "seed", "n=0"):
        assert part in text
    for metric in catalogue().values():
        assert metric.title in text
        assert metric.definition in text
    assert "bad0" in text
    assert "503 from server" in text
    assert "… and 3 more" in text
    assert "Wilson" in text


def test_samples_are_cut() -> None:
    long = Sample(CLEAN, "agent", "t", "feasible", "feasible", "message", "y" * (SAMPLE_CHARACTERS + 500))
    text = parsed(render_page([], [long])).text
    assert "y" * SAMPLE_CHARACTERS + "… [500 more characters]" in text
    assert "y" * (SAMPLE_CHARACTERS + 1) not in text


def test_nothing_at_all_is_a_page() -> None:
    assert "None." in parsed(render_page([])).text


def test_the_page_is_the_same_each_time() -> None:
    rows = build_rows([Run([episode(task_id="1")])])
    assert render_page(rows) == render_page(rows)
