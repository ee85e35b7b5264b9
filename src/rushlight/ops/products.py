"""Products of vectors, matrices and tensors: addmv, cross, kron, tensordot, matrix_power, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..graph.symbols import SymbolicInt
from ..graph.trace import Traced
from ..layout import broadcast_shapes, normalize_dim, numel
from ..promotion import result_type
from . import build
from .checks import require_differentiable, require_same_dtype, require_square
from .conversion import overwritten
from .record import Operand, Selector, Tensor, Tensors, composite, op
from .samples import Draw, calls
from .shapes import expanded_shape


def _require_dims(name: str, x: Traced, rank: int, label: str) -> None:
    if x.ndim != rank:
        raise RuntimeError(
            f"{name}: Expected {rank}-D argument {label}, but got {x.ndim}-D of shape "
            f"{list(x.shape)}"
        )


def _plus(input: Traced, product: Traced, beta: Any, alpha: Any) -> Traced:
    """beta * input + alpha * product, in the product's shape; a zero beta ignores NaN in input."""
    product = build.scaled(product, alpha)
    return product if build.is_zero(beta) else build.scaled(input, beta) + product


@composite(
    names=["addmv"],
    inplace=True,
    out="same dtype",
    samples=calls(
        (Draw((2,)), Draw((2, 3)), Draw((3,))),
        ((Draw(()), Draw((2, 3)), Draw((3,))), {"beta": 0.5, "alpha": 2}),
    ),
)
def addmv(input, mat, vec, *, beta: Operand = 1, alpha: Operand = 1):
    """beta * input + alpha * (mat @ vec)"""
    if mat.ndim != 2 or vec.ndim != 1 or input.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {input.ndim}, {mat.ndim}, {vec.ndim} (in "
            "addmv)"
        )
    if mat.shape[1] != vec.shape[0] or (
        input.ndim and input.shape[0] != mat.shape[0] and input.shape[0] != 1
    ):
        raise RuntimeError(
            f"size mismatch, got input ({list(input.shape)}), mat ({list(mat.shape)}), vec "
            f"({list(vec.shape)}) (in addmv)"
        )
    return _plus(input, op.mv(mat, vec), beta, alpha)


@composite(
    names=["addr"],
    inplace=True,
    out=True,
    samples=calls(
        (Draw((2, 3)), Draw((2,)), Draw((3,))),
        ((Draw((3,)), Draw((2,)), Draw((3,))), {"beta": 0, "alpha": 2}),
    ),
)
def addr(input, vec1, vec2, *, beta: Operand = 1, alpha: Operand = 1):
    """beta * input + alpha * outer(vec1, vec2)"""
    _require_dims("addr", vec1, 1, "vec1")
    _require_dims("addr", vec2, 1, "vec2")
    product = op.outer(vec1, vec2)
    dtype = result_type((x.dtype, build.category(x)) for x in (input, product))
    input, product = (build.convert(x, dtype) for x in (input, product))
    if dtype is dtypes.bool:
        product = product & bool(alpha)
        return product if build.is_zero(beta) else op.logical_or(input & bool(beta), product)
    input = build.expand(input, broadcast_shapes([input.shape, product.shape], "addr"))
    return _plus(input, product, beta, alpha)


def _check_batches(batch1: Traced, batch2: Traced) -> None:
    for label, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndim != 3:
            raise RuntimeError(f"{label} must be a 3D tensor, got {x.ndim}D (in addbmm)")
    if batch1.shape[0] != batch2.shape[0] or batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            "batch1 and batch2 must have the same number of batches and fitting matrices, got "
            f"shapes {list(batch1.shape)} and {list(batch2.shape)} (in addbmm)"
        )


