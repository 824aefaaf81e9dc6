"""How one local checkpoint is spoken to: from an observation to its prompt, from its tokens to an action."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from toolenv.errors import ContextWindowError
from toolenv.model_server import Reply
from toolenv.stopping import strip_reasoning
from toolenv.types import NO_TOKENS, Action, Observation, Usage

from .chat import to_action
from .chat_template import ChatTemplate
from .local_settings import LocalSettings
from .prompts import prompt_for
from .wire import LOCAL_TEMPLATE, to_openai_messages, to_openai_tools

_OPENED = re.compile(
    r"(<(?:think|thinking|thoughts?|reasoning|seed:think)>|\[THINK\]|<\|START_THINKING\|>|<\|channel>thought\n)"
    r"\s*\Z",
    re.IGNORECASE,
)
_CLOSING = ("</think>", "</thinking>", "</seed:think>", "[/THINK]", "<|END_THINKING|>", "<channel|>")


class Prompt(NamedTuple):
    """What a model is given.

    Attributes:
        tokens: the prompt's.
        limit: how many tokens the reply may have.
        opened: the tag of reasoning that the chat template has begun for the model, or ``""``.
    """

    tokens: list[int]
    limit: int
    opened: str = ""


class Generation(NamedTuple):
    """What a model gave.

    Attributes:
        tokens: the reply's, the one that ended it among them.
        cached: tokens of the prompt that the engine had at hand from earlier work.
    """

    tokens: Sequence[int]
    cached: int = 0


class Dialect:
    """A checkpoint's chat template, tokenizer and limits; may be shared by threads.

    Args:
        settings: the agent's.
        tokenizer: of ``transformers``.
        stop_tokens: each of them ends a reply.
        context: tokens a conversation and its reply may have.

    Raises:
        PreflightError: there is no chat template, or it cannot do what the settings ask of it.

    Attributes:
        gives_reasoning_back: whether the chat template is given earlier reasoning.
    """

    def __init__(
        self, settings: LocalSettings, tokenizer: Any, *, stop_tokens: frozenset[int], context: int
    ) -> None:
        self._model = _shown_name(settings.model)
        self.stop_tokens, self.context = stop_tokens, min(context, settings.max_model_len or context)
        self.template = ChatTemplate(settings, tokenizer)
        self._settings, self._tokenizer = settings, tokenizer
        self.gives_reasoning_back = bool(settings.reasoning_field)
        self._form = replace(LOCAL_TEMPLATE, reasoning_field=settings.reasoning_field)
        self._closing = {ids[0] for tag in _CLOSING if len(ids := self._encode(tag)) == 1}

    def prompt(self, observation: Observation, reasoning: Mapping[int, str] | None = None) -> Prompt:
        """What the model is given for one decision.

        Args:
            observation: what is asked.
            reasoning: earlier reasoning by the index of the assistant message it led to.

        Raises:
            ContextWindowError: the model's context does not hold it and a reply.
            ServerError: the chat template refuses the conversation.
        """
        messages = to_openai_messages(
            observation,
            system_prompt=prompt_for(observation, self._settings.protocol),
            form=self._form,
            reasoning=reasoning,
        )
        text = self.template.render(messages, to_openai_tools(observation.tools))
        tokens = self._encode(text)
        room = self.context - len(tokens)
        if room < 1:
            said = f"the conversation has {len(tokens)} tokens, and the model's context holds {self.context}"
            raise ContextWindowError(said, NO_TOKENS)
        opened = _OPENED.search(text)
        return Prompt(tokens, min(self._settings.cap, room), opened[1] if opened else "")

    def action(self, prompt: Prompt, generation: Generation, observation: Observation) -> tuple[Action, str]:
        """The decision in what the model gave, and its reasoning.

        Tokens are the engine's own. Those of reasoning are known where its closing tag is a single token.
        """
        tokens = list(generation.tokens)
        ended = bool(tokens) and tokens[-1] in self.stop_tokens
        # With its special tokens: in many formats they are what marks a call.
        text = prompt.opened + self._tokenizer.decode(
            tokens[:-1] if ended else tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        reasoning_tokens = self._reasoning_tokens(prompt, tokens)
        usage = Usage(len(prompt.tokens), len(tokens), generation.cached, reasoning_tokens)
        finish = "stop" if ended else "length"
        reply = Reply({"role": "assistant", "content": text}, finish, self._model, usage)
        action = to_action(reply, observation.tools, reasoning_sent_back=self.gives_reasoning_back)
        return action, strip_reasoning(text)[1]

    def _reasoning_tokens(self, prompt: Prompt, tokens: Sequence[int]) -> int:
        closed = next((at for at, token in enumerate(tokens, 1) if token in self._closing), 0)
        return closed or (len(tokens) if prompt.opened and self._closing else 0)

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids


def _shown_name(model: str) -> str:
    """What records say of a model: its name on the hub, or that of its folder without those around it."""
    path = Path(model)
    return path.name if path.is_absolute() or path.is_dir() else model


def stop_tokens(tokenizer: Any, generation_config: Any) -> frozenset[int]:
    """The tokens that end a reply: those of the checkpoint's generation config, and the tokenizer's."""
    listed = getattr(generation_config, "eos_token_id", None)
    several = listed if isinstance(listed, list | tuple) else [listed]
    return frozenset(token for token in (*several, tokenizer.eos_token_id) if token is not None)
