"""How far results may be apart, and which calls PyTorch leaves undefined."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy
import torch
from calls import Call, Dtype, Ref, resolve
from memory import PRECISION, dtype_name, numbers, storage_place
from program import ULPS, Program

MOST = 1e15  # beyond it squares and sums may overflow
# Units of 1 in double precision; PyTorch's expansion for large arguments ends at 1e-9.
SLACK_IN_DOUBLE = {"igamma": 1e7, "igammac": 1e7}


def result_in_pytorch(program: Program, call: Call) -> Any:
    """What a call that writes nothing gives in PyTorch: a tensor, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call.run(program.theirs, torch)
    except Exception:  # the call under test will raise too
        return None
    return result if isinstance(result, torch.Tensor) else None


def _epsilon(program: Program, call: Call) -> float:
    """The coarsest precision that takes part."""
    names = [dtype_name(program.theirs[index]) for index in call.tensors()]
    names += [each.name for each in (*call.args, *call.kwargs.values()) if isinstance(each, Dtype)]
    if all(name not in PRECISION for name in names):
        names.append("float32")
    return max(PRECISION[name][0] for name in names if name in PRECISION)


def _largest(program: Program, call: Call) -> float:
    names = [dtype_name(program.theirs[index]) for index in call.tensors()]
    return min((PRECISION[name][1] for name in names if name in PRECISION), default=3.4e38)