@composite(
    names=["addbmm"],
    inplace=True,
    out="same dtype",
    samples=calls(
        (Draw((2, 4)), Draw((5, 2, 3)), Draw((5, 3, 4))),
        ((Draw((4,)), Draw((5, 2, 3)), Draw((5, 3, 4))), {"beta": 0.5, "alpha": 2}),
    ),
)
def addbmm(input, batch1, batch2, *, beta: Operand = 1, alpha: Operand = 1):
    """beta * input + alpha * sum(batch1 @ batch2)"""
    _check_batches(batch1, batch2)
    count, rows, inner_size = batch1.shape
    left = build.reshape(build.permute(batch1, (1, 0, 2)), (rows, count * inner_size))
    product = op.mm(left, build.reshape(batch2, (count * inner_size, batch2.shape[2])))
    input = build.expand(input, expanded_shape(input, product.shape, "addbmm"))
    return _plus(input, product, beta, alpha)


# ---------------------------------------------------------------- products of vectors


@composite(names=["vdot", "linalg.vdot"], methods=["vdot"], out="same dtype",
    samples=calls((Draw((3,)), Draw((3,)))))  # fmt: skip
def vdot(input, other):
    """The sum of the products of two vectors' elements, the first conjugated."""
    if input.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors")
    require_same_dtype("vdot", input=input, other=other)
    return op.dot(build.conjugate(input), other)


@composite(
    names=["linalg.vecdot"],
    methods=[],
    out="same dtype",
    samples=calls((Draw((2, 3)), Draw((2, 3))), ((Draw((3, 2)), Draw((2,))), {"dim": 0})),
)
def vecdot(x, y, *, dim: int = -1):
    """The sums along dim of the products of elements, the first conjugated."""
    require_same_dtype("linalg.vecdot", x=x, y=y)
    require_differentiable("linalg.vecdot", x.dtype)
    return op.sum(build.conjugate(x) * y, dim)


