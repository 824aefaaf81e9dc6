"""Recoverability, instance by instance: a hazard is armed only where a witness has recovered from it."""
