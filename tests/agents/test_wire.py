"""The conversation on the wire: each rule comes from a fault that users of other harnesses reported."""

from __future__ import annotations

import json
import math
import operator
import re
from typing import Any

import jinja2
import pytest

from tests.support.real_model import CHAT_TEMPLATE
from tests.support.toy import toy_source
from toolenv import ToolEnv
from toolenv.agents.wire import (
    HTTP,
    LOCAL_TEMPLATE,
    OPENING,
    UNANSWERED,
    UNFINISHED,
    WireForm,
    WireMessage,
    to_openai_messages,
    to_openai_tools,
)
from toolenv.agents.wire import write as write_on
from toolenv.names import with_wire_names
from toolenv.types import ChatMessage, Observation, ToolCall, ToolCalls, ToolSpec

SQRT = ToolSpec("math.sqrt", "Root.", {"type": "object", "properties": {"x": {"type": "number"}}})
TOOLS = with_wire_names([SQRT, ToolSpec("ls")])


def observe(*messages: ChatMessage, tools: tuple[ToolSpec, ...] = TOOLS) -> Observation:
    return Observation(messages, tools, turns_left=5)


def user(text: str = "go") -> ChatMessage:
    return ChatMessage("user", text)


def calling(*calls: ToolCall, text: str = "") -> ChatMessage:
    return ChatMessage("assistant", text, calls)


def replying(call_id: str, text: str = "ok") -> ChatMessage:
    return ChatMessage("tool", text, call_id=call_id)


def write(*messages: ChatMessage, form: WireForm = HTTP, **more: Any) -> list[WireMessage]:
    return to_openai_messages(observe(*messages), form=form, **more)