@composite(
    names=["inner"],
    out=lambda input, other: "same dtype" if input.ndim and other.ndim else True,
    samples=calls((Draw((3,)), Draw((3,))), (Draw((2, 3)), Draw((4, 3))), (Draw((2, 3)), Draw(()))),
)
def inner(input: Tensor, other: Tensor):
    """The sums over the last dims of the products of elements."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner(): the last dimensions must match, but the shapes are {list(input.shape)} "
            f"and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@composite(
    names=["kron"],
    out=True,
    samples=calls(
        (Draw((2, 3)), Draw((3, 2))), (Draw((2,)), Draw((2, 3))), (Draw(()), Draw((2, 2)))
    ),
)
def kron(input, other):
    """The Kronecker product: blocks of other, one for each element of input."""
    rank = max(input.ndim, other.ndim)
    a = (*[1] * (rank - input.ndim), *input.shape)
    b = (*[1] * (rank - other.ndim), *other.shape)
    left = build.reshape(input, [each for size in a for each in (size, 1)])
    right = build.reshape(other, [each for size in b for each in (1, size)])
    return build.reshape(left * right, [m * n for m, n in zip(a, b, strict=True)])


def _cross(input: Traced, other: Traced, dim: int, name: str) -> Traced:
    if input.ndim != other.ndim:
        raise RuntimeError(
            f"{name}: inputs must have the same number of dimensions. Got {input.ndim} and "
            f"{other.ndim}"
        )
    place = normalize_dim(dim, input.ndim)
    if input.shape[place] != 3 or other.shape[place] != 3:
        raise RuntimeError(
            f"{name}: inputs dimension {dim} must have length 3. Got {input.shape[place]} and "
            f"{other.shape[place]}"
        )
    shape = broadcast_shapes([input.shape, other.shape], name)
    dtype = result_type((x.dtype, build.category(x)) for x in (input, other))
    a, b = (build.expand(build.convert(x, dtype), shape) for x in (input, other))
    if dtype is dtypes.bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    next_a, next_b = (op.roll(x, -1, place) for x in (a, b))
    last_a, last_b = (op.roll(x, 1, place) for x in (a, b))
    return next_a * last_b - last_a * next_b


@composite(
    name="linalg_cross",
    names=["linalg.cross"],
    methods=[],
    out="same dtype",
    samples=calls((Draw((2, 3)), Draw((2, 3))), ((Draw((3, 2)), Draw((3, 1))), {"dim": 0})),
)
def linalg_cross(input, other, *, dim: int = -1):
    """The cross product of vectors of three elements along dim."""
    return _cross(input, other, dim, "linalg.cross")


@composite(
    names=["cross"],
    out="same dtype",
    samples=calls((Draw((3, 2)), Draw((3, 2))), (Draw((3, 3)), Draw((3, 3)), 1)),
)
def cross(input, other, dim: int | None = None):
    """The cross product of vectors of three elements along dim (by default the first of size 3)."""
    if dim is None:
        dim = next((each for each, size in enumerate(input.shape) if size == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input (in cross)")
    return _cross(input, other, dim, "linalg.cross")


# ---------------------------------------------------------------- contractions


def _contracted_dims(a: Traced, b: Traced, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(
                f"tensordot: dims={dims} exceeds the dimensions of an operand, {a.ndim} and "
                f"{b.ndim}"
            )
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    left, right = dims
    left, right = ([x] if isinstance(x, int) else list(x) for x in (left, right))
    if len(left) != len(right):
        raise RuntimeError(
            f"both dimension lists should have same length, but have {len(left)} and {len(right)} "
            "(in tensordot)"
        )
    left = [normalize_dim(dim, a.ndim) for dim in left]
    right = [normalize_dim(dim, b.ndim) for dim in right]
    for dims_of in (left, right):
        for position, dim in enumerate(dims_of):
            if dim in dims_of[:position]:
                raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return left, right


def _dims_from_tensor(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """``tensordot`` with its dims in a tensor."""
    if isinstance(dims, list | tuple):
        raise TypeError(
            "tensordot(): argument 'dims' must be an int, two lists of ints or a tensor, not "
            "lists with tensors"
        )
    numbers = dims.tolist() if hasattr(dims, "tolist") else dims
    return tensordot(a, b, numbers) if out is None else tensordot(a, b, numbers, out=out)


@composite(
    names=["tensordot"],
    methods=[],
    out="same dtype",
    overload=_dims_from_tensor,
    samples=calls(
        (Draw((2, 3, 4)), Draw((3, 4, 5))),
        (Draw((2, 3)), Draw((3, 2)), 1),
        (Draw((2, 3)), Draw((2,)), 0),
        (Draw((2, 3, 4)), Draw((4, 2)), ([0, 2], [1, 0])),
    ),
)
def tensordot(a, b, dims: Selector = 2):
    """The sums over pairs of dims of the products of elements. dims: how many last dims of a and
    first dims of b, or two lists.
    """
    if a.dtype is not b.dtype:
        raise RuntimeError(
            "tensordot: both inputs should have same dtype, but they have "
            f"{a.dtype} and {b.dtype}; convert one with .to()"
        )
    left, right = _contracted_dims(a, b, dims)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j]:
            if a.shape[i] == 1:
                b = op.sum(b, j, True, dtype=b.dtype)
            elif b.shape[j] == 1:
                a = op.sum(a, i, True, dtype=a.dtype)
            else:
                raise RuntimeError(
                    f"tensordot: contracted dimensions need to match: dim {i} of the first has "
                    f"size {a.shape[i]}, dim {j} of the second {b.shape[j]}"
                )
    rest_a = [dim for dim in range(a.ndim) if dim not in left]
    rest_b = [dim for dim in range(b.ndim) if dim not in right]
    shape = [a.shape[dim] for dim in rest_a], [b.shape[dim] for dim in rest_b]
    inner_size = numel(tuple(a.shape[dim] for dim in left))
    rows = build.reshape(build.permute(a, [*rest_a, *left]), (numel(tuple(shape[0])), inner_size))
    columns = build.reshape(
        build.permute(b, [*right, *rest_b]), (inner_size, numel(tuple(shape[1])))
    )
    return build.reshape(op.matmul(rows, columns), (*shape[0], *shape[1]))


# ---------------------------------------------------------------- chains of matrices


def _chain_order(sizes: Sequence[int]) -> list[list[int]]:
    """Where to split each part of a chain of matrices sizes[i] x sizes[i + 1]: the dynamic program
    of Cormen et al., Introduction to Algorithms, section 15.2.
    """
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    split = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            costs = [
                cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            cost[i][j] = min(costs)
            split[i][j] = i + costs.index(cost[i][j])
    return split


def _hint(size: Any) -> int:
    """A size as it is in this call: the order of products may follow it, the result does not."""
    return (size.hint or 1) if isinstance(size, SymbolicInt) else size


def _multiply_chain(matrices: Sequence[Traced]) -> Traced:
    sizes = [_hint(matrices[0].shape[0]), *(_hint(x.shape[1]) for x in matrices)]
    split = _chain_order(sizes)

    def product(i: int, j: int) -> Traced:
        if i == j:
            return matrices[i]
        k = split[i][j]
        return op.mm(product(i, k), product(k + 1, j))

    return product(0, len(matrices) - 1)


@composite(
    names=["linalg.multi_dot"],
    methods=[],
    out="same dtype",
    samples=calls(
        ([Draw((2, 3)), Draw((3, 4)), Draw((4, 2))],), ([Draw((3,)), Draw((3, 4)), Draw((4,))],)
    ),
)
def multi_dot(tensors: Tensors):
    """The product of several matrices, in the order that costs least; the first and the last may be
    vectors.
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    for position, x in enumerate(tensors):
        ends = (1, 2) if position in (0, len(tensors) - 1) else (2,)
        if x.ndim not in ends:
            raise RuntimeError(
                f"multi_dot(): tensor {position} must be {' or '.join(f'{n}D' for n in ends)} but "
                f"got {x.ndim}D"
            )
        if x.dtype is not first.dtype:
            raise RuntimeError(
                f"multi_dot(): tensors must have the same dtype, but tensor 0 is {first.dtype} "
                f"and tensor {position} {x.dtype}"
            )
    matrices = list(tensors)
    if first.ndim == 1:
        matrices[0] = build.insert_dim(first, 0)
    if last.ndim == 1:
        matrices[-1] = build.insert_dim(last, 1)
    for position, (a, b) in enumerate(zip(matrices, matrices[1:], strict=False)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {position} and {position + 1} with shapes "
                f"{list(a.shape)} and {list(b.shape)} cannot be multiplied"
            )
    result = _multiply_chain(matrices)
    dropped = [dim for dim, x in enumerate((first, last)) if x.ndim == 1]
    return build.drop_dims(result, dropped) if dropped else result


