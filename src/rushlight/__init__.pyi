"""Rushlight: a deep-learning framework with PyTorch's API.

Written by ``python -m rushlight.tools.stubs``; do not edit.
"""

# ruff: noqa

from builtins import bool as _bool, float as _float, int as _int
from collections.abc import Sequence
from typing import Any

from ._core import Generator as _Generator, Tensor as Tensor, _Number
from .device import device as _device
from .dtypes import dtype as _dtype
from .formats import layout as _layout, memory_format as _memory_format
from . import amp as amp
from . import autocasting as autocasting
from . import autograd as autograd
from . import compiler as compiler
from . import debug as debug
from . import dlpack as dlpack
from . import dtypes as dtypes
from . import factories as factories
from . import fft as fft
from . import func as func
from . import inplace_functions as inplace_functions
from . import inplace_views as inplace_views
from . import inspection as inspection
from . import linalg as linalg
from . import masked as masked
from . import nn as nn
from . import node_names as node_names
from . import operators as operators
from . import optim as optim
from . import profiler as profiler
from . import random as random
from . import removed as removed
from . import return_types as return_types
from . import serialization as serialization
from . import settings as settings
from . import signal as signal
from . import special as special
from . import storage as storage
from . import typed_tensors as typed_tensors
from . import utils as utils
from . import version as version
from ._core import Size as Size
from ._core import from_numpy as from_numpy
from ._core import get_num_threads as get_num_threads
from ._core import is_grad_enabled as is_grad_enabled
from ._core import is_inference_mode_enabled as is_inference_mode_enabled
from ._core import set_num_threads as set_num_threads
from .amp.autocast_mode import autocast as autocast
from .amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from .amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from .amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from .amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from .amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from .amp.grad_scaler import GradScaler as GradScaler
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from .autograd.grad_mode import enable_grad as enable_grad
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import no_grad as no_grad
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled
from .autograd.tensor_methods import detach_ as detach_
from .autograd.tensor_methods import is_inference as is_inference
from .compiler import compile as compile
from .creation import allclose as allclose
from .creation import as_tensor as as_tensor
from .creation import asarray as asarray
from .creation import broadcast_shapes as broadcast_shapes
from .creation import empty_permuted as empty_permuted
from .creation import empty_strided as empty_strided
from .creation import equal as equal
from .creation import frombuffer as frombuffer
from .creation import is_nonzero as is_nonzero
from .creation import is_storage as is_storage
from .creation import is_tensor as is_tensor
from .creation import numel as numel
from .creation import scalar_tensor as scalar_tensor
from .creation import set_default_dtype as set_default_dtype
from .creation import tensor as tensor
from .debug import explain as explain
from .device import device as device
from .dlpack import from_dlpack as from_dlpack
from .dlpack import to_dlpack as to_dlpack
from .dtypes import bfloat16 as bfloat16
from .dtypes import bool as bool
from .dtypes import complex128 as complex128
from .dtypes import complex32 as complex32
from .dtypes import complex64 as complex64
from .dtypes import dtype as dtype
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import get_default_dtype as get_default_dtype
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import int8 as int8
from .dtypes import uint16 as uint16
from .dtypes import uint32 as uint32
from .dtypes import uint64 as uint64
from .dtypes import uint8 as uint8
from .formats import channels_last as channels_last
from .formats import channels_last_3d as channels_last_3d
from .formats import contiguous_format as contiguous_format
from .formats import layout as layout
from .formats import memory_format as memory_format
from .formats import preserve_format as preserve_format
from .formats import sparse_bsc as sparse_bsc
from .formats import sparse_bsr as sparse_bsr
from .formats import sparse_coo as sparse_coo
from .formats import sparse_csc as sparse_csc
from .formats import sparse_csr as sparse_csr
from .formats import strided as strided
from .func.vmap import vmap as vmap
from .inplace_functions import alpha_dropout_ as alpha_dropout_
from .inplace_functions import dropout_ as dropout_
from .inplace_functions import feature_alpha_dropout_ as feature_alpha_dropout_
from .inplace_views import resize_as_ as resize_as_
from .limits import finfo as finfo
from .limits import iinfo as iinfo
from .nn.functional import celu_ as celu_
from .nn.functional import rrelu_ as rrelu_
from .nn.functional import selu_ as selu_
from .nn.functional import threshold_ as threshold_
from .printing import set_printoptions as set_printoptions
from .promotion import can_cast as can_cast
from .promotion import promote_types as promote_types
from .random import Generator as Generator
from .random import default_generator as default_generator
from .random import get_rng_state as get_rng_state
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import seed as seed
from .random import set_rng_state as set_rng_state
from .removed import eig as eig
from .removed import lstsq as lstsq
from .removed import matrix_rank as matrix_rank
from .removed import solve as solve
from .removed import symeig as symeig
from .serialization import load as load
from .serialization import save as save
from .settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from .settings import get_default_device as get_default_device
from .settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from .settings import get_device as get_device
from .settings import get_float32_matmul_precision as get_float32_matmul_precision
from .settings import get_num_interop_threads as get_num_interop_threads
from .settings import has_lapack as has_lapack
from .settings import has_mkl as has_mkl
from .settings import has_openmp as has_openmp
from .settings import has_spectral as has_spectral
from .settings import is_complex as is_complex
from .settings import is_conj as is_conj
from .settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from .settings import is_distributed as is_distributed
from .settings import is_floating_point as is_floating_point
from .settings import is_neg as is_neg
from .settings import is_same_size as is_same_size
from .settings import is_signed as is_signed
from .settings import is_warn_always_enabled as is_warn_always_enabled
from .settings import result_type as result_type
from .settings import set_default_device as set_default_device
from .settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from .settings import set_float32_matmul_precision as set_float32_matmul_precision
from .settings import set_flush_denormal as set_flush_denormal
from .settings import set_num_interop_threads as set_num_interop_threads
from .settings import set_warn_always as set_warn_always
from .settings import typename as typename
from .settings import use_deterministic_algorithms as use_deterministic_algorithms
from .storage import BFloat16Storage as BFloat16Storage
from .storage import BoolStorage as BoolStorage
from .storage import ByteStorage as ByteStorage
from .storage import CharStorage as CharStorage
from .storage import ComplexDoubleStorage as ComplexDoubleStorage
from .storage import ComplexFloatStorage as ComplexFloatStorage
from .storage import DoubleStorage as DoubleStorage
from .storage import FloatStorage as FloatStorage
from .storage import HalfStorage as HalfStorage
from .storage import IntStorage as IntStorage
from .storage import LongStorage as LongStorage
from .storage import ShortStorage as ShortStorage
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
from .tensor import OutOfMemoryError as OutOfMemoryError
from .typed_tensors import BFloat16Tensor as BFloat16Tensor
from .typed_tensors import BoolTensor as BoolTensor
from .typed_tensors import ByteTensor as ByteTensor
from .typed_tensors import CharTensor as CharTensor
from .typed_tensors import DoubleTensor as DoubleTensor
from .typed_tensors import FloatTensor as FloatTensor
from .typed_tensors import HalfTensor as HalfTensor
from .typed_tensors import IntTensor as IntTensor
from .typed_tensors import LongTensor as LongTensor
from .typed_tensors import ShortTensor as ShortTensor
from .typed_tensors import set_default_tensor_type as set_default_tensor_type

__version__: str

def abs(input: Tensor, *, out: Any = None) -> Tensor:
    """The absolute value."""

def abs_(input: Tensor) -> Tensor:
    """The absolute value."""

def absolute(input: Tensor, *, out: Any = None) -> Tensor:
    """The absolute value."""

def absolute_(input: Tensor) -> Tensor:
    """The absolute value."""

