"""Between a conversation and a local model's tokens: chat templates and replies of several kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.tiny_model import CHATML, byte_tokenizer
from toolenv.agents.dialect import Dialect, Generation, stop_tokens
from toolenv.agents.local_settings import LocalSettings
from toolenv.agents.prompts import FEASIBILITY_PROMPT, NO_TOOLS_NOTE
from toolenv.agents.tool_section import in_plain_words
from toolenv.errors import ContextWindowError, PreflightError, ServerError
from toolenv.names import with_wire_names
from toolenv.types import (
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolSpec,
)

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = with_wire_names([ToolSpec("weather.today", "The weather of a city.", CITY)])
ASKED = Observation((ChatMessage("user", "What is the weather in Rome?"),), TOOLS, 10)
LATER = Observation(
    (
        ChatMessage("system", "Today is Monday."),
        *ASKED.messages,
        ChatMessage("assistant", "I look.", (ToolCall("weather.today", {"city": "Rome"}, "call00000"),)),
        ChatMessage("tool", "sunny", (), "call00000"),
        ChatMessage("assistant", "It is sunny."),
        ChatMessage("user", "And in Oslo?"),
    ),
    TOOLS,
    9,
)

# The shape of Qwen3's and Hermes's templates: tools, calls, replies, earlier reasoning, and thinking that is
# switched off by an empty block.
QWEN = (
    "{%- if tools -%}{{- '<|im_start|>system\\n' -}}"
    "{%- if messages[0].role == 'system' -%}{{- messages[0].content -}}{%- endif -%}{{- '<tools>' -}}"
    "{%- for tool in tools -%}{{- tool | tojson -}}{%- endfor -%}{{- '</tools><|im_end|>\\n' -}}{%- endif -%}"
    "{%- for message in messages -%}{%- if not (tools and message.role == 'system') -%}"
    "{{- '<|im_start|>' + message.role + '\\n' -}}"
    "{%- if message.reasoning_content -%}"
    "{{- '<think>' + message.reasoning_content + '</think>' -}}{%- endif -%}"
    "{{- message.content -}}"
    "{%- for call in message.tool_calls or [] -%}"
    "{{- '<tool_call>' -}}"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
    "{{- '</tool_call>' -}}{%- endfor -%}{{- '<|im_end|>\\n' -}}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}"
    "{%- if enable_thinking is defined and not enable_thinking -%}{{- '<think>\\n\\n</think>\\n\\n' -}}"
    "{%- elif enable_thinking is defined -%}{{- '<think>\\n' -}}{%- endif -%}{%- endif -%}"
)
# Gemma 2: no system message, strict turns, no tools.
GEMMA = (
    "{%- if messages[0].role == 'system' -%}{{ raise_exception('System role not supported') }}{%- endif -%}"
    "{%- for message in messages -%}"
    "{%- if (message.role == 'user') != (loop.index0 % 2 == 0) -%}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
    "{%- endif -%}{{- '<start_of_turn>' + message.role + '\\n' + message.content + '<end_of_turn>\\n' -}}"
    "{%- endfor -%}"
    "{{- '<start_of_turn>model\\n' -}}"
)
PICKY = CHATML.replace(
    "{%- for", "{%- if messages|length > 5 %}{{ raise_exception('too many') }}{% endif %}{%- for", 1
)


def spoken(template: str | None = CHATML, *, context: int = 10_000, **settings: Any) -> Dialect:
    tokenizer = byte_tokenizer(template)
    own = LocalSettings(model="org/small", **settings)
    return Dialect(own, tokenizer, stop_tokens=stop_tokens(tokenizer, None), context=context)


def text_of(dialect: Dialect, observation: Observation, reasoning: dict[int, str] | None = None) -> str:
    text: str = byte_tokenizer().decode(dialect.prompt(observation, reasoning).tokens)
    return text


def reply(dialect: Dialect, text: str, *, ended: bool = True, observation: Observation = ASKED) -> Any:
    tokens = byte_tokenizer()(text, add_special_tokens=False)["input_ids"]
    end = [byte_tokenizer().eos_token_id] if ended else []
    return dialect.action(dialect.prompt(observation), Generation([*tokens, *end], 5), observation)


def test_a_template_with_tools_is_used_as_it_is() -> None:
    dialect = spoken(QWEN)
    assert dialect.template.tool_section == "template"
    shown = text_of(dialect, LATER)
    assert shown.startswith(f"<|im_start|>system\n{FEASIBILITY_PROMPT}\n\nToday is Monday.<tools>")
    assert '"name": "weather_today"' in shown
    assert '<tool_call>{"name": "weather_today", "arguments": {"city": "Rome"}}</tool_call>' in shown
    assert "<|im_start|>tool\nsunny<|im_end|>" in shown
    assert shown.endswith("<|im_start|>assistant\n")


def test_without_a_place_for_tools_they_are_written_as_text() -> None:
    dialect = spoken()
    assert dialect.template.tool_section == "prompt"
    shown = text_of(dialect, LATER)
    assert shown.startswith(f"<|im_start|>system\n{FEASIBILITY_PROMPT}\n\nToday is Monday.\n\n# Tools\n")
    assert '<tools>\n{"type": "function", "function": {"name": "weather_today"' in shown
    assert (
        "<|im_start|>assistant\nI look.\n<tool_call>\n"
        '{"name": "weather_today", "arguments": {"city": "Rome"}}\n'
        "</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\nsunny\n</tool_response><|im_end|>"
    ) in shown


def test_without_tools_there_is_no_section() -> None:
    shown = text_of(spoken(), Observation(ASKED.messages, (), 10))
    assert "# Tools" not in shown
    assert NO_TOOLS_NOTE in shown
    assert "# Tools" not in text_of(spoken(protocol=""), Observation(ASKED.messages, (), 10))


def test_a_template_without_a_system_message_gets_it_before_the_users_words() -> None:
    dialect = spoken(GEMMA)
    assert not dialect.template.takes_system
    shown = text_of(dialect, LATER)
    assert shown.startswith(f"<start_of_turn>user\n{FEASIBILITY_PROMPT}\n\nToday is Monday.\n\n# Tools\n")
    assert "\n\nWhat is the weather in Rome?<end_of_turn>" in shown
    assert shown.count("<start_of_turn>") == 6


def test_the_section_can_be_ours_although_the_template_has_one() -> None:
    dialect = spoken(QWEN, tool_section="prompt")
    assert dialect.template.tool_section == "prompt"
    assert "# Tools\n" in text_of(dialect, ASKED)


def test_a_template_that_cannot_do_what_is_asked_is_refused() -> None:
    with pytest.raises(PreflightError, match="org/small: it has a chat template that does not write tools"):
        spoken(tool_section="template")
    with pytest.raises(
        PreflightError, match="org/small: it has no chat template; give one with chat_template"
    ):
        spoken(None)
    for broken in ("{{ nothing.at.all }}", "{% for %}", "{{ raise_exception('no') }}", "hello"):
        with pytest.raises(PreflightError, match="chat template that cannot be used"):
            spoken(broken)


def test_a_template_out_of_a_file_is_used_instead(tmp_path: Path) -> None:
    (tmp_path / "own.jinja").write_text(QWEN)
    dialect = spoken(CHATML, chat_template=str(tmp_path / "own.jinja"))
    assert dialect.template.tool_section == "template"
    assert spoken(None, chat_template=str(tmp_path / "own.jinja")).template.tool_section == "template"


def test_a_conversation_that_the_template_refuses_is_the_servers_failure() -> None:
    dialect = spoken(PICKY)
    with pytest.raises(ServerError, match="the chat template refuses a conversation: too many") as raised:
        dialect.prompt(LATER)
    assert raised.value.trouble == "server/bad_request", "it is not tried again"


def test_a_conversation_without_room_for_a_reply_is_too_long() -> None:
    length = len(spoken().prompt(ASKED).tokens)
    with pytest.raises(
        ContextWindowError, match=f"has {length} tokens, and the model's context holds {length}"
    ) as raised:
        spoken(context=length).prompt(ASKED)
    assert raised.value.usage.total_tokens == 0
    assert spoken(context=length + 3).prompt(ASKED).limit == 3
    assert spoken(context=length + 3, max_tokens=2).prompt(ASKED).limit == 2
    assert spoken(max_model_len=length + 1).prompt(ASKED).limit == 1


def test_tokens_are_the_engines_own() -> None:
    dialect = spoken()
    action, _ = reply(dialect, "It is sunny.")
    assert action == Message("It is sunny.")
    # 12 letters are 12 tokens here, and the one that ended it.
    assert action.usage.output_tokens == 13
    assert action.usage.input_tokens == len(dialect.prompt(ASKED).tokens)
    assert action.usage.cached_input_tokens == 5
    assert not action.usage.estimated
    assert action.raw["finish_reason"] == "stop"


def test_a_reply_cut_off_is_malformed_and_never_a_stop() -> None:
    action, _ = reply(spoken(), "STOP: no weath", ended=False)
    assert isinstance(action, Malformed)
    assert action.kind == "length"
    assert action.usage is not None
    assert action.usage.output_tokens == 14


def test_calls_and_stops_are_read_as_everywhere() -> None:
    called, _ = reply(
        spoken(),
        'I look.\n<tool_call>\n{"name": "weather_today", "arguments": {"city": "Rome"}}\n</tool_call>',
    )
    assert called == ToolCalls((ToolCall("weather_today", {"city": "Rome"}),), "I look.")
    stopped, _ = reply(spoken(), "STOP: no forecast")
    assert stopped == Stop("no forecast")


@pytest.mark.parametrize("thinking", [None, True, False])
def test_reasoning_is_switched_in_the_template(thinking: bool | None) -> None:
    shown = text_of(spoken(QWEN, enable_thinking=thinking), ASKED)
    ending = {None: "assistant\n", True: "assistant\n<think>\n", False: "<think>\n\n</think>\n\n"}[thinking]
    assert shown.endswith(ending)


@pytest.mark.parametrize("effort", [None, "low"])
def test_the_degree_of_reasoning_reaches_the_template(effort: Any) -> None:
    # The words of gpt-oss's own template (its build_system_message).
    degree = (
        "{%- if reasoning_effort is not defined -%}{%- set reasoning_effort = 'medium' -%}{%- endif -%}"
        "{{- 'Reasoning: ' + reasoning_effort + '\\n\\n' -}}"
    )
    shown = text_of(spoken(degree + QWEN, reasoning_effort=effort), ASKED)
    assert shown.startswith(f"Reasoning: {effort or 'medium'}\n\n")


@pytest.mark.parametrize(
    ("opens", "closes"),
    [("<|START_THINKING|>", "<|END_THINKING|>"), ("<|channel>thought\\n", "<channel|>")],
)
def test_thoughts_of_cohere_and_gemma_that_the_template_opens_are_reasoning(opens: str, closes: str) -> None:
    template = QWEN.replace("{{- '<think>\\n' -}}", f"{{{{- '{opens}' -}}}}")
    dialect = spoken(template, enable_thinking=True)
    action, reasoning = reply(dialect, f"STOP: perhaps?{closes}It is sunny.")
    assert isinstance(action, Message)
    assert (action.text, reasoning) == ("It is sunny.", "STOP: perhaps?")
    cut_off, reasoning = reply(dialect, "STOP: perhaps?")
    assert isinstance(cut_off, Message)
    assert (cut_off.text, reasoning) == ("", "STOP: perhaps?")


def test_reasoning_is_kept_apart_and_decides_nothing() -> None:
    dialect = spoken(QWEN, enable_thinking=True)
    action, reasoning = reply(dialect, "STOP: perhaps?\n</think>\n\nIt is sunny.")
    assert action == Message("It is sunny.")
    assert reasoning == "STOP: perhaps?"
    # By hand: 14 letters, a line's end, the closing tag.
    assert action.usage.reasoning_tokens == 16


def test_reasoning_that_never_ended_is_no_answer_and_no_call() -> None:
    dialect = spoken(QWEN, enable_thinking=True)
    words = 'STOP: no\n<tool_call>{"name": "weather_today", "arguments": {"city": "Rome"}}</tool_call>'
    action, reasoning = reply(dialect, words, ended=False)
    assert isinstance(action, Malformed)
    assert action.kind == "length"
    assert "STOP: no" in reasoning
    assert action.usage is not None
    assert action.usage.reasoning_tokens == action.usage.output_tokens


def test_reasoning_the_model_opens_itself_is_counted() -> None:
    action, reasoning = reply(spoken(), "<think>ab</think>Hi.")
    assert (action, reasoning) == (Message("Hi."), "ab")
    assert action.usage.reasoning_tokens == 4


def test_field_113_reasoning_is_given_back_where_asked() -> None:
    dialect = spoken(QWEN, reasoning_field="reasoning_content")
    assert dialect.gives_reasoning_back
    assert "<think>hmmm-42</think>I look." in text_of(dialect, LATER, {2: "hmmm-42"})
    assert "hmmm-42" not in text_of(spoken(QWEN), LATER, {2: "hmmm-42"})


def test_special_tokens_that_mark_calls_are_kept() -> None:
    """Here ``<tool_call>`` is a special token, as in many vocabularies."""
    tokens = byte_tokenizer()("<tool_call>", add_special_tokens=False)["input_ids"]
    assert len(tokens) == 1
    action, _ = reply(
        spoken(), '<tool_call>{"name": "weather_today", "arguments": {"city": "Oslo"}}</tool_call>'
    )
    assert isinstance(action, ToolCalls)


def test_stop_tokens_are_those_of_the_config_and_the_tokenizer() -> None:
    class Config:
        eos_token_id = (7, 8)

    tokenizer = byte_tokenizer()
    assert stop_tokens(tokenizer, Config()) == {7, 8, tokenizer.eos_token_id}
    assert stop_tokens(tokenizer, None) == {tokenizer.eos_token_id}


def test_several_replies_to_calls_are_one_turn_of_the_user() -> None:
    messages = [
        {"role": "user", "content": "Both."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": name, "arguments": {}}} for name in ("a", "b")],
        },
        {"role": "tool", "content": "1"},
        {"role": "tool", "content": "2"},
    ]
    plain = in_plain_words(messages, ())
    assert [message["role"] for message in plain] == ["user", "assistant", "user"]
    assert plain[1]["content"].count("<tool_call>") == 2
    assert plain[2]["content"] == (
        "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"
    )
