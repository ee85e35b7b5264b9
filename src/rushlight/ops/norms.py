"""Norms and distances of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import dtype as DType
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel, reduced_dims
from ..promotion import can_cast, scalar_type_name
from . import build
from .arithmetic import computed_dtype
from .checks import require_differentiable, require_matrices
from .complex import real_part
from .conversion import overwritten
from .kinds import Host, with_batch
from .record import NONE, Dim, Operand, Selector, Tensor, composite, op, primitive
from .reductions import finish_dims
from .samples import Draw, calls

_INF = float("inf")

# ---------------------------------------------------------------- norms of vectors


def _norm_dtype(name: str, x: Traced, dtype: DType | None) -> DType:
    """The type of computation, checked."""
    require_differentiable(name, x.dtype)
    if dtype is None:
        return x.dtype
    label, given = scalar_type_name(dtype), scalar_type_name(x.dtype)
    require_differentiable(name, dtype, "dtype")
    if dtype.is_complex != x.dtype.is_complex:
        kind = "complex" if x.dtype.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {label}")
    if dtype.itemsize < x.dtype.itemsize or not can_cast(x.dtype, dtype):
        raise RuntimeError(
            f"{name}: dtype={label} would narrow input, which is {given}; take one that holds "
            "all its values"
        )
    return dtype


def vector_norm_over(x: Traced, order: Any, dims: tuple[int, ...], name: str) -> Traced:
    """The norm of floating-point or complex elements over dims, which stay."""
    if isinstance(order, bool) or not isinstance(order, int | float):
        raise TypeError(f"{name}(): argument 'ord' must be Number, not {type(order).__name__}")
    count = numel(tuple(x.shape[dim] for dim in dims))
    if (order < 0 or order == _INF) and count == 0:
        raise RuntimeError(
            f"{name}: the {order} norm of an empty tensor does not have an identity to start from"
        )
    if order == 0:
        counts = build.convert(x != 0, x.dtype.to_real())
        return op.sum(overwritten.apply(real_part(x), counts), dims, True)
    if order == 2:
        # x * conj(x): its derivative at zero is zero, and the root's infinite one is masked.
        squares = real_part(x * build.conjugate(x)) if x.dtype.is_complex else x * x
        return _root(build.reduce_sum(squares, dims))
    magnitude = op.abs(x)
    if order == _INF:
        return op.amax(magnitude, dims, True) if dims else magnitude
    if order == -_INF:
        return op.amin(magnitude, dims, True) if dims else magnitude
    if order == 1:
        return build.reduce_sum(magnitude, dims)
    if order > 0:
        # Powers below 1 have infinite derivatives at zero, where the norm's is taken as zero.
        zero = magnitude == 0
        safe = op.where(zero, 1, magnitude)
        powers = build.select_where(zero, 0, op.pow(safe, order), magnitude.dtype)
        total = build.reduce_sum(powers, dims)
        return _power(total, order)
    # An element that is zero makes the norm zero, where all derivatives are taken as zero.
    zero = magnitude == 0
    total = build.reduce_sum(op.pow(op.where(zero, 1, magnitude), order), dims)
    is_zero = op.any(zero, dims, True) & (total == total)
    return build.select_where(is_zero, 0, op.pow(total, 1 / order), total.dtype)


def _root(total: Traced) -> Traced:
    """The square root, with derivative zero at zero."""
    zero = total == 0
    return build.select_where(zero, total * 0, op.sqrt(op.where(zero, 1, total)), total.dtype)


def _power(total: Traced, order: Any) -> Traced:
    zero = total == 0
    root = op.pow(op.where(zero, 1, total), 1 / order)
    return build.select_where(zero, total * 0, root, total.dtype)


def _vector_norm(
    x: Traced, order: Any, dim: Any, keepdim: bool, dtype: DType | None, name: str
) -> Traced:
    compute = _norm_dtype(name, x, dtype)
    dims = reduced_dims(dim, x.ndim)
    wide = build.widened(build.convert(x, compute))
    result = build.convert(vector_norm_over(wide, order, dims, name), compute.to_real())
    return finish_dims(result, dims, keepdim)


_VECTOR_SAMPLES = calls(
    (Draw((5,)),),
    (Draw((3, 4)), 1, 1),
    ((Draw((3, 4)), 3), {"dim": 0, "keepdim": True}),
    (Draw((3, 4)), _INF),
    (Draw((3, 4)), -_INF, (0, 1)),
    (Draw((3, 4)), 0, 0),
    (Draw((3, 4)), 0.5, 0),
    (Draw(()),),
)


@composite(names=["linalg.vector_norm"], methods=[], out="same dtype", samples=_VECTOR_SAMPLES)
def vector_norm(
    x, ord: Selector = 2, dim: Dim = None, keepdim: bool = False, *, dtype: DType | None = None
):
    """The norm of order ord of the elements over dims: sum(|x| ** ord) ** (1 / ord); for infinite
    orders the greatest or least magnitude, for 0 the number of elements that are not zero.
    """
    return _vector_norm(x, ord, dim, keepdim, dtype, "linalg.vector_norm")


# ---------------------------------------------------------------- norms of matrices


def _matrix_dims(A: Traced, dim: Any) -> tuple[int, int]:
    require_matrices("linalg.matrix_norm", A)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}"
        )
    first, second = (normalize_dim(each, A.ndim) for each in dims)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {dims}")
    return first, second


def _matrix_norm(A: Traced, order: Any, dim: Any, keepdim: bool, dtype: DType | None) -> Traced:
    name = "linalg.matrix_norm"
    compute = _norm_dtype(name, A, dtype)
    first, second = _matrix_dims(A, dim)
    A = build.convert(A, compute)
    dims = (first, second)
    if order == "fro":
        return _vector_norm(A, 2, dims, keepdim, None, name)
    if order == "nuc" or order in (2, -2):
        values = getattr(op, "linalg.svdvals")(_moved_last(A, first, second))
        if order == "nuc":
            result = op.sum(values, -1)
        else:
            result = op.amax(values, -1) if order == 2 else op.amin(values, -1)
        if keepdim:
            shape = [1 if each in dims else size for each, size in enumerate(A.shape)]
            return build.reshape(result, shape)
        return result
    if isinstance(order, str) or order not in (1, -1, _INF, -_INF):
        raise RuntimeError(f"linalg.matrix_norm: Order {order} not supported.")
    summed, compared = dims if order in (1, -1) else (second, first)
    totals = build.reduce_sum(op.abs(A), (summed,))
    if order > 0 and totals.shape[compared] == 0:
        result = op.sum(totals, compared, True)  # the greatest of no norms is 0
    else:
        result = (op.amax if order > 0 else op.amin)(totals, compared, True)
    return finish_dims(result, tuple(sorted(dims)), keepdim)


def _moved_last(A: Traced, first: int, second: int) -> Traced:
    rest = [dim for dim in range(A.ndim) if dim not in (first, second)]
    return build.permute(A, [*rest, first, second])


_MATRIX_SAMPLES = calls(
    (Draw((3, 4)),),
    (Draw((2, 3, 4)), 1),
    (Draw((2, 3, 4)), -_INF, (0, 2)),
    ((Draw((2, 3, 4)), _INF), {"keepdim": True}),
)


@composite(names=["linalg.matrix_norm"], methods=[], out="same dtype", samples=_MATRIX_SAMPLES)
def matrix_norm(
    A,
    ord: Selector = "fro",
    dim: Dim = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
):
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, or an infinity."""
    return _matrix_norm(A, ord, dim, keepdim, dtype)


