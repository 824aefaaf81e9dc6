"""Tool calls that a model wrote into its text, because its server has no parser for them or the wrong one.

Read are the formats of Hermes and Qwen (``<tool_call>{…}``), Qwen3-Coder, Llama 3.1 and DeepSeek's DSML
(``<function=…>``, ``<invoke name=…>``), Mistral (``[TOOL_CALLS]``), Llama 3 (JSON, ``<|python_tag|>`` and
Python calls), DeepSeek and Kimi (``<|tool_call_begin|>``), GLM (``<arg_key>``), gpt-oss (``to=functions.…``),
Cohere (``<|START_ACTION|>``), Step-3 (``<steptml:invoke name=…>``), Gemma (``call:f{…}``, and code fenced as
``tool_code``).

A tag is a call whatever it names. Bare JSON or Python is one only if it names an offered tool and gives it
arguments, or if the reply is nothing else and has a call's exact form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from toolenv.types import ToolCall

from .bare_calls import TextCalls, find_json_calls, find_python_calls, opening
from .calls import MAX_CALLS, Offered, balanced_end, calls_in, python_calls, tool_name
from .gemma_calls import read_gemma_call
from .values import UnreadableError, decode_json, read_arguments, read_value, skip_space
from .written_arguments import inner_schema, parameter_schemas, typed_value

Reading: TypeAlias = tuple[list[ToolCall], int]
"""Calls, and the place in the text after them."""

_PREFIX = r"(?:[|｜]+DSML[|｜]+ ?|(?:steptml|atem):)?"
_NAME = r"[^\s\"'<>{}\[\]]{1,256}"
_MARK = re.compile(
    r"(?P<open><(?:(?:minimax:|seed:|longcat_)?tool_calls?|dots_function_call|functioncall|function_call|TOOLCALL)>"
    r"|<\|tool_calls?(?:_start)?\|>|<\|python_(?:tag|start)\|>|<\|START_ACTION\|>"
    r"|<\|function_call\|>|<\|action_start\|>(?:\s*<\|plugin\|>)?"
    rf"|<{_PREFIX}(?:function|tool)_calls>|<[|｜]+DSML[|｜]+ ?calls>"
    r"|<[|｜]tool[_▁]calls(?:_section)?[_▁]begin[|｜]>)"
    rf"|(?P<element><{_PREFIX}(?:function=|invoke\s+name=)[\"']?(?P<element_name>{_NAME})[\"']?\s*>)"
    r"|(?P<mistral>\[TOOL_CALLS\])"
    r"|(?P<begin><[|｜]tool[_▁]call[_▁]begin[|｜]>)"
    r"|(?P<channel>(?:(?:<\|channel\|>(?:\w{1,16} ){0,3}|(?:assistant)?(?:commentary|analysis) )?"
    r"\bto=functions\.|<\|channel\|>(?:\w{1,16} ){1,3}to=)(?P<channel_name>[\w.-]{1,256}))"
    r"|(?P<gemma><start_function_call>|<\|tool_call>)"
    rf"|(?P<broken><tool_call(?=[\s/])|<function=|<{_PREFIX}invoke\s+name="
    # Of Apertus, MiniCPM, Hunyuan 3, Kimi K3, Inkling, PLaMo and K2: their servers read them.
    r"|<\|tools_prefix\|>|<function\s+name=[\"'][^\"'<>]{1,256}[\"']>\s*(?=<param\b|</function>)"
    r"|<tool_calls?:\w{1,32}>|<\|open\|>(?:tools|call)\b|<\|content_invoke_tool_\w{1,8}\|>"
    r"|<\|plamo:begin_tool_requests?:plamo\|>|<ifm\|tool_calls?>)"
)
_CLOSED = r"(?:</[\w:]{1,32}|<end_function_call|<tool_call\||<\|END_ACTION\|)>"
_QUOTED = {mark: re.compile(rf"[^\n{mark}]*{_CLOSED}{mark}") for mark in "\"'"}
_LINE = 1000
_BODY_START = re.compile(r"\s*(?:```\w*\s*)?", re.ASCII)
_AFTER_VALUE = re.compile(r"[ \t;}\])]*(?:,(?=\s*\{))?(?=\s*(?:[<`]|\[TOOL_CALLS\]|\Z)|\n|[{\[])")
_BODY_END = re.compile(r"</|<\|")

_PARAMETER = re.compile(
    rf"\s*<{_PREFIX}parameter(?:=|\s+name=)[\"']?(?P<name>{_NAME})[\"']?"
    r"(?:\s+string=[\"'](?P<text>true|false)[\"'])?\s*>"
)
_PARAMETER_END = re.compile(rf"</{_PREFIX}parameter\s*>")
_ELEMENT_END = re.compile(rf"\s*</{_PREFIX}(?:function|invoke|tool_call)\s*>")
_GLM_NAME = re.compile(rf"({_NAME})\s*(?=<arg_key>|</tool_call>)")
_GLM_BARE_NAME = re.compile(r"(?!(?:null|none|true|false)\Z)[a-z_][\w.-]*", re.ASCII | re.IGNORECASE)
_GLM_KEY = re.compile(r"\s*<arg_key>([^<>]{1,256})</arg_key>\s*<arg_value>")
_GLM_END = re.compile(r"\s*</tool_call>")
_MISTRAL = re.compile(rf"\s*(?P<name>{_NAME})(?:\[CALL_ID\](?P<id>[\w-]{{1,64}}))?\s*(?:\[ARGS\])?\s*(?=\{{)")
_BEGIN = re.compile(
    rf"\s*(?P<head>{_NAME})\s*<[|｜]tool[_▁](?:sep|call[_▁]argument[_▁]begin)[|｜]>"
    rf"(?:\s*(?P<name>{_NAME})\s*(?=```))?"
)
_CHANNEL_END = re.compile(r"(?:\s|<\|\w+\|>|commentary|analysis|json|code|=){0,20}", re.ASCII)


def find_calls(text: str, offered: Offered) -> TextCalls | None:
    """The calls in a reply's visible text, or ``None`` if it holds none.

    Raises:
        UnreadableError: the text tries to call a tool and cannot be read. Nothing is run by halves: one
            unreadable call makes the whole text unreadable.
    """
    found = _find(text, offered)
    if found and len(found.calls) > MAX_CALLS:
        raise UnreadableError(f"more than {MAX_CALLS} calls in one reply")
    return found


def _find(text: str, offered: Offered) -> TextCalls | None:
    mark = _next_mark(text, 0)
    before = mark.start() if mark else len(text)
    first = opening(text)
    bare = find_json_calls(text, offered, before) if first is not None and first < before else None
    if bare:
        return TextCalls((*bare.calls, *_tagged(text, _next_mark(text, bare.end), offered)), bare.start)
    if not mark:
        return find_python_calls(text, offered)
    calls = _tagged(text, mark, offered)
    if not calls:
        raise UnreadableError("a tool call was begun, but there is none in it")
    return TextCalls(calls, mark.start())


def _tagged(text: str, mark: re.Match[str] | None, offered: Offered) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    while mark and len(calls) <= MAX_CALLS:
        found, at = _READERS[str(mark.lastgroup)](text, mark, offered)
        calls += found
        mark = _next_mark(text, at)
    return tuple(calls)


def _next_mark(text: str, at: int) -> re.Match[str] | None:
    """The next beginning of a call; a mark or call quoted in a sentence, or in inline code, is mere talk."""
    marks = _MARK.finditer(text, at)
    return next((mark for mark in marks if not _is_quoted(text, *mark.span())), None)


def _is_quoted(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 1) : start]
    if before and before in "\"'":
        in_words = text[max(0, start - _LINE) : start - 1].strip()
        return text[end : end + 1] == before or bool(in_words and _QUOTED[before].match(text, end))
    if before != "`" or text.endswith("```", 0, start):
        return False
    line = text.rfind("\n", max(0, start - _LINE), start) + 1
    return text.count("`", max(line, start - _LINE), start) % 2 == 1


def _read_body(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """What follows an opening tag: JSON, a Python call, GLM's keys and values, or another opening tag."""
    start = _BODY_START.match(text, mark.end())
    at = start.end() if start else mark.end()
    if text[at : at + 1] in ("{", "["):
        return _read_values(text, at, offered)
    if _MARK.match(text, at):
        return [], at
    glm = _GLM_NAME.match(text, at)
    bare = glm and (glm[1] in offered or _GLM_BARE_NAME.fullmatch(glm[1]))
    if glm and (bare or text.startswith("<arg_key>", glm.end())):
        return _read_glm(text, glm, offered)
    end = _BODY_END.search(text, at)
    stop = end.start() if end else len(text)
    return python_calls(text[at:stop], offered), stop


