"""The base of all optimizers: parameter groups, state, and their serialization."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .. import autograd
from .._core import Tensor


class Optimizer:
    """Updates tensors from their gradients.

    Args:
        params: tensors to optimize, ``(name, tensor)`` pairs, or dicts with key ``"params"`` and
        options of their own. defaults: options for groups that do not state them.

    Raises:
        TypeError: if params is a single tensor or holds something else than tensors.
        ValueError: for an empty list, a non-leaf tensor, or a tensor in two groups.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params should be an iterable of Tensors or dicts, not one Tensor; pass [tensor]"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group with options of its own, for example a layer that is unfrozen later."""
        group = {"params": None, **self.defaults, **param_group}
        params = group["params"]
        members = [params] if isinstance(params, Tensor) else list(params)
        members = [member[1] if isinstance(member, tuple) else member for member in members]
        for member in members:
            if not isinstance(member, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(member).__name__}"
                )
            if not member.is_leaf:
                raise ValueError(
                    "can't optimize a non-leaf Tensor; optimize the tensor it was computed from"
                )
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if known & {id(p) for p in members} or len({id(p) for p in members}) < len(members):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = members
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or with ``set_to_none=False`` set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.detach_().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters.

        Args:
            closure: computes the loss again and returns it.

        Returns:
            What closure returned, or None.
        """
        loss = None
        if closure is not None:
            with autograd.enable_grad():
                loss = closure()
        with autograd.no_grad():
            for group in self.param_groups:
                parameters = [p for p in group["params"] if p.grad is not None]
                if parameters:
                    self.update(group, parameters)
        return loss

    def update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """Update the parameters of a group that have gradients."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Options and state, with parameters as numbers: what `load_state_dict` takes."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers[id(parameter)] = len(numbers)
            packed = {key: value for key, value in group.items() if key != "params"}
            groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers[id(p)]: values for p, values in self.state.items() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave.

        Raises:
            ValueError: if the groups do not match those of this optimizer.
        """
        groups = state_dict["param_groups"]
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        by_number: dict[int, Tensor] = {}
        for group, loaded in zip(self.param_groups, groups):
            by_number.update(zip(loaded["params"], group["params"]))
            group.update({key: value for key, value in loaded.items() if key != "params"})
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            parameter = by_number[number]
            self.state[parameter] = {
                key: value.detach().clone() if isinstance(value, Tensor) else value
                for key, value in values.items()
            }


def check_options(**bounds: tuple[float, bool]) -> None:
    """Raise ValueError for the first option whose test failed: name -> (value, holds)."""
    for name, (value, holds) in bounds.items():
        if not holds:
            raise ValueError(f"Invalid {name.replace('_', ' ')}: {value}")
