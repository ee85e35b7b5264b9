"""`state_dict`, `load_state_dict`, extra state, pickles and lazy modules."""

from __future__ import annotations

import pickle
import warnings

import pytest

import rushlight


def model(framework):
    nn = framework.nn
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def test_the_state_shares_memory_and_has_versions(framework):
    module = model(framework)
    state = module.state_dict()
    assert state["0.weight"].data_ptr() == module[0].weight.data_ptr()
    assert not state["0.weight"].requires_grad
    assert module.state_dict(keep_vars=True)["0.weight"] is module[0].weight
    assert state._metadata["1"] == {"version": 2}
    own = {}
    assert module.state_dict(destination=own, prefix="x.") is own and "x.0.bias" in own


def test_loading_copies(framework):
    source, target = model(framework), model(framework)
    weight = target[0].weight
    assert str(target.load_state_dict(source.state_dict())) == "<All keys matched successfully>"
    assert target[0].weight is weight and framework.equal(weight, source[0].weight)
    assert weight.data_ptr() != source[0].weight.data_ptr()


def test_assigning(framework):
    source, target = model(framework), model(framework)
    target[0].weight.requires_grad_(False)
    state = {key: value.double() if value.ndim else value for key, value in
             source.state_dict().items()}  # fmt: skip
    target.load_state_dict(state, assign=True)
    assert target[0].weight.dtype == framework.float64 and not target[0].weight.requires_grad
    assert target[0].bias.requires_grad and isinstance(target[0].bias, framework.nn.Parameter)
    assert target[1].running_mean.data_ptr() == state["1.running_mean"].data_ptr()


def test_assigning_leaves_the_state_as_it_is():
    state = model(rushlight).state_dict()
    model(rushlight).load_state_dict(state, assign=True)
    later = model(rushlight)
    weight = later[0].weight
    later.load_state_dict(state)
    assert later[0].weight is weight


def test_all_problems_are_told(framework):
    module = model(framework)
    state = {
        "0.weight": framework.ones(3, 3),
        "1.weight": 5,
        "0.nothing": framework.ones(1),
        "2.weight": framework.ones(1),
    }
    with pytest.raises(RuntimeError) as info:
        module.load_state_dict(state)
    lines = str(info.value).split("\n\t")
    assert lines[0] == "Error(s) in loading state_dict for Sequential:"
    assert lines[1].startswith('Missing key(s) in state_dict: "0.bias", "1.bias", "1.running_mean"')
    assert (
        lines[2] == 'Unexpected key(s) in state_dict: "0.nothing", "2.weight". '
        or lines[2] == 'Unexpected key(s) in state_dict: "2.weight", "0.nothing". '
    )
    assert "size mismatch for 0.weight" in lines[3] and "[3, 3]" in lines[3]
    assert '"1.weight"' in lines[4] and "int" in lines[4]
    with pytest.raises(RuntimeError, match="size mismatch"):
        module.load_state_dict(state, strict=False)


def test_not_strict(framework):
    module = model(framework)
    keys = module.load_state_dict({"0.bias": framework.ones(2), "x": 1}, strict=False)
    assert keys.unexpected_keys == ["x"] and "0.weight" in keys.missing_keys
    assert module[0].bias.tolist() == [1, 1]


def test_numbers_from_vectors(framework):
    module = framework.nn.Module()
    module.scale = framework.nn.Parameter(framework.tensor(1.0))
    module.load_state_dict({"scale": framework.tensor([4.0])})
    assert module.scale.item() == 4


def test_extra_state(framework):
    class Extra(framework.nn.Module):
        value = 1

        def get_extra_state(self):
            return {"value": self.value}

        def set_extra_state(self, state):
            self.value = state["value"]

    one, two = framework.nn.Sequential(Extra()), framework.nn.Sequential(Extra())
    one[0].value = 5
    state = one.state_dict()
    assert list(state) == ["0._extra_state"]
    two.load_state_dict(state)
    assert two[0].value == 5
    assert two.load_state_dict({}, strict=False).missing_keys == ["0._extra_state"]
    other = framework.nn.Sequential(framework.nn.ReLU())
    assert other.load_state_dict(state, strict=False).unexpected_keys == ["0._extra_state"]


def test_old_batch_norm_states(framework):
    norm = framework.nn.BatchNorm1d(2)
    state = {k: v for k, v in norm.state_dict().items() if k != "num_batches_tracked"}
    norm.load_state_dict(state)
    norm.eval()(framework.ones(1, 2))


def test_pickles():
    module = model(rushlight)
    module.register_buffer("halves", rushlight.ones(2, dtype=rushlight.bfloat16))
    module.alias = module[0].weight
    twin = pickle.loads(pickle.dumps(module))
    assert twin.alias is twin[0].weight and twin.halves.dtype == rushlight.bfloat16
    x = rushlight.ones(3, 2)
    assert rushlight.equal(twin(x), module(x))
    assert twin[0].weight.requires_grad
    old = rushlight.nn.Linear(1, 1)
    state = dict(old.__dict__)
    del state["_state_dict_pre_hooks"], state["_forward_hooks_with_kwargs"]
    restored = rushlight.nn.Linear.__new__(rushlight.nn.Linear)
    restored.__setstate__(state)
    assert restored(rushlight.ones(1, 1)).shape == (1, 1)


def test_lazy_modules(framework):
    nn = framework.nn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    assert repr(module[0].weight) == "<UninitializedParameter>"
    assert module[0].has_uninitialized_params()
    assert list(module.state_dict()) == list(model(framework).state_dict())
    with pytest.raises(ValueError, match="uninitialized"):
        module[0].weight + 1
    with pytest.raises(RuntimeError, match="shape"):
        _ = module[0].weight.shape
    module.double()
    optimised = module[0].weight
    result = module(framework.ones(2, 5, dtype=framework.float64))
    assert result.shape == (2, 3) and result.dtype == framework.float64
    assert type(module[0]) is nn.Linear and type(module[1]) is nn.BatchNorm1d
    assert module[0].weight is optimised and type(optimised) is nn.Parameter
    assert module[0].in_features == 5 and not module[0]._forward_pre_hooks
    assert type(module[1].running_mean) is framework.Tensor
    result.sum().backward()
    assert optimised.grad.shape == (3, 5)


def test_lazy_modules_take_shapes_from_a_state(framework):
    nn = framework.nn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lazy, other = nn.LazyLinear(3), nn.LazyLinear(3)
    lazy.load_state_dict(nn.Linear(5, 3).state_dict())
    assert lazy.weight.shape == (3, 5)
    assert lazy(framework.ones(1, 5)).shape == (1, 3)
    other.load_state_dict(other.state_dict())
    with pytest.raises(RuntimeError):
        nn.Linear(5, 3).load_state_dict(other.state_dict())
