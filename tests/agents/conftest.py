"""What the tests of agents may use."""

from __future__ import annotations

from tests.support.real_model import real_server

__all__ = ["real_server"]
