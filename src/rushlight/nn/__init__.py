"""Neural networks: modules, their parameters, and the operators of `functional`."""

from __future__ import annotations

from . import functional, init, modules, parameter, utils
from .modules import *
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
