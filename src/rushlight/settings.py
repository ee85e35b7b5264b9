"""Settings for the whole process, and questions about types."""

from __future__ import annotations

import os
import warnings
from typing import Any

from . import dtypes
from ._core import Tensor
from .device import cpu
from .device import device as Device
from .dtypes import dtype as DType
from .factories import default_device, require_device, switch_default_device
from .promotion import DIMENSIONED, NUMBER, ZERO_DIM, scalar_type_name
from .promotion import result_type as promoted

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device",
    "get_deterministic_debug_mode", "get_device",
    "get_float32_matmul_precision", "get_num_interop_threads", "has_lapack", "has_mkl",
    "has_openmp", "has_spectral", "is_complex", "is_conj", "is_distributed",
    "is_deterministic_algorithms_warn_only_enabled", "is_floating_point", "is_neg", "is_same_size",
    "is_signed", "is_warn_always_enabled", "result_type", "set_default_device",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads",
    "set_warn_always", "typename", "use_deterministic_algorithms",
]  # fmt: skip

# ---------------------------------------------------------------- the default device


def set_default_device(device: Any) -> None:
    """Set the device on which constructors make tensors in this thread.

    Args:
        device: a device or its name; None: the CPU.
    """
    switch_default_device(None if device is None else require_device(device, "set_default_device"))


def get_default_device() -> Device:
    """The device on which constructors make tensors in this thread."""
    return default_device() or cpu


# ---------------------------------------------------------------- determinism and precision

# Every operator is deterministic: the settings are kept for programs that ask.
_deterministic = False
_warn_only = False
_warn_always = False
_matmul_precision = "highest"
_interop_threads: int | None = None
_PRECISIONS = ("highest", "high", "medium")


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operators that give equal results each time; all do, in any case.

    Args:
        mode: whether to ask.
        warn_only: whether other operators would warn instead of raising.
    """
    global _deterministic, _warn_only
    _deterministic, _warn_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` has asked."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether other operators would only warn."""
    return _warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by number or name: 0 or ``"default"``, 1 or ``"warn"``, 2 or
    ``"error"``.

    Raises:
        RuntimeError: for another number or name.
        TypeError: for another type.
    """
    names = ("default", "warn", "error")
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in names:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of {names}, but got {debug_mode}"
            )
        debug_mode = names.index(debug_mode)
    if not 0 <= debug_mode <= 2:
        raise RuntimeError(
            f"set_deterministic_debug_mode: debug_mode is 0, 1 or 2, not {debug_mode}"
        )
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0: operators may be nondeterministic; 1: they warn; 2: they raise."""
    return (1 if _warn_only else 2) if _deterministic else 0


def set_float32_matmul_precision(precision: str) -> None:
    """How exact float32 products must be: ``"highest"``, ``"high"`` or ``"medium"``. They always
    are as exact as float32 allows. Another name has no effect but a warning.
    """
    global _matmul_precision
    if precision not in _PRECISIONS:
        warnings.warn(
            f"set_float32_matmul_precision: {precision!r} has no effect; the names are 'highest', "
            "'high' and 'medium'",
            stacklevel=2,
        )
        return
    _matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` has set."""
    return _matmul_precision


def set_warn_always(b: bool, /) -> None:
    """Whether warnings that are given once are given each time."""
    global _warn_always
    _warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` has set."""
    return _warn_always


def set_flush_denormal(mode: bool, /) -> bool:
    """Ask for denormal numbers to become zero, which is not supported.

    Returns:
        Whether the setting took effect: only the one that is there, False.
    """
    return not mode


def get_num_interop_threads() -> int:
    """The number of threads for operators beside each other; none runs beside another."""
    return _interop_threads or os.cpu_count() or 1


def set_num_interop_threads(n: int, /) -> None:
    """Set the number of threads for operators beside each other, which has no effect.

    Raises:
        RuntimeError: for a number below one.
    """
    global _interop_threads
    if n < 1:
        raise RuntimeError("expected number of threads to be positive")
    _interop_threads = n


# ---------------------------------------------------------------- questions


def _tensor(value: Any, function: str) -> Tensor:
    if isinstance(value, Tensor):
        return value
    given = type(value).__name__
    raise TypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {given}")


def is_floating_point(input: Tensor) -> bool:
    """Whether a tensor's dtype is a floating-point type."""
    return _tensor(input, "is_floating_point").is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether a tensor's dtype is complex."""
    return _tensor(input, "is_complex").is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether a tensor's dtype has negative numbers."""
    return _tensor(input, "is_signed").is_signed()


# What PyTorch's builds differ in: LAPACK and Fourier transforms are always there.
has_lapack, has_spectral = True, True
has_mkl, has_openmp = False, False


def is_distributed(input: Tensor) -> bool:
    """Whether a tensor is spread over processes: never."""
    _tensor(input, "is_distributed")
    return False


def is_conj(input: Tensor) -> bool:
    """Whether a tensor is marked as conjugated: never, conjugates are computed."""
    _tensor(input, "is_conj")
    return False


def is_neg(input: Tensor) -> bool:
    """Whether a tensor is marked as negated: never, negatives are computed."""
    _tensor(input, "is_neg")
    return False


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return _tensor(input, "is_same_size").shape == _tensor(other, "is_same_size").shape


def get_device(input: Tensor) -> int:
    """The number of the accelerator that holds a tensor; -1 for the CPU."""
    return -1 if _tensor(input, "get_device").device.type == "cpu" else 0


def result_type(tensor1: Any, tensor2: Any) -> DType:
    """The dtype of an arithmetic operator's result.

    Args:
        tensor1, tensor2: tensors or numbers.

    Example:
        >>> rushlight.result_type(rushlight.ones(2, dtype=rushlight.int32), 1.5)
        torch.float32
    """
    operands = []
    for value in (tensor1, tensor2):
        is_tensor = isinstance(value, Tensor)
        category = (DIMENSIONED if value.ndim else ZERO_DIM) if is_tensor else NUMBER
        dtype = value.dtype if is_tensor else dtypes.from_number(type(value))
        operands.append((dtype, category))
    return promoted(operands)


def typename(obj: Any, /) -> str:
    """The name of an object's type, of tensors with their dtype: ``"torch.FloatTensor"``."""
    if isinstance(obj, Tensor):
        return f"torch.{scalar_type_name(obj.dtype)}Tensor"
    if isinstance(obj, DType):
        return "torch.dtype"
    kind = obj if isinstance(obj, type) else type(obj)
    name = getattr(obj, "__qualname__", None) or kind.__qualname__
    module = getattr(obj, "__module__", None) or kind.__module__ or ""
    if module in ("builtins", ""):
        return name
    if (module + ".").startswith("rushlight."):
        module = "torch" + module.removeprefix("rushlight")
    return f"{module}.{name}"
