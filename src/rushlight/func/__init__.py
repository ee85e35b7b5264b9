"""Function transforms: derivatives and batching of functions, which compose.

A transform calls the function with values that stand for its tensors, and what the function does
becomes one graph, planned and fused like an operator.
"""

from __future__ import annotations

from . import values as _values
from .forward import jvp, linearize
from .functional_call import functional_call, stack_module_state
from .jacobians import hessian, jacfwd, jacrev
from .replay import PURE as _PURE
from .reverse import grad, grad_and_value, vjp
from .vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]

_values.install()
_PURE.update((grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap))
