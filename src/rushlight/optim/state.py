"""The state of an optimizer with numbers in the place of parameters, as it is saved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from .._core import Tensor


def pack_state(
    param_groups: list[dict[str, Any]], state: Mapping[Any, dict[str, Any]]
) -> dict[str, Any]:
    """A state dict: parameters are numbered in the order of the groups."""
    numbers: dict[int, int] = {}
    packed_groups = []
    for group in param_groups:
        for parameter in group["params"]:
            numbers.setdefault(id(parameter), len(numbers))
        options = {key: value for key, value in group.items() if key != "params"}
        packed_groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
    packed_state = {
        numbers[id(key)] if isinstance(key, Tensor) else key: values
        for key, values in state.items()
    }
    return {"state": packed_state, "param_groups": packed_groups}


def load_state(
    param_groups: list[dict[str, Any]], state_dict: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], defaultdict[Tensor, dict[str, Any]]]:
    """The groups and the state that a state dict describes, for the parameters of these groups."""
    loaded_groups = deepcopy(state_dict["param_groups"])
    if len(loaded_groups) != len(param_groups):
        raise ValueError(
            "load_state_dict: the state has a different number of parameter groups, "
            f"{len(loaded_groups)}, than the optimizer, {len(param_groups)}"
        )
    for i, (loaded, own) in enumerate(zip(loaded_groups, param_groups)):
        if len(loaded["params"]) != len(own["params"]):
            raise ValueError(
                f"load_state_dict: the state of group {i} is for {len(loaded['params'])} "
                f"parameters, which doesn't match the size of the group, {len(own['params'])}"
            )
    parameters: dict[Any, Tensor] = {}
    groups = []
    for group, loaded in zip(param_groups, loaded_groups):
        parameters.update(zip(loaded["params"], group["params"]))
        names = {"param_names": group["param_names"]} if "param_names" in group else {}
        if not names:
            loaded.pop("param_names", None)
        groups.append({**loaded, **names, "params": group["params"]})
    state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
    for key, values in state_dict["state"].items():
        parameter = parameters.get(key)
        state[key if parameter is None else parameter] = (
            values if parameter is None else fitted(values, parameter)
        )
    return groups, state


def fitted(value: Any, parameter: Tensor, key: Any = None) -> Any:
    """A state's value with tensors of the parameter's dtype; counts of updates keep theirs."""
    if isinstance(value, Tensor):
        if key == "step" or not parameter.is_floating_point():
            return value.to(parameter.device)
        return value.to(dtype=parameter.dtype, device=parameter.device)
    if isinstance(value, dict):
        return {name: fitted(each, parameter, name) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(fitted(each, parameter) for each in value)
    return value
