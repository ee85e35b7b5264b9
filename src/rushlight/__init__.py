"""Rushlight: a deep-learning framework with PyTorch's API and eager behaviour.

Every operator is a few lines of Python, compiled by LLVM when it is first used and replayed by a
small native core.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
import sys as _sys
from types import ModuleType as _ModuleType

from . import _core, dtypes, linalg, masked, nn, return_types, signal
from ._core import Size, Tensor
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .autograd.anomaly_mode import (
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
)
from .autograd.tensor_methods import detach_, is_inference
from .codegen.compile import external_addresses as _external_addresses
from .debug import explain
from .device import device
from .dtypes import (
    bfloat16,
    bool,
    complex32,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .ops import load as _load
from .promotion import can_cast, promote_types
from .tensor import install as _install

_core.set_kernel_functions(_external_addresses())
_load()


def _resolve(path: str) -> _ModuleType:
    """The module for a path such as ``nn.functional``; made if there is none."""
    name = f"{__name__}.{path}"
    if name not in _sys.modules:
        _sys.modules[name] = _ModuleType(name)
        parent, _, last = path.rpartition(".")
        setattr(_resolve(parent) if parent else _sys.modules[__name__], last, _sys.modules[name])
    return _sys.modules[name]


_install(_sys.modules[__name__], _resolve)

from . import autograd, copying, func, optim, profiler, tensor_methods, utils  # noqa: E402
from .amp import GradScaler, autocast  # noqa: E402
from .amp.autocast_mode import (  # noqa: E402
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .compiler import compile  # noqa: E402
from .creation import *  # noqa: E402
from .dlpack import from_dlpack, to_dlpack  # noqa: E402
from .formats import *  # noqa: E402
from .func import vmap  # noqa: E402
from .inplace_functions import *  # noqa: E402
from .inplace_views import resize_as_  # noqa: E402
from .limits import finfo, iinfo  # noqa: E402
from .nn.functional import celu_, rrelu_, selu_, threshold_  # noqa: E402
from .printing import set_printoptions  # noqa: E402
from .random import (  # noqa: E402
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .removed import *  # noqa: E402
from .serialization import load, save  # noqa: E402
from .settings import *  # noqa: E402
from .storage import *  # noqa: E402
from .tensor import OutOfMemoryError  # noqa: E402
from .typed_tensors import *  # noqa: E402
from .version import __version__  # noqa: E402

half, short, int, long, double, cfloat, cdouble = (
    float16,
    int16,
    int32,
    int64,
    float64,
    complex64,
    complex128,
)
float = float32
chalf = complex32
inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None

# Loaded when they are first used.
_MODULES = (
    "accelerator", "amp", "backends", "compiler", "cpu", "cuda", "jit", "overrides", "testing",
    "types",
)  # fmt: skip


def __getattr__(name: str) -> _ModuleType:
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