@composite(
    name="linalg_norm",
    names=["linalg.norm"],
    methods=[],
    out="same dtype",
    samples=calls(
        (Draw((3, 4)),),
        (Draw((2, 3, 4)),),
        (Draw((3, 4)), 1),
        (Draw((3, 4)), "fro"),
        (Draw((5,)), 3),
        ((Draw((2, 3, 4)), 2), {"dim": 1, "keepdim": True}),
        ((Draw((2, 3, 4)), _INF), {"dim": (0, 1)}),
    ),
)
def linalg_norm(
    A,
    ord: Selector = None,
    dim: Dim = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
):
    """The norm of vectors (one dim) or matrices (two dims); without ord the 2-norm of all."""
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: dim must name 1 or 2 dimensions, but is {list(dims)}")
    if dims is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: ord without dim is for inputs of 1 or 2 dimensions, not {A.ndim}; "
            "give dim"
        )
    is_matrix = (len(dims) if dims is not None else A.ndim) == 2
    if ord is not None and (is_matrix or isinstance(ord, str)):
        return _matrix_norm(A, ord, (0, 1) if dims is None else dims, keepdim, dtype)
    return _vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype, "linalg.vector_norm")


@composite(
    names=["norm"],
    out="same dtype",
    samples=calls(
        (Draw((3, 4)),),
        (Draw((3, 4)), 1),
        (Draw((2, 3, 4)), "fro", (0, 2)),
        ((Draw((2, 3, 4)), _INF, 1), {"keepdim": True}),
        (Draw((3, 4)), 0.5, 0),
    ),
)
def norm(
    input,
    p: Selector = "fro",
    dim: Dim = None,
    keepdim: bool = False,
    dtype: DType | None = None,
):
    """The norm of all elements or over dims; "fro" is the 2-norm, "nuc" that of matrices."""
    if p == "nuc":
        dims = tuple(range(input.ndim)) if dim is None else dim
        return _matrix_norm(input, "nuc", dims, keepdim, dtype)
    if isinstance(p, str) and p != "fro":
        return _matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype)
    order = 2 if p is None or p == "fro" else p
    return _vector_norm(input, order, dim, keepdim, dtype, "linalg.vector_norm")


