"""``functional_call`` and ``stack_module_state``, on modules of the least kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import rushlight
from rushlight import func


class Module:
    """As much of a module as the functions use."""

    def __init__(self, tensors: dict[str, Any], **children: Any) -> None:
        self._parameters = tensors
        self._buffers: dict[str, Any] = {}
        self.children = children
        self.training = True

    def named_modules(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        yield "", self
        for name, child in self.children.items():
            for inner, module in child.named_modules():
                yield f"{name}.{inner}" if inner else name, module

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        for prefix, module in self.named_modules():
            for name, tensor in module._parameters.items():
                yield f"{prefix}.{name}" if prefix else name, tensor

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def __call__(self, x: Any, scale: float = 1.0) -> Any:
        if self.children:
            return sum(child(x) for child in self.children.values())
        return x * self._parameters["weight"] * scale


def leaf(value: float) -> Module:
    return Module({"weight": rushlight.full((3,), value)})


def test_replaces_and_restores() -> None:
    x, model = rushlight.ones(3), leaf(2.0)
    before = model._parameters["weight"]
    state = {"weight": rushlight.full((3,), 5.0)}
    assert func.functional_call(model, state, x).tolist() == [5.0] * 3
    assert func.functional_call(model, state, (x,), {"scale": 2.0}).tolist() == [10.0] * 3
    assert model._parameters["weight"] is before


def test_gradients_and_ensembles() -> None:
    x, models = rushlight.arange(3.0), [leaf(1.0), leaf(2.0)]
    parameters, buffers = func.stack_module_state(models)
    assert buffers == {}

    def loss(parameters: dict[str, Any]) -> Any:
        return func.functional_call(models[0], parameters, x).sum()

    assert func.vmap(loss)(parameters).tolist() == [3.0, 6.0]
    gradients = func.vmap(func.grad(loss))(parameters)
    assert gradients["weight"].tolist() == [[0.0, 1.0, 2.0]] * 2
    models[0]._parameters["weight"].fill_(7.0)  # what is given counts
    assert func.grad(loss)({"weight": rushlight.ones(3)})["weight"].tolist() == [0.0, 1.0, 2.0]


def test_tied_weights() -> None:
    shared = rushlight.ones(3)
    model = Module({}, a=Module({"weight": shared}), b=Module({"weight": shared}))
    x, new = rushlight.ones(3), rushlight.full((3,), 3.0)
    assert func.functional_call(model, {"a.weight": new}, x).tolist() == [6.0] * 3
    untied = func.functional_call(model, {"a.weight": new}, x, tie_weights=False)
    assert untied.tolist() == [4.0] * 3
    with pytest.raises(ValueError, match="tied"):
        func.functional_call(model, {"a.weight": new, "b.weight": x}, x)


def test_errors() -> None:
    x, model = rushlight.ones(3), leaf(2.0)
    with pytest.raises(AttributeError):
        func.functional_call(model, {"bias": x}, x)
    with pytest.raises(RuntimeError, match="Missing"):
        func.functional_call(model, {}, x, strict=True)
    with pytest.raises(ValueError, match="multiple"):
        func.functional_call(model, [{"weight": x}, {"weight": x}], x)
    with pytest.raises(RuntimeError, match="at least one"):
        func.stack_module_state([])
