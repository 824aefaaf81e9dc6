"""Measurements: speed as ratios within one run. ``python -m benchmarks.speed`` runs them all."""
