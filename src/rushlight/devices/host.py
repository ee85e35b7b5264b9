"""Host steps: Python functions over whole tensors, run by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy

from .. import _core, dtypes
from ..graph.expressions import evaluate
from ..graph.node import Node, Value
from ..graph.symbols import SymbolicInt, key_of
from ..graph.trace import GraphContext, Traced
from ..ops.record import Record
from . import reference
from .reference import Array


def to_array(tensor: Any) -> Array:
    """A tensor's elements on the reference device; shared where NumPy has the dtype."""
    if tensor.is_meta:
        raise NotImplementedError(
            "the shape of the result depends on data, and meta tensors have none; use a tensor on "
            "the CPU"
        )
    if tensor.dtype.numpy is not None:
        return Array(_core.to_numpy(tensor), tensor.dtype)
    wide = dtypes.float32 if tensor.dtype is dtypes.bfloat16 else dtypes.complex64
    return Array(_core.to_numpy(tensor.to(wide)), tensor.dtype)


def to_tensor(array: Array) -> Any:
    """A new tensor with the elements of an array."""
    data = numpy.array(array.data, order="C", ndmin=array.data.ndim)
    tensor = _core.from_numpy(data)
    return tensor if array.dtype.numpy is not None else tensor.to(array.dtype)


def function(node: Node) -> Callable[..., None]:
    """The function of a plan's host step: called with the node's outputs, which it fills, and its
    inputs.
    """
    values = (*node.outputs, *node.inputs)
    count = len(node.outputs)
    symbolic = has_symbols(node.attributes)

    def run(*tensors: Any) -> None:
        attributes = node.attributes
        if symbolic:
            attributes = concrete(attributes, sizes_of(values, tensors))
        inputs = [to_array(tensor) for tensor in tensors[count:]]
        dtypes_out = [value.dtype for value in node.outputs]
        results = reference.apply_primitive(
            node.name, inputs, attributes, dtypes_out, _core.default_generator()
        )
        for tensor, result in zip(tensors, results):
            tensor.copy_(to_tensor(result))

    return run


def sizes_of(values: Iterable[Value], tensors: Iterable[Any]) -> dict[Any, int]:
    """What the sizes in the values' shapes are in a call: by key of the expression."""
    known: dict[Any, int] = {}
    for value, tensor in zip(values, tensors):
        known.update(zip(map(key_of, value.shape), tensor.shape))
    return known


def has_symbols(attribute: Any) -> bool:
    """Whether a symbolic size is in an attribute."""
    if isinstance(attribute, dict):
        return any(map(has_symbols, attribute.values()))
    if isinstance(attribute, tuple):
        return any(map(has_symbols, attribute))
    return isinstance(attribute, SymbolicInt)


def concrete(attribute: Any, known: dict[Any, int]) -> Any:
    """An attribute with numbers in the place of symbolic sizes."""
    if isinstance(attribute, SymbolicInt):
        if attribute.key in known:
            return known[attribute.key]
        return evaluate(
            attribute, lambda atom: known[SymbolicInt(attribute.environment, {((atom, 1),): 1}).key]
        )
    if isinstance(attribute, dict):
        return {name: concrete(each, known) for name, each in attribute.items()}
    return (
        tuple(concrete(each, known) for each in attribute)
        if isinstance(attribute, tuple)
        else attribute
    )


def call(record: Record) -> Callable[..., Any]:
    """A function that runs a host primitive's operator directly, for results of unknown sizes."""

    def run(*args: Any, **kwargs: Any) -> Any:
        context = GraphContext()
        tensors: list[Any] = []

        def tensor(each: Any) -> Traced:
            tensors.append(each)
            return context.input(each.dtype, tuple(each.shape))

        mapped, named = record.map_arguments(
            args, kwargs, tensor, context.number, lambda size: size
        )
        with context.active():
            result = record.trace(*mapped, **named)
        graph = context.finish(list(result) if isinstance(result, tuple) else [result])
        outputs = reference.run(
            graph,
            [to_array(each.detach()) for each in tensors],
            generator=_core.default_generator(),
        )
        # Results own their memory, so that out= may resize them.
        converted = [to_tensor(each).clone() for each in outputs if each is not None]
        return tuple(converted) if isinstance(result, tuple) else converted[0]

    return run
