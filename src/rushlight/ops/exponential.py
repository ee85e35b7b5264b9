"""Exponentials, logarithms and the functions made of them."""

from __future__ import annotations

import numpy

from .kinds import Elementwise, complexes, floating, int_to_float
from .record import primitive
from .samples import unary

_INF, _NAN = float("inf"), float("nan")


def _sigmoid_arrays(x):
    half = numpy.tanh(x * 0.5) * 0.5 + 0.5
    small = numpy.exp(numpy.minimum(x.real, 0)) / (1 + numpy.exp(numpy.minimum(x.real, 0)))
    return (
        half
        if x.dtype.kind == "c"
        else numpy.where(x < 0, small, 1 / (1 + numpy.exp(-numpy.abs(x))))
    )


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["exp", "special.exp"],
    methods=["exp"],
    derivative=lambda out, x: out,
    reference=numpy.exp,
    samples=unary(-20, 20, special=[_INF, -_INF, _NAN]),
    onnx="Exp",
)
def exp(input):
    """e raised to each element."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["expm1", "special.expm1"],
    methods=["expm1"],
    derivative=lambda out, x: out + 1,
    reference=numpy.expm1,
    samples=unary(-4, 4, special=[_INF, -_INF, _NAN]),
)
def expm1(input):
    """exp(input) - 1, accurate near zero."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log"],
    derivative=lambda out, x: 1 / x,
    reference=numpy.log,
    samples=unary(0.01, 20, special=[_INF, 0.0, _NAN]),
    onnx="Log",
)
def log(input):
    """The natural logarithm."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log1p", "special.log1p"],
    methods=["log1p"],
    derivative=lambda out, x: 1 / (x + 1),
    reference=numpy.log1p,
    samples=unary(-0.9, 4, special=[_INF, -1.0, _NAN]),
)
def log1p(input):
    """log(1 + input), accurate near zero."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["log2"],
    derivative=lambda out, x: 1 / (x * 0.6931471805599453),
    reference=numpy.log2,
    samples=unary(0.01, 20, special=[_INF, 0.0, _NAN]),
)
def log2(input):
    """The logarithm to base 2."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["tanh", "nn.functional.tanh"],
    methods=["tanh"],
    derivative=lambda out, x: 1 - out * out,
    reference=numpy.tanh,
    samples=unary(-4, 4, special=[_INF, -_INF, _NAN]),
    onnx="Tanh",
)
def tanh(input):
    """The hyperbolic tangent."""


@primitive(
    Elementwise(floating | complexes, promote=int_to_float),
    names=["sigmoid", "special.expit", "nn.functional.sigmoid"],
    methods=["sigmoid"],
    derivative=lambda out, x: out * (1 - out),
    reference=_sigmoid_arrays,
    samples=unary(-10, 10, special=[_INF, -_INF, _NAN]),
    onnx="Sigmoid",
)
def sigmoid(input):
    """1 / (1 + exp(-input))"""
