"""A checkpoint's chat template, tried out before it is used: some have no place for tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from jinja2.exceptions import TemplateError

from toolenv.errors import PreflightError, ServerError
from toolenv.types import ChatMessage, Observation, ToolCall

from .local_settings import LocalSettings
from .preflight import PROBE
from .tool_section import in_plain_words, without_system
from .wire import LOCAL_TEMPLATE, WireMessage, to_openai_messages, to_openai_tools

_SYSTEM, _CITY, _TIME = "Answer in one word.", "Reykjavik", "21:07"
_HISTORY = Observation(
    (
        ChatMessage("user", "What time is it there?"),
        ChatMessage("assistant", "", (ToolCall("get_time", {"city": _CITY}, "call00000"),)),
        ChatMessage("tool", _TIME, (), "call00000"),
    ),
    PROBE.tools,
    1,
)
"""A conversation with all that a template may have no place for: a tool, a call, a reply."""
_TOLD = (PROBE.tools[0].description, _CITY, _TIME)


class ChatTemplate:
    """The prompt's text for a conversation; may be shared by threads.

    Args:
        settings: the agent's.
        tokenizer: of ``transformers``.

    Attributes:
        tool_section: who writes tools, calls and replies: the ``template``, or we, as text (``prompt``).
        takes_system: whether a system message is one, and not put before the user's first.

    Raises:
        PreflightError: there is no template, or it cannot do what the settings ask of it.
    """

    def __init__(self, settings: LocalSettings, tokenizer: Any) -> None:
        self._settings, self._tokenizer = settings, tokenizer
        self._text = settings.template_text or tokenizer.chat_template
        if not self._text:
            raise self._unfit("has no chat template; give one with chat_template=FILE")
        self.tool_section: Literal["template", "prompt"] = "template"
        self.takes_system = True
        self.takes_system = self._shows(_conversation(ChatMessage("system", _SYSTEM)), (), (_SYSTEM,))
        self.tool_section = self._choose()

    def render(self, messages: Sequence[WireMessage], tools: Sequence[dict[str, Any]]) -> str:
        """The whole prompt, up to where the model goes on.

        Args:
            messages: as :func:`~.wire.to_openai_messages` makes them; arguments of calls are mappings.
            tools: the tools offered, in OpenAI's form.

        Raises:
            ServerError: the template refuses the conversation.
        """
        try:
            return self._rendered(messages, tools)
        except TemplateError as error:
            raise ServerError(
                f"{self._settings.model}: the chat template refuses a conversation: {error}",
                trouble="server/bad_request",
            ) from error

    def _rendered(self, messages: Sequence[WireMessage], tools: Sequence[dict[str, Any]]) -> str:
        if self.tool_section == "prompt":
            messages, tools = in_plain_words(messages, tools), ()
        switches = {name: getattr(self._settings, name) for name in ("enable_thinking", "reasoning_effort")}
        text: str = self._tokenizer.apply_chat_template(
            list(messages) if self.takes_system else without_system(messages),
            tools=list(tools) or None,
            chat_template=self._text,
            add_generation_prompt=True,
            tokenize=False,
            **{name: value for name, value in switches.items() if value is not None},
        )
        return text

    def _choose(self) -> Literal["template", "prompt"]:
        """The template, if it writes all three and we are not asked to."""
        wanted = self._settings.tool_section
        history, tools = _conversation(), to_openai_tools(_HISTORY.tools)
        if wanted != "prompt" and self._shows(history, tools, _TOLD):
            return "template"
        if wanted == "template":
            raise self._unfit(
                "has a chat template that does not write tools, calls and replies; tool_section=prompt"
                " leaves that to us, chat_template=FILE gives another"
            )
        self.tool_section = "prompt"
        if not self._shows(history, tools, _TOLD):
            raise self._unfit("has a chat template that cannot be used; chat_template=FILE gives another")
        return "prompt"

    def _shows(
        self, messages: list[WireMessage], tools: Sequence[dict[str, Any]], told: tuple[str, ...]
    ) -> bool:
        try:
            text = self._rendered(messages, tools)
        except (TemplateError, TypeError, ValueError):
            return False
        return all(words in text for words in told)

    def _unfit(self, why: str) -> PreflightError:
        return PreflightError(f"{self._settings.model}: it {why}")


def _conversation(*opening: ChatMessage) -> list[WireMessage]:
    messages = (*opening, *_HISTORY.messages[: 1 if opening else None])
    return to_openai_messages(Observation(messages, _HISTORY.tools, 1), form=LOCAL_TEMPLATE)
