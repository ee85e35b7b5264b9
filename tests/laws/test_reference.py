"""Each record's samples on the reference device give what PyTorch gives."""

from __future__ import annotations

import zlib
from typing import Any

import numpy
import pytest

from rushlight import dtypes, ops
from rushlight.devices import reference
from rushlight.dtypes import dtype as DType
from rushlight.graph.trace import PRIMITIVES
from rushlight.ops.record import COMPOSITES, Record
from rushlight.ops.samples import Draw

torch = pytest.importorskip("torch")
ops.load()

DTYPES = (
    dtypes.float32,
    dtypes.float64,
    dtypes.int64,
    dtypes.uint8,
    dtypes.bool,
    dtypes.complex64,
    dtypes.bfloat16,
    dtypes.float16,
)
TOLERANCE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-5,
    "complex64": 1e-4,
    "bfloat16": 2e-2,
    "float16": 4e-3,
}

# Iterations from a random start, whose signs and last digits are chance.
UNDETERMINED = {"lobpcg"}

# Calls that PyTorch refuses only because it has no kernel for the dtype.
WIDER = {
    *(f"conv{rank}d" for rank in (1, 2, 3)),
    *(f"conv_transpose{rank}d" for rank in (1, 2, 3)),
    "avg_pool3d",
    "clone",
    "logsumexp",
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "layer_norm",
    "rms_norm",
    "matmul",
    "mm",
    "bmm",
    "mv",
    "dot",
    "addmm",
    "addmv",
    "addbmm",
    "baddbmm",
    "einsum",
    "inner",
    "matrix_power",
    "multi_dot",
    "tensordot",
    "vdot",
    "linear",
    "cumsum",
    "linspace",
    "relu",
    "aminmax",
    "tril",
    "triu",
    "argmax",
    "argmin",
    "max",
    "min",
    "maximum",
    "minimum",
    "amax",
    "amin",
    "lerp",
    "addcmul",
    "addcdiv",
    "pow",
    "prod",
    "eye",
    "any",
    "all",
    "floor_divide",
    "fmod",
    "remainder",
    "sign",
    "isclose",
    "index_add",
    "scatter_add",
    "sum_to_size",
    "div",
    "log2",
    "sigmoid",
    "frac",
    "atan2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "where",
    "masked_fill",
    "float_power",
    "var",
    "std",
    "var_mean",
    "std_mean",
}

RECORDS = sorted(
    {
        record.name: record
        for record in (*COMPOSITES.values(), *PRIMITIVES.values())
        if record.samples and record.is_operator and record.name not in UNDETERMINED
    }.items()
)


def torch_function(record: Record) -> Any:
    if not record.names:
        return getattr(torch.Tensor, record.methods[0])
    function: Any = torch
    path = record.names[0]
    if path == "getitem":
        return lambda x, index: x[index]
    for part in path.split("."):
        function = getattr(function, part)
    return function


def to_torch(x: Any) -> Any:
    if isinstance(x, reference.Array):
        return torch.from_numpy(numpy.array(x.data)).to(getattr(torch, x.dtype.name))
    if isinstance(x, DType):
        return getattr(torch, x.name)
    if isinstance(x, list | tuple):
        return type(x)(map(to_torch, x))
    return x


def drawn(x: Any, dtype: DType, random: numpy.random.Generator) -> Any:
    if isinstance(x, Draw):
        return reference.stored(x.array(dtype, random), x.dtype or dtype)
    if isinstance(x, list | tuple):
        return type(x)(drawn(each, dtype, random) for each in x)
    return x


def assert_same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same(a, b)
        return
    assert repr(ours.dtype) == repr(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    wide = (
        torch.complex128
        if theirs.dtype.is_complex
        else torch.float64
        if theirs.dtype.is_floating_point
        else theirs.dtype
    )
    expected = theirs.resolve_conj().to(wide).numpy()
    tolerance = TOLERANCE.get(ours.dtype.name, 0)
    numpy.testing.assert_allclose(
        ours.data.astype(expected.dtype), expected, rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("name, record", RECORDS, ids=[name for name, _ in RECORDS])
@pytest.mark.filterwarnings("ignore")
def test_sample(name: str, record: Record, dtype: DType) -> None:
    random = numpy.random.default_rng(zlib.crc32(name.encode()))
    function = torch_function(record)
    for args, kwargs in record.samples(dtype):
        args = tuple(drawn(each, dtype, random) for each in args)
        kwargs = {key: drawn(each, dtype, random) for key, each in kwargs.items()}
        try:
            theirs = function(
                *map(to_torch, args), **{key: to_torch(each) for key, each in kwargs.items()}
            )
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            if name not in WIDER:
                with pytest.raises(
                    (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError)
                ):
                    reference.call(record, *args, **kwargs)
            continue
        for symbolic in (True, False):
            assert_same(reference.call(record, *args, symbolic=symbolic, **kwargs), theirs)