def _read_values(text: str, at: int, offered: Offered) -> Reading:
    """JSON calls, one after the other."""
    calls: list[ToolCall] = []
    while (
        len(calls) <= MAX_CALLS
        and text[at : at + 1] in ("{", "[")
        and not text.startswith("[TOOL_CALLS]", at)
    ):
        found, at = _read_value_calls(text, at, offered)
        after = _AFTER_VALUE.match(text, at)
        if not after:
            raise UnreadableError(f"a tool call is followed by {text[at : at + 20]!r}")
        calls, at = calls + found, skip_space(text, after.end())
    return calls, at


def _read_value_calls(text: str, at: int, offered: Offered) -> Reading:
    try:
        value, end = decode_json(text, at)
    except UnreadableError as why:
        stop = balanced_end(text, at)
        if stop is None:
            raise
        return _read_python(text[at:stop], offered, why), stop
    return calls_in(value, offered), end


def _read_python(text: str, offered: Offered, why: UnreadableError) -> list[ToolCall]:
    try:
        return calls_in(read_value(text), offered)
    except UnreadableError:
        pass
    try:
        return python_calls(text, offered)
    except UnreadableError:
        raise why from None


def _read_element(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """``<function=f><parameter=x>1</parameter></function>``, or JSON in place of the parameters."""
    name = tool_name(mark["element_name"], offered)
    schemas = parameter_schemas(name, offered)
    at = skip_space(text, mark.end())
    if text.startswith("{", at):
        value, at = decode_json(text, at)
        return [ToolCall(name, read_arguments(value))], at
    arguments: dict[str, Any] = {}
    while parameter := _PARAMETER.match(text, at):
        end = _PARAMETER_END.search(text, parameter.end())
        if not end:
            raise UnreadableError(f"the parameter {parameter['name']!r} of {name!r} is not closed")
        written = text[parameter.end() : end.start()]
        is_text = {"true": True, "false": False}.get(parameter["text"])
        arguments[parameter["name"]] = typed_value(written, inner_schema(schemas, parameter["name"]), is_text)
        at = end.end()
    element_end = _ELEMENT_END.match(text, at)
    if not element_end:
        raise UnreadableError(f"the call of {name!r} is not closed")
    return [ToolCall(name, read_arguments(arguments))], element_end.end()


def _read_glm(text: str, begin: re.Match[str], offered: Offered) -> Reading:
    name, at = tool_name(begin[1], offered), begin.end()
    schemas = parameter_schemas(name, offered)
    arguments: dict[str, Any] = {}
    while key := _GLM_KEY.match(text, at):
        end = text.find("</arg_value>", key.end())
        if end < 0:
            raise UnreadableError(f"the argument {key[1]!r} of {name!r} is not closed")
        written, key_name = text[key.end() : end], key[1].strip()
        arguments[key_name] = typed_value(written, inner_schema(schemas, key_name))
        at = end + len("</arg_value>")
    element_end = _GLM_END.match(text, at)
    if not element_end:
        raise UnreadableError(f"the call of {name!r} is not closed")
    return [ToolCall(name, read_arguments(arguments))], element_end.end()


def _read_mistral(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """``[TOOL_CALLS] [{…}, …]``, or ``[TOOL_CALLS]name[ARGS]{…}`` of later tokenizers."""
    named = _MISTRAL.match(text, mark.end())
    if not named:
        return _read_values_only(text, mark.end(), offered)
    value, end = decode_json(text, named.end())
    return [ToolCall(tool_name(named["name"], offered), read_arguments(value), named["id"] or "")], end


def _read_values_only(text: str, at: int, offered: Offered) -> Reading:
    at = skip_space(text, at)
    calls, end = _read_values(text, at, offered)
    if not calls:
        raise UnreadableError("no call follows [TOOL_CALLS]")
    return calls, end


def _read_begin(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """DeepSeek V3 (``function<sep>name``, fenced JSON) and V3.1 (``name<sep>{…}``); Kimi (``name:0``).

    Step-3 has an element after ``function<sep>``, which is read on its own.
    """
    head = _BEGIN.match(text, mark.end())
    if not head:
        raise UnreadableError("a tool call was begun, but its name cannot be read")
    if (inner := _MARK.match(text, skip_space(text, head.end()))) and inner["element"]:
        return [], inner.start()
    name = (
        head["name"] if head["head"] == "function" and head["name"] else re.sub(r":\d+\Z", "", head["head"])
    )
    start = _BODY_START.match(text, head.end())
    value, end = decode_json(text, start.end() if start else head.end())
    return [ToolCall(tool_name(name, offered), read_arguments(value))], end


def _read_channel(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """gpt-oss: ``to=functions.name <|constrain|>json<|message|>{…}``, special tokens there or not."""
    head = _CHANNEL_END.match(text, mark.end())
    value, end = decode_json(text, head.end() if head else mark.end())
    return [ToolCall(tool_name(mark["channel_name"], offered), read_arguments(value))], end


def _read_gemma(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    """``call:f{x:1}`` of FunctionGemma and Gemma 4."""
    call, end = read_gemma_call(text, mark.end(), offered)
    return [call], end


def _read_broken(text: str, mark: re.Match[str], offered: Offered) -> Reading:
    raise UnreadableError(f"{mark[0]} begins no tool call of a form that is read here")


_READERS: Mapping[str, Callable[[str, re.Match[str], Offered], Reading]] = {
    "open": _read_body,
    "element": _read_element,
    "mistral": _read_mistral,
    "begin": _read_begin,
    "channel": _read_channel,
    "gemma": _read_gemma,
    "broken": _read_broken,
}