def acos(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse cosine."""

def acos_(input: Tensor) -> Tensor:
    """The inverse cosine."""

def acosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic cosine."""

def acosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine."""

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of output_size windows over the last 1 dims."""

def adaptive_max_pool1d(
    input: Tensor,
    output_size: Any,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each of output_size windows over the last 1 dims, and its number in these dims."""

def add(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input + alpha * other"""

def add_(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """input + alpha * other"""

def addbmm(
    input: Tensor | _Number,
    batch1: Tensor | _Number,
    batch2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * sum(batch1 @ batch2)"""

def addbmm_(
    input: Tensor | _Number,
    batch1: Tensor | _Number,
    batch2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """beta * input + alpha * sum(batch1 @ batch2)"""

def addcdiv(
    input: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input + value * tensor1 / tensor2"""

def addcdiv_(
    input: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: Tensor | _Number = 1,
) -> Tensor:
    """input + value * tensor1 / tensor2"""

def addcmul(
    input: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input + value * tensor1 * tensor2"""

def addcmul_(
    input: Tensor | _Number,
    tensor1: Tensor | _Number,
    tensor2: Tensor | _Number,
    *,
    value: Tensor | _Number = 1,
) -> Tensor:
    """input + value * tensor1 * tensor2"""

def addmm(
    input: Tensor | _Number,
    mat1: Tensor | _Number,
    mat2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)"""

def addmm_(
    input: Tensor | _Number,
    mat1: Tensor | _Number,
    mat2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)"""

def addmv(
    input: Tensor | _Number,
    mat: Tensor | _Number,
    vec: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat @ vec)"""

def addmv_(
    input: Tensor | _Number,
    mat: Tensor | _Number,
    vec: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """beta * input + alpha * (mat @ vec)"""

def addr(
    input: Tensor | _Number,
    vec1: Tensor | _Number,
    vec2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)"""

def addr_(
    input: Tensor | _Number,
    vec1: Tensor | _Number,
    vec2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)"""

def adjoint(input: Tensor) -> Tensor:
    """The last two dims exchanged, conjugated."""

def affine_grid_generator(
    theta: Tensor,
    size: _int | Sequence[_int],
    align_corners: Any = None,
) -> Tensor:
    """A grid for grid_sample: the places of an image of ``size`` under affine maps theta
    ``[batch, 2, 3]`` (or ``[batch, 3, 4]`` for volumes).
    """

def alias_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """A copy."""

def all(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Whether all elements are not zero."""

def alpha_dropout(input: Tensor | _Number, p: Tensor | _Number, train: _bool) -> Tensor:
    """Dropout that keeps mean and variance of selu's results."""

def amax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = (),
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The greatest element over the given dims; equal ones share the gradient."""

def amin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = (),
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The least element over the given dims; equal ones share the gradient."""

def aminmax(
    input: Tensor,
    *,
    dim: _int | None = None,
    keepdim: _bool = False,
    out: Any = None,
) -> Any:
    """The least and the greatest element."""

def angle(input: Tensor, *, out: Any = None) -> Tensor:
    """The angle of the complex number; of a real one 0, or pi if it is negative."""

def any(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """Whether any element is not zero."""

def arange(
    start: _float = 0,
    end: _float | None = None,
    step: _float = 1,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The numbers start, start + step, ... before end."""

def arccos(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse cosine."""

def arccos_(input: Tensor) -> Tensor:
    """The inverse cosine."""

def arccosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic cosine."""

def arccosh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine."""

def arcsin(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse sine."""

def arcsin_(input: Tensor) -> Tensor:
    """The inverse sine."""

def arcsinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic sine."""

def arcsinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def arctan(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse tangent."""

def arctan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""

def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""

def arctan_(input: Tensor) -> Tensor:
    """The inverse tangent."""

def arctanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic tangent."""

def arctanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent."""

def argmax(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The index of the greatest element, of the first if several are equal."""

def argmin(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The index of the least element, of the first if several are equal."""

def argsort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
) -> Tensor:
    """The indices that sort the elements along dim."""

def argwhere(input: Tensor) -> Tensor:
    """The places of the elements that are not zero, one a row."""

def as_strided(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int,
    storage_offset: _int = 0,
) -> Tensor:
    """A view with any sizes and strides (in elements) of the tensor's memory, here taken as
    contiguous.
    """

def as_strided_copy(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int,
    storage_offset: _int = 0,
    *,
    out: Any = None,
) -> Tensor:
    """``as_strided`` with results of their own memory."""

def as_strided_scatter(
    input: Tensor | _Number,
    src: Tensor | _Number,
    size: _int | Sequence[_int],
    stride: _int,
    storage_offset: _int = 0,
) -> Tensor:
    """input with the elements of src at those that as_strided gives, input's memory being taken as
    contiguous.
    """

def asin(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse sine."""

def asin_(input: Tensor) -> Tensor:
    """The inverse sine."""

def asinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic sine."""

def asinh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def atan(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse tangent."""

def atan2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""

def atan2_(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input), from -pi to pi."""

def atan_(input: Tensor) -> Tensor:
    """The inverse tangent."""

def atanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse hyperbolic tangent."""

def atanh_(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent."""

def atleast_1d(*tensors: Sequence[Tensor]) -> Any:
    """The tensor or tensors with at least one dim."""

def atleast_2d(*tensors: Sequence[Tensor]) -> Any:
    """The tensor or tensors with at least two dims."""

def atleast_3d(*tensors: Sequence[Tensor]) -> Any:
    """The tensor or tensors with at least three dims."""

def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """The mean of each window over the last 1 dims.

    Args:
        input: ``[batch, channels, *sizes]``, or without the batch.
        kernel_size: of the windows.
        stride: between windows; None is kernel_size.
        padding: how many zeros are added at both ends of each dim.
        ceil_mode: whether a last window may reach beyond the end.
        count_include_pad: whether the mean counts these zeros.
        divisor_override: what the sum is divided by instead of the number of elements.
    """

def baddbmm(
    input: Tensor | _Number,
    batch1: Tensor | _Number,
    batch2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2)"""

def baddbmm_(
    input: Tensor | _Number,
    batch1: Tensor | _Number,
    batch2: Tensor | _Number,
    *,
    beta: Tensor | _Number = 1,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """beta * input + alpha * (batch1 @ batch2)"""

def bartlett_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """A triangle that is zero at both ends. periodic: without the last point of the symmetric
    window.
    """

def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: Tensor | _Number,
    eps: Tensor | _Number,
    cudnn_enabled: _bool,
) -> Tensor:
    """nn.functional.batch_norm with its arguments in another order."""

def bernoulli(
    input: Tensor | _Number,
    p: Tensor | _Number | None = None,
    *,
    generator: _Generator | None = None,
    out: Any = None,
) -> Tensor:
    """1 with the probability that the element (or p) says, else 0."""

def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | _Number | None = None,
) -> Tensor:
    """input1 @ weight @ input2 + bias for each matrix in weight.

    Args:
        input1: ``[*, in1]``.
        input2: ``[*, in2]``, with the same leading sizes.
        weight: ``[out, in1, in2]``.
        bias: ``[out]`` or None.

    Returns:
        ``[*, out]``.
    """

def bincount(input: Tensor, weights: Tensor | _Number | None = None, minlength: _int = 0) -> Tensor:
    """How often each of the numbers 0, 1, ... occurs in a vector, or the sum of the weights there;
    the result has at least minlength elements.
    """

def binomial(count: Tensor, prob: Tensor, generator: _Generator | None = None) -> Tensor:
    """Numbers of successes in ``count`` trials, each of probability ``prob``."""

def bitwise_and(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The bits set in both."""

def bitwise_and_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits set in both."""

def bitwise_left_shift(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The bits moved towards the high end; 0 for a shift by as many bits as there are, or by a
    negative number.
    """

def bitwise_left_shift_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits moved towards the high end; 0 for a shift by as many bits as there are, or by a
    negative number.
    """

def bitwise_not(input: Tensor, *, out: Any = None) -> Tensor:
    """All bits turned; of bools, the negation."""

def bitwise_not_(input: Tensor) -> Tensor:
    """All bits turned; of bools, the negation."""

def bitwise_or(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The bits set in one or both."""

def bitwise_or_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits set in one or both."""

def bitwise_right_shift(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The bits moved towards the low end, the sign kept; too large a shift leaves only the sign."""

def bitwise_right_shift_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits moved towards the low end, the sign kept; too large a shift leaves only the sign."""

def bitwise_xor(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The bits set in exactly one."""

def bitwise_xor_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The bits set in exactly one."""

def blackman_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Blackman's window. periodic: without the last point of the symmetric window."""

def block_diag(*tensors: Sequence[Tensor]) -> Tensor:
    """The matrix with the tensors (matrices, vectors as rows, numbers) along its diagonal."""

def bmm(input: Tensor | _Number, mat2: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The products of two batches of matrices."""

def broadcast_tensors(*tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape."""

def broadcast_to(input: Tensor, size: _int | Sequence[_int]) -> Tensor:
    """Repeat to a shape."""

def bucketize(
    input: Tensor | _Number,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Any = None,
) -> Tensor:
    """Between which boundaries (1-d, sorted) values lie."""

def cartesian_prod(*tensors: Sequence[Tensor]) -> Tensor:
    """All choices of one element of each vector, one a row."""

def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Any = None) -> Tensor:
    """Tensors one after another along dim; empty 1-d tensors go with any others."""

def cdist(
    x1: Tensor | _Number,
    x2: Tensor | _Number,
    p: Any = 2.0,
    compute_mode: str | None = 'use_mm_for_euclid_dist_if_necessary',
) -> Tensor:
    """The distances (norms of order p) between the rows of two matrices."""

cdouble: _dtype

def ceil(input: Tensor, *, out: Any = None) -> Tensor:
    """Round up."""

def ceil_(input: Tensor) -> Tensor:
    """Round up."""

def celu(input: Tensor, alpha: Tensor | _Number = 1.0, inplace: _bool = False) -> Tensor:
    """The input where it is positive, else alpha * (exp(input / alpha) - 1)."""

cfloat: _dtype

def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of several matrices, in the order that costs least."""

chalf: _dtype

def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels dealt out over the groups in turn (Zhang et al. 2018)."""

def cholesky(input: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor:
    """The lower triangular L with input = L @ L.mH, or with ``upper`` its adjoint."""

def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Any = None) -> Tensor:
    """The inverse of the matrix with the Cholesky factor ``input``: of input @ input.mH, or with
    ``upper`` of input.mH @ input.
    """

def cholesky_solve(
    input: Tensor,
    input2: Tensor,
    upper: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The solution X of A @ X = input, where A has the Cholesky factor ``input2``."""

def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """At most so many pieces of equal size, the last perhaps smaller."""

def clamp(
    input: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""

def clamp_(
    input: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
) -> Tensor:
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""

def clamp_max(input: Tensor, max: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input, but at most max."""

def clamp_max_(input: Tensor, max: Tensor | _Number) -> Tensor:
    """input, but at most max."""

def clamp_min(input: Tensor, min: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input, but at least min."""

def clamp_min_(input: Tensor, min: Tensor | _Number) -> Tensor:
    """input, but at least min."""

def clip(
    input: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""

def clip_(
    input: Tensor | _Number,
    min: Tensor | _Number | None = None,
    max: Tensor | _Number | None = None,
) -> Tensor:
    """input, but at least min, then at most max; each bound may be a tensor, a number or None."""

def clone(input: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """A copy. (In a graph values are immutable; the planner sees to it that a result has memory of
    its own.)
    """

def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Vectors as columns, and matrices, side by side."""

def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, one a row."""

def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers from their parts, which have one floating-point dtype."""

def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Any = None) -> Tensor:
    """Tensors one after another along dim; empty 1-d tensors go with any others."""

def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Any = None) -> Tensor:
    """Tensors one after another along dim; empty 1-d tensors go with any others."""

def conj(input: Tensor) -> Tensor:
    """The complex conjugate; of a real tensor, the tensor itself."""

def conj_physical(input: Tensor, *, out: Any = None) -> Tensor:
    """The complex conjugate; of a real tensor, the tensor itself."""

def conj_physical_(input: Tensor) -> Tensor:
    """The complex conjugate; of a real tensor, the tensor itself."""

def constant_pad_nd(input: Tensor, pad: Any, value: Tensor | _Number = 0) -> Tensor:
    """Add ``value`` at both ends of dims: pad is (before, after) of the last dim, then of the one
    before it, and so on; negative numbers cut off.
    """

def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 1 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 2 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: Any = 0,
    dilation: _int | Sequence[_int] | None = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide weight over the last 3 dims of input, adding up products.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[out, in / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation: how far apart windows, and the elements in one, are.
        padding: zeros at both ends of each dim; "same" keeps the sizes, "valid" adds none.
        groups: the channels are split into so many parts, each with its part of the weight.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size + 2 * padding - dilation * (kernel - 1) - 1)
        // stride + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """``conv1d`` of ``[time, batch, channels]`` with ``weight [taps, in, out]``."""

def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv1d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv2d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] | None = 1,
    padding: _int | Sequence[_int] | None = 0,
    output_padding: _int | Sequence[_int] | None = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] | None = 1,
) -> Tensor:
    """The gradient of conv3d with respect to its input.

    Args:
        input: ``[batch, in, *sizes]``, or without the batch.
        weight: ``[in, out / groups, *kernel]``.
        bias: ``[out]``.
        stride, dilation, groups: of the convolution of which this is the gradient.
        padding: how much is cut off at both ends of each dim.
        output_padding: zeros at the end of each dim.

    Returns:
        ``[batch, out, *lengths]`` with lengths ``(size - 1) * stride - 2 * padding + dilation *
        (kernel - 1) + output_padding + 1``.

    Raises:
        RuntimeError: sizes or dtypes do not fit.
    """

def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: _int | Sequence[_int] | None,
    padding: _int | Sequence[_int] | None,
    dilation: _int | Sequence[_int] | None,
    transposed: _bool,
    output_padding: _int | Sequence[_int] | None,
    groups: _int,
) -> Tensor:
    """``conv1d``, ``conv2d`` or ``conv3d``, or ``conv_transpose`` of that many dims."""

def copysign(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The magnitude of input with the sign of other."""

def copysign_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The magnitude of input with the sign of other."""

def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables (rows) over observations (columns)."""

def cos(input: Tensor, *, out: Any = None) -> Tensor:
    """The cosine."""

def cos_(input: Tensor) -> Tensor:
    """The cosine."""

def cosh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic cosine."""

def cosh_(input: Tensor) -> Tensor:
    """The hyperbolic cosine."""

def cosine_embedding_loss(
    input1: Tensor | _Number,
    input2: Tensor | _Number,
    target: Tensor | _Number,
    margin: Tensor | _Number = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """1 - cos(input1, input2) where the target is 1; max(cos - margin, 0) where it is -1."""

def cosine_similarity(
    x1: Tensor | _Number,
    x2: Tensor | _Number,
    dim: _int = 1,
    eps: Tensor | _Number = 1e-08,
) -> Tensor:
    """The cosine of the angle between vectors along dim; eps is the least length."""

def count_nonzero(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """How many elements are not zero."""

def cov(
    input: Tensor,
    *,
    correction: _int = 1,
    fweights: Tensor | _Number | None = None,
    aweights: Tensor | _Number | None = None,
) -> Tensor:
    """The covariances of variables (rows) over observations (columns), which weights may count
    several times (fweights) or weigh (aweights).
    """

def cross(
    input: Tensor | _Number,
    other: Tensor | _Number,
    dim: _int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The cross product of vectors of three elements along dim (by default the first of size 3)."""

def cummax(input: Tensor, dim: _int, *, out: Any = None) -> Any:
    """The greatest element so far along dim, and its index."""

def cummin(input: Tensor, dim: _int, *, out: Any = None) -> Any:
    """The least element so far along dim, and its index."""

def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Any = None) -> Tensor:
    """The running product along dim."""

def cumprod_(input: Tensor, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
    """The running product along dim."""

def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Any = None) -> Tensor:
    """The running sum along dim."""

def cumsum_(input: Tensor, dim: _int, *, dtype: _dtype | None = None) -> Tensor:
    """The running sum along dim."""

def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | _Number | None = None,
    *,
    dx: Tensor | _Number | None = None,
    dim: _int = -1,
) -> Tensor:
    """The running integral along dim by the trapezoidal rule."""

def deg2rad(input: Tensor, *, out: Any = None) -> Tensor:
    """Degrees in radians."""

def deg2rad_(input: Tensor) -> Tensor:
    """Degrees in radians."""

def det(input: Tensor) -> Tensor:
    """The determinants of square matrices."""

def detach(input: Tensor) -> Tensor:
    """The same values without a gradient."""

def detach_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """``detach`` with results of their own memory."""

def diag(input: Tensor, diagonal: _int = 0, *, out: Any = None) -> Tensor:
    """The matrix with a vector on a diagonal, or a matrix's diagonal."""

def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Matrices over two new dims with the last dim on a diagonal, zero elsewhere."""

def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """The matrix with all elements on a diagonal."""

def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A diagonal over two dims, which comes last."""

def diagonal_copy(
    input: Tensor,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
    *,
    out: Any = None,
) -> Tensor:
    """``diagonal`` with results of their own memory."""

def diagonal_scatter(
    input: Tensor | _Number,
    src: Tensor | _Number,
    offset: _int = 0,
    dim1: _int = 0,
    dim2: _int = 1,
) -> Tensor:
    """input with a diagonal over two dims replaced by src."""

def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | _Number | None = None,
    append: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The differences of neighbours along dim, n times; prepend and append are joined first."""

def digamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of lgamma."""

def digamma_(input: Tensor) -> Tensor:
    """The derivative of lgamma."""

def dist(input: Tensor | _Number, other: Tensor | _Number, p: Any = 2) -> Tensor:
    """The norm of order p of the difference."""

def div(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Tensor:
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""

def div_(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
) -> Tensor:
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""

def divide(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Tensor:
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""

def divide_(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    rounding_mode: str | None = None,
) -> Tensor:
    """input / other; rounding_mode "trunc" or "floor" rounds the quotient."""

def dot(input: Tensor | _Number, tensor: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The sum of the products of two vectors' elements."""

double: _dtype

def dropout(
    input: Tensor | _Number,
    p: Tensor | _Number = 0.5,
    training: _bool = True,
    inplace: _bool = False,
) -> Tensor:
    """Set elements to zero with probability p and scale the others by 1 / (1 - p)."""

def dsplit(
    input: Tensor,
    indices_or_sections: Any = None,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Pieces along dim 2."""

def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors along dim 2, with that many dims."""

def einsum(equation: Any = None, *operands: Sequence[Tensor]) -> Tensor:
    """The sums of products that an equation such as "ij,jk->ik" names: dims with one letter are
    multiplied, and summed if the output lacks the letter. Without an output it has the letters that
    occur once, in the order of the alphabet. "..." stands for dims that broadcast.
    """

def embedding(
    weight: Tensor,
    indices: Any,
    padding_idx: _int = -1,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """``nn.functional.embedding`` with the table first; padding_idx -1: no row is special."""

def empty(
    *size: _int | Sequence[_int],
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """A tensor whose elements are not set; inside a graph they are zeros."""

def empty_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """A tensor shaped like another, its elements not set; inside a graph they are zeros."""

def eq(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether the elements are equal."""

def eq_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether the elements are equal."""

def erf(input: Tensor, *, out: Any = None) -> Tensor:
    """The error function."""

def erf_(input: Tensor) -> Tensor:
    """The error function."""

def erfc(input: Tensor, *, out: Any = None) -> Tensor:
    """1 - erf(input), accurate for large inputs."""

def erfc_(input: Tensor) -> Tensor:
    """1 - erf(input), accurate for large inputs."""

def erfinv(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverse of erf."""

def erfinv_(input: Tensor) -> Tensor:
    """The inverse of erf."""

def exp(input: Tensor, *, out: Any = None) -> Tensor:
    """e raised to each element."""

def exp2(input: Tensor, *, out: Any = None) -> Tensor:
    """2 raised to each element."""

def exp2_(input: Tensor) -> Tensor:
    """2 raised to each element."""

def exp_(input: Tensor) -> Tensor:
    """e raised to each element."""

def expand_copy(
    input: Tensor,
    *size: _int | Sequence[_int],
    implicit: _bool = False,
    out: Any = None,
) -> Tensor:
    """``expand`` with results of their own memory."""

def expm1(input: Tensor, *, out: Any = None) -> Tensor:
    """exp(input) - 1, accurate near zero."""

def expm1_(input: Tensor) -> Tensor:
    """exp(input) - 1, accurate near zero."""

def eye(
    n: _int,
    m: _int | None = None,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The identity matrix."""

def feature_alpha_dropout(input: Tensor | _Number, p: Tensor | _Number, train: _bool) -> Tensor:
    """alpha_dropout of whole channels."""

def feature_dropout(input: Tensor | _Number, p: Tensor | _Number, train: _bool) -> Tensor:
    """Dropout of whole channels."""

def fill(input: Tensor | _Number, value: Tensor | _Number) -> Tensor:
    """One value everywhere, in the shape of another tensor."""

def fill_(self: Tensor, value: Tensor | _Number) -> Tensor:
    """Set every element to a number or 0-d tensor."""

def fix(input: Tensor, *, out: Any = None) -> Tensor:
    """Round towards zero."""

def fix_(input: Tensor) -> Tensor:
    """Round towards zero."""

def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """The dims from start_dim to end_dim as one."""

def flip(input: Tensor, *dims: _int | Sequence[_int]) -> Tensor:
    """The elements in reverse order along dims."""

def fliplr(input: Tensor) -> Tensor:
    """Reversed along dim 1."""

def flipud(input: Tensor) -> Tensor:
    """Reversed along dim 0."""

float: _dtype

def float_power(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input to the power exponent, in double precision."""

def float_power_(input: Tensor | _Number, exponent: Tensor | _Number) -> Tensor:
    """input to the power exponent, in double precision."""

def floor(input: Tensor, *, out: Any = None) -> Tensor:
    """Round down."""

def floor_(input: Tensor) -> Tensor:
    """Round down."""

def floor_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input / other rounded down."""

def floor_divide_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """input / other rounded down."""

def fmax(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The greater of two; NaN only if both are."""

def fmin(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The lesser of two; NaN only if both are."""

def fmod(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The rest of the division rounded towards zero; it has the sign of input."""

def fmod_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """The rest of the division rounded towards zero; it has the sign of input."""

def frac(input: Tensor, *, out: Any = None) -> Tensor:
    """What trunc takes away."""

def frac_(input: Tensor) -> Tensor:
    """What trunc takes away."""

def frexp(input: Tensor, *, out: Any = None) -> Any:
    """Mantissas of magnitude 0.5 to 1, and exponents of 2, whose product is the input."""

def frobenius_norm(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The 2-norm over dims."""

def full(
    size: _int | Sequence[_int],
    fill_value: Tensor | _Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """A tensor with one value everywhere."""

def full_like(
    input: Tensor | _Number,
    fill_value: Tensor | _Number,
    *,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """One value everywhere, in the shape of another tensor."""

def gather(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    *,
    sparse_grad: _bool = False,
    out: Any = None,
) -> Tensor:
    """The elements at ``index`` along dim."""

def gcd(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The greatest common divisor."""

def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """The greatest common divisor."""

def ge(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input >= other."""

def ge_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input >= other."""

def geqrf(input: Tensor, *, out: Any = None) -> Tensor:
    """The QR decomposition as LAPACK stores it: R on and above the diagonal of ``a``, below it the
    vectors of reflections whose factors are ``tau``; see ``linalg.householder_product``.
    """

def ger(input: Tensor | _Number, vec2: Tensor | _Number, *, out: Any = None) -> Tensor:
    """All products of an element of one vector and an element of the other."""

def gradient(
    input: Tensor,
    *,
    spacing: Tensor | _Number | Sequence[_Number] | Sequence[Tensor] | None = None,
    dim: Any = None,
    edge_order: _int = 1,
) -> tuple[Tensor, ...]:
    """The derivatives of a sampled function along dims: by central differences inside, one-sided
    at the edges. spacing: a number, one for each dim, or coordinates for each dim.
    """

def greater(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input > other."""

def greater_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input > other."""

def greater_equal(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input >= other."""

def greater_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input >= other."""

def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border, 2
    reflection.
    """

def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border, 2
    reflection.
    """

def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: _int,
    padding_mode: _int,
    align_corners: _bool,
) -> Tensor:
    """``nn.functional.grid_sample`` with numbers for the modes.

    interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; padding_mode: 0 zeros, 1 border, 2
    reflection.
    """

def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Tensor | _Number = 1e-05,
    cudnn_enabled: _bool = True,
) -> Tensor:
    """Shift and scale each group of channels of each example to mean 0 and variance 1, then apply
    weight and bias (Wu and He 2018).
    """

def gt(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input > other."""

def gt_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input > other."""

half: _dtype

def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: Tensor | _Number = 0.54,
    beta: Tensor | _Number = 0.45999999999999996,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """alpha - beta * cos(angle). periodic: without the last point of the symmetric window."""

def hann_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Hann's window. periodic: without the last point of the symmetric window."""

def hardshrink(input: Tensor, lambd: Tensor | _Number = 0.5, *, out: Any = None) -> Tensor:
    """The input where it is beyond lambd from zero, else 0."""

def hash_tensor(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Any = None,
) -> Tensor:
    """A hash of the elements over dims, as uint64: their bits, as 64-bit floating-point numbers or
    integers, combined by exclusive or. mode: 0 is the only one.
    """

def heaviside(input: Tensor, values: Tensor, *, out: Any = None) -> Tensor:
    """0 for negative numbers, 1 for positive ones, and values at zero."""

def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """0 for negative numbers, 1 for positive ones, and values at zero."""

def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: Tensor | _Number = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The input where the target is 1; max(margin - input, 0) where it is -1."""

def histc(
    input: Tensor,
    bins: _int = 100,
    min: Tensor | _Number = 0,
    max: Tensor | _Number = 0,
    *,
    out: Any = None,
) -> Tensor:
    """How many elements fall into each of ``bins`` bins of equal width from min to max (the range
    of the elements if both are equal).
    """

def histogram(
    input: Tensor,
    bins: _int,
    *,
    range: Any = None,
    weight: Tensor | _Number | None = None,
    density: _bool = False,
    out: Any = None,
) -> Any:
    """How many elements (or how much of their weights) fall into each bin, and the bins' edges.
    bins: how many, of equal width, or the edges.
    """

def histogramdd(
    input: Tensor,
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
    input: Tensor,
    indices_or_sections: Any = None,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Pieces along dim 1, or 0 of vectors."""

def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors side by side: along dim 1, or dim 0 if they have one dim."""

def hypot(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The length of the vector (input, other)."""

def hypot_(input: Tensor, other: Tensor) -> Tensor:
    """The length of the vector (input, other)."""

def i0(input: Tensor, *, out: Any = None) -> Tensor:
    """The modified Bessel function I0 of the first kind."""

def i0_(input: Tensor) -> Tensor:
    """The modified Bessel function I0 of the first kind."""

def igamma(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The regularized lower incomplete gamma function of order input at other."""

def igamma_(input: Tensor, other: Tensor) -> Tensor:
    """The regularized lower incomplete gamma function of order input at other."""

def igammac(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The regularized upper incomplete gamma function of order input at other."""

def igammac_(input: Tensor, other: Tensor) -> Tensor:
    """The regularized upper incomplete gamma function of order input at other."""

def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor."""

def index_add(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input with alpha * source added at the positions of a 1-d index along dim."""

def index_add_(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """input with alpha * source added at the positions of a 1-d index along dim."""

def index_copy(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    source: Tensor,
    *,
    out: Any = None,
) -> Tensor:
    """input with source at the positions of a 1-d index along dim."""

def index_copy_(input: Tensor | _Number, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """input with source at the positions of a 1-d index along dim."""

def index_fill(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    value: Tensor | _Number,
) -> Tensor:
    """input with one value at the positions of a 1-d index along dim; negative ones count from the
    end.
    """

def index_fill_(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    value: Tensor | _Number,
) -> Tensor:
    """input with one value at the positions of a 1-d index along dim; negative ones count from the
    end.
    """

def index_put(
    input: Tensor,
    indices: Any,
    values: Tensor | _Number,
    accumulate: _bool = False,
) -> Tensor:
    """The tensor with values at the places that index tensors (None: the whole dim) stand for."""

def index_put_(
    input: Tensor,
    indices: Any,
    values: Tensor | _Number,
    accumulate: _bool = False,
) -> Tensor:
    """The tensor with values at the places that index tensors (None: the whole dim) stand for."""

def index_reduce(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Any = None,
) -> Tensor:
    """input with the slices of source multiplied, averaged or compared with those at the positions
    of a 1-d index along dim.
    """

def index_reduce_(
    input: Tensor | _Number,
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

def index_select(input: Tensor | _Number, dim: _int, index: Tensor, *, out: Any = None) -> Tensor:
    """The positions in a 1-d index along dim."""

def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The sums over the last dims of the products of elements."""

int: _dtype

def inverse(input: Tensor, *, out: Any = None) -> Tensor:
    """The inverses of square matrices; LinAlgError if one is singular."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|."""

def isfinite(input: Tensor) -> Tensor:
    """Whether the elements are neither infinite nor NaN."""

def isin(
    elements: Tensor | _Number,
    test_elements: Tensor | _Number,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Any = None,
) -> Tensor:
    """Whether each element is among the test elements."""

def isinf(input: Tensor) -> Tensor:
    """Whether the elements are infinite."""

def isnan(input: Tensor) -> Tensor:
    """Whether the elements are NaN."""

def isneginf(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether the elements are minus infinity."""

def isposinf(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether the elements are infinite."""

def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is zero."""

def istft(
    input: Tensor,
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

def kaiser_window(
    window_length: _int,
    periodic: _bool = True,
    beta: Tensor | _Number = 12.0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Kaiser's window. periodic: without the last point of the symmetric window."""

def kl_div(
    input: Tensor | _Number,
    target: Tensor | _Number,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str | _int = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of targets (probabilities, or their logarithms) from
    log-probabilities; "batchmean" divides the sum by the batch's size.
    """

def kron(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The Kronecker product: blocks of other, one for each element of input."""

def kthvalue(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Any:
    """The k-th least element along dim, and its index."""

def layer_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    bias: Tensor | _Number | None = None,
    eps: Tensor | _Number = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Shift and scale to mean 0 and variance 1 over the last dims, then apply weight and bias."""

def lcm(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The least common multiple."""

def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """The least common multiple."""

def ldexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """input * 2**other"""

def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """input * 2**other"""

def le(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input <= other."""

def le_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input <= other."""

def lerp(
    input: Tensor | _Number,
    end: _float,
    weight: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """input + weight * (end - input), computed from the nearer end."""

def lerp_(input: Tensor | _Number, end: _float, weight: Tensor | _Number) -> Tensor:
    """input + weight * (end - input), computed from the nearer end."""

def less(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input < other."""

def less_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input < other."""

def less_equal(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input <= other."""

def less_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input <= other."""

def lgamma(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def lgamma_(input: Tensor) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""

def linspace(
    start: _float,
    end: _float,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """``steps`` numbers at equal distances from start to end, both included."""

def lobpcg(
    A: Tensor,
    k: _int | None = None,
    B: Any = None,
    X: Any = None,
    n: _int | None = None,
    iK: Any = None,
    niter: _int | None = None,
    tol: _float | None = None,
    largest: _bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, ...]:
    """The k largest (or smallest) eigenvalues, and eigenvectors, of A @ x = E * B @ x.

    Matrices are dense here, so all eigenvalues are computed, and exactly: the arguments that steer
    the iteration (X but for its size, n, iK, niter, tol, method, ...) have no influence.

    Args:
        A: symmetric or Hermitian matrices (..., m, m).
        k: how many; X.shape[-1] by default, or 1.
        B: positive-definite matrices (..., m, m); the identity by default.
        X: a first approximation of the eigenvectors, whose columns count.
        largest: whether the largest are wanted (the default).

    Returns:
        E (..., k), the wanted end of the spectrum first; and the eigenvectors (..., m, k).

    Raises:
        ValueError: if m < 3 * k.
        LinAlgError: if B is not positive-definite.

    Example:
        >>> E, X = rushlight.lobpcg(rushlight.diag(rushlight.arange(1.0, 7.0)), 2)
        >>> E
        tensor([6., 5.])
    """

def log(input: Tensor, *, out: Any = None) -> Tensor:
    """The natural logarithm."""

def log10(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm to base 10."""

def log10_(input: Tensor) -> Tensor:
    """The logarithm to base 10."""

def log1p(input: Tensor, *, out: Any = None) -> Tensor:
    """log(1 + input), accurate near zero."""

def log1p_(input: Tensor) -> Tensor:
    """log(1 + input), accurate near zero."""

def log2(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm to base 2."""

def log2_(input: Tensor) -> Tensor:
    """The logarithm to base 2."""

def log_(input: Tensor) -> Tensor:
    """The natural logarithm."""

def log_softmax(
    input: Tensor,
    dim: _int,
    dtype: _dtype | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The logarithm of softmax."""

def logaddexp(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""

def logaddexp2(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """log2(2**input + 2**other), without overflow."""

def logcumsumexp(input: Tensor, dim: _int, *, out: Any = None) -> Tensor:
    """log(cumsum(exp(input))) along dim, without overflow."""

def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants; NaN where a real determinant is negative."""

def logical_and(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Whether both are not zero."""

def logical_and_(input: Tensor, other: Tensor) -> Tensor:
    """Whether both are not zero."""

def logical_not(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether the elements are zero."""

def logical_not_(input: Tensor) -> Tensor:
    """Whether the elements are zero."""

def logical_or(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Whether one is not zero."""

def logical_or_(input: Tensor, other: Tensor) -> Tensor:
    """Whether one is not zero."""

def logical_xor(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """Whether exactly one is not zero."""

def logical_xor_(input: Tensor, other: Tensor) -> Tensor:
    """Whether exactly one is not zero."""

def logit(input: Tensor | _Number, eps: _float | None = None, *, out: Any = None) -> Tensor:
    """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""

def logit_(input: Tensor | _Number, eps: _float | None = None) -> Tensor:
    """log(input / (1 - input)); eps clamps the input to [eps, 1 - eps]."""

def logspace(
    start: _float,
    end: _float,
    steps: _int,
    base: Tensor | _Number = 10.0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The powers of base with ``steps`` exponents at equal distances from start to end, both
    included.
    """

def logsumexp(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """log(sum(exp(input))); shifting by the maximum prevents overflow."""

long: _dtype

def lt(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether input < other."""

def lt_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether input < other."""

def lu(
    A: Tensor,
    pivot: _bool = True,
    get_infos: _bool = False,
    *,
    out: Any = None,
) -> tuple[Tensor, ...]:
    """The LU decomposition as ``linalg.lu_factor`` gives it, or on request ``lu_factor_ex``."""

def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    """The solution X of A @ X = input, given A's LU decomposition."""

def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Any = None,
) -> Any:
    """The factors P, L and U of what ``lu_factor`` returns; those that are not wanted are empty."""

def margin_ranking_loss(
    input1: Tensor | _Number,
    input2: Tensor | _Number,
    target: Tensor | _Number,
    margin: Tensor | _Number = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """margin - target * (input1 - input2), but at least 0: the target 1 wants input1 greater."""

def masked_fill(input: Tensor | _Number, mask: Tensor | _Number, value: Tensor | _Number) -> Tensor:
    """The input with value where the mask is true."""

def masked_fill_(
    input: Tensor | _Number,
    mask: Tensor | _Number,
    value: Tensor | _Number,
) -> Tensor:
    """The input with value where the mask is true."""

def masked_scatter(input: Tensor | _Number, mask: Tensor, source: Tensor) -> Tensor:
    """input with the elements of source, one after another, where the mask is true."""

def masked_scatter_(input: Tensor | _Number, mask: Tensor, source: Tensor) -> Tensor:
    """input with the elements of source, one after another, where the mask is true."""

def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements where the mask is true, in one dim."""

def matmul(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The matrix product; a vector counts as a row on the left and a column on the right; batch
    dims broadcast.
    """

def matrix_exp(input: Tensor) -> Tensor:
    """The exponentials of square matrices."""

def matrix_power(A: Tensor, n: _int, *, out: Any = None) -> Tensor:
    """The n-th power of square matrices, by repeated squaring; negative n: of the inverses."""

def max(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    other: Any = None,
    out: Any = None,
) -> Any:
    """The greatest element; with a dim: (values, indices); with a tensor: the greater of two."""

def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 1 dims."""

def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, ...]:
    """The largest element of each window over the last 1 dims, and its number in these dims."""

def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 2 dims."""

def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int] | None,
    stride: _int | Sequence[_int] | None = None,
    padding: _int | Sequence[_int] | None = 0,
    dilation: _int | Sequence[_int] | None = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """The largest element of each window over the last 3 dims."""

def maximum(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The greater of two; NaN if either is."""

def maximum_(input: Tensor, other: Tensor) -> Tensor:
    """The greater of two; NaN if either is."""

def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The mean of all elements, or over the given dims."""

def median(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Any:
    """The lower median; along a dim: the medians and their indices."""

def meshgrid(*tensors: Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector along a dim of its own, expanded along the others.
    indexing "xy" exchanges the first two dims.
    """

def min(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    other: Any = None,
    out: Any = None,
) -> Any:
    """The least element; with a dim: (values, indices); with a tensor: the lesser of two."""

def minimum(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The lesser of two; NaN if either is."""

def minimum_(input: Tensor, other: Tensor) -> Tensor:
    """The lesser of two; NaN if either is."""

def mm(input: Tensor | _Number, mat2: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The product of two matrices."""

def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Any = None) -> Any:
    """The most frequent element along dim, the least of several, and its index."""

def moveaxis(
    input: Tensor,
    source: _int | Sequence[_int] | None,
    destination: _int | Sequence[_int] | None,
) -> Tensor:
    """Some dims at other places, the others in their order."""

def movedim(
    input: Tensor,
    source: _int | Sequence[_int] | None,
    destination: _int | Sequence[_int] | None,
) -> Tensor:
    """Some dims at other places, the others in their order."""

def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in order along the first dim."""

def mul(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * other"""

def mul_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """input * other"""

def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: _Generator | None = None,
    out: Any = None,
) -> Tensor:
    """Indices drawn with probabilities in proportion to the numbers of a vector, or of each row of
    a matrix.
    """

def multiply(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * other"""

def multiply_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """input * other"""

def mv(input: Tensor | _Number, vec: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The product of a matrix and a vector."""

def mvlgamma(input: Tensor, p: _int, *, out: Any = None) -> Tensor:
    """The logarithm of the gamma function of p dimensions."""

def mvlgamma_(input: Tensor, p: _int) -> Tensor:
    """The logarithm of the gamma function of p dimensions."""

def nan_to_num(
    input: Tensor,
    nan: Tensor | _Number | None = None,
    posinf: Tensor | _Number | None = None,
    neginf: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """Numbers in the place of NaN (by default 0) and the infinities (the dtype's extremes)."""

def nan_to_num_(
    input: Tensor,
    nan: Tensor | _Number | None = None,
    posinf: Tensor | _Number | None = None,
    neginf: Tensor | _Number | None = None,
) -> Tensor:
    """Numbers in the place of NaN (by default 0) and the infinities (the dtype's extremes)."""

def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The mean of the elements that are not NaN."""

def nanmedian(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Any:
    """The lower median of the elements that are not NaN; along a dim: the medians and their indices."""

def nanquantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Any = None,
) -> Tensor:
    """The q-quantiles along dim of the elements that are not NaN."""

def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The sum, NaN counting as zero."""

def narrow(input: Tensor, dim: _int, start: _float, length: _int) -> Tensor:
    """The ``length`` positions from start along a dim."""

def narrow_copy(
    input: Tensor,
    dim: _int,
    start: _float,
    length: _int,
    *,
    out: Any = None,
) -> Tensor:
    """``narrow`` with a result of its own memory."""

def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: Tensor | _Number,
    eps: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """What batch norm gives, and of the batch the means and one over the standard deviations, which
    are empty in evaluation.
    """

def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """Channels dealt out over the groups in turn (Zhang et al. 2018)."""

def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: Tensor | _Number,
) -> tuple[Tensor, ...]:
    """What group_norm gives, the means, and one over the standard deviations."""

def native_layer_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: Tensor | _Number,
) -> tuple[Tensor, ...]:
    """What layer_norm gives, the means, and one over the standard deviations."""

def ne(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether the elements differ."""

def ne_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether the elements differ."""

def neg(input: Tensor, *, out: Any = None) -> Tensor:
    """-input"""

def neg_(input: Tensor) -> Tensor:
    """-input"""

def negative(input: Tensor, *, out: Any = None) -> Tensor:
    """-input"""

def negative_(input: Tensor) -> Tensor:
    """-input"""

newaxis: None

def nextafter(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    """The next number that the dtype has after input, in the direction of other."""

def nextafter_(input: Tensor, other: Tensor) -> Tensor:
    """The next number that the dtype has after input, in the direction of other."""

def nonzero(input: Tensor, *, as_tuple: _bool = False, out: Any = None) -> Any:
    """The places of the elements that are not zero: a row for each, or a tensor for each dim."""

def nonzero_static(
    input: Tensor,
    *,
    size: _int | Sequence[_int],
    fill_value: _int = -1,
    out: Any = None,
) -> Tensor:
    """The places of the first ``size`` elements that are not zero, one a row; rows for which there
    is no such element are filled with fill_value.
    """

def norm(
    input: Tensor,
    p: Any = 'fro',
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    dtype: _dtype | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The norm of all elements or over dims; "fro" is the 2-norm, "nuc" that of matrices."""

def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norms of the slices along dim; of all elements if that is -1."""

def normal(
    mean: Tensor | _Number = 0.0,
    std: Tensor | _Number = 1.0,
    size: _int | Sequence[_int] | None = None,
    *,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Normal random numbers: of the given size, or one for each element of mean and std."""

def not_equal(input: Tensor, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """Whether the elements differ."""

def not_equal_(input: Tensor, other: Tensor | _Number) -> Tensor:
    """Whether the elements differ."""

def nuclear_norm(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The nuclear norm of matrices over two dims: the sum of the singular values."""

def ones(
    *size: _int | Sequence[_int],
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Ones."""

def ones_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Ones in the shape of another tensor."""

def orgqr(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
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
    input: Tensor,
    tau: Tensor,
    other: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Any = None,
) -> Tensor:
    """The product of the square matrix Q, of ``linalg.householder_product``, with a matrix.

    Args:
        input, tau: the reflections, as ``geqrf`` returns them.
        other: (..., m, k), or (..., k, m) with ``left=False``.
        left: whether Q stands on the left.
        transpose: whether Q.mH stands in Q's place.
    """

def outer(input: Tensor | _Number, vec2: Tensor | _Number, *, out: Any = None) -> Tensor:
    """All products of an element of one vector and an element of the other."""

def pairwise_distance(
    x1: Tensor | _Number,
    x2: Tensor | _Number,
    p: Any = 2.0,
    eps: Tensor | _Number = 1e-06,
    keepdim: _bool = False,
) -> Tensor:
    """The norm of order p of the differences along the last dim; eps is added to them."""

def pca_lowrank(
    A: Tensor,
    q: _int | None = None,
    center: _bool = True,
    niter: _int = 2,
) -> tuple[Tensor, ...]:
    """The principal components of the rows of a matrix, found by random projections.

    Args:
        A: matrices (..., m, n): m samples of n features.
        q: how many components; min(6, m, n) by default.
        center: whether the mean of the rows is subtracted.
        niter: how many power iterations sharpen the result.

    Returns:
        U (..., m, q), S (..., q) and V (..., n, q), of which V has the directions in its columns.
    """

def pdist(input: Tensor, p: Any = 2.0) -> Tensor:
    """The distances between all pairs of rows, one after another."""

def permute(input: Tensor, *dims: _int | Sequence[_int]) -> Tensor:
    """The dims in another order."""

def permute_copy(input: Tensor, *dims: _int | Sequence[_int], out: Any = None) -> Tensor:
    """``permute`` with results of their own memory."""

def pinverse(input: Tensor, rcond: Tensor | _Number = 1e-15) -> Tensor:
    """The pseudoinverses of matrices; rcond: as rtol of ``linalg.pinv``."""

def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Groups of r * r channels as blocks of r by r pixels (Shi et al. 2016)."""

def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """Blocks of r by r pixels as groups of r * r channels: the inverse of pixel_shuffle."""

def poisson(input: Tensor, generator: _Generator | None = None) -> Tensor:
    """Numbers of events whose mean numbers are the elements."""

def poisson_nll_loss(
    input: Tensor | _Number,
    target: Tensor | _Number,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: Tensor | _Number = 1e-08,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log-likelihood of counts under Poisson rates (or their logarithms); ``full``
    adds Stirling's approximation of the targets' factorials.
    """

def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """Complex numbers from their absolute values and angles."""

def polygamma(n: _int, input: Tensor, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma."""

def positive(input: Tensor) -> Tensor:
    """The input itself."""

def pow(input: Tensor | _Number, exponent: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input to the power exponent. The common exponents have kernels of their own."""

def pow_(input: Tensor | _Number, exponent: Tensor | _Number) -> Tensor:
    """input to the power exponent. The common exponents have kernels of their own."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The input where it is positive, else weight (one for all, or for each channel) times it."""

def prod(
    input: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The product of all elements, or along a dim."""

def put(
    input: Tensor | _Number,
    index: Tensor,
    source: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """The tensor with the elements of source at places in the flattened tensor, or added there."""

def put_(
    input: Tensor | _Number,
    index: Tensor,
    source: Tensor,
    accumulate: _bool = False,
) -> Tensor:
    """The tensor with the elements of source at places in the flattened tensor, or added there."""

def qr(input: Tensor, some: _bool = True, *, out: Any = None) -> Any:
    """The QR decomposition input = Q @ R; without ``some`` Q is square."""

def quantile(
    input: Tensor,
    q: Tensor | _Number,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Any = None,
) -> Tensor:
    """The q-quantiles along dim (q from 0 to 1, a number or 1-d); NaN where there is a NaN."""

def rad2deg(input: Tensor, *, out: Any = None) -> Tensor:
    """Radians in degrees."""

def rad2deg_(input: Tensor) -> Tensor:
    """Radians in degrees."""

def rand(
    *size: _int | Sequence[_int],
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Uniform random numbers in [0, 1)."""

def rand_like(
    input: Tensor,
    *,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Uniform random numbers in [0, 1), in the shape of another tensor."""

def randint(
    *bounds_and_size: _int | Sequence[_int],
    low: _int = 0,
    high: _int | None = None,
    size: _int | Sequence[_int] | None = None,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Random integers from low (0 if left out) up to but without high: ``randint(low, high,
    size)``.
    """

def randint_like(
    input: Tensor,
    *bounds: _int,
    low: _int = 0,
    high: _int | None = None,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Random integers from low (0 if left out) up to but without high: ``randint_like(x, low,
    high)``.
    """

def randn(
    *size: _int | Sequence[_int],
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Standard normal random numbers."""

def randn_like(
    input: Tensor,
    *,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Standard normal random numbers, in the shape of another tensor."""

def randperm(
    n: _int,
    *,
    generator: _Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The numbers 0 ... n - 1 in random order."""

def range(
    start: _float,
    end: _float,
    step: _float = 1,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """The numbers start, start + step, ... up to end, included. (Use ``arange``, without it.)"""

def ravel(input: Tensor) -> Tensor:
    """The elements in one dim."""

def real(input: Tensor) -> Tensor:
    """The real part."""

def reciprocal(input: Tensor, *, out: Any = None) -> Tensor:
    """One over the input."""

def reciprocal_(input: Tensor) -> Tensor:
    """One over the input."""

def relu(input: Tensor, *, out: Any = None) -> Tensor:
    """The input where it is positive, else 0."""

def relu_(input: Tensor) -> Tensor:
    """The input where it is positive, else 0."""

def remainder(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The rest of the division rounded down; it has the sign of other."""

def remainder_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """The rest of the division rounded down; it has the sign of other."""

def renorm(
    input: Tensor | _Number,
    p: Any,
    dim: _int,
    maxnorm: Tensor | _Number,
    *,
    out: Any = None,
) -> Tensor:
    """The slices along dim scaled down to a norm of at most maxnorm."""

def renorm_(input: Tensor | _Number, p: Any, dim: _int, maxnorm: Tensor | _Number) -> Tensor:
    """The slices along dim scaled down to a norm of at most maxnorm."""

def repeat_interleave(
    input: Tensor,
    repeats: _int | Sequence[_int] | None = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor:
    """Each element (or slice along dim) ``repeats`` times in a row; repeats: a number, or a tensor
    with a count for each. With the counts alone: their indices, each as often as its count.
    """

def reshape(input: Tensor, *shape: _int | Sequence[_int]) -> Tensor:
    """The elements in row-major order, in another shape; one size may be -1."""

def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates and negatives are computed at once, never put off."""

def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: conjugates and negatives are computed at once, never put off."""

def rms_norm(
    input: Tensor | _Number,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | _Number | None = None,
    eps: Tensor | _Number | None = None,
) -> Tensor:
    """Scale by the root of the mean square over the last dims."""

def roll(input: Tensor, shifts: _int, dims: _int | Sequence[_int] = ()) -> Tensor:
    """The elements moved along dims, those beyond the end to the start; without dims, along the
    flattened tensor.
    """

def rot90(input: Tensor, k: _int = 1, dims: _int | Sequence[_int] = ...) -> Tensor:
    """The tensor turned k times by 90 degrees in the plane of two dims."""

def round(input: Tensor, *, decimals: _int = 0, out: Any = None) -> Tensor:
    """Round to the nearest number of this many decimals, halves to even."""

def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """Round to the nearest number of this many decimals, halves to even."""

def row_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors below each other: along dim 0, those with one dim as rows."""

def rrelu(
    input: Tensor,
    lower: Any = 0.125,
    upper: Any = 0.3333333333333333,
    training: _bool = False,
    inplace: _bool = False,
) -> Tensor:
    """The input where it is positive, else a slope times it: one drawn for each element between
    lower and upper while training, and their mean otherwise (Xu et al. 2015).
    """

def rsqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """One over the square root."""

def rsqrt_(input: Tensor) -> Tensor:
    """One over the square root."""

def rsub(input: Tensor, other: Tensor | _Number, *, alpha: Tensor | _Number = 1) -> Tensor:
    """other - alpha * input"""

def scatter(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    src: Tensor | _Number | None = None,
    *,
    value: Tensor | _Number | None = None,
    reduce: str | None = None,
    out: Any = None,
) -> Tensor:
    """input with the elements of src (or one number) at ``index`` along dim."""

def scatter_(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    src: Tensor | _Number | None = None,
    *,
    value: Tensor | _Number | None = None,
    reduce: str | None = None,
) -> Tensor:
    """input with the elements of src (or one number) at ``index`` along dim."""

def scatter_add(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    src: Tensor,
    *,
    out: Any = None,
) -> Tensor:
    """input with the elements of src added at ``index`` along dim."""

def scatter_add_(input: Tensor | _Number, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """input with the elements of src added at ``index`` along dim."""

def scatter_reduce(
    input: Tensor | _Number,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Any = None,
) -> Tensor:
    """input with the elements of src summed, multiplied, averaged or compared with it at ``index``
    along dim; without include_self those of input that are hit do not count.
    """

def scatter_reduce_(
    input: Tensor | _Number,
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

def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | _Number,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: str | None = None,
    sorter: Tensor | _Number | None = None,
    out: Any = None,
) -> Tensor:
    """Where values belong in a sorted sequence (right: behind equal elements); with several dims,
    each row of values in its row of sequences.
    """

def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """One position along a dim, which goes."""

def select_copy(input: Tensor, dim: _int, index: _int, *, out: Any = None) -> Tensor:
    """``select`` with results of their own memory."""

def select_scatter(
    input: Tensor | _Number,
    src: Tensor | _Number,
    dim: _int,
    index: _int,
) -> Tensor:
    """The tensor with one index along dim replaced by src."""

def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """elu, scaled so that layers keep mean 0 and variance 1."""

def sgn(input: Tensor, *, out: Any = None) -> Tensor:
    """The sign; of a complex number, the number scaled to absolute value 1."""

def sgn_(input: Tensor) -> Tensor:
    """The sign; of a complex number, the number scaled to absolute value 1."""

short: _dtype

def sigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """1 / (1 + exp(-input))"""

def sigmoid_(input: Tensor) -> Tensor:
    """1 / (1 + exp(-input))"""

def sign(input: Tensor, *, out: Any = None) -> Tensor:
    """-1, 0 or 1."""

def sign_(input: Tensor) -> Tensor:
    """-1, 0 or 1."""

def signbit(input: Tensor, *, out: Any = None) -> Tensor:
    """Whether the sign is minus, of zeros and NaN too."""

def sin(input: Tensor, *, out: Any = None) -> Tensor:
    """The sine."""

def sin_(input: Tensor) -> Tensor:
    """The sine."""

def sinc(input: Tensor, *, out: Any = None) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinc_(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic sine."""

def sinh_(input: Tensor) -> Tensor:
    """The hyperbolic sine."""

def slice_backward(
    gradient: Tensor,
    sizes: _int | Sequence[_int],
    dim: _int,
    start: _float,
    step: _float,
    length: _int,
) -> Tensor:
    """The gradient of a tensor of which start, start + step, ... along dim were taken."""

def slice_scatter(
    input: Tensor | _Number,
    src: Tensor | _Number,
    dim: _int = 0,
    start: _float | None = None,
    end: _float | None = None,
    step: _float = 1,
    *,
    out: Any = None,
) -> Tensor:
    """The tensor with a slice along dim replaced by src."""

def slogdet(input: Tensor, *, out: Any = None) -> Any:
    """As ``linalg.slogdet``."""

def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Any = None) -> Tensor:
    """Scale exp(input) to sum to one along dim; shifting by the maximum prevents overflow."""

def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool | None = None,
    out: Any = None,
) -> Any:
    """The elements in order along dim, and their indices; equal ones stay in their order."""

def split(
    tensor: Tensor,
    split_size_or_sections: _int | Sequence[_int],
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """Pieces of a size, the last perhaps smaller, or of the given sizes."""

def split_copy(
    tensor: Tensor,
    split_size_or_sections: _int | Sequence[_int],
    dim: _int = 0,
    *,
    out: Any = None,
) -> Tensor:
    """``split`` with results of their own memory."""

def split_with_sizes(input: Tensor, split_sizes: Any, dim: _int = 0) -> tuple[Tensor, ...]:
    """Pieces of the given sizes."""

def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Any,
    dim: _int = 0,
    *,
    out: Any = None,
) -> Tensor:
    """``split_with_sizes`` with results of their own memory."""

def sqrt(input: Tensor, *, out: Any = None) -> Tensor:
    """The square root."""

def sqrt_(input: Tensor) -> Tensor:
    """The square root."""

def square(input: Tensor, *, out: Any = None) -> Tensor:
    """input * input"""

def square_(input: Tensor) -> Tensor:
    """input * input"""

def squeeze(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """Without the dims of size 1, or without those of the given dims that have size 1."""

def squeeze_copy(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """``squeeze`` with results of their own memory."""

def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape along a new dim."""

def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: Any = None,
    out: Any = None,
) -> Tensor:
    """The standard deviation: the square root of var."""

def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: Any = None,
) -> tuple[Tensor, ...]:
    """The standard deviation and the mean."""

def stft(
    input: Tensor,
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

def sub(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input - alpha * other"""

def sub_(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """input - alpha * other"""

def subtract(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
    out: Any = None,
) -> Tensor:
    """input - alpha * other"""

def subtract_(
    input: Tensor | _Number,
    other: Tensor | _Number,
    *,
    alpha: Tensor | _Number = 1,
) -> Tensor:
    """input - alpha * other"""

def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Any = None,
) -> Tensor:
    """The sum of all elements, or over the given dims."""

def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Any = None) -> Any:
    """The singular value decomposition input = U @ diag(S) @ V.mH; without ``some`` U and V are
    square, without ``compute_uv`` they are zero.
    """

def svd_lowrank(
    A: Tensor,
    q: _int | None = 6,
    niter: _int | None = 2,
    M: Tensor | _Number | None = None,
) -> tuple[Tensor, ...]:
    """U, S and V with A - M nearly equal to U @ diag(S) @ V.mH, found by random projections.

    Args:
        A: matrices (..., m, n).
        q: how many singular values are computed; a little more than the rank.
        niter: how many power iterations sharpen the result.
        M: what is subtracted, of a shape that broadcasts to A's.

    Returns:
        U (..., m, q), S (..., q) and V (..., n, q).
    """

def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """Two dims exchanged; NumPy's name for transpose."""

def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dims exchanged."""

def t(input: Tensor) -> Tensor:
    """The transposed matrix."""

def t_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """``t`` with results of their own memory."""

def take(input: Tensor | _Number, index: Tensor, *, out: Any = None) -> Tensor:
    """The elements at places in the flattened tensor, in the shape of the index; negative places
    count from the end.
    """

def take_along_dim(
    input: Tensor,
    indices: Any,
    dim: _int | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """The elements at indices along dim, both broadcast elsewhere; negative ones count from the
    end.
    """

def tan(input: Tensor, *, out: Any = None) -> Tensor:
    """The tangent."""

def tan_(input: Tensor) -> Tensor:
    """The tangent."""

def tanh(input: Tensor, *, out: Any = None) -> Tensor:
    """The hyperbolic tangent."""

def tanh_(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""

def tensor_split(
    input: Tensor,
    tensor_indices_or_sections: Any = None,
    dim: _int = 0,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """So many pieces of nearly equal size along dim, or the pieces between indices."""

def tensordot(
    a: Tensor | _Number,
    b: Tensor | _Number,
    dims: _int | Sequence[_int] = 2,
    *,
    out: Any = None,
) -> Tensor:
    """The sums over pairs of dims of the products of elements. dims: how many last dims of a and
    first dims of b, or two lists.
    """

def threshold(
    input: Tensor,
    threshold: Tensor | _Number,
    value: Tensor | _Number,
    inplace: _bool = False,
) -> Tensor:
    """The input where it is greater than the threshold, else value."""

def tile(input: Tensor, *dims: _int | Sequence[_int]) -> Tensor:
    """Like repeat; missing counts are 1."""

def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Any = None,
) -> Any:
    """The k greatest (or least) elements along dim, in order, and their indices."""

def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""

def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """Two dims exchanged."""

def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Any = None) -> Tensor:
    """``transpose`` with results of their own memory."""

def trapezoid(
    y: Tensor,
    x: Tensor | _Number | None = None,
    *,
    dx: Tensor | _Number | None = None,
    dim: _int = -1,
) -> Tensor:
    """The integral along dim by the trapezoidal rule, at places x or dx apart."""

def trapz(
    y: Tensor,
    x: Tensor | _Number | None = None,
    *,
    dx: Tensor | _Number | None = None,
    dim: _int = -1,
) -> Tensor:
    """The integral along dim by the trapezoidal rule, at places x or dx apart."""

def triangular_solve(
    b: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Any = None,
) -> Any:
    """The solution of A @ X = b (or A.mT @ X = b) for triangular A, and a copy of A."""

def tril(input: Tensor | _Number, diagonal: Tensor | _Number = 0, *, out: Any = None) -> Tensor:
    """The part of matrices on and below a diagonal; zero above."""

def tril_(input: Tensor | _Number, diagonal: Tensor | _Number = 0) -> Tensor:
    """The part of matrices on and below a diagonal; zero above."""

def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """The indices (rows, columns) of a matrix's elements on and below a diagonal."""

def triplet_margin_loss(
    anchor: Tensor | _Number,
    positive: Tensor | _Number,
    negative: Tensor | _Number,
    margin: Tensor | _Number = 1.0,
    p: Any = 2,
    eps: Tensor | _Number = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """margin + distance(anchor, positive) - distance(anchor, negative), but at least 0. swap: the
    distance of positive and negative counts if it is less than that of anchor and negative.
    """

def triu(input: Tensor | _Number, diagonal: Tensor | _Number = 0, *, out: Any = None) -> Tensor:
    """The part of matrices on and above a diagonal; zero below."""

def triu_(input: Tensor | _Number, diagonal: Tensor | _Number = 0) -> Tensor:
    """The part of matrices on and above a diagonal; zero below."""

def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """The indices (rows, columns) of a matrix's elements on and above a diagonal."""

def true_divide(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input / other"""

def true_divide_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """input / other"""

def trunc(input: Tensor, *, out: Any = None) -> Tensor:
    """Round towards zero."""

def trunc_(input: Tensor) -> Tensor:
    """Round towards zero."""

def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """Each position along a dim."""

def unbind_copy(input: Tensor, dim: _int = 0, *, out: Any = None) -> Tensor:
    """``unbind`` with results of their own memory."""

def unflatten(input: Tensor, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
    """One dim as several."""

def unfold_copy(
    input: Tensor,
    dimension: _int,
    size: _int | Sequence[_int],
    step: _float,
    *,
    out: Any = None,
) -> Tensor:
    """``unfold`` with results of their own memory."""

def unique(
    input: Tensor,
    sorted: _bool = True,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """The distinct elements, or slices along dim, in order; on request which of them each element
    is, and how many there are of each.
    """

def unique_consecutive(
    input: Tensor,
    return_inverse: _bool = False,
    return_counts: _bool = False,
    dim: _int | None = None,
) -> Any:
    """The elements, or slices along dim, without those that equal the one before."""

def unravel_index(indices: Any, shape: _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """The index in each dim of places in a flattened tensor of the given shape."""

def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """``chunk`` with results of their own memory."""

def unsafe_split(tensor: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """``split`` with results of their own memory."""

def unsafe_split_with_sizes(
    input: Tensor,
    split_sizes: Sequence[Any],
    dim: _int = 0,
) -> tuple[Tensor, ...]:
    """``split`` by sizes with results of their own memory."""

def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """With a dim of size 1 at ``dim``."""

def unsqueeze_copy(input: Tensor, dim: _int, *, out: Any = None) -> Tensor:
    """``unsqueeze`` with results of their own memory."""

def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The Vandermonde matrix of a vector: its powers N - 1 to 0 as columns, or 0 to N - 1.

    N: None is the size of x.
    """

def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: Any = None,
    out: Any = None,
) -> Tensor:
    """The variance, divided by the count minus correction."""

def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: Any = None,
) -> tuple[Tensor, ...]:
    """The variance and the mean."""

def vdot(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """The sum of the products of two vectors' elements, the first conjugated."""

def view_as_complex(input: Tensor) -> Tensor:
    """Complex numbers from the pairs along the last dim, which has size 2 and stride 1."""

def view_as_complex_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """``view_as_complex`` with results of their own memory."""

def view_as_real(input: Tensor) -> Tensor:
    """The real and imaginary parts along a new last dim of size 2."""

def view_as_real_copy(input: Tensor, *, out: Any = None) -> Tensor:
    """``view_as_real`` with results of their own memory."""

def view_copy(input: Tensor, *shape: _int | Sequence[_int], out: Any = None) -> Tensor:
    """``view`` with results of their own memory."""

def vsplit(
    input: Tensor,
    indices_or_sections: Any = None,
    *,
    indices: Any = None,
    sections: Any = None,
) -> tuple[Tensor, ...]:
    """Pieces along dim 0."""

def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Tensor:
    """Tensors below each other: along dim 0, those with one dim as rows."""

def where(
    condition: Tensor | _Number,
    input: Tensor | _Number | None = None,
    other: Tensor | _Number | None = None,
    *,
    out: Any = None,
) -> Tensor:
    """input where the condition holds, else other. With the condition alone: the indices where it
    holds.
    """

def xlogy(input: Tensor | _Number, other: Tensor | _Number, *, out: Any = None) -> Tensor:
    """input * log(other), and 0 where the input is 0 and other is a number."""

def xlogy_(input: Tensor | _Number, other: Tensor | _Number) -> Tensor:
    """input * log(other), and 0 where the input is 0 and other is a number."""

def zero_(self: Tensor) -> Tensor:
    """Set every element to zero."""

def zeros(
    *size: _int | Sequence[_int],
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
    out: Any = None,
) -> Tensor:
    """Zeros."""

def zeros_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    memory_format: _memory_format | None = None,
    layout: _layout | None = None,
    device: _device | str | None = None,
    pin_memory: _bool | None = False,
    requires_grad: _bool | None = False,
) -> Tensor:
    """Zeros in the shape of another tensor."""
