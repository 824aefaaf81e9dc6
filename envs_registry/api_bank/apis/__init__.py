"""Own implementations of API-Bank's APIs, by theme, over the databases the data set ships.

Written from a description of what the APIs do (``APIS.md`` beside the data), section by section, not from
upstream's code. Every module here is imported by :mod:`envs_registry.api_bank.registry`.
"""