@composite(
    names=["frobenius_norm"],
    methods=[],
    out="same dtype",
    samples=calls(((Draw((3, 4)), (0, 1)), {"keepdim": True}), (Draw((2, 3, 4)), (1,))),
)
def frobenius_norm(input, dim: Dim, keepdim: bool = False):
    """The 2-norm over dims."""
    return _vector_norm(input, 2, dim, keepdim, None, "linalg.vector_norm")


@composite(
    names=["nuclear_norm"],
    methods=[],
    out="same dtype",
    samples=calls(((Draw((3, 4)),), {"keepdim": True}), (Draw((2, 3, 4)), (0, 2))),
)
def nuclear_norm(input, dim: Dim = (-2, -1), keepdim: bool = False):
    """The nuclear norm of matrices over two dims: the sum of the singular values."""
    return _matrix_norm(input, "nuc", dim, keepdim, None)


# ---------------------------------------------------------------- distances


@composite(
    names=["dist"],
    samples=calls((Draw((3, 4)), Draw((3, 4))), (Draw((3,)), Draw((2, 3)), 1)),
)
def dist(input, other, p: Selector = 2):
    """The norm of order p of the difference."""
    difference = input - other
    require_differentiable("dist", difference.dtype)
    return _vector_norm(difference, p, None, False, None, "linalg.vector_norm")


@composite(
    names=["nn.functional.pairwise_distance", "pairwise_distance"],
    methods=[],
    samples=calls((Draw((3, 4)), Draw((3, 4))), ((Draw((3, 4)), Draw((4,))), {"p": 1.0})),
)
def pairwise_distance(x1, x2, p: Selector = 2.0, eps: Operand = 1e-6, keepdim: bool = False):
    """The norm of order p of the differences along the last dim; eps is added to them."""
    difference = build.kept(x1 - x2 + eps)
    last = max(difference.ndim - 1, 0)
    return _vector_norm(difference, p, last, keepdim, None, "linalg.vector_norm")


@composite(
    names=["nn.functional.cosine_similarity", "cosine_similarity"],
    methods=[],
    samples=calls((Draw((3, 4)), Draw((3, 4))), ((Draw((3, 4)), Draw((1, 4))), {"dim": 0})),
)
def cosine_similarity(x1, x2, dim: int = 1, eps: Operand = 1e-8):
    """The cosine of the angle between vectors along dim; eps is the least length."""
    dtype = computed_dtype(x1, x2)
    if not dtype.is_floating_point:
        raise RuntimeError(
            "cosine_similarity: x1 and x2 must be real and one of floating point, but "
            f"together are {dtype}"
        )
    shape = broadcast_shapes([x1.shape, x2.shape], "cosine_similarity")
    x1, x2 = (build.expand(build.widened(build.convert(x, dtype)), shape) for x in (x1, x2))
    place = normalize_dim(dim, len(shape))
    units = []
    for x in (x1, x2):
        length = vector_norm_over(x, 2, (place,), "cosine_similarity") if x.ndim else op.abs(x)
        units.append(build.kept(x / op.clamp_min(length, eps)))
    return build.convert(op.sum(units[0] * units[1], place), dtype)


@composite(
    names=["renorm"],
    inplace=True,
    out="same dtype",
    samples=calls((Draw((3, 4)), 2, 0, 1.0), (Draw((2, 3, 4)), 1, 1, 2.0)),
)
def renorm(input, p: Selector, dim: int, maxnorm: Operand):
    """The slices along dim scaled down to a norm of at most maxnorm."""
    if p <= 0:
        raise RuntimeError(f"renorm: non-positive-norm not supported, but p is {p}")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: maxnorm must not be negative, but is {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )
    dim = normalize_dim(dim, input.ndim)
    dims = tuple(each for each in range(input.ndim) if each != dim)
    length = _vector_norm(input, p, dims, True, None, "linalg.vector_norm")
    factor = op.where(length > maxnorm, maxnorm / (length + 1e-7), 1.0)
    return input * build.convert(factor, input.dtype.to_real())


