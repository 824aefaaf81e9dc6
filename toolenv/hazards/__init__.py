"""Hazards: recoverable perturbations of a kernel (paper 2), one file each."""