def _absolute(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        if argument.is_floating_point() or argument.is_complex():
            return argument.detach().abs().double().nan_to_num(0, 0, 0)
        return argument.clone() if argument.dtype == torch.bool else argument.abs()
    if isinstance(argument, int | float | complex) and not isinstance(argument, bool):
        return abs(argument)
    if isinstance(argument, list | tuple):
        return type(argument)(map(_absolute, argument))
    return argument


def magnitudes(program: Program, call: Call) -> Any:
    """Rounding of a sum is proportional to the sum of the absolute values, which the call itself
    gives in float64.
    """
    keep = {"reduction", "keepdim", "dim"}
    kwargs = {
        name: value if name in keep else _absolute(resolve(value, program.theirs, torch))
        for name, value in call.kwargs.items()
        if name not in ("out", "dtype")
    }
    plain = [resolve(each, program.theirs, torch) for each in call.args]
    args = [
        each if isinstance(each, int) and position == 1 else _absolute(each)
        for position, each in enumerate(plain)
    ]
    name = call.path.rpartition(".")[2].rstrip("_")
    positive = {"sub": "add", "rsub": "add", "subtract": "add", "lerp": "add"}.get(name, name)
    if name == "lerp":
        args = [2 * args[0], args[1]] if len(args) > 1 else args
    if name == "rsub":
        args = [torch.as_tensor(_absolute(args[1])), args[0]]
    path = call.path if "functional" in call.path else positive
    try:
        result = Call(path, args, kwargs).run([], torch)
    except Exception:  # the call itself will raise
        return 0.0
    if not isinstance(result, torch.Tensor) or not result.is_floating_point():
        return 0.0
    largest = _largest(program, call)
    elements = max((program.theirs[index].numel() for index in call.tensors()), default=1)
    total = result.numpy()
    with numpy.errstate(all="ignore"):
        slack = total * (_epsilon(program, call) * (2 + min(elements, 64)))
        return numpy.where((total > largest / 4) | numpy.isnan(total), numpy.nan, slack)


def ulps_of_mixed(program: Program, call: Call) -> float:
    """Units in the last place of the result where PyTorch rounds to a coarser type on the way, or
    calls of powers.
    """
    return max(_ulps_of_kind(program, call), _ulps_of_out(program, call))


def _ulps_of_out(program: Program, call: Call) -> float:
    """out= of a finer type holds a result of the type that the call has without it."""
    target = call.kwargs.get("out")
    if not isinstance(target, Ref):
        return 0.0
    kwargs = {name: each for name, each in call.kwargs.items() if name != "out"}
    result = result_in_pytorch(program, Call(call.path, call.args, kwargs))
    names = [
        dtype_name(each) for each in (result, program.theirs[target.index]) if each is not None
    ]
    if len(names) < 2 or not PRECISION.keys() >= set(names):
        return 0.0
    return ULPS * max(1.0, PRECISION[names[0]][0] / PRECISION[names[1]][0])


def _ulps_of_kind(program: Program, call: Call) -> float:
    names = {dtype_name(program.theirs[index]) for index in call.tensors()}
    names &= PRECISION.keys()
    power = "pow" in call.path or ("ldexp" in call.path and len(names) < 2)
    if power and (any("complex" in name for name in names) or _has_complex(call)):
        exponent = resolve(call.args[0 if "rpow" in call.path else 1], program.theirs, torch)
        array = numbers(exponent) if isinstance(exponent, torch.Tensor) else exponent
        return 256.0 + 8 * _largest_finite([array])  # a multiple of a rounded angle
    inverse = call.path.strip("._").startswith(("arc", "acos", "asin", "atan"))
    if inverse and any("complex" in name for name in names):
        return (
            min(PRECISION[name][0] for name in names) ** -0.6
        )  # half of the digits, near branch points
    if "sigmoid" in call.path and any("complex" in name for name in names):
        return 16.0 * (1 + _largest_result(program, call))  # near a pole 1 + exp(-z) cancels
    if "log1p" in call.path and any("complex" in name for name in names):
        return 64.0  # log of the absolute value of 1 + z, which may be near 1
    if len(names) < 2 and not ("rtruediv" in call.path and _has_complex(call)):
        return 0.0
    if not any(part in call.path for part in ("rtruediv", "ldexp")):
        return 0.0
    finest = 2.0**-23 if len(names) < 2 else min(PRECISION[name][0] for name in names)
    ulps = ULPS * max(PRECISION[name][0] for name in names) / finest if names else 0.0
    return (
        ulps * (1 + _extent(program, Call("", call.args[1:])) / 4) if "ldexp" in call.path else ulps
    )


def _largest_result(program: Program, call: Call) -> float:
    result = result_in_pytorch(program, Call(call.path.rstrip("_"), call.args))
    return 0.0 if result is None else _largest_finite([numbers(result)])


def _has_complex(call: Call) -> bool:
    return any(isinstance(each, complex) for each in call.args)


def _extent(program: Program, call: Call) -> float:
    """The largest finite absolute value among the tensors."""
    return _largest_finite(numbers(program.theirs[index]) for index in call.tensors())


def _largest_finite(arrays: Iterable[Any]) -> float:
    most = 0.0
    for array in arrays:
        values = numpy.abs(numpy.asarray(array).astype(complex))
        most = max(most, float(values[numpy.isfinite(values)].max(initial=0.0)))
    return most


def slack_of_softmax(program: Program, call: Call) -> Any:
    """x minus its maximum, and the sum of many exponentials."""
    most = _extent(program, call)
    if "cross_entropy" in call.path and most > _largest(program, call) ** 0.5:
        return numpy.nan  # products that overflow in half precision on the way
    elements = max((program.theirs[index].numel() for index in call.tensors()), default=1)
    return (
        numpy.nan
        if most > MOST
        else _epsilon(program, call) * 8 * (most + 4) * max(1, min(elements, 16))
    )


def slack_of_erf(program: Program, call: Call) -> float:
    """PyTorch's vectorised kernels approximate single precision to an absolute 5e-7, its scalar
    ones to an ulp.
    """
    return 0.0 if _epsilon(program, call) < 1e-10 else 5e-7


def slack_of_special(program: Program, call: Call) -> Any:
    """How far PyTorch's series are from its own in double precision, and what those may lack."""
    path = call.path.strip("._").rpartition(".")[2]
    plain = Call(path, [resolve(each, program.theirs, torch) for each in call.args])
    double = Call(path, list(map(_double, plain.args)))
    theirs, exact = result_in_pytorch(program, plain), result_in_pytorch(program, double)
    if theirs is None or exact is None:
        return 0.0
    found, expected = numbers(theirs), numbers(exact)
    units = PRECISION["float64"][0] * SLACK_IN_DOUBLE.get(path, 64.0)
    with numpy.errstate(all="ignore"):
        same = (found == expected) | numpy.isnan(found) & numpy.isnan(expected)
        error = numpy.where(same, 0, numpy.abs(found - expected))
        error = numpy.where(numpy.isinf(error), numpy.nan, error)
        size = numpy.abs(numpy.where(numpy.isfinite(expected), expected, 0))
    return error + units * (1 + size)


def _double(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor) and not argument.is_complex():
        return argument.detach().double()
    return argument


def slack_of_sigmoid(program: Program, call: Call) -> float:
    """exp(-x) overflows in PyTorch where the result is below the smallest normal number."""
    return 0.0 if _epsilon(program, call) < 1e-10 else 2.0**-125


def slack_of_sinc(program: Program, call: Call) -> float:
    """PyTorch rounds pi times the input before it takes the sine."""
    return 4 * _epsilon(program, call)


def slack_of_normalization(program: Program, call: Call) -> Any:
    """The variance of nearly equal numbers."""
    most = _extent(program, call)
    if most > MOST:
        return numpy.nan
    return _epsilon(program, call) * 16 * (1 + most) ** 3 / 1e-5**0.5


# ---------------------------------------------------------------- undefined calls

CONVERTING = {
    "to",
    "copy_",
    "type_as",
    "fill_",
    "full",
    "full_like",
    "[]=",
    "arange",
    "masked_fill",
    "masked_fill_",
    "sum",
}
CONVERTING |= {
    "scatter",
    "scatter_",
    "addcmul",
    "addcmul_",
    "index_fill",
    "index_fill_",
    "long",
    "int",
    "short",
    "char",
    "byte",
    "nansum",
    "prod",
    "cumsum",
    "cumsum_",
}
DIVIDING = ("div", "mod", "remainder")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")


def undefined(program: Program, call: Call) -> bool:
    """Whether the call does what C++ leaves undefined, so that PyTorch's results vary with the
    vector width.
    """
    name = call.path.rpartition(".")[2]
    tensors = [program.theirs[index] for index in call.tensors()]
    if (
        name in CONVERTING
        and _converts_to_integers(call, tensors)
        and _beyond_integers(tensors, call)
    ):
        return True
    if "out" in call.kwargs and _mistaken_out(program, call, name):
        return True
    if name == "linear" and tensors[0].dtype == torch.bool:
        return True  # PyTorch has no kernel, and several ways to say so
    if name == "kron":
        # PyTorch views the product as the result, which some orders of dims forbid; others last.
        result = result_in_pytorch(program, call)
        return result is None or not result.is_contiguous()
    bounds = [each for each in call.args[1:3] if each is not None]
    if name.startswith("clamp") and len({isinstance(each, Ref) for each in bounds}) > 1:
        # PyTorch reads the 0-d bound: it takes real parts, and refuses what a half cannot hold.
        return any(each.is_complex() for each in tensors) or _extent(program, call) > 65504
    if name == "[]=" and isinstance(call.args[2], Ref):
        source, target = (program.theirs[call.args[i].index] for i in (2, 0))
        if storage_place(source)[0] == storage_place(target)[0]:
            return True  # whether the elements read are those written decides on an error
        if source.requires_grad and not (target.is_floating_point() or target.is_complex()):
            return True  # PyTorch gives the integers a gradient, unless it writes by copy_
    if "sub" in name and call.kwargs.get("alpha") == -(2**63) and not all(map(_integral, tensors)):
        return True  # PyTorch adds -alpha times the tensor, which overflows
    if name == "ldexp" and _integral(tensors[-1]) and tensors[0].shape != tensors[-1].shape:
        # PyTorch resizes its own intermediate result, and loses the order of dims.
        result = result_in_pytorch(program, Call(call.path, call.args))
        return result is None or not result.is_contiguous() or not result.numel()
    if any(part in name for part in ("mod", "remainder")) and _quotient_overflows(tensors, call):
        return True  # PyTorch's vectorised kernel gives NaN, its scalar one the remainder
    if name == "prod" and _overflowing_product(program, call, tensors):
        return True  # what overflows on the way, and meets a zero or not, is the order's matter
    if name == "__rtruediv__" and _reciprocal_overflows(tensors):
        return True  # PyTorch multiplies by the reciprocal
    if _reads_what_it_writes(program, call) or _writes_into_arguments(program, call):
        return True
    return any(part in name for part in DIVIDING) and _least_by_minus_one(tensors, call)


def _mistaken_out(program: Program, call: Call, name: str) -> bool:
    """Whether PyTorch's result in out= is not the one it has without."""
    target = program.theirs[call.kwargs["out"].index]
    if name in ("all", "any"):  # the input is converted to out's dtype first: 0.5 becomes 0
        input = program.theirs[call.tensors()[0]]
        return dtype_name(target) == "uint8" and dtype_name(input) not in ("bool", "uint8")
    if name in ("cat", "stack"):  # one element with such strides is not written
        return target.numel() == 1 and target.stride() != (1,) * target.ndim
    return False


def _quotient_overflows(tensors: list[Any], call: Call) -> bool:
    """Whether some quotient of the operands is beyond float32."""
    parts = [numpy.abs(numbers(each)).ravel().astype(numpy.float64) for each in tensors]
    parts += [numpy.array([abs(each)]) for each in call.args if isinstance(each, int | float)]
    sizes = numpy.concatenate(parts)
    sizes = sizes[numpy.isfinite(sizes) & (sizes > 0)]
    return bool(sizes.size) and sizes.max() / sizes.min() > 1e38


def _integral(tensor: Any) -> bool:
    return dtype_name(tensor) in INTEGERS


def _overflowing_product(program: Program, call: Call, tensors: list[Any]) -> bool:
    """Whether a product has a zero and overflows without it, or the other way round."""
    result = result_in_pytorch(program, Call(call.path, call.args, call.kwargs))
    if result is None or dtype_name(result) not in PRECISION:
        return False
    values = numpy.abs(numbers(tensors[0]).astype(complex))
    with numpy.errstate(all="ignore"):
        largest = PRECISION[dtype_name(result)][1]
        overflows = numpy.prod(numpy.maximum(values, 1)) > largest / 4
        vanishes = numpy.prod(numpy.minimum(values, 1)) < 4 / largest
        return bool(overflows and vanishes)


def _reciprocal_overflows(tensors: list[Any]) -> bool:
    values = numpy.abs(numbers(tensors[0]).astype(complex))
    return bool(((values > 0) & (values < 3e-39)).any())


def _reads_what_it_writes(program: Program, call: Call) -> bool:
    """Whether an argument shares memory with the tensor written in place, but is another view: the
    order of the elements decides what is read.
    """
    name = call.path.rpartition(".")[2]
    in_place = name.endswith("_") and not name.endswith("__") or name.startswith("__i")
    if not in_place or not isinstance(call.args[0], Ref):
        return False
    target = call.args[0].index
    place = storage_place(program.theirs[target])[0]
    others = [index for index in call.tensors() if index != target]
    return any(storage_place(program.theirs[index])[0] == place != 0 for index in others)


def _writes_into_arguments(program: Program, call: Call) -> bool:
    """Whether out= shares memory with an argument: PyTorch may resize or clear it first."""
    target = call.kwargs.get("out")
    if target is None:
        return False
    place = storage_place(program.theirs[target.index])[0]
    others = Call(call.path, call.args).tensors()
    return any(
        index == target.index or storage_place(program.theirs[index])[0] == place != 0
        for index in others
    )


def _converts_to_integers(call: Call, tensors: list[Any]) -> bool:
    named = [each for each in (*call.args, *call.kwargs.values()) if isinstance(each, Dtype)]
    return (
        any(each.name in INTEGERS for each in named)
        or any(dtype_name(each) in INTEGERS for each in tensors)
        or (call.path.rpartition(".")[2] in ("long", "int", "short", "char", "byte"))
    )


def _beyond_integers(tensors: list[Any], call: Call) -> bool:
    """Whether a floating-point number has no counterpart among 8-bit integers (NaN, infinities,
    large numbers).
    """
    arrays = [numbers(each) for each in tensors if each.is_floating_point() or each.is_complex()]
    given = [*call.args, *call.kwargs.values()]
    arrays += [numpy.array(each) for each in given if isinstance(each, float | complex)]
    unsigned = any(dtype_name(each) == "uint8" for each in tensors)
    return any(
        not (numpy.isfinite(array).all() and (numpy.abs(array) < 128).all())
        or unsigned
        and (array.real < 0).any()
        for array in arrays
    )


def _least_by_minus_one(tensors: list[Any], call: Call) -> bool:
    """The least integer by -1, which ends the process."""
    integers = [numbers(each) for each in tensors if dtype_name(each) in INTEGERS]
    least = any(
        (array == numpy.iinfo(array.dtype).min).any()
        for array in integers
        if array.dtype.kind == "i"
    )
    return (
        least
        and any(bool((array == -1).any()) for array in integers)
        or (least and -1 in map(_number, call.args))
    )


def _number(argument: Any) -> Any:
    return argument if isinstance(argument, int) and not isinstance(argument, Ref) else None