_CDIST_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@composite(
    names=["cdist"],
    methods=[],
    samples=calls(
        (Draw((3, 4)), Draw((2, 4))),
        (Draw((2, 3, 4)), Draw((5, 4)), 1.0),
        (Draw((3, 4)), Draw((2, 4)), _INF),
        (Draw((3, 4)), Draw((2, 4)), 3.0),
    ),
)
def cdist(
    x1,
    x2,
    p: Selector = 2.0,
    compute_mode: str | None = "use_mm_for_euclid_dist_if_necessary",
):
    """The distances (norms of order p) between the rows of two matrices."""
    if compute_mode is not None and compute_mode not in _CDIST_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for label, x in (("X1", x1), ("X2", x2)):
        if x.dtype in (dtypes.float16, dtypes.bfloat16):
            raise NotImplementedError(
                f"\"cdist\" not implemented for '{scalar_type_name(x.dtype)}'"
            )
        if not x.dtype.is_floating_point:
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {label} got: "
                f"{scalar_type_name(x.dtype)}"
            )
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {label} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            "cdist: rows of x1 and x2 are points of one space, so need the same number of "
            f"columns, but have {x1.shape[-1]} and {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, but p is {p}")
    difference = build.insert_dim(x1, x1.ndim - 1) - build.insert_dim(x2, x2.ndim - 2)
    last = difference.ndim - 1
    if difference.shape[last] == 0:
        return build.full(difference.shape[:-1], 0, difference.dtype)
    return build.drop_dims(vector_norm_over(difference, p, (last,), "cdist"), (last,))


def _pairs_batch(inputs: Any, batched: Any, size: Any, attributes: Any) -> list:
    one = build.drop_dims(build.slice_(inputs[0], 0, 0, 1, 1), (0,))
    return [with_batch(pairs_of_rows.apply(one), False, size)]


@primitive(
    Host(lambda environment, x: [(dtypes.int64, (2, x.shape[0] * (x.shape[0] - 1) // 2), False)]),
    name="pairs_of_rows",
    derivative=NONE,
    batch=_pairs_batch,
    reference=lambda x: numpy.stack(numpy.triu_indices(len(x), 1)),
)
def pairs_of_rows(x):
    """The indices of all pairs of different rows, the first less than the second."""


@composite(
    names=["nn.functional.pdist", "pdist"],
    methods=[],
    samples=calls((Draw((4, 3)),), (Draw((4, 3)), 1.0)),
)
def pdist(input, p: Selector = 2.0):
    """The distances between all pairs of rows, one after another."""
    if input.ndim != 2:
        raise RuntimeError(
            f"pdist only supports 2D tensors, got: {input.ndim}D of shape {list(input.shape)}"
        )
    if input.dtype in (dtypes.float16, dtypes.bfloat16):
        raise NotImplementedError(
            f"\"pdist\" not implemented for '{scalar_type_name(input.dtype)}'"
        )
    if not input.dtype.is_floating_point:
        raise RuntimeError(
            f"pdist only supports floating-point dtypes, got {scalar_type_name(input.dtype)}"
        )
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, but p is {p}")
    pairs = pairs_of_rows.apply(op.detach(input))
    first, second = (op.select(pairs, 0, side) for side in (0, 1))
    difference = op.index_select(input, 0, first) - op.index_select(input, 0, second)
    return build.drop_dims(vector_norm_over(difference, p, (1,), "pdist"), (1,))


# ---------------------------------------------------------------- all dims but one


@composite(
    names=["norm_except_dim"],
    methods=[],
    samples=calls((Draw((3, 4)),), (Draw((2, 3, 4)), 2, 1), (Draw((3, 4)), 2, -1)),
)
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0):
    """The norms of the slices along dim; of all elements if that is -1."""
    if dim == -1:
        return _vector_norm(v, pow, None, False, None, "linalg.vector_norm")
    kept = normalize_dim(dim, v.ndim)
    dims = tuple(each for each in range(v.ndim) if each != kept)
    if not dims:
        return op.abs(v)
    return _vector_norm(v, pow, dims, True, None, "linalg.vector_norm")
