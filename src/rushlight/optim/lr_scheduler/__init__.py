"""Learning rate schedules: call a scheduler's `step` after each epoch, or after each step."""

from .annealing import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .base import LRScheduler
from .composed import ChainedScheduler, SequentialLR
from .cyclic import CyclicLR, OneCycleLR
from .functions import LambdaLR, MultiplicativeLR
from .plateau import ReduceLROnPlateau
from .steps import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR

_LRScheduler = LRScheduler  # the name in older programs

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
]  # fmt: skip
