"""The native core.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout, memory_format as _memory_format


_Number: TypeAlias = _bool | _int | _float | _complex
_T = TypeVar("_T", bound=Tensor)
_Generator: TypeAlias = Generator

class Tensor:
    """An array of numbers of one dtype, with automatic differentiation."""
    def __init__(self, *data: Any) -> None: ...
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of the last two dims."""
    @property
    def T(self) -> Tensor:
        """A view with the dimensions reversed."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | _Number) -> Tensor: ...
    def __and__(self, other: Tensor | _Number) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: _bool | None = None) -> Any:
        """What ``numpy.asarray(tensor)`` calls."""
    def __array_wrap__(
        self,
        array: Any,
        context: Any = None,
        return_scalar: _bool = False,
    ) -> Tensor:
        """What NumPy's functions make of their results when they are given tensors."""
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> _complex: ...
    def __contains__(self, element: Any) -> _bool: ...
    def __deepcopy__(self, memo: Any[Any, Any]) -> Tensor:
        """A copy with memory of its own; tensors that share memory have copies that share memory.

        Raises:
            RuntimeError: if the tensor was computed from others that require gradients.
        """
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> Any:
        """A capsule that shares the tensor's memory, for another library's ``from_dlpack``.

        Args:
            stream: only for accelerators.
            max_version: the version of DLPack that the consumer knows; None: before 1.0.
            dl_device: where the consumer wants it; only the CPU.
            copy: True: export a copy; False: BufferError if a copy would be needed.

        Raises:
            BufferError: for tensors that require gradients, have no data, or are read-only while the
                consumer knows no version that can say so.
        """
    def __dlpack_device__(self) -> tuple[_int, _int]:
        """The kind and number of the tensor's device in DLPack's terms."""
    def __eq__(self, other: Tensor | _Number) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> _float: ...
    def __floordiv__(self, other: Tensor | _Number) -> Tensor: ...
    def __ge__(self, other: Tensor | _Number) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __gt__(self, other: Tensor | _Number) -> Tensor: ...
    def __hash__(self) -> _int: ...
    def __iadd__(self, other: Tensor | _Number) -> Tensor: ...
    def __iand__(self, other: Tensor | _Number) -> Tensor: ...
    def __ifloordiv__(self, other: Tensor | _Number) -> Tensor: ...
    def __ilshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __imod__(self, other: Tensor | _Number) -> Tensor: ...
    def __imul__(self, other: Tensor | _Number) -> Tensor: ...
    def __index__(self) -> _int: ...
    def __int__(self) -> _int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | _Number) -> Tensor: ...
    def __ipow__(self, other: Tensor | _Number) -> Tensor: ...
    def __irshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __isub__(self, other: Tensor | _Number) -> Tensor: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: Tensor | _Number) -> Tensor: ...
    def __ixor__(self, other: Tensor | _Number) -> Tensor: ...
    def __le__(self, other: Tensor | _Number) -> Tensor: ...
    def __len__(self) -> _int: ...
    def __lshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __lt__(self, other: Tensor | _Number) -> Tensor: ...
    def __matmul__(self, other: Tensor | _Number) -> Tensor: ...
    def __mod__(self, other: Tensor | _Number) -> Tensor: ...
    def __mul__(self, other: Tensor | _Number) -> Tensor: ...
    def __ne__(self, other: Tensor | _Number) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | _Number) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Tensor | _Number) -> Tensor: ...
    def __radd__(self, other: Tensor | _Number) -> Tensor: ...
    def __rand__(self, other: Tensor | _Number) -> Tensor: ...
    def __rdiv__(self, other: Tensor | _Number) -> Tensor:
        """other / self"""
    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """How a tensor is pickled: values, dtype, layout and whether it requires gradients.

        Raises:
            NotImplementedError: for tensors without data.
        """
    def __reversed__(self) -> Tensor:
        """The rows in reverse order."""
    def __rfloordiv__(self, other: Tensor | _Number) -> Tensor: ...
    def __rlshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rmatmul__(self, other: Tensor | _Number) -> Tensor: ...
    def __rmod__(self, other: Tensor | _Number) -> Tensor: ...
    def __rmul__(self, other: Tensor | _Number) -> Tensor: ...
    def __ror__(self, other: Tensor | _Number) -> Tensor: ...
    def __rpow__(self, other: Tensor | _Number) -> Tensor: ...
    def __rrshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rshift__(self, other: Tensor | _Number) -> Tensor: ...
    def __rsub__(self, other: Tensor | _Number) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | _Number) -> Tensor: ...
    def __rxor__(self, other: Tensor | _Number) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __sub__(self, other: Tensor | _Number) -> Tensor: ...
    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = ..., kwargs: Any = ...) -> Any: ...
    def __truediv__(self, other: Tensor | _Number) -> Tensor: ...
    def __xor__(self, other: Tensor | _Number) -> Tensor: ...
    @property
    def _backward_hooks(self) -> Any:
        """The hooks of a leaf by their handles' numbers; None if it has none."""
    @property
    def _base(self) -> Tensor | None:
        """The tensor this one is a view of, or None."""
    def _histogramdd_between(
        self,
        bins: Sequence[Tensor],
        *,
        range: Any = None,
        weight: Tensor | _Number | None = None,
        density: _bool = False,
    ) -> Tensor:
        """``histogramdd`` with edges in the place of numbers of bins."""
    def _is_view(self) -> _bool:
        """Is this tensor a view whose writes reach another tensor's history?"""
    @staticmethod
    def _make_subclass(cls: type[_T], data: Tensor, require_grad: _bool = False) -> _T: ...
    @property
    def _version(self) -> _int:
        """How often the elements have been written in place."""
    def abs(self) -> Tensor:
        """The absolute value."""
    def abs_(self) -> Tensor:
        """The absolute value."""
    def absolute(self) -> Tensor:
        """The absolute value."""
    def absolute_(self) -> Tensor:
        """The absolute value."""
    def acos(self) -> Tensor:
        """The inverse cosine."""
    def acos_(self) -> Tensor:
        """The inverse cosine."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def acosh_(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def add(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input + alpha * other"""
    def add_(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input + alpha * other"""
    def addbmm(
        self,
        batch1: Tensor | _Number,
        batch2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * sum(batch1 @ batch2)"""
    def addbmm_(
        self,
        batch1: Tensor | _Number,
        batch2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * sum(batch1 @ batch2)"""
    def addcdiv(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: Tensor | _Number = 1,
    ) -> Tensor:
        """input + value * tensor1 / tensor2"""
    def addcdiv_(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: Tensor | _Number = 1,
    ) -> Tensor:
        """input + value * tensor1 / tensor2"""
    def addcmul(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: Tensor | _Number = 1,
    ) -> Tensor:
        """input + value * tensor1 * tensor2"""
    def addcmul_(
        self,
        tensor1: Tensor | _Number,
        tensor2: Tensor | _Number,
        *,
        value: Tensor | _Number = 1,
    ) -> Tensor:
        """input + value * tensor1 * tensor2"""
    def addmm(
        self,
        mat1: Tensor | _Number,
        mat2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)"""
    def addmm_(
        self,
        mat1: Tensor | _Number,
        mat2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)"""
    def addmv(
        self,
        mat: Tensor | _Number,
        vec: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (mat @ vec)"""
    def addmv_(
        self,
        mat: Tensor | _Number,
        vec: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (mat @ vec)"""
    def addr(
        self,
        vec1: Tensor | _Number,
        vec2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)"""
    def addr_(
        self,
        vec1: Tensor | _Number,
        vec2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)"""
    def adjoint(self) -> Tensor:
        """The last two dims exchanged, conjugated."""
    def all(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether all elements are not zero."""
    def allclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> _bool:
        """Whether all elements fulfil ``|input - other| <= atol + rtol * |other|``.

        Args:
            input: a tensor.
            other: a tensor of the same dtype; shapes broadcast.
            rtol: relative tolerance.
            atol: absolute tolerance.
            equal_nan: whether NaN is close to NaN.
        """
    def amax(self, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False) -> Tensor:
        """The greatest element over the given dims; equal ones share the gradient."""
    def amin(self, dim: _int | Sequence[_int] | None = (), keepdim: _bool = False) -> Tensor:
        """The least element over the given dims; equal ones share the gradient."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False) -> Any:
        """The least and the greatest element."""
    def angle(self) -> Tensor:
        """The angle of the complex number; of a real one 0, or pi if it is negative."""
    def any(self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False) -> Tensor:
        """Whether any element is not zero."""
    def apply_(self, callable: Callable[[Any], Any]) -> Tensor:
        """Replace each element by what a function gives for it, one after the other; slow.

        Raises:
            TypeError: for tensors without data.
        """
    def arccos(self) -> Tensor:
        """The inverse cosine."""
    def arccos_(self) -> Tensor:
        """The inverse cosine."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arccosh_(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arcsin(self) -> Tensor:
        """The inverse sine."""
    def arcsin_(self) -> Tensor:
        """The inverse sine."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """The inverse tangent."""
    def arctan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def arctan2_(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def arctan_(self) -> Tensor:
        """The inverse tangent."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the greatest element, of the first if several are equal."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False) -> Tensor:
        """The index of the least element, of the first if several are equal."""
    def argsort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool = False,
    ) -> Tensor:
        """The indices that sort the elements along dim."""
    def argwhere(self) -> Tensor:
        """The places of the elements that are not zero, one a row."""
    def as_strided(
        self,
        size: _int | Sequence[_int],
        stride: _int,
        storage_offset: _int = 0,
    ) -> Tensor:
        """A view with any sizes and strides (in elements) of the tensor's memory, here taken as
        contiguous.
        """
    def as_strided_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``as_strided`` in place: this tensor gets the other layout."""
    def as_strided_scatter(
        self,
        src: Tensor | _Number,
        size: _int | Sequence[_int],
        stride: _int,
        storage_offset: _int = 0,
    ) -> Tensor:
        """input with the elements of src at those that as_strided gives, input's memory being taken as
        contiguous.
        """
    def as_subclass(self, cls: type[_T]) -> _T:
        """as_subclass(cls): a view of this tensor as a subclass."""
    def asin(self) -> Tensor:
        """The inverse sine."""
    def asin_(self) -> Tensor:
        """The inverse sine."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def asinh_(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def atan(self) -> Tensor:
        """The inverse tangent."""
    def atan2(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def atan2_(self, other: Tensor) -> Tensor:
        """The angle of the point (other, input), from -pi to pi."""
    def atan_(self) -> Tensor:
        """The inverse tangent."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves it was computed from."""
    def baddbmm(
        self,
        batch1: Tensor | _Number,
        batch2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2)"""
    def baddbmm_(
        self,
        batch1: Tensor | _Number,
        batch2: Tensor | _Number,
        *,
        beta: Tensor | _Number = 1,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """beta * input + alpha * (batch1 @ batch2)"""
    def bernoulli(
        self,
        p: Tensor | _Number | None = None,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """1 with the probability that the element (or p) says, else 0."""
    def bernoulli_(
        self,
        p: Tensor | _Number = 0.5,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to 1 with probability p (a number, or a tensor of probabilities), else 0."""
    def bfloat16(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to bfloat16."""
    def bincount(self, weights: Tensor | _Number | None = None, minlength: _int = 0) -> Tensor:
        """How often each of the numbers 0, 1, ... occurs in a vector, or the sum of the weights there;
        the result has at least minlength elements.
        """
    def bitwise_and(self, other: Tensor | _Number) -> Tensor:
        """The bits set in both."""
    def bitwise_and_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in both."""
    def bitwise_left_shift(self, other: Tensor | _Number) -> Tensor:
        """The bits moved towards the high end; 0 for a shift by as many bits as there are, or by a
        negative number.
        """
    def bitwise_left_shift_(self, other: Tensor | _Number) -> Tensor:
        """The bits moved towards the high end; 0 for a shift by as many bits as there are, or by a
        negative number.
        """
    def bitwise_not(self) -> Tensor:
        """All bits turned; of bools, the negation."""
    def bitwise_not_(self) -> Tensor:
        """All bits turned; of bools, the negation."""
    def bitwise_or(self, other: Tensor | _Number) -> Tensor:
        """The bits set in one or both."""
    def bitwise_or_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in one or both."""
    def bitwise_right_shift(self, other: Tensor | _Number) -> Tensor:
        """The bits moved towards the low end, the sign kept; too large a shift leaves only the sign."""
    def bitwise_right_shift_(self, other: Tensor | _Number) -> Tensor:
        """The bits moved towards the low end, the sign kept; too large a shift leaves only the sign."""
    def bitwise_xor(self, other: Tensor | _Number) -> Tensor:
        """The bits set in exactly one."""
    def bitwise_xor_(self, other: Tensor | _Number) -> Tensor:
        """The bits set in exactly one."""
    def bmm(self, mat2: Tensor | _Number) -> Tensor:
        """The products of two batches of matrices."""
    def bool(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to bool."""
    def broadcast_to(self, size: _int | Sequence[_int]) -> Tensor:
        """Repeat to a shape."""
    def byte(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to uint8."""
    def cauchy_(
        self,
        median: Tensor | _Number = 0.0,
        sigma: Tensor | _Number = 1.0,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to random numbers of the Cauchy distribution."""
    def cdouble(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to complex128."""
    def ceil(self) -> Tensor:
        """Round up."""
    def ceil_(self) -> Tensor:
        """Round up."""
    def cfloat(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to complex64."""
    def chalf(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to complex32."""
    def char(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to int8."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """The lower triangular L with input = L @ L.mH, or with ``upper`` its adjoint."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of the matrix with the Cholesky factor ``input``: of input @ input.mH, or with
        ``upper`` of input.mH @ input.
        """
    def cholesky_solve(self, input2: Tensor, upper: _bool = False) -> Tensor:
        """The solution X of A @ X = input, where A has the Cholesky factor ``input2``."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """At most so many pieces of equal size, the last perhaps smaller."""
    def clamp(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
    ) -> Tensor:
        """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    def clamp_(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
    ) -> Tensor:
        """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    def clamp_max(self, max: Tensor | _Number) -> Tensor:
        """input, but at most max."""
    def clamp_max_(self, max: Tensor | _Number) -> Tensor:
        """input, but at most max."""
    def clamp_min(self, min: Tensor | _Number) -> Tensor:
        """input, but at least min."""
    def clamp_min_(self, min: Tensor | _Number) -> Tensor:
        """input, but at least min."""
    def clip(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
    ) -> Tensor:
        """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    def clip_(
        self,
        min: Tensor | _Number | None = None,
        max: Tensor | _Number | None = None,
    ) -> Tensor:
        """input, but at least min, then at most max; each bound may be a tensor, a number or None."""
    def clone(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """A copy. (In a graph values are immutable; the planner sees to it that a result has memory of
        its own.)
        """
    def combinations(self, r: _int = 2, with_replacement: _bool = False) -> Tensor:
        """All choices of r elements of a vector, in order, one a row."""
    def conj(self) -> Tensor:
        """The complex conjugate; of a real tensor, the tensor itself."""
    def conj_physical(self) -> Tensor:
        """The complex conjugate; of a real tensor, the tensor itself."""
    def conj_physical_(self) -> Tensor:
        """The complex conjugate; of a real tensor, the tensor itself."""
    def constant_pad_nd(self, pad: Any, value: Tensor | _Number = 0) -> Tensor:
        """Add ``value`` at both ends of dims: pad is (before, after) of the last dim, then of the one
        before it, and so on; negative numbers cut off.
        """
    def contiguous(self, memory_format: _memory_format | None = None) -> Tensor:
        """A tensor without gaps whose dims lie in memory in the order of the format, by default
        row-major. (The native core returns a tensor that already is one.)
        """
    def copy_(self, src: Tensor | _Number, non_blocking: _bool = False) -> Tensor:
        """Take over the elements of another tensor, converted and broadcast."""
    def copysign(self, other: Tensor | _Number) -> Tensor:
        """The magnitude of input with the sign of other."""
    def copysign_(self, other: Tensor | _Number) -> Tensor:
        """The magnitude of input with the sign of other."""
    def corrcoef(self) -> Tensor:
        """The correlations of variables (rows) over observations (columns)."""
    def cos(self) -> Tensor:
        """The cosine."""
    def cos_(self) -> Tensor:
        """The cosine."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> Tensor:
        """The hyperbolic cosine."""
    def count_nonzero(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """How many elements are not zero."""
    def cov(
        self,
        *,
        correction: _int = 1,
        fweights: Tensor | _Number | None = None,
        aweights: Tensor | _Number | None = None,
    ) -> Tensor:
        """The covariances of variables (rows) over observations (columns), which weights may count
        several times (fweights) or weigh (aweights).
        """
    def cpu(self, memory_format: Any = None) -> Tensor:
        """This tensor on the CPU: itself, if it is there."""
    def cross(self, other: Tensor | _Number, dim: _int | None = None) -> Tensor:
        """The cross product of vectors of three elements along dim (by default the first of size 3)."""
    def cuda(
        self,
        device: Any = None,
        non_blocking: _bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        """This tensor on a GPU; there is none in this build.

        Raises:
            AssertionError: always.
        """
    def cummax(self, dim: _int) -> Any:
        """The greatest element so far along dim, and its index."""
    def cummin(self, dim: _int) -> Any:
        """The least element so far along dim, and its index."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The running product along dim."""
    def cumprod_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The running product along dim."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The running sum along dim."""
    def cumsum_(self, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
        """The running sum along dim."""
    @property
    def data(self) -> Tensor:
        """The same elements without a gradient's history."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> _int:
        """The address of the first element."""
    def deg2rad(self) -> Tensor:
        """Degrees in radians."""
    def deg2rad_(self) -> Tensor:
        """Degrees in radians."""
    def det(self) -> Tensor:
        """The determinants of square matrices."""
    def detach(self) -> Tensor:
        """The same values without a gradient."""
    def detach_(self) -> Tensor:
        """Cut this tensor off from the operators that made it: it becomes a leaf without gradient.

        Raises:
            RuntimeError: for views, whose base would keep its history; use ``detach()``.
        """
    @property
    def device(self) -> _device:
        """Where the elements are."""
    def diag(self, diagonal: _int = 0) -> Tensor:
        """The matrix with a vector on a diagonal, or a matrix's diagonal."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices over two new dims with the last dim on a diagonal, zero elsewhere."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """The matrix with all elements on a diagonal."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A diagonal over two dims, which comes last."""
    def diagonal_scatter(
        self,
        src: Tensor | _Number,
        offset: _int = 0,
        dim1: _int = 0,
        dim2: _int = 1,
    ) -> Tensor:
        """input with a diagonal over two dims replaced by src."""
    def diff(
        self,
        n: _int = 1,
        dim: _int = -1,
        prepend: Tensor | _Number | None = None,
        append: Tensor | _Number | None = None,
    ) -> Tensor:
        """The differences of neighbours along dim, n times; prepend and append are joined first."""
    def digamma(self) -> Tensor:
        """The derivative of lgamma."""
    def digamma_(self) -> Tensor:
        """The derivative of lgamma."""
    def dim(self) -> _int:
        """The number of dimensions."""
    def dim_order(self, *, ambiguity_check: _bool = False) -> tuple[_int, ...]:
        """The dims in the order in which they lie in memory, from outermost to innermost.

        Args:
            ambiguity_check: whether several such orders are an error.

        Raises:
            RuntimeError: in that case.
        """
    def dist(self, other: Tensor | _Number, p: Any = 2) -> Tensor:
        """The norm of order p of the difference."""
    def div(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    def div_(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    def divide(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    def divide_(self, other: Tensor | _Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""
    def dot(self, tensor: Tensor | _Number) -> Tensor:
        """The sum of the products of two vectors' elements."""
    def double(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to float64."""
    def dsplit(
        self,
        indices_or_sections: Any = None,
        *,
        indices: Any = None,
        sections: Any = None,
    ) -> tuple[Tensor, ...]:
        """Pieces along dim 2."""
    @property
    def dtype(self) -> _dtype:
        """The type of the elements."""
    def eig(self, eigenvectors: _bool = False, *, e: Any = None, v: Any = None) -> Any:
        """Removed: use ``linalg.eig`` or ``linalg.eigvals``, whose results are complex."""
    def element_size(self) -> _int:
        """The number of bytes of an element."""
    def eq(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements are equal."""
    def eq_(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements are equal."""
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and equal elements; NaN equals nothing."""
    def erf(self) -> Tensor:
        """The error function."""
    def erf_(self) -> Tensor:
        """The error function."""
    def erfc(self) -> Tensor:
        """1 - erf(input), accurate for large inputs."""
    def erfc_(self) -> Tensor:
        """1 - erf(input), accurate for large inputs."""
    def erfinv(self) -> Tensor:
        """The inverse of erf."""
    def erfinv_(self) -> Tensor:
        """The inverse of erf."""
    def exp(self) -> Tensor:
        """e raised to each element."""
    def exp2(self) -> Tensor:
        """2 raised to each element."""
    def exp2_(self) -> Tensor:
        """2 raised to each element."""
    def exp_(self) -> Tensor:
        """e raised to each element."""
    def expand(self, *size: _int | Sequence[_int], implicit: _bool = False) -> Tensor:
        """Repeat along dims of size 1; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Repeat to the shape of another tensor."""
    def expm1(self) -> Tensor:
        """exp(input) - 1, accurate near zero."""
    def expm1_(self) -> Tensor:
        """exp(input) - 1, accurate near zero."""
    def exponential_(
        self,
        lambd: Tensor | _Number = 1.0,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to random numbers of the exponential distribution."""
    def fill_(self, value: Tensor | _Number) -> Tensor:
        """Set every element to a number or 0-d tensor."""
    def fill_diagonal_(self, fill_value: Any, wrap: _bool = False) -> Tensor:
        """Set the main diagonal to a number.

        Args:
            fill_value: the number.
            wrap: whether the diagonal of a tall matrix begins anew after each block of
                ``columns + 1`` rows.

        Raises:
            RuntimeError: for tensors of less than two dims, or of more that are not equally long.
        """
    def fix(self) -> Tensor:
        """Round towards zero."""
    def fix_(self) -> Tensor:
        """Round towards zero."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """The dims from start_dim to end_dim as one."""
    def flip(self, *dims: _int | Sequence[_int]) -> Tensor:
        """The elements in reverse order along dims."""
    def fliplr(self) -> Tensor:
        """Reversed along dim 1."""
    def flipud(self) -> Tensor:
        """Reversed along dim 0."""
    def float(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to float32."""
    def float_power(self, exponent: Tensor | _Number) -> Tensor:
        """input to the power exponent, in double precision."""
    def float_power_(self, exponent: Tensor | _Number) -> Tensor:
        """input to the power exponent, in double precision."""
    def floor(self) -> Tensor:
        """Round down."""
    def floor_(self) -> Tensor:
        """Round down."""
    def floor_divide(self, other: Tensor | _Number) -> Tensor:
        """input / other rounded down."""
    def floor_divide_(self, other: Tensor | _Number) -> Tensor:
        """input / other rounded down."""
    def fmax(self, other: Tensor) -> Tensor:
        """The greater of two; NaN only if both are."""
    def fmin(self, other: Tensor) -> Tensor:
        """The lesser of two; NaN only if both are."""
    def fmod(self, other: Tensor | _Number) -> Tensor:
        """The rest of the division rounded towards zero; it has the sign of input."""
    def fmod_(self, other: Tensor | _Number) -> Tensor:
        """The rest of the division rounded towards zero; it has the sign of input."""
    def frac(self) -> Tensor:
        """What trunc takes away."""
    def frac_(self) -> Tensor:
        """What trunc takes away."""
    def frexp(self) -> Any:
        """Mantissas of magnitude 0.5 to 1, and exponents of 2, whose product is the input."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """The elements at ``index`` along dim."""
    def gcd(self, other: Tensor) -> Tensor:
        """The greatest common divisor."""
    def gcd_(self, other: Tensor) -> Tensor:
        """The greatest common divisor."""
    def ge(self, other: Tensor | _Number) -> Tensor:
        """Whether input >= other."""
    def ge_(self, other: Tensor | _Number) -> Tensor:
        """Whether input >= other."""
    def geometric_(self, p: Tensor | _Number, *, generator: _Generator | None = None) -> Tensor:
        """Set to the numbers of trials up to the first success, which has probability p."""
    def geqrf(self) -> Tensor:
        """The QR decomposition as LAPACK stores it: R on and above the diagonal of ``a``, below it the
        vectors of reflections whose factors are ``tau``; see ``linalg.householder_product``.
        """
    def ger(self, vec2: Tensor | _Number) -> Tensor:
        """All products of an element of one vector and an element of the other."""
    def get_device(self) -> _int:
        """The number of the accelerator that holds the tensor; -1 for the CPU."""
    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward() accumulated, or None."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_dtype(self) -> _dtype | None:
        """The dtype of a leaf's .grad; None: any."""
    @grad_dtype.setter
    def grad_dtype(self, value: _dtype | None) -> None: ...
    @property
    def grad_fn(self) -> Node | None:
        """The node of the tape that made this tensor, or None."""
    def greater(self, other: Tensor | _Number) -> Tensor:
        """Whether input > other."""
    def greater_(self, other: Tensor | _Number) -> Tensor:
        """Whether input > other."""
    def greater_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether input >= other."""
    def greater_equal_(self, other: Tensor | _Number) -> Tensor:
        """Whether input >= other."""
    def gt(self, other: Tensor | _Number) -> Tensor:
        """Whether input > other."""
    def gt_(self, other: Tensor | _Number) -> Tensor:
        """Whether input > other."""
    def half(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to float16."""
    def hardshrink(self, lambd: Tensor | _Number = 0.5) -> Tensor:
        """The input where it is beyond lambd from zero, else 0."""
    def hash_tensor(
        self,
        dim: _int | Sequence[_int] | None = None,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
    ) -> Tensor:
        """A hash of the elements over dims, as uint64: their bits, as 64-bit floating-point numbers or
        integers, combined by exclusive or. mode: 0 is the only one.
        """
    def heaviside(self, values: Tensor) -> Tensor:
        """0 for negative numbers, 1 for positive ones, and values at zero."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """0 for negative numbers, 1 for positive ones, and values at zero."""
    def histc(
        self,
        bins: _int = 100,
        min: Tensor | _Number = 0,
        max: Tensor | _Number = 0,
    ) -> Tensor:
        """How many elements fall into each of ``bins`` bins of equal width from min to max (the range
        of the elements if both are equal).
        """
    def histogram(
        self,
        bins: _int,
        *,
        range: Any = None,
        weight: Tensor | _Number | None = None,
        density: _bool = False,
    ) -> Any:
        """How many elements (or how much of their weights) fall into each bin, and the bins' edges.
        bins: how many, of equal width, or the edges.
        """
    def histogramdd(
        self,
        bins: Any,
        *,
        range: Any = None,
        weight: Tensor | _Number | None = None,
        density: _bool = False,
    ) -> Any:
        """How many points, the rows along the last dim (or how much of their weights), fall into each
        bin, and the bins' edges along each dim.

        Args:
            bins: how many bins of equal width, for all dims or each; or the edges for each dim.
            range: the outer edges, two for each dim; None: the least and the greatest coordinates.
            weight: how much each point counts.
            density: whether the counts are divided by their sum and the bins' volumes.
        """
    def hsplit(
        self,
        indices_or_sections: Any = None,
        *,
        indices: Any = None,
        sections: Any = None,
    ) -> tuple[Tensor, ...]:
        """Pieces along dim 1, or 0 of vectors."""
    def hypot(self, other: Tensor) -> Tensor:
        """The length of the vector (input, other)."""
    def hypot_(self, other: Tensor) -> Tensor:
        """The length of the vector (input, other)."""
    def i0(self) -> Tensor:
        """The modified Bessel function I0 of the first kind."""
    def i0_(self) -> Tensor:
        """The modified Bessel function I0 of the first kind."""
    def igamma(self, other: Tensor) -> Tensor:
        """The regularized lower incomplete gamma function of order input at other."""
    def igamma_(self, other: Tensor) -> Tensor:
        """The regularized lower incomplete gamma function of order input at other."""
    def igammac(self, other: Tensor) -> Tensor:
        """The regularized upper incomplete gamma function of order input at other."""
    def igammac_(self, other: Tensor) -> Tensor:
        """The regularized upper incomplete gamma function of order input at other."""
    @property
    def imag(self) -> Tensor:
        """A view of the imaginary parts."""
    def index_add(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """input with alpha * source added at the positions of a 1-d index along dim."""
    def index_add_(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: Tensor | _Number = 1,
    ) -> Tensor:
        """input with alpha * source added at the positions of a 1-d index along dim."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """input with source at the positions of a 1-d index along dim."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """input with source at the positions of a 1-d index along dim."""
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor:
        """input with one value at the positions of a 1-d index along dim; negative ones count from the
        end.
        """
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | _Number) -> Tensor:
        """input with one value at the positions of a 1-d index along dim; negative ones count from the
        end.
        """
    def index_put(
        self,
        indices: Any,
        values: Tensor | _Number,
        accumulate: _bool = False,
    ) -> Tensor:
        """The tensor with values at the places that index tensors (None: the whole dim) stand for."""
    def index_put_(
        self,
        indices: Any,
        values: Tensor | _Number,
        accumulate: _bool = False,
    ) -> Tensor:
        """The tensor with values at the places that index tensors (None: the whole dim) stand for."""
    def index_reduce(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """input with the slices of source multiplied, averaged or compared with those at the positions
        of a 1-d index along dim.
        """
    def index_reduce_(
        self,
        dim: _int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """input with the slices of source multiplied, averaged or compared with those at the positions
        of a 1-d index along dim.
        """
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The positions in a 1-d index along dim."""
    def inner(self, other: Tensor) -> Tensor:
        """The sums over the last dims of the products of elements."""
    def int(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to int32."""
    def inverse(self) -> Tensor:
        """The inverses of square matrices; LinAlgError if one is singular."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_conj(self) -> _bool:
        """Whether the tensor is marked as conjugated: conjugates are computed."""
    def is_contiguous(self, memory_format: _memory_format = ...) -> _bool:
        """is_contiguous(memory_format=contiguous_format): whether the elements lie in order, without gaps."""
    @property
    def is_cpu(self) -> _bool:
        """Whether the tensor is on a device of type cpu."""
    @property
    def is_cuda(self) -> _bool:
        """Whether the tensor is on a device of type cuda."""
    def is_distributed(self) -> _bool:
        """Whether the tensor is spread over processes."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is a floating-point type."""
    def is_inference(self) -> _bool:
        """Was this tensor made in inference mode?"""
    @property
    def is_leaf(self) -> _bool:
        """Whether no recorded operator made this tensor."""
    @property
    def is_meta(self) -> _bool:
        """Whether the tensor is on a device of type meta."""
    def is_neg(self) -> _bool:
        """Whether the tensor is marked as negated: negatives are computed."""
    @property
    def is_nested(self) -> Any:
        """Whether the tensor is a list of tensors."""
    def is_nonzero(self) -> _bool:
        """Whether the only element of a tensor is not zero."""
    def is_pinned(self, device: Any = None) -> _bool:
        """Whether the tensor is in memory from which an accelerator can read directly."""
    @property
    def is_quantized(self) -> _bool:
        """Whether the elements are quantized."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether two tensors are the same part of the same memory, seen in the same way."""
    def is_shared(self) -> _bool:
        """Whether other processes can reach the tensor's memory."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative values."""
    @property
    def is_sparse(self) -> _bool:
        """Whether the layout is sparse."""
    @property
    def is_sparse_csr(self) -> Any:
        """Whether the layout is sparse, by rows."""
    def isclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
    ) -> Tensor:
        """Whether |input - other| <= atol + rtol * |other|."""
    def isfinite(self) -> Tensor:
        """Whether the elements are neither infinite nor NaN."""
    def isinf(self) -> Tensor:
        """Whether the elements are infinite."""
    def isnan(self) -> Tensor:
        """Whether the elements are NaN."""
    def isneginf(self) -> Tensor:
        """Whether the elements are minus infinity."""
    def isposinf(self) -> Tensor:
        """Whether the elements are infinite."""
    def isreal(self) -> Tensor:
        """Whether the imaginary part is zero."""
    def istft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | _Number | None = None,
        center: _bool = True,
        normalized: _bool = False,
        onesided: _bool | None = None,
        length: _int | None = None,
        return_complex: _bool = False,
    ) -> Tensor:
        """The signal of which stft gives the transforms: the one that is nearest in the mean.

        Args:
            input: ``[frequencies, parts]`` or ``[batch, frequencies, parts]``.
            n_fft, hop_length, win_length, window, center, normalized, onesided: as in ``stft``.
            length: of the signal; None: as far as the parts reach.
            return_complex: whether the signal is complex; onesided is False then.

        Returns:
            ``[time]`` or ``[batch, time]``.
        """
    def item(self) -> Any:
        """The only element as a Python number."""
    @property
    def itemsize(self) -> _int:
        """The number of bytes of an element."""
    def kron(self, other: Tensor | _Number) -> Tensor:
        """The Kronecker product: blocks of other, one for each element of input."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False) -> Any:
        """The k-th least element along dim, and its index."""
    @property
    def layout(self) -> _layout:
        """How elements are found."""
    def lcm(self, other: Tensor) -> Tensor:
        """The least common multiple."""
    def lcm_(self, other: Tensor) -> Tensor:
        """The least common multiple."""
    def ldexp(self, other: Tensor) -> Tensor:
        """input * 2**other"""
    def ldexp_(self, other: Tensor) -> Tensor:
        """input * 2**other"""
    def le(self, other: Tensor | _Number) -> Tensor:
        """Whether input <= other."""
    def le_(self, other: Tensor | _Number) -> Tensor:
        """Whether input <= other."""
    def lerp(self, end: _float, weight: Tensor | _Number) -> Tensor:
        """input + weight * (end - input), computed from the nearer end."""
    def lerp_(self, end: _float, weight: Tensor | _Number) -> Tensor:
        """input + weight * (end - input), computed from the nearer end."""
    def less(self, other: Tensor | _Number) -> Tensor:
        """Whether input < other."""
    def less_(self, other: Tensor | _Number) -> Tensor:
        """Whether input < other."""
    def less_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether input <= other."""
    def less_equal_(self, other: Tensor | _Number) -> Tensor:
        """Whether input <= other."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def log(self) -> Tensor:
        """The natural logarithm."""
    def log10(self) -> Tensor:
        """The logarithm to base 10."""
    def log10_(self) -> Tensor:
        """The logarithm to base 10."""
    def log1p(self) -> Tensor:
        """log(1 + input), accurate near zero."""
    def log1p_(self) -> Tensor:
        """log(1 + input), accurate near zero."""
    def log2(self) -> Tensor:
        """The logarithm to base 2."""
    def log2_(self) -> Tensor:
        """The logarithm to base 2."""
    def log_(self) -> Tensor:
        """The natural logarithm."""
    def log_normal_(
        self,
        mean: Tensor | _Number = 1.0,
        std: Tensor | _Number = 2.0,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to numbers whose logarithms are normal."""
    def log_softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """The logarithm of softmax."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """log2(2**input + 2**other), without overflow."""
    def logcumsumexp(self, dim: _int) -> Tensor:
        """log(cumsum(exp(input))) along dim, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithms of the determinants; NaN where a real determinant is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """Whether both are not zero."""
    def logical_and_(self, other: Tensor) -> Tensor:
        """Whether both are not zero."""
    def logical_not(self) -> Tensor:
        """Whether the elements are zero."""
    def logical_not_(self) -> Tensor:
        """Whether the elements are zero."""
    def logical_or(self, other: Tensor) -> Tensor:
        """Whether one is not zero."""
    def logical_or_(self, other: Tensor) -> Tensor:
        """Whether one is not zero."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """Whether exactly one is not zero."""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """Whether exactly one is not zero."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""
    def logsumexp(self, dim: _int | Sequence[_int] | None, keepdim: _bool = False) -> Tensor:
        """log(sum(exp(input))); shifting by the maximum prevents overflow."""
    def long(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to int64."""
    def lstsq(self, A: Tensor, *, out: Any = None) -> Any:
        """Removed: use ``linalg.lstsq``, which takes A first."""
    def lt(self, other: Tensor | _Number) -> Tensor:
        """Whether input < other."""
    def lt_(self, other: Tensor | _Number) -> Tensor:
        """Whether input < other."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """The LU decomposition as ``linalg.lu_factor`` gives it, or on request ``lu_factor_ex``."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """The solution X of A @ X = input, given A's LU decomposition."""
    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of the last two dims."""
    @property
    def mT(self) -> Tensor:
        """A view with the last two dimensions swapped."""
    def masked_fill(self, mask: Tensor | _Number, value: Tensor | _Number) -> Tensor:
        """The input with value where the mask is true."""
    def masked_fill_(self, mask: Tensor | _Number, value: Tensor | _Number) -> Tensor:
        """The input with value where the mask is true."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """input with the elements of source, one after another, where the mask is true."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """input with the elements of source, one after another, where the mask is true."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements where the mask is true, in one dim."""
    def matmul(self, other: Tensor | _Number) -> Tensor:
        """The matrix product; a vector counts as a row on the left and a column on the right; batch
        dims broadcast.
        """
    def matrix_exp(self) -> Tensor:
        """The exponentials of square matrices."""
    def matrix_power(self, n: _int) -> Tensor:
        """The n-th power of square matrices, by repeated squaring; negative n: of the inverses."""
    def max(self, dim: _int | None = None, keepdim: _bool = False, *, other: Any = None) -> Any:
        """The greatest element; with a dim: (values, indices); with a tensor: the greater of two."""
    def maximum(self, other: Tensor) -> Tensor:
        """The greater of two; NaN if either is."""
    def maximum_(self, other: Tensor) -> Tensor:
        """The greater of two; NaN if either is."""
    def mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The mean of all elements, or over the given dims."""
    def median(self, dim: _int | None = None, keepdim: _bool = False) -> Any:
        """The lower median; along a dim: the medians and their indices."""
    def min(self, dim: _int | None = None, keepdim: _bool = False, *, other: Any = None) -> Any:
        """The least element; with a dim: (values, indices); with a tensor: the lesser of two."""
    def minimum(self, other: Tensor) -> Tensor:
        """The lesser of two; NaN if either is."""
    def minimum_(self, other: Tensor) -> Tensor:
        """The lesser of two; NaN if either is."""
    def mm(self, mat2: Tensor | _Number) -> Tensor:
        """The product of two matrices."""
    def mode(self, dim: _int = -1, keepdim: _bool = False) -> Any:
        """The most frequent element along dim, the least of several, and its index."""
    def moveaxis(
        self,
        source: _int | Sequence[_int] | None,
        destination: _int | Sequence[_int] | None,
    ) -> Tensor:
        """Some dims at other places, the others in their order."""
    def movedim(
        self,
        source: _int | Sequence[_int] | None,
        destination: _int | Sequence[_int] | None,
    ) -> Tensor:
        """Some dims at other places, the others in their order."""
    def msort(self) -> Tensor:
        """The elements in order along the first dim."""
    def mul(self, other: Tensor | _Number) -> Tensor:
        """input * other"""
    def mul_(self, other: Tensor | _Number) -> Tensor:
        """input * other"""
    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Indices drawn with probabilities in proportion to the numbers of a vector, or of each row of
        a matrix.
        """
    def multiply(self, other: Tensor | _Number) -> Tensor:
        """input * other"""
    def multiply_(self, other: Tensor | _Number) -> Tensor:
        """input * other"""
    def mv(self, vec: Tensor | _Number) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: _int) -> Tensor:
        """The logarithm of the gamma function of p dimensions."""
    def mvlgamma_(self, p: _int) -> Tensor:
        """The logarithm of the gamma function of p dimensions."""
    def nan_to_num(
        self,
        nan: Tensor | _Number | None = None,
        posinf: Tensor | _Number | None = None,
        neginf: Tensor | _Number | None = None,
    ) -> Tensor:
        """Numbers in the place of NaN (by default 0) and the infinities (the dtype's extremes)."""
    def nan_to_num_(
        self,
        nan: Tensor | _Number | None = None,
        posinf: Tensor | _Number | None = None,
        neginf: Tensor | _Number | None = None,
    ) -> Tensor:
        """Numbers in the place of NaN (by default 0) and the infinities (the dtype's extremes)."""
    def nanmean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The mean of the elements that are not NaN."""
    def nanmedian(self, dim: _int | None = None, keepdim: _bool = False) -> Any:
        """The lower median of the elements that are not NaN; along a dim: the medians and their indices."""
    def nanquantile(
        self,
        q: Tensor | _Number,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = 'linear',
    ) -> Tensor:
        """The q-quantiles along dim of the elements that are not NaN."""
    def nansum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The sum, NaN counting as zero."""
    def narrow(self, dim: _int, start: _float, length: _int) -> Tensor:
        """The ``length`` positions from start along a dim."""
    def narrow_copy(self, dim: _int, start: _float, length: _int) -> Tensor:
        """``narrow`` with a result of its own memory."""
    @property
    def nbytes(self) -> _int:
        """The number of bytes of all elements."""
    @property
    def ndim(self) -> _int:
        """The number of dimensions."""
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements differ."""
    def ne_(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements differ."""
    def neg(self) -> Tensor:
        """-input"""
    def neg_(self) -> Tensor:
        """-input"""
    def negative(self) -> Tensor:
        """-input"""
    def negative_(self) -> Tensor:
        """-input"""
    def nelement(self) -> _int:
        """The number of elements."""
    def new_empty(
        self,
        *size: _int | Sequence[_int],
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _device | str | None = None,
        pin_memory: _bool | None = False,
        requires_grad: _bool | None = False,
    ) -> Tensor:
        """A tensor of this one's dtype whose elements are not set; inside a graph they are zeros."""
    def new_empty_strided(
        self,
        size: Sequence[_int],
        stride: Sequence[_int],
        dtype: _dtype | None = None,
        layout: Any = None,
        device: _device | str | None = None,
        requires_grad: _bool = False,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A tensor of these sizes and strides whose elements are not set; else as this tensor."""
    def new_full(
        self,
        size: _int | Sequence[_int],
        fill_value: Tensor | _Number,
        *,
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _device | str | None = None,
        pin_memory: _bool | None = False,
        requires_grad: _bool | None = False,
    ) -> Tensor:
        """One value everywhere, of this tensor's dtype."""
    def new_ones(
        self,
        *size: _int | Sequence[_int],
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _device | str | None = None,
        pin_memory: _bool | None = False,
        requires_grad: _bool | None = False,
    ) -> Tensor:
        """Ones of this tensor's dtype."""
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: _dtype | None = None,
        device: _device | str | None = None,
        requires_grad: _bool = False,
        layout: Any = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A new tensor that holds a copy of the data; dtype and device are by default this tensor's."""
    def new_zeros(
        self,
        *size: _int | Sequence[_int],
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _device | str | None = None,
        pin_memory: _bool | None = False,
        requires_grad: _bool | None = False,
    ) -> Tensor:
        """Zeros of this tensor's dtype."""
    def nextafter(self, other: Tensor) -> Tensor:
        """The next number that the dtype has after input, in the direction of other."""
    def nextafter_(self, other: Tensor) -> Tensor:
        """The next number that the dtype has after input, in the direction of other."""
    def nonzero(self, *, as_tuple: _bool = False) -> Any:
        """The places of the elements that are not zero: a row for each, or a tensor for each dim."""
    def nonzero_static(self, *, size: _int | Sequence[_int], fill_value: _int = -1) -> Tensor:
        """The places of the first ``size`` elements that are not zero, one a row; rows for which there
        is no such element are filled with fill_value.
        """
    def norm(
        self,
        p: Any = 'fro',
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The norm of all elements or over dims; "fro" is the 2-norm, "nuc" that of matrices."""
    def normal_(
        self,
        mean: Tensor | _Number = 0.0,
        std: Tensor | _Number = 1.0,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to normal random numbers."""
    def not_equal(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements differ."""
    def not_equal_(self, other: Tensor | _Number) -> Tensor:
        """Whether the elements differ."""
    def numel(self) -> _int:
        """The number of elements."""
    def numpy(self, *, force: _bool = False) -> Any:
        """The elements as a NumPy array that shares the tensor's memory.

        Args:
            force: also for tensors that require a gradient: ``detach()`` first.

        Raises:
            RuntimeError: if the tensor requires a gradient.
            TypeError: for dtypes that NumPy lacks (bfloat16) and tensors without data.
        """
    def orgqr(self, tau: Tensor) -> Tensor:
        """The first n columns of the product of the reflections I - tau_i v_i v_i^H.

        Args:
            input: (..., m, n) with m >= n: below the diagonal of column i lie the elements of v_i,
                whose diagonal element is 1 and which is zero above.
            tau: (..., k) with k <= n.

        Returns:
            (..., m, n)

        Example:
            >>> A = rushlight.randn(3, 2)
            >>> Q = rushlight.linalg.householder_product(*rushlight.geqrf(A))
            >>> rushlight.allclose(Q, rushlight.linalg.qr(A).Q, atol=1e-6)
            True
        """
    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: _bool = True,
        transpose: _bool = False,
    ) -> Tensor:
        """The product of the square matrix Q, of ``linalg.householder_product``, with a matrix.

        Args:
            input, tau: the reflections, as ``geqrf`` returns them.
            other: (..., m, k), or (..., k, m) with ``left=False``.
            left: whether Q stands on the left.
            transpose: whether Q.mH stands in Q's place.
        """
    def outer(self, vec2: Tensor | _Number) -> Tensor:
        """All products of an element of one vector and an element of the other."""
    @property
    def output_nr(self) -> _int:
        """Which output of grad_fn this tensor is."""
    def permute(self, *dims: _int | Sequence[_int]) -> Tensor:
        """The dims in another order."""
    def pin_memory(self, device: Any = None) -> Tensor:
        """A copy in memory from which an accelerator can read directly; there is none in this build.

        Raises:
            RuntimeError: always.
        """
    def pinverse(self, rcond: Tensor | _Number = 1e-15) -> Tensor:
        """The pseudoinverses of matrices; rcond: as rtol of ``linalg.pinv``."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma."""
    def polygamma_(self, n: _int) -> Tensor:
        """The n-th derivative of digamma."""
    def positive(self) -> Tensor:
        """The input itself."""
    def pow(self, exponent: Tensor | _Number) -> Tensor:
        """input to the power exponent. The common exponents have kernels of their own."""
    def pow_(self, exponent: Tensor | _Number) -> Tensor:
        """input to the power exponent. The common exponents have kernels of their own."""
    def prelu(self, weight: Tensor) -> Tensor:
        """The input where it is positive, else weight (one for all, or for each channel) times it."""
    def prod(
        self,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The product of all elements, or along a dim."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """The tensor with the elements of source at places in the flattened tensor, or added there."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """The tensor with the elements of source at places in the flattened tensor, or added there."""
    def qr(self, some: _bool = True) -> Any:
        """The QR decomposition input = Q @ R; without ``some`` Q is square."""
    def quantile(
        self,
        q: Tensor | _Number,
        dim: _int | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = 'linear',
    ) -> Tensor:
        """The q-quantiles along dim (q from 0 to 1, a number or 1-d); NaN where there is a NaN."""
    def rad2deg(self) -> Tensor:
        """Radians in degrees."""
    def rad2deg_(self) -> Tensor:
        """Radians in degrees."""
    def random_(
        self,
        from_: _int | None = None,
        to: _int | None = None,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to random integers in [from_, to), by default all from 0 on that the dtype holds."""
    def ravel(self) -> Tensor:
        """The elements in one dim."""
    @property
    def real(self) -> Tensor:
        """A view of the real parts; of a real tensor, itself."""
    def reciprocal(self) -> Tensor:
        """One over the input."""
    def reciprocal_(self) -> Tensor:
        """One over the input."""
    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Call `hook(gradient)` when this tensor's gradient is computed; it may return another."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> Any:
        """Call `hook(self)` after a gradient was added to this leaf's `.grad`."""
    def relu(self) -> Tensor:
        """The input where it is positive, else 0."""
    def relu_(self) -> Tensor:
        """The input where it is positive, else 0."""
    def remainder(self, other: Tensor | _Number) -> Tensor:
        """The rest of the division rounded down; it has the sign of other."""
    def remainder_(self, other: Tensor | _Number) -> Tensor:
        """The rest of the division rounded down; it has the sign of other."""
    def renorm(self, p: Any, dim: _int, maxnorm: Tensor | _Number) -> Tensor:
        """The slices along dim scaled down to a norm of at most maxnorm."""
    def renorm_(self, p: Any, dim: _int, maxnorm: Tensor | _Number) -> Tensor:
        """The slices along dim scaled down to a norm of at most maxnorm."""
    def repeat(self, *repeats: _int | Sequence[_int]) -> Tensor:
        """The tensor so many times along each dim."""
    def repeat_interleave(
        self,
        repeats: _int | Sequence[_int] | None = None,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
    ) -> Tensor:
        """Each element (or slice along dim) ``repeats`` times in a row; repeats: a number, or a tensor
        with a count for each. With the counts alone: their indices, each as often as its count.
        """
    @property
    def requires_grad(self) -> _bool:
        """Whether gradients are computed for this tensor."""
    @requires_grad.setter
    def requires_grad(self, value: _bool) -> None: ...
    def requires_grad_(self, requires_grad: _bool = True) -> Tensor:
        """requires_grad_(requires_grad=True): change whether gradients are computed; returns this tensor."""
    def reshape(self, *shape: _int | Sequence[_int]) -> Tensor:
        """The elements in row-major order, in another shape; one size may be -1."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""
    def resize_(self, *size: Any) -> Tensor:
        """resize_(*sizes): give the tensor other sizes; elements beyond the former ones are not set."""
    def resize_as_(self, other: Tensor, *, memory_format: Any = None) -> Tensor:
        """``resize_`` to the shape of another tensor."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: conjugates and negatives are computed at once, never put off."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: conjugates and negatives are computed at once, never put off."""
    def retain_grad(self) -> None:
        """Let backward passes set `.grad` of this tensor although it is not a leaf."""
    @property
    def retains_grad(self) -> _bool:
        """Whether backward() keeps this non-leaf tensor's gradient."""
    def roll(self, shifts: _int, dims: _int | Sequence[_int] = ()) -> Tensor:
        """The elements moved along dims, those beyond the end to the start; without dims, along the
        flattened tensor.
        """
    def rot90(self, k: _int = 1, dims: _int | Sequence[_int] = ...) -> Tensor:
        """The tensor turned k times by 90 degrees in the plane of two dims."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """Round to the nearest number of this many decimals, halves to even."""
    def round_(self, *, decimals: _int = 0) -> Tensor:
        """Round to the nearest number of this many decimals, halves to even."""
    def rsqrt(self) -> Tensor:
        """One over the square root."""
    def rsqrt_(self) -> Tensor:
        """One over the square root."""
    def rsub(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """other - alpha * input"""
    def scatter(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor | _Number | None = None,
        *,
        value: Tensor | _Number | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """input with the elements of src (or one number) at ``index`` along dim."""
    def scatter_(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor | _Number | None = None,
        *,
        value: Tensor | _Number | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """input with the elements of src (or one number) at ``index`` along dim."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """input with the elements of src added at ``index`` along dim."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """input with the elements of src added at ``index`` along dim."""
    def scatter_reduce(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """input with the elements of src summed, multiplied, averaged or compared with it at ``index``
        along dim; without include_self those of input that are hit do not count.
        """
    def scatter_reduce_(
        self,
        dim: _int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: _bool = True,
    ) -> Tensor:
        """input with the elements of src summed, multiplied, averaged or compared with it at ``index``
        along dim; without include_self those of input that are hit do not count.
        """
    def select(self, dim: _int, index: _int) -> Tensor:
        """One position along a dim, which goes."""
    def select_scatter(self, src: Tensor | _Number, dim: _int, index: _int) -> Tensor:
        """The tensor with one index along dim replaced by src."""
    def set_(
        self,
        source: Any = None,
        storage_offset: _int = 0,
        size: Any = None,
        stride: Any = None,
    ) -> Tensor:
        """Make this tensor a view of other memory, in place.

        Args:
            source: a tensor, whose layout is taken over, or a storage; None: no memory.
            storage_offset: of the first element, in elements.
            size: the new sizes; None: one dim over the whole storage.
            stride: the new strides; None: row-major.

        Returns:
            This tensor.

        Raises:
            RuntimeError: for a tensor of another dtype, a layout that reaches beyond the storage, or a
                leaf that requires a gradient.
        """
    def sgn(self) -> Tensor:
        """The sign; of a complex number, the number scaled to absolute value 1."""
    def sgn_(self) -> Tensor:
        """The sign; of a complex number, the number scaled to absolute value 1."""
    @property
    def shape(self) -> Size:
        """The size of each dimension, a Size."""
    def short(self, memory_format: _memory_format | None = None) -> Tensor:
        """Convert to int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-input))"""
    def sigmoid_(self) -> Tensor:
        """1 / (1 + exp(-input))"""
    def sign(self) -> Tensor:
        """-1, 0 or 1."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1."""
    def signbit(self) -> Tensor:
        """Whether the sign is minus, of zeros and NaN too."""
    def sin(self) -> Tensor:
        """The sine."""
    def sin_(self) -> Tensor:
        """The sine."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinc_(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> Tensor:
        """The hyperbolic sine."""
    @overload
    def size(self, dim: None = None) -> Size:
        """size(dim=None): the shape, or the size of one dimension."""
    @overload
    def size(self, dim: _int) -> _int:
        """size(dim=None): the shape, or the size of one dimension."""
    def slice_scatter(
        self,
        src: Tensor | _Number,
        dim: _int = 0,
        start: _float | None = None,
        end: _float | None = None,
        step: _float = 1,
    ) -> Tensor:
        """The tensor with a slice along dim replaced by src."""
    def slogdet(self) -> Any:
        """As ``linalg.slogdet``."""
    def softmax(self, dim: _int, dtype: _dtype | None = None) -> Tensor:
        """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""
    def solve(self, A: Tensor, *, out: Any = None) -> Any:
        """Removed: use ``linalg.solve``, which takes A first and returns no factors."""
    def sort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool | None = None,
    ) -> Any:
        """The elements in order along dim, and their indices; equal ones stay in their order."""
    def split(
        self,
        split_size_or_sections: _int | Sequence[_int],
        dim: _int = 0,
    ) -> tuple[Tensor, ...]:
        """Pieces of a size, the last perhaps smaller, or of the given sizes."""
    def split_with_sizes(self, split_sizes: Any, dim: _int = 0) -> tuple[Tensor, ...]:
        """Pieces of the given sizes."""
    def sqrt(self) -> Tensor:
        """The square root."""
    def sqrt_(self) -> Tensor:
        """The square root."""
    def square(self) -> Tensor:
        """input * input"""
    def square_(self) -> Tensor:
        """input * input"""
    def squeeze(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """Without the dims of size 1, or without those of the given dims that have size 1."""
    def squeeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``squeeze`` in place: this tensor gets the other layout."""
    def std(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: Any = None,
    ) -> Tensor:
        """The standard deviation: the square root of var."""
    def std_mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: Any = None,
    ) -> tuple[Tensor, ...]:
        """The standard deviation and the mean."""
    def stft(
        self,
        n_fft: _int,
        hop_length: _int | None = None,
        win_length: _int | None = None,
        window: Tensor | _Number | None = None,
        center: _bool = True,
        pad_mode: str = 'reflect',
        normalized: _bool = False,
        onesided: _bool | None = None,
        return_complex: _bool | None = None,
        align_to_window: _bool | None = None,
    ) -> Tensor:
        """The Fourier transforms of overlapping parts of a signal, each multiplied by a window.

        Args:
            input: ``[time]`` or ``[batch, time]``.
            n_fft: how many elements a part has.
            hop_length: the distance of neighbouring parts; None: ``n_fft // 4``.
            win_length: the size of the window; None: n_fft.
            window: by what parts are multiplied, in their middle; None: ones.
            center: whether ``n_fft // 2`` elements are added at both ends first.
            pad_mode: how; see ``nn.functional.pad``.
            normalized: whether results are divided by the root of n_fft.
            onesided: only the first half of each spectrum; None: for real numbers.
            return_complex: False: real and imaginary parts along a new last dim.
            align_to_window: without center, whether the window of the first part, rather than the part,
                begins at time 0.

        Returns:
            ``[batch, frequencies, parts]``.
        """
    def storage(self) -> Any:
        """The storage as elements of the tensor's dtype, for older programs."""
    def storage_offset(self) -> _int:
        """Where the first element lies in the storage, in elements."""
    @overload
    def stride(self, dim: None = None) -> tuple[_int, ...]:
        """stride(dim=None): the distance of neighbours, in elements."""
    @overload
    def stride(self, dim: _int) -> _int:
        """stride(dim=None): the distance of neighbours, in elements."""
    def sub(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input - alpha * other"""
    def sub_(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input - alpha * other"""
    def subtract(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input - alpha * other"""
    def subtract_(self, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
        """input - alpha * other"""
    def sum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The sum of all elements, or over the given dims."""
    def sum_to_size(self, *size: _int | Sequence[_int]) -> Tensor:
        """The sum over the dims that broadcasting from ``size`` would add or stretch."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> Any:
        """The singular value decomposition input = U @ diag(S) @ V.mH; without ``some`` U and V are
        square, without ``compute_uv`` they are zero.
        """
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """Two dims exchanged; NumPy's name for transpose."""
    def swapaxes_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``swapaxes`` in place: this tensor gets the other layout."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dims exchanged."""
    def swapdims_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``swapdims`` in place: this tensor gets the other layout."""
    def symeig(self, eigenvectors: _bool = False, upper: _bool = True, *, out: Any = None) -> Any:
        """Removed: use ``linalg.eigh`` or ``linalg.eigvalsh``, which read the lower triangle."""
    def t(self) -> Tensor:
        """The transposed matrix."""
    def t_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``t`` in place: this tensor gets the other layout."""
    def take(self, index: Tensor) -> Tensor:
        """The elements at places in the flattened tensor, in the shape of the index; negative places
        count from the end.
        """
    def take_along_dim(self, indices: Any, dim: _int | None = None) -> Tensor:
        """The elements at indices along dim, both broadcast elsewhere; negative ones count from the
        end.
        """
    def tan(self) -> Tensor:
        """The tangent."""
    def tan_(self) -> Tensor:
        """The tangent."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Tensor:
        """The hyperbolic tangent."""
    def tensor_split(
        self,
        tensor_indices_or_sections: Any = None,
        dim: _int = 0,
        *,
        indices: Any = None,
        sections: Any = None,
    ) -> tuple[Tensor, ...]:
        """So many pieces of nearly equal size along dim, or the pieces between indices."""
    def tile(self, *dims: _int | Sequence[_int]) -> Tensor:
        """Like repeat; missing counts are 1."""
    def to(
        self,
        *args: Any,
        dtype: _dtype | None = None,
        device: _device | str | None = None,
        non_blocking: _bool = False,
        copy: _bool = False,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """Convert to the dtype and device given in any order, or to those of another tensor."""
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: _bool = True) -> Tensor:
        """This tensor with a strided layout, which it has."""
    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True) -> Any:
        """The k greatest (or least) elements along dim, in order, and their indices."""
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """Two dims exchanged."""
    def transpose_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``transpose`` in place: this tensor gets the other layout."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: _bool = True,
        transpose: _bool = False,
        unitriangular: _bool = False,
    ) -> Any:
        """The solution of A @ X = b (or A.mT @ X = b) for triangular A, and a copy of A."""
    def tril(self, diagonal: Tensor | _Number = 0) -> Tensor:
        """The part of matrices on and below a diagonal; zero above."""
    def tril_(self, diagonal: Tensor | _Number = 0) -> Tensor:
        """The part of matrices on and below a diagonal; zero above."""
    def triu(self, diagonal: Tensor | _Number = 0) -> Tensor:
        """The part of matrices on and above a diagonal; zero below."""
    def triu_(self, diagonal: Tensor | _Number = 0) -> Tensor:
        """The part of matrices on and above a diagonal; zero below."""
    def true_divide(self, other: Tensor | _Number) -> Tensor:
        """input / other"""
    def true_divide_(self, other: Tensor | _Number) -> Tensor:
        """input / other"""
    def trunc(self) -> Tensor:
        """Round towards zero."""
    def trunc_(self) -> Tensor:
        """Round towards zero."""
    def type(self, dtype: Any = None, non_blocking: _bool = False) -> Any:
        """Without an argument the type's name (``"torch.FloatTensor"``); else this tensor converted.

        Raises:
            ValueError: for a name that is no type's.
        """
    def type_as(self, other: Tensor) -> Tensor:
        """Convert to the dtype of another tensor."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """Each position along a dim."""
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
        """One dim as several."""
    def unfold(self, dimension: _int, size: _int | Sequence[_int], step: _float) -> Tensor:
        """Windows of a size along a dim, ``step`` apart; each window's elements come last."""
    def uniform_(
        self,
        from_: Tensor | _Number = 0.0,
        to: Tensor | _Number = 1.0,
        *,
        generator: _Generator | None = None,
    ) -> Tensor:
        """Set to uniform random numbers in [from_, to)."""
    def unique(
        self,
        sorted: _bool = True,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """The distinct elements, or slices along dim, in order; on request which of them each element
        is, and how many there are of each.
        """
    def unique_consecutive(
        self,
        return_inverse: _bool = False,
        return_counts: _bool = False,
        dim: _int | None = None,
    ) -> Any:
        """The elements, or slices along dim, without those that equal the one before."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """``chunk`` with results of their own memory."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """``split`` with results of their own memory."""
    def unsafe_split_with_sizes(
        self,
        split_sizes: Sequence[Any],
        dim: _int = 0,
    ) -> tuple[Tensor, ...]:
        """``split`` by sizes with results of their own memory."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """With a dim of size 1 at ``dim``."""
    def unsqueeze_(self, *args: Any, **kwargs: Any) -> Tensor:
        """``unsqueeze`` in place: this tensor gets the other layout."""
    def untyped_storage(self) -> Any:
        """The bytes that this tensor shares with its views."""
    def var(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: Any = None,
    ) -> Tensor:
        """The variance, divided by the count minus correction."""
    def var_mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: Any = None,
    ) -> tuple[Tensor, ...]:
        """The variance and the mean."""
    def vdot(self, other: Tensor | _Number) -> Tensor:
        """The sum of the products of two vectors' elements, the first conjugated."""
    def view(self, *shape: _int | Sequence[_int]) -> Tensor:
        """The elements in another shape."""
    def view_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""
    def vsplit(
        self,
        indices_or_sections: Any = None,
        *,
        indices: Any = None,
        sections: Any = None,
    ) -> tuple[Tensor, ...]:
        """Pieces along dim 0."""
    def where(self, condition: Tensor | _Number, other: Tensor | _Number) -> Tensor:
        """This tensor where the condition holds, else other."""
    def xlogy(self, other: Tensor | _Number) -> Tensor:
        """input * log(other), and 0 where the input is 0 and other is a number."""
    def xlogy_(self, other: Tensor | _Number) -> Tensor:
        """input * log(other), and 0 where the input is 0 and other is a number."""
    def zero_(self) -> Tensor:
        """Set every element to zero."""

class Direct:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    function: Any

class FunctionNode(Node):
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def _attach(self, *args: Any, **kwargs: Any) -> Any:
        """_attach(tensor, index, written, edge): the tensor is output number index."""
    def _connect(self, *args: Any, **kwargs: Any) -> Any:
        """_connect(inputs): gradients go to these tensors."""
    def _describe_outputs(self, *args: Any, **kwargs: Any) -> Any:
        """_describe_outputs(outputs): what gradients must look like."""
    def _drop_saved(self, *args: Any, **kwargs: Any) -> Any:
        """_drop_saved(): keep nothing of what was saved."""
    _raw_saved_tensors: Any
    def _save(self, *args: Any, **kwargs: Any) -> Any:
        """_save(tensors): keep these tensors for the backward pass."""
    def _zeros(self, *args: Any, **kwargs: Any) -> Any:
        """_zeros(index): zeros for an output that has no gradient; None if it is no tensor."""
    saved_tensors: Any

class Generator:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def fill(self, *args: Any, **kwargs: Any) -> Any:
        """Write the next outputs into a contiguous buffer of 4- or 8-byte items."""
    def get_state(self, *args: Any, **kwargs: Any) -> Any:
        """The state as bytes."""
    def initial_seed(self, *args: Any, **kwargs: Any) -> Any:
        """The number that the generator was last seeded with."""
    def manual_seed(self, *args: Any, **kwargs: Any) -> Any:
        """Seed with a number; returns the generator."""
    next_normal: Any
    def seed(self, *args: Any, **kwargs: Any) -> Any:
        """Seed with a number from the system and return it."""
    def set_state(self, *args: Any, **kwargs: Any) -> Any:
        """Go on from a state that get_state() returned."""

class Kernel:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    nest: Any
    def variants(self, *args: Any, **kwargs: Any) -> Any:
        """Names of the variants compiled so far: vector, classes, loops, split."""

class ModuleBase:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class Node:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _sequence_nr(self, *args: Any, **kwargs: Any) -> Any:
        """Nodes made later have higher numbers and run first."""
    metadata: Any
    def name(self, *args: Any, **kwargs: Any) -> Any:
        """The name of the operation, such as AddBackward0."""
    next_functions: Any
    def register_hook(self, *args: Any, **kwargs: Any) -> Any:
        """Call function(grad_inputs, grad_outputs) after this node ran; it may return other grad_inputs."""
    def register_prehook(self, *args: Any, **kwargs: Any) -> Any:
        """Call function(grad_outputs) before this node runs; it may return other grad_outputs."""
    requires_grad: Any
    variable: Any

class Operator:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def clear(self, *args: Any, **kwargs: Any) -> Any:
        """Forget all plans."""
    name: Any
    parameters: Any
    def plans(self, *args: Any, **kwargs: Any) -> Any:
        """The plans (and Direct objects) known so far."""
    def statistics(self, *args: Any, **kwargs: Any) -> Any:
        """Counts of hits (exact layouts), structural_hits and misses (planned), and of instances and plans held."""

class Plan:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    spec: Any

class SavedTensor:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def register_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """register_hooks(pack, unpack): keep what pack(tensor) returns; unpack() of that is the tensor again."""

class Size(tuple[_int, ...]):
    def numel(self, *args: Any, **kwargs: Any) -> Any:
        """The number of elements of a tensor of this size."""

def accumulates(*args: Any, **kwargs: Any) -> Any:
    """Does the running backward pass add to the .grad of all leaves?"""

def alias_as(*args: Any, **kwargs: Any) -> Any:
    """alias_as(cls, tensor): a view of the tensor as an instance of cls."""

def allocator_statistics(*args: Any, **kwargs: Any) -> Any:
    """Bytes in_use, cached, peak and limit (None: no limit); counts of allocations and of hits in the cache."""

def attach_node(*args: Any, **kwargs: Any) -> Any:
    """attach_node(backward, name, inputs, outputs): make outputs depend on inputs through backward(*gradients of outputs), which returns a tuple with one gradient or None per input. The node, or None if nothing was recorded. backward.release(), if there is one, is called when the graph is not kept."""

def backward_number(*args: Any, **kwargs: Any) -> Any:
    """A number of this thread's running backward pass; -1: none."""

def check_inplace(*args: Any, **kwargs: Any) -> Any:
    """check_inplace(tensor, name): raise if the tensor may not be written."""

def current_node(*args: Any, **kwargs: Any) -> Any:
    """The node that a backward pass of this thread is running, or None."""

def default_generator(*args: Any, **kwargs: Any) -> Any:
    """The generator used when none is given."""

def detach_in_place(*args: Any, **kwargs: Any) -> Any:
    """detach_in_place(tensor): cut the tensor off from its history."""

def dual_levels(*args: Any, **kwargs: Any) -> Any:
    """dual_levels(change=0): while their number is not 0, tensors with tangents are handed to Python."""

def empty(*args: Any, **kwargs: Any) -> Any:
    """empty(sizes, dtype_code, device=0): an uninitialised contiguous tensor."""

def empty_cache(*args: Any, **kwargs: Any) -> Any:
    """Give cached memory back to the system."""

def empty_strided(*args: Any, **kwargs: Any) -> Any:
    """empty_strided(sizes, strides, dtype_code, device=0): an uninitialised tensor with these strides."""

def from_dlpack(*args: Any, **kwargs: Any) -> Any:
    """from_dlpack(capsule): a tensor that shares the capsule's memory."""

def from_numpy(array: Any) -> Tensor:
    """from_numpy(array): a tensor that shares the array's memory."""

def get_mode_bits(*args: Any, **kwargs: Any) -> Any:
    """This thread's modes as far as they are part of every key."""

def get_num_threads() -> _int:
    """The number of threads that work on one operator."""

def has_saved_hooks(*args: Any, **kwargs: Any) -> Any:
    """Does this thread have hooks for saved tensors?"""

def increment_version(*args: Any, **kwargs: Any) -> Any:
    """increment_version(tensor): count a write that was not seen."""

def is_differentiable_view(*args: Any, **kwargs: Any) -> Any:
    """Is the tensor a view whose writes reach another tensor's history?"""

def is_grad_enabled() -> _bool:
    """Are operators recorded for the backward pass?"""

def is_inference(*args: Any, **kwargs: Any) -> Any:
    """Was this tensor made in inference mode?"""

def is_inference_mode_enabled() -> _bool:
    """Is inference mode on?"""

def leaf_hooks(*args: Any, **kwargs: Any) -> Any:
    """leaf_hooks(leaf): the dict of its hooks, or None."""

def observe_writes(*args: Any, **kwargs: Any) -> Any:
    """observe_writes(function): in this thread, call it with each tensor that is about to be written; None: no more. The former function."""

def plan_count(*args: Any, **kwargs: Any) -> Any:
    """The number of plans that are alive."""

def pop_saved_hooks(*args: Any, **kwargs: Any) -> Any:
    """Undo the last push_saved_hooks() of this thread."""

def profile_begin(*args: Any, **kwargs: Any) -> Any:
    """profile_begin(name): begin a range; its token."""

def profile_end(*args: Any, **kwargs: Any) -> Any:
    """profile_end(token): end a range."""

def profile_start(*args: Any, **kwargs: Any) -> Any:
    """profile_start(shapes): collect the ranges of this thread from now on."""

def profile_stop(*args: Any, **kwargs: Any) -> Any:
    """profile_stop(): the ranges in the order of their starts, each (name, kind, start, end, shapes); nanoseconds."""

def push_saved_hooks(*args: Any, **kwargs: Any) -> Any:
    """push_saved_hooks(pack, unpack): what operators of this thread save from now on goes through these functions."""

def queue_callback(*args: Any, **kwargs: Any) -> Any:
    """queue_callback(function): call it when the running pass has ended."""

def register(*args: Any, **kwargs: Any) -> Any:
    """register(name, object): make a Python object known to the core."""

def register_hook(*args: Any, **kwargs: Any) -> Any:
    """register_hook(tensor, function): call function(gradient) whenever the tensor's gradient is computed."""

def register_post_accumulate_grad_hook(*args: Any, **kwargs: Any) -> Any:
    """register_post_accumulate_grad_hook(leaf, function): call function(leaf) after its .grad was added to."""

def registered(*args: Any, **kwargs: Any) -> Any:
    """registered(name): the object registered under a name, or None."""

def retain_grad(*args: Any, **kwargs: Any) -> Any:
    """retain_grad(tensor): backward sets .grad of this tensor that is not a leaf."""

def run_backward(*args: Any, **kwargs: Any) -> Any:
    """run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unreachable, accumulate_grad): the gradients of inputs, or () when they are accumulated into leaves."""

def same_storage(*args: Any, **kwargs: Any) -> Any:
    """same_storage(a, b): whether two tensors share their memory."""

def set_anomaly_mode(*args: Any, **kwargs: Any) -> Any:
    """Switch on or off that nodes note the stack at which they were made; the former state."""

def set_data(*args: Any, **kwargs: Any) -> Any:
    """set_data(tensor, other): give a tensor the other's layout and memory."""

def set_default_dtype(*args: Any, **kwargs: Any) -> Any:
    """set_default_dtype(dtype): the type that Python floats become."""

def set_default_generator(*args: Any, **kwargs: Any) -> Any:
    """Replace the generator used when none is given."""

def set_dtypes(*args: Any, **kwargs: Any) -> Any:
    """set_dtypes(dtypes): register the dtype objects in the order of their codes."""

def set_grad_enabled(*args: Any, **kwargs: Any) -> Any:
    """Switch recording on or off in this thread; the former state."""

def set_inference_mode(*args: Any, **kwargs: Any) -> Any:
    """Switch inference mode in this thread; the former state."""

def set_kernel_functions(*args: Any, **kwargs: Any) -> Any:
    """Set the table of external functions (addresses) that machine code calls through its last argument."""

def set_memory_limit(*args: Any, **kwargs: Any) -> Any:
    """Bound the bytes held for tensors, cached ones included; None removes the bound."""

def set_mode_bits(*args: Any, **kwargs: Any) -> Any:
    """Set this thread's mode bits, except those of grad and inference mode."""

def set_module_callbacks(*args: Any, **kwargs: Any) -> Any:
    """set_module_callbacks(dicts of hooks of all modules, on_error): on_error(module, exception) is called for exceptions that leave a module's call."""

def set_num_threads(count: _int) -> None:
    """Set the number of threads that work on one operator."""

def set_parameter_type(*args: Any, **kwargs: Any) -> Any:
    """set_parameter_type(type): the subclass that is handled natively."""

def set_tangent(*args: Any, **kwargs: Any) -> Any:
    """set_tangent(tensor, tangent): give it one; None: take it away."""

def storage_bytes(*args: Any, **kwargs: Any) -> Any:
    """storage_bytes(tensor): all bytes of a tensor's storage as a tensor of uint8 that shares them."""

def take_view(*args: Any, **kwargs: Any) -> Any:
    """take_view(tensor, view, name): give the tensor the layout and history of a view of it, under another name."""

def tangent(*args: Any, **kwargs: Any) -> Any:
    """tangent(object): the tangent of a tensor in forward mode, or None."""

def tensor_from_data(*args: Any, **kwargs: Any) -> Any:
    """tensor_from_data(data, dtype_code=-1): a tensor of nested sequences of numbers; -1 infers the dtype."""

def to_dlpack(*args: Any, **kwargs: Any) -> Any:
    """to_dlpack(tensor, versioned=False, copied=False): a DLPack capsule that shares the tensor's memory."""

def to_numpy(*args: Any, **kwargs: Any) -> Any:
    """to_numpy(tensor): a NumPy array that shares the tensor's memory."""

def use_native_lookup(*args: Any, **kwargs: Any) -> Any:
    """use_native_lookup(cls): let a subclass of ModuleBase look up attributes natively if it defines no way of its own."""

def will_run(*args: Any, **kwargs: Any) -> Any:
    """Is this node among those that the running backward pass runs?"""