def test_a_whole_exchange_reads_as_openai_documents_it() -> None:
    wire = write(
        ChatMessage("system", "Today is Monday."),
        user("root of 101?"),
        calling(ToolCall("math.sqrt", {"x": 101}, "a1"), text="Let me see."),
        replying("a1", "10.05"),
        ChatMessage("assistant", "About 10."),
        system_prompt="Be careful.",
    )
    assert wire == [
        {"role": "system", "content": "Be careful.\n\nToday is Monday."},
        {"role": "user", "content": "root of 101?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {
                    "id": "a1",
                    "type": "function",
                    "function": {"name": "math_sqrt", "arguments": '{"x": 101}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a1", "content": "10.05"},
        {"role": "assistant", "content": "About 10."},
    ]


def test_tools_go_out_under_their_wire_names_as_plain_json() -> None:
    assert to_openai_tools(TOOLS)[0] == {
        "type": "function",
        "function": {
            "name": "math_sqrt",
            "description": "Root.",
            "parameters": {"type": "object", "properties": {"x": {"type": "number"}}},
        },
    }


# -- system messages and alternation ---------------------------------------------------------------------


def test_no_system_message_where_nobody_says_anything() -> None:
    assert write(user("hi")) == [{"role": "user", "content": "hi"}]


def test_a_later_system_message_becomes_the_users() -> None:
    wire = write(
        ChatMessage("system", "A"), ChatMessage("system", "B"), user("hi"), ChatMessage("system", "C")
    )
    assert wire == [{"role": "system", "content": "A\n\nB"}, {"role": "user", "content": "hi\n\nC"}]


def test_neighbours_of_one_role_are_merged() -> None:
    wire = write(
        user("a"),
        user("b"),
        ChatMessage("assistant", "c"),
        calling(ToolCall("ls", {}, "1"), text="d"),
        replying("1"),
    )
    assert [one["role"] for one in wire] == ["user", "assistant", "tool"]
    assert wire[0]["content"] == "a\n\nb"
    assert wire[1]["content"] == "c\n\nd"
    assert len(wire[1]["tool_calls"]) == 1


def test_a_user_never_follows_a_tool_nor_an_assistant_the_start() -> None:
    wire = write(calling(ToolCall("ls", {}, "1")), replying("1"), user("next"))
    assert [one["role"] for one in wire] == ["user", "assistant", "tool", "assistant", "user"]
    assert wire[0]["content"] == OPENING
    assert wire[3]["content"] == UNFINISHED


# -- calls and their replies -----------------------------------------------------------------------------


def test_field_018_every_call_gets_one_reply_in_the_calls_order() -> None:
    wire = write(
        user(),
        calling(
            ToolCall("ok", {}, "a"), ToolCall("raises", {}, "b"), ToolCall("x", {}, "c", problem="cut off")
        ),
        replying("c", "Error: no such tool"),
        replying("a", "fine"),
    )
    replies = wire[2:]
    assert [one["tool_call_id"] for one in replies] == ["a", "b", "c"]
    assert [one["content"] for one in replies] == ["fine", UNANSWERED, "Error: no such tool"]
    assert wire[1]["tool_calls"][2]["function"]["arguments"] == "{}"


def test_replies_to_no_call_are_not_lost() -> None:
    wire = write(user("hi"), replying("z", "left over"))
    assert wire == [{"role": "user", "content": "hi\n\nleft over"}]


def test_empty_repeated_and_illegal_ids_are_replaced_and_still_paired() -> None:
    same = ToolCall("ls", {}, "x")
    wire = write(
        user(),
        calling(same, ToolCall("ls", {}, ""), ToolCall("ls", {}, "a b\ud83c")),
        replying("x", "1"),
        replying("", "2"),
        replying("a b\ud83c", "3"),
        calling(same),
        replying("x", "4"),
    )
    ids = [call["id"] for one in wire for call in one.get("tool_calls", [])]
    assert len(set(ids)) == 4
    assert ids[0] == "x"
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", one) for one in ids[1:]), "Mistral's template takes no other"
    pairs = [(one["tool_call_id"], one["content"]) for one in wire if one["role"] == "tool"]
    assert pairs == list(zip(ids, ["1", "2", "3", "4"], strict=True))


def test_names_of_tools_not_offered_are_made_legal() -> None:
    wire = write(user(), calling(ToolCall("rm -rf /", {}, "1"), ToolCall("", {}, "2")), replying("1"))
    names = [call["function"]["name"] for call in wire[1]["tool_calls"]]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names)


# -- arguments -------------------------------------------------------------------------------------------


def test_field_055_local_templates_get_a_mapping_and_http_a_string() -> None:
    messages = (user(), calling(ToolCall("ls", {"a": 3}, "1")), replying("1"))
    (local,) = write(*messages, form=LOCAL_TEMPLATE)[1]["tool_calls"]
    (http,) = write(*messages)[1]["tool_calls"]
    assert local["function"]["arguments"] == {"a": 3}
    assert http["function"]["arguments"] == '{"a": 3}'


@pytest.mark.parametrize("form", [HTTP, LOCAL_TEMPLATE])
def test_field_055_the_rendered_prompt_holds_no_escaped_quotes(form: WireForm) -> None:
    wire = write(user(), calling(ToolCall("ls", {"a": 3}, "1")), replying("1"), form=form)
    prompt = (
        jinja2.Environment().from_string(CHAT_TEMPLATE).render(messages=wire, tools=to_openai_tools(TOOLS))
    )
    assert '{"name": "ls", "arguments": {"a": 3}}' in prompt
    assert "\\" not in prompt


def test_field_058_arguments_with_control_characters_go_back_as_valid_json() -> None:
    message = "line one\nline two\ttab"
    wire = write(user(), calling(ToolCall("ls", {"message": message}, "1")), replying("1"))
    text = wire[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(text) == {"message": message}
    assert "\n" not in text


@pytest.mark.parametrize("hopeless", [{"x": math.nan}, {"x": {1, 2}}, {"x": b"y"}])
def test_field_058_hopeless_arguments_become_an_empty_object(hopeless: dict[str, Any]) -> None:
    wire = write(user(), calling(ToolCall("ls", hopeless, "1")), replying("1"))
    assert wire[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_nested_beyond_measure_become_an_empty_object() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"d": deep}
    wire = write(user(), calling(ToolCall("ls", deep, "1")), replying("1"))
    assert wire[1]["tool_calls"][0]["function"]["arguments"] == "{}"
    while deep:  # let go of it level by level, as freeing it at once would overflow the stack
        deep = deep.pop("d")


# -- keys and text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["", None])
def test_field_056_content_is_always_sent_and_null_is_a_setting(empty: str | None) -> None:
    form = WireForm(empty_content=empty)
    wire = write(user(), calling(ToolCall("math.sqrt", {"x": 101}, "1")), replying("1"), form=form)
    assert wire[1]["content"] == empty
    assert WireForm().empty_content == ""


def test_field_091_no_key_is_null() -> None:
    wire = write(user(), ChatMessage("assistant", "x"), user(), calling(ToolCall("ls")), replying(""))
    assert wire[1] == {"role": "assistant", "content": "x"}
    assert "null" not in json.dumps(wire)


def test_field_079_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    odd = "NUL \x00, U+2028 \u2028, BOM \ufeff, RTL \u200f"
    wire = write(
        user(odd),
        calling(ToolCall("ls", {"t": "\ud83c\udf78", "\ud800": ["\udc00"]}, "1"), text="\ud83c"),
        replying("1", "ok \ud83c end"),
    )
    assert wire[2]["content"] == "ok � end"
    assert wire[0]["content"] == odd
    assert json.loads(wire[1]["tool_calls"][0]["function"]["arguments"]) == {"t": "🍸", "�": ["�"]}
    json.dumps(wire, ensure_ascii=False).encode("utf-8")


def test_field_079_tools_are_cleaned_too() -> None:
    (tool,) = to_openai_tools([ToolSpec("t", "\ud83c", {"enum": ("\udc00",)})])
    assert tool["function"]["description"] == "�"
    assert tool["function"]["parameters"] == {"enum": ["�"]}


def test_field_113_reasoning_is_sent_back_only_where_asked() -> None:
    messages = (user(), calling(ToolCall("ls", {}, "1"), text="I'll check."), replying("1"))
    thoughts = {1: "need tool", 0: "not the assistant's"}
    assert "need tool" not in json.dumps(write(*messages, reasoning=thoughts))
    wire = write(*messages, reasoning=thoughts, form=WireForm(reasoning_field="reasoning_content"))
    assert wire[1]["reasoning_content"] == "need tool"
    assert "reasoning_content" not in wire[0]


@pytest.mark.parametrize("other", [True, 1.0, "1"])
def test_arguments_that_equal_those_of_before_but_are_others_are_written_anew(other: Any) -> None:
    """1 == 1.0 == True, and each is other JSON."""
    before = write_on(observe(user(), calling(ToolCall("ls", {"n": 1}, "a1")), replying("a1")))
    seen = observe(user(), calling(ToolCall("ls", {"n": other}, "a1")), replying("a1"))
    sent = write_on(seen, before=before).wire
    assert sent == write_on(seen).wire
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == json.dumps({"n": other})


def test_arguments_in_another_order_are_written_in_theirs() -> None:
    before = write_on(observe(user(), calling(ToolCall("ls", {"a": 1, "b": 2}, "a1")), replying("a1")))
    seen = observe(user(), calling(ToolCall("ls", {"b": 2, "a": 1}, "a1")), replying("a1"))
    assert write_on(seen, before=before).wire == write_on(seen).wire


def test_messages_that_are_the_same_or_read_alike_are_not_written_again() -> None:
    seen = observe(user(), calling(ToolCall("ls", {"n": 1}, "a1")), replying("a1"))
    alike = observe(user(), calling(ToolCall("ls", {"n": 1}, "a1")), replying("a1"))
    before = write_on(seen)
    for again in (seen, alike):
        more = Observation((*again.messages, user("and now?")), TOOLS, 4)
        assert write_on(more, before=before).wire[1] is before.wire[1]


def test_what_an_agent_sees_of_its_calls_cannot_be_changed_in_place() -> None:
    """What is written of a message is sent again as it is, so that a change in it would go unseen."""
    env = ToolEnv(toy_source())
    env.reset(seed=1)
    nested = {"account": "A1", "amount": 7, "more": [{"deep": 1}]}
    seen = env.step(ToolCalls((ToolCall("pay", nested),)))[0]
    arguments: Any = next(one.calls[0].arguments for one in seen.messages if one.calls)
    assert arguments == nested
    for change in (
        lambda: operator.setitem(arguments, "amount", True),
        lambda: arguments["more"].append(2),
        lambda: arguments["more"][0].update(deep=True),
    ):
        with pytest.raises(TypeError, match=r"shared and read-only; copy.deepcopy\(\) gives one to change"):
            change()
    nested["amount"] = 8
    assert arguments["amount"] == 7, "the agent's own dict is another"
