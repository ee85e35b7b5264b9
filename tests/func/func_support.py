"""Runs one program on Rushlight and on PyTorch and compares the results."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")

Program = Callable[..., Any]  # of the framework, its func module, and tensors


def arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[numpy.ndarray]:
    generator = numpy.random.default_rng(seed)
    return [generator.standard_normal(shape) for shape in shapes]


def run(framework: ModuleType, program: Program, inputs: list[numpy.ndarray]) -> Any:
    return program(framework, framework.func, *(framework.from_numpy(x.copy()) for x in inputs))


def compare(program: Program, *inputs: numpy.ndarray) -> Any:
    """The program's result, twice: a trace that is kept must give the same as the first call."""
    expected = run(torch, program, list(inputs))
    result = None
    for _ in range(2):
        result = run(rushlight, program, list(inputs))
        assert_same(result, expected)
    return result


def assert_same(actual: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for name in expected:
            assert_same(actual[name], expected[name])
    elif isinstance(expected, tuple | list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, torch.Tensor):
        assert tuple(actual.shape) == tuple(expected.shape)
        assert str(actual.dtype).partition(".")[2] == str(expected.dtype).partition(".")[2]
        assert actual.requires_grad == expected.requires_grad
        numpy.testing.assert_allclose(
            actual.detach().numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-9
        )
    else:
        assert actual == expected


def same_error(program: Program, *inputs: numpy.ndarray) -> None:
    """Both raise, and exceptions of one class."""
    with pytest.raises(Exception) as expected:  # whatever PyTorch raises
        run(torch, program, list(inputs))
    with pytest.raises(expected.type):
        run(rushlight, program, list(inputs))
