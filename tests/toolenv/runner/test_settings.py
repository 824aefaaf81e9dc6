"""What policies say of themselves is kept, or refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolenv.errors import UsageError
from toolenv.runner.settings import settings_of


class _Settings:
    def __init__(self, said: Any) -> None:
        self.said = said

    def to_json(self) -> Any:
        if isinstance(self.said, BaseException):
            raise self.said
        return self.said


class _Policy:
    name = "mine"

    def __init__(self, said: Any) -> None:
        self.settings = _Settings(said)


def test_settings_are_kept() -> None:
    said = {"k": 0.5, "path": Path("x"), "parts": [None, {"a": 1}]}
    assert settings_of(_Policy(said)) == said
    assert settings_of(object()) == {}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"a": 1, "k": float("nan")},
            r"policy 'mine': settings.to_json\(\) holds 'k': float nan, which is no",
        ),
        (
            {"k": {"deep": [float("inf")]}},
            r"policy 'mine': settings.to_json\(\) holds 'k': dict \{'deep': \[inf",
        ),
        ({"k": {(1, 2): 3}}, r"policy 'mine': settings.to_json\(\) holds 'k'"),
        (None, r"policy 'mine': settings.to_json\(\) returned NoneType None, expected a dict"),
        (SystemExit(3), r"policy 'mine': settings.to_json\(\) raised SystemExit: 3"),
        (KeyError("x"), r"policy 'mine': settings.to_json\(\) raised KeyError: 'x'"),
    ],
    ids=["nan", "inf", "key", "none", "exit", "raises"],
)
def test_settings_that_cannot_be_kept_are_told_with_policy_and_name(said: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        settings_of(_Policy(said))
