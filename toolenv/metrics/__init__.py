"""Metrics: episodes in, an :class:`~toolenv.metrics.stats.Estimate` out.

A new metric is one function with the :func:`~toolenv.metrics.registry.metric` decorator in any module here;
:func:`~toolenv.metrics.registry.catalogue` finds it.
"""
