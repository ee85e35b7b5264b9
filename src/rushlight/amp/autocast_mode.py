"""`autocast`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import autocasting, dtypes
from .._core import Tensor
from ..dtypes import dtype as DType

__all__ = [
    "autocast", "custom_bwd", "custom_fwd", "get_autocast_cpu_dtype", "get_autocast_dtype",
    "is_autocast_available", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
    "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_dtype",
    "set_autocast_enabled",
]  # fmt: skip

_DEVICES = ("cpu", "cuda", "xpu", "hpu", "mtia", "mps", "xla", "ipu", "meta")
_LOWER = (dtypes.bfloat16, dtypes.float16)
_chosen: dict[str, DType] = {"cpu": dtypes.bfloat16}
_cache = True


def is_autocast_available(device_type: str) -> bool:
    """Whether there is mixed precision on a kind of device."""
    if not isinstance(device_type, str):
        raise TypeError(
            "is_autocast_available(): argument 'device_type' must be str, not "
            f"{type(device_type).__name__}"
        )
    return device_type in ("cpu", "cuda")


class autocast:
    """Lets products work in lower precision in a ``with`` block or a function.

    Matrix products and convolutions convert float32 arguments; losses and what needs the range
    convert lower precision to float32; other operators take what they get. Numbers stored in
    float64 are left alone. Backward passes go on in the types of the forward pass.

    Args:
        device_type: ``"cpu"``; for other kinds there is a warning, and it is off.
        dtype: bfloat16 (the default) or float16.
        enabled: whether it is on: a block inside another may switch it off.
        cache_enabled: accepted.

    Example:
        >>> x = rushlight.ones(2, 2)
        >>> with rushlight.autocast("cpu"):
        ...     print((x @ x).dtype)
        torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in _DEVICES:
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = bool(enabled)
        if device_type != "cpu" and enabled:
            warnings.warn(
                f"User provided device_type of '{device_type}', but it is not available. Disabling",
                stacklevel=2,
            )
            self._enabled = False
        if self._enabled and self.fast_dtype not in _LOWER:
            warnings.warn(
                f"autocast: dtype {self.fast_dtype} is not supported on the CPU, where autocast "
                "knows torch.bfloat16 and torch.float16. Disabling autocast.",
                stacklevel=2,
            )
            self._enabled = False
        self._before: list[DType | None] = []

    def __enter__(self) -> autocast:
        if self.device == "cpu":
            wanted = self.fast_dtype if self._enabled else None
            self._before.append(autocasting.set_active(wanted))
        return self

    def __exit__(self, *exception: object) -> None:
        if self.device == "cpu":
            autocasting.set_active(self._before.pop())

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            return func

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled):
                return func(*args, **kwargs)

        return wrapper


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether `autocast` is on for a kind of device."""
    return device_type == "cpu" and autocasting.active() is not None


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Switch `autocast` on or off in this thread, for the CPU."""
    if device_type == "cpu":
        autocasting.set_active(_chosen["cpu"] if enabled else None)


def is_autocast_cpu_enabled() -> bool:
    """Whether `autocast` is on for the CPU."""
    return is_autocast_enabled("cpu")


def get_autocast_dtype(device_type: str) -> DType:
    """The lower precision of a kind of device."""
    if device_type == "cpu":
        return autocasting.active() or _chosen["cpu"]
    return _chosen.get(device_type, dtypes.float16)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Set the lower precision of a kind of device."""
    _chosen[device_type] = dtype


def get_autocast_cpu_dtype() -> DType:
    """The lower precision of the CPU."""
    return get_autocast_dtype("cpu")


def is_autocast_cache_enabled() -> bool:
    """What `set_autocast_cache_enabled` has set."""
    return _cache


def set_autocast_cache_enabled(enabled: bool, /) -> None:
    """Whether converted weights may be kept; nothing is."""
    global _cache
    _cache = bool(enabled)


def _converted(value: Any, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.dtype is not dtypes.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, dict):
        return {key: _converted(each, dtype) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_converted(each, dtype) for each in value)
    return value


def custom_fwd(
    fwd: Any = None, *, device_type: str, cast_inputs: DType | None = None
) -> Callable[..., Any]:
    """Make the forward method of an `autograd.Function` fit for `autocast`.

    Args:
        fwd: the method.
        device_type: the kind of device.
        cast_inputs: convert floating-point arguments to this type, and switch `autocast` off.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_converted(args, cast_inputs), **_converted(kwargs, cast_inputs))

    return wrapper


def custom_bwd(bwd: Any = None, *, device_type: str) -> Callable[..., Any]:
    """Run the backward method of an `autograd.Function` with the `autocast` of its forward method.

    Args:
        bwd: the method.
        device_type: the kind of device.
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args)

    return wrapper
