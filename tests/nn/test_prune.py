"""`nn.utils.prune`."""

from __future__ import annotations

import importlib

import numpy
import pytest

import rushlight


def prune(framework):
    return importlib.import_module(f"{framework.__name__}.nn.utils.prune")


CALLS = {
    "l1": lambda p, m: p.l1_unstructured(m, "weight", 0.3),
    "l1 twice": lambda p, m: p.l1_unstructured(p.l1_unstructured(m, "weight", 0.3), "weight", 2),
    "random": lambda p, m: p.random_unstructured(m, "weight", 3),
    "none": lambda p, m: p.random_unstructured(m, "weight", 0),
    "random rows": lambda p, m: p.random_structured(m, "weight", 1, 0),
    "columns by norm": lambda p, m: p.ln_structured(m, "weight", 0.4, 2, 1),
    "both": lambda p, m: p.ln_structured(p.l1_unstructured(m, "weight", 2), "weight", 1, 1, -1),
    "nothing": lambda p, m: p.identity(m, "weight"),
    "all": lambda p, m: p.l1_unstructured(m, "weight", 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_masks(torch, name):
    records = []
    for library in (rushlight, torch):
        library.manual_seed(3)
        module = library.nn.Linear(4, 3)
        assert CALLS[name](prune(library), module) is module and prune(library).is_pruned(module)
        record = dict(module.state_dict())
        module(library.ones(1, 4)).sum().backward()
        record["weight"] = module.weight.detach()
        record["gradient"] = module.weight_orig.grad
        original = module.weight_orig
        prune(library).remove(module, "weight")
        assert module.weight is original and not prune(library).is_pruned(module)
        record |= {f"removed {n}": p.detach() for n, p in module.named_parameters()}
        records.append(record)
    ours, theirs = records
    assert list(ours) == list(theirs)
    for key, value in ours.items():
        numpy.testing.assert_array_equal(value.numpy(), theirs[key].numpy(), err_msg=key)


def test_global_pruning(torch):
    masks = []
    for library in (rushlight, torch):
        library.manual_seed(1)
        model = library.nn.Sequential(library.nn.Linear(3, 3), library.nn.Linear(3, 2))
        given = [(model[0], "weight"), (model[1], "weight")]
        tools = prune(library)
        tools.global_unstructured(given, tools.L1Unstructured, amount=0.4)
        masks.append([part.weight_mask.numpy() for part in model])
        with pytest.raises(TypeError):
            tools.global_unstructured(given, tools.RandomStructured, amount=1)
    for ours, theirs in zip(*masks):
        numpy.testing.assert_array_equal(ours, theirs)


def test_errors(framework):
    tools, module = prune(framework), framework.nn.Linear(2, 2)
    for call, error in (
        (lambda: tools.remove(module, "weight"), ValueError),
        (lambda: tools.l1_unstructured(module, "weight", 9), ValueError),
        (lambda: tools.l1_unstructured(module, "weight", 1.5), ValueError),
        (lambda: tools.l1_unstructured(module, "weight", "a"), TypeError),
        (lambda: tools.ln_structured(module, "bias", 1, 2, 0), ValueError),
        (lambda: tools.ln_structured(module, "weight", 1, 2, 5), IndexError),
    ):
        with pytest.raises(error):
            call()
    assert sorted(name for name, _ in module.named_parameters()) == ["bias", "weight"]