@composite(names=["chain_matmul"], methods=[])
def chain_matmul(*matrices: Tensor):
    """The product of several matrices, in the order that costs least."""
    for x in matrices:
        _require_dims("chain_matmul", x, 2, "matrices")
    if len(matrices) == 1:
        return build.contiguous(matrices[0])
    return multi_dot(matrices)


def _inverse(A: Traced) -> Traced:
    return getattr(op, "linalg.inv")(A)


@composite(
    names=["linalg.matrix_power", "matrix_power"],
    methods=["matrix_power"],
    out=lambda A, n: n in (0, 1) or "same dtype",  # a copy converts
    samples=calls((Draw((3, 3)), 3), (Draw((2, 2, 2)), 5), (Draw((3, 3)), 0), (Draw((3, 3)), 1)),
)
def matrix_power(A, n: int):
    """The n-th power of square matrices, by repeated squaring; negative n: of the inverses."""
    require_square("linalg.matrix_power", A)
    if n == 0:
        return overwritten.apply(A, build.expand(op.eye(A.shape[-1], dtype=A.dtype), A.shape))
    base = _inverse(A) if n < 0 else A
    exponent, result = abs(n), None
    while exponent:
        if exponent & 1:
            result = base if result is None else op.matmul(result, base)
        exponent >>= 1
        if exponent:
            base = op.matmul(base, base)
    return build.contiguous(base) if n == 1 else result


@composite(names=["trace"], samples=calls((Draw((3, 4)),), (Draw((2, 2)),)))
def trace(input):
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, not a tensor with {input.ndim} dimensions")
    if input.dtype is dtypes.bool:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return op.sum(op.diagonal(input))
