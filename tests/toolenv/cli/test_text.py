"""Bytes that are no text on the command line: refused in one place, for every option and argument."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from tests.toolenv.cli.command import PROGRAM, Command, environment
from toolenv.cli import app
from toolenv.cli.pairs import pairs
from toolenv.errors import UsageError

CLEAN = "ToolFeas/Workflows-clean-v0"
UNDECODABLE = "a\udcff"
"""As Python reads the bytes ``a`` and ``FF`` of a command line (PEP 383)."""


def command_lines() -> Iterator[list[str]]:
    """Every argument, and every option that takes a value, of every command."""
    root = typer.main.get_command(app)
    waiting: list[tuple[list[str], object]] = [([], root)]
    while waiting:
        words, command = waiting.pop()
        for name, inner in getattr(command, "commands", {}).items():
            waiting.append(([*words, name], inner))
        for parameter in getattr(command, "params", ()):
            if parameter.param_type_name == "argument":
                yield [*words, UNDECODABLE]
            elif not getattr(parameter, "is_flag", True):
                yield [*words, parameter.opts[0], UNDECODABLE]
                yield [*words, f"{parameter.opts[0]}={UNDECODABLE}"]


def test_every_option_and_argument_refuses_them(toolenv: Command, place: Path) -> None:
    toolenv("--version")  # commands register themselves
    lines = list(command_lines())
    assert len({line[0] for line in lines}) >= 16, "the commands"
    for line in lines:
        ended = toolenv(*line)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == (
            f"toolenv: argument {len(line)}, {line[-1]!a}, holds bytes that are no UTF-8 text;"
            " give it in UTF-8\n"
        )
    assert list(place.iterdir()) == []


def test_a_model_s_name_in_another_encoding_is_refused(tmp_path: Path) -> None:
    options = ("--base-url", "http://127.0.0.1:9/v1", "--limit", "1")
    command = [*map(os.fsencode, (*PROGRAM, "run", CLEAN, "--agent")), "chat:modèle".encode("latin-1")]
    ended = subprocess.run(
        [*command, *map(os.fsencode, options)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        r"toolenv: argument 4, 'chat:mod\udce8le', holds bytes that are no UTF-8 text; give it in UTF-8"
        + "\n"
    )


@pytest.mark.parametrize("value", [r'"\ud800"', r'["a", {"b": "\udfff"}]', r'{"\ud800": 1}'])
def test_json_makes_none_either(value: str) -> None:
    with pytest.raises(UsageError, match=r"--agent-option .* holds half of a character, which is no text"):
        pairs("--agent-option", [f"protocol={value}"])


def test_all_other_text_is_taken() -> None:
    given = ["a=模型 🙂", r'b="\ud83d\ude42"', "c=NaN"]
    assert pairs("--agent-option", given) == {"a": "模型 🙂", "b": "🙂", "c": "NaN"}
