"""Kernels: how the world answers. P0 is clean, Ph perturbed by a hazard, and a masked one lacks tools."""

from toolenv.kernel.clean import CleanKernel
from toolenv.kernel.masked import MaskedKernel
from toolenv.kernel.perturbed import PerturbedKernel
from toolenv.kernel.protocol import ArgumentPolicy, Kernel, Noted, Slot, World

__all__ = [
    "ArgumentPolicy",
    "CleanKernel",
    "Kernel",
    "MaskedKernel",
    "Noted",
    "PerturbedKernel",
    "Slot",
    "World",
]
