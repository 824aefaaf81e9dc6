"""Policies, one module each; imported as ``toolenv.agents``."""
