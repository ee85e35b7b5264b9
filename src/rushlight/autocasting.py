"""Which operators work in lower precision while `amp.autocast` is on, and in which.

An operator's arguments are converted when its call is planned; the thread's mode bits, which are
part of every plan's key, say that it is on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from . import _core, dtypes
from .dtypes import dtype as DType
from .graph.trace import Traced, TracedNumber
from .ops.record import Record
from .promotion import promote_types

_BITS = {dtypes.bfloat16: 1 << 4, dtypes.float16: 1 << 5}

# Products, which gain from lower precision.
LOWER = frozenset(
    "addbmm addmm addmv baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d "
    "conv_transpose2d conv_transpose3d einsum linear matmul mm multi_dot prelu "
    "scaled_dot_product_attention tensordot vecdot".split()
)
# What needs the range and precision of float32.
HIGHER = frozenset(
    "avg_pool3d binary_cross_entropy cdist cholesky cholesky_inverse cholesky_solve "
    "cosine_embedding_loss ctc_loss geqrf grid_sample grid_sampler hinge_embedding_loss huber_loss "
    "inverse kl_div l1_loss lu lu_solve margin_ranking_loss mse_loss multi_margin_loss "
    "multilabel_margin_loss nanquantile nll_loss ormqr pinverse poisson_nll_loss polar prod qr "
    "quantile renorm smooth_l1_loss soft_margin_loss stft svd trace triangular_solve "
    "triplet_margin_loss view_as_complex".split()
)
# Of the rest of linear algebra and Fourier transforms, which need it too, those that do not.
AS_GIVEN = frozenset(
    "linalg_cross linalg_diagonal linalg_matrix_exp linalg_norm matrix_norm vector_norm".split()
)
# Whose arguments must have one type: the widest.
WIDEST = frozenset("cat concat concatenate index_copy stack".split())


class _State(threading.local):
    dtype: DType | None = None  # None: off


_state = _State()


def active() -> DType | None:
    """The lower precision that is on in this thread, or None."""
    return _state.dtype


def set_active(dtype: DType | None) -> DType | None:
    """Switch it on or off in this thread; returns what was on."""
    before = _state.dtype
    _state.dtype = dtype
    bits = _core.get_mode_bits() & ~(_BITS[dtypes.bfloat16] | _BITS[dtypes.float16])
    _core.set_mode_bits(bits | (0 if dtype is None else _BITS[dtype]))
    return before


def cast_arguments(
    record: Record, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The traced arguments of an operator, converted as its kind demands."""
    lower = _state.dtype
    if lower is None:
        return args, kwargs
    if record.name in LOWER:
        target = lower
    elif record.name in HIGHER or needs_precision(record):
        target = dtypes.float32
    elif record.name in WIDEST:
        found = [each.dtype for each in floating((args, kwargs))]
        if len(set(found)) < 2:
            return args, kwargs
        target = found[0]
        for dtype in found:
            target = promote_types(target, dtype)
    else:
        return args, kwargs

    def cast(value: Traced) -> Any:
        return value.to(target) if is_castable(value) and value.dtype is not target else value

    return changed(args, cast), changed(kwargs, cast)


def needs_precision(record: Record) -> bool:
    """Whether it is linear algebra or a Fourier transform that is better computed in float32."""
    path = record.names[0] if record.names else record.name
    return path.startswith(("linalg.", "fft.")) and record.name not in AS_GIVEN


def is_castable(value: Traced) -> bool:
    return value.dtype.is_floating_point and value.dtype is not dtypes.float64


def floating(argument: Any) -> list[Traced]:
    """The tensors among arguments that could be converted."""
    found: list[Traced] = []

    def note(value: Traced) -> Traced:
        if is_castable(value):
            found.append(value)
        return value

    changed(argument, note)
    return found


def changed(argument: Any, function: Callable[[Traced], Any]) -> Any:
    """An argument with each traced tensor in it replaced; numbers stay."""
    if isinstance(argument, TracedNumber):
        return argument
    if isinstance(argument, Traced):
        return function(argument)
    if isinstance(argument, dict):
        return {key: changed(each, function) for key, each in argument.items()}
    if type(argument) in (tuple, list):
        return type(argument)(changed(each, function) for each in argument)
    return argument
