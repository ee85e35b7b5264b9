"""Neural networks: modules, their parameters, and the operators of `functional`."""

from __future__ import annotations

from . import attention, functional, init, modules, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
