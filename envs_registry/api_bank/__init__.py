"""API-Bank: dialogues that need API calls, over databases the data set ships.

See ``docs/api-bank.md`` for what is scored and how.
"""

from envs_registry.api_bank.suite import APIBank

SUITE = APIBank()

__all__ = ["SUITE", "APIBank"]
