"""``functional_call`` and ``stack_module_state``: modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..ops.record import op

State = dict[str, Any]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: State | Sequence[State],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The result of a module with other tensors in the place of its parameters and buffers.

    Args:
        module: the module; it is unchanged afterwards.
        parameter_and_buffer_dicts: tensors by name (``"layer.weight"``), or several such dicts.
        args: the argument, or a tuple of them.
        kwargs: keyword arguments.
        tie_weights: whether a tensor that the module has under several names is replaced under all
            of them.
        strict: whether all parameters and buffers must be given, and no others.

    Raises:
        ValueError: if a name is in two dicts, or tied names get different tensors.
        RuntimeError: for names that do not fit the module, if strict.
    """
    state = _merged(parameter_and_buffer_dicts)
    places = _places(module)
    if tie_weights:
        state = _tied(state, places)
    if strict:
        _check_names(state, places)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, state, places):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: State | Sequence[State]) -> State:
    if isinstance(dicts, dict):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or not all(isinstance(each, dict) for each in dicts):
        raise ValueError(
            "functional_call: parameters and buffers come in a dict, or in several dicts in a "
            f"list or tuple, not {type(dicts)}"
        )
    merged: State = {}
    for each in dicts:
        repeated = merged.keys() & each.keys()
        if repeated:
            raise ValueError(
                f"functional_call: {min(repeated)!r} has values in multiple dictionaries; keep one "
                "of them"
            )
        merged.update(each)
    return merged


def _places(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """For each parameter and buffer by its full name: the dict that holds it, and its key there."""
    places = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for holder in (part._parameters, part._buffers):
            for name, tensor in holder.items():
                if tensor is not None:
                    places[f"{prefix}.{name}" if prefix else name] = (holder, name)
    return places


def _tied(state: State, places: dict[str, tuple[dict[str, Any], str]]) -> State:
    """The state with what is given for a tensor under all the names that it has."""
    names: dict[int, list[str]] = {}
    for full, (holder, name) in places.items():
        names.setdefault(id(holder[name]), []).append(full)
    result = dict(state)
    for tied in names.values():
        given = [name for name in tied if name in state]
        if any(state[name] is not state[given[0]] for name in given[1:]):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if given:
            result.update(dict.fromkeys(tied, state[given[0]]))
    return result


def _check_names(state: State, places: dict[str, Any]) -> None:
    missing, unexpected = sorted(places.keys() - state), sorted(state.keys() - places.keys())
    if missing or unexpected:
        parts = [f"Unexpected key(s): {', '.join(unexpected)}."] if unexpected else []
        parts += [f"Missing key(s): {', '.join(missing)}."] if missing else []
        raise RuntimeError("Error(s) in reparametrizing: " + " ".join(parts))


@contextmanager
def _replaced(
    module: Any, state: State, places: dict[str, tuple[dict[str, Any], str]]
) -> Iterator[None]:
    unknown = sorted(state.keys() - places.keys())
    if unknown:
        raise AttributeError(f"{type(module).__name__} has no attribute `{unknown[0]}`")
    previous = []
    try:
        for full, tensor in state.items():
            holder, name = places[full]
            previous.append((holder, name, holder[name]))
            holder[name] = tensor
        yield
    finally:
        for holder, name, tensor in reversed(previous):
            holder[name] = tensor


def stack_module_state(models: Sequence[Any]) -> tuple[State, State]:
    """The parameters and the buffers of several models of one architecture, stacked for ``vmap``.

    Raises:
        RuntimeError: if there are no models, or they differ in class or training mode.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: some models are in training mode and others in eval mode; call "
            "train() or eval() on all."
        )
    if any(type(model) is not type(models[0]) for model in models):
        names = sorted({type(model).__name__ for model in models})
        raise RuntimeError(f"stack_module_state: models of several classes: {names}")
    parameters = _stacked([dict(model.named_parameters()) for model in models])
    return parameters, _stacked([dict(model.named_buffers()) for model in models])


def _stacked(states: list[State]) -> State:
    result = {}
    for name, tensor in states[0].items():
        stacked = op.stack([state[name].detach() for state in states])
        result[name] = stacked.requires_grad_(tensor.requires_grad)
    return result
