"""Batches of samples."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy

from ... import dtypes
from ..._core import Tensor
from ...creation import as_tensor, tensor
from ...ops.join import stack

_TEXT_OR_OBJECTS = re.compile(r"[SaUO]")
_MESSAGE = "batch must contain tensors, arrays, numbers, strings, or containers of them, not {}"


def default_convert(data: Any) -> Any:
    """NumPy arrays and scalars as tensors, also within containers; the rest as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, numpy.ndarray | numpy.generic):
        if isinstance(data, numpy.ndarray) and _TEXT_OR_OBJECTS.search(data.dtype.str):
            return data
        if isinstance(data, numpy.str_ | numpy.bytes_):
            return data
        return as_tensor(data)
    if isinstance(data, Mapping):
        return rebuilt(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(each) for each in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return rebuilt(data, [default_convert(each) for each in data])
    return data


def rebuilt(original: Any, parts: Any) -> Any:
    """A container of the original's type with other parts; a plain one where that is impossible."""
    try:
        if isinstance(original, MutableMapping | MutableSequence):
            clone = copy.copy(original)
            if isinstance(parts, dict):
                clone.update(parts)  # type: ignore[union-attr]
            else:
                for place, part in enumerate(parts):
                    clone[place] = part
            return clone
        return type(original)(parts)
    except TypeError:
        return parts


def collate(batch: Any, *, collate_fn_map: Mapping[Any, Callable[..., Any]] | None = None) -> Any:
    """Combine samples to a batch, by functions that are chosen by the type of the first sample.

    Args:
        batch: a list of samples.
        collate_fn_map: a function ``f(batch, collate_fn_map=...)`` for each type or tuple of types.

    Returns:
        The batch; containers are combined element by element.

    Raises:
        TypeError: for samples of a type that there is no function for.
        RuntimeError: for sequences of unequal lengths.
    """
    first = batch[0]
    functions = collate_fn_map or {}
    exact = functions.get(type(first))
    if exact is not None:
        return exact(batch, collate_fn_map=collate_fn_map)
    for kind, function in functions.items():
        if isinstance(first, kind):
            return function(batch, collate_fn_map=collate_fn_map)

    def each(values: Any) -> Any:
        return collate(values, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return rebuilt(first, {key: each([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(each, zip(*batch)))
    if isinstance(first, Sequence):
        if not all(len(sample) == len(first) for sample in batch):
            raise RuntimeError(
                "collate: the samples are sequences, which have to be of equal size in a batch, "
                "but "
                f"have lengths {sorted({len(sample) for sample in batch})}"
            )
        columns = [each(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else rebuilt(first, columns)
    raise TypeError(_MESSAGE.format(type(first)))


def collate_tensor_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    return stack.operator(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    first = batch[0]
    if _TEXT_OR_OBJECTS.search(first.dtype.str):
        raise TypeError("default_collate: " + _MESSAGE.format(first.dtype))
    return collate([as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    return as_tensor(numpy.asarray(batch))


def collate_float_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Any = None) -> Tensor:
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Any = None) -> Any:
    return batch


default_collate_fn_map: dict[Any, Callable[..., Any]] = {
    Tensor: collate_tensor_fn,
    numpy.ndarray: collate_numpy_array_fn,
    (numpy.bool_, numpy.number, numpy.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """Combine samples to a batch: tensors and arrays are stacked, numbers become tensors,
    containers are combined element by element, strings stay lists.

    Args:
        batch: a list of samples of one kind.

    Returns:
        The batch.

    Raises:
        TypeError: for samples of other kinds.

    Example:
        >>> rushlight.utils.data.default_collate([{"x": 1}, {"x": 2}])
        {'x': tensor([1, 2])}
    """
    try:
        return collate(batch, collate_fn_map=default_collate_fn_map)
    except TypeError as error:
        if str(error).startswith("batch must contain"):
            raise TypeError(f"default_collate: {error}") from None
        raise
