"""Tool calls that a model wrote into its text, because its server has no parser for them or the wrong one.

Read are the formats of Hermes and Qwen (``<tool_call>{…}``), Qwen3-Coder, Llama 3.1 and DeepSeek's DSML
(``<function=…>``, ``<invoke name=…>``), Mistral (``[TOOL_CALLS]``), Llama 3 (JSON, ``<|python_tag|>`` and
Python calls), DeepSeek and Kimi (``<|tool_call_begin|>``), GLM (``<arg_key>``) and gpt-oss (``to=functions.…``).

A tag is a call whatever it names. Bare JSON or Python is one only if it names an offered tool and gives it
arguments, or if the reply is nothing else and has a call's exact form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolenv.types import ToolCall, ToolSpec

from .bare_calls import find_bare_calls
from .call_objects import MAX_CALLS, call, calls_in, python_calls
from .values import UnreadableError, decode_json, read_arguments, read_value, skip_space

Offered: TypeAlias = Mapping[str, ToolSpec]
