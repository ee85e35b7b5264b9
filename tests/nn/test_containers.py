"""`Sequential`, `ModuleList`, `ModuleDict`, `ParameterList`, `ParameterDict`."""

from __future__ import annotations

from collections import OrderedDict

import pytest


def names(module):
    return [(name, type(part).__name__) for name, part in module.named_children()]


def test_sequential(framework):
    nn = framework.nn
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    model.append(nn.Sigmoid()).insert(1, nn.ELU()).extend([nn.GELU()])
    assert [type(part).__name__ for part in model] == ["ReLU", "ELU", "Tanh", "Sigmoid", "GELU"]
    assert isinstance(model[-1], nn.GELU) and isinstance(model[1:3], nn.Sequential)
    assert names(model[1:3]) == [("1", "ELU"), ("2", "Tanh")] or names(model[1:3]) == [
        ("0", "ELU"), ("1", "Tanh"),
    ]  # fmt: skip
    del model[0]
    del model[1:3]
    assert names(model) == [("0", "ELU"), ("1", "GELU")]
    model[0] = nn.SELU()
    assert isinstance(model.pop(0), nn.SELU) and names(model) == [("0", "GELU")]
    assert len(model * 3) == len(2 * model) + 1 == 3
    model += nn.Sequential(nn.ReLU())
    model *= 2
    assert len(model) == 4 and len(model + model) == 8
    named = nn.Sequential(OrderedDict(first=nn.ReLU(), second=nn.Tanh()))
    assert isinstance(named.second, nn.Tanh) and names(named[:1]) == [("first", "ReLU")]
    assert nn.Sequential()(5) == 5
    assert "0" not in dir(model)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m, nn: m[9], IndexError),
        (lambda m, nn: m["0"], TypeError),
        (lambda m, nn: m.__setitem__(-9, nn.ReLU()), IndexError),
        (lambda m, nn: m.insert(9, nn.ReLU()), IndexError),
        (lambda m, nn: m.insert(0, 3), AssertionError),
        (lambda m, nn: m.append(3), TypeError),
        (lambda m, nn: m * 0, ValueError),
        (lambda m, nn: m * "a", TypeError),
        (lambda m, nn: m + 3, ValueError),
        (lambda m, nn: nn.Sequential({"a": nn.ReLU()}), TypeError),
        (lambda m, nn: m(1, 2), TypeError),
    ],
)
def test_errors_of_sequential(framework, call, error):
    with pytest.raises(error):
        call(framework.nn.Sequential(framework.nn.ReLU()), framework.nn)


def test_module_list(framework):
    nn = framework.nn
    modules = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
    modules.insert(0, nn.Tanh())
    modules.extend([nn.ReLU()])
    modules += [nn.ELU()]
    assert names(modules) == [
        ("0", "Tanh"), ("1", "Linear"), ("2", "ReLU"), ("3", "ReLU"), ("4", "ELU"),
    ]  # fmt: skip
    assert isinstance(modules[1:], nn.ModuleList) and len(modules[1:]) == 4
    assert isinstance(modules.pop(0), nn.Tanh) and len(modules + [nn.ReLU()]) == 5
    assert list(modules.state_dict()) == ["0.weight", "0.bias"]
    with pytest.raises(TypeError):
        modules.extend(3)
    with pytest.raises(NotImplementedError):
        modules(1)


def test_equal_parts_are_shown_once(torch):
    import rushlight

    def make(nn):
        inner = nn.Sequential(nn.ReLU(), nn.Linear(1, 1))
        return nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh(), inner, inner, nn.ModuleList()])

    assert repr(make(rushlight.nn)) == repr(make(torch.nn))


def test_module_dict(framework):
    nn = framework.nn
    modules = nn.ModuleDict({"a": nn.ReLU()})
    modules["b"] = nn.Linear(1, 1)
    modules.update([("c", nn.Tanh())])
    modules.update(nn.ModuleDict({"d": nn.ELU()}))
    assert list(modules) == list(modules.keys()) == ["a", "b", "c", "d"] and "b" in modules
    assert isinstance(modules.pop("a"), nn.ReLU) and len(modules) == 3
    del modules["b"]
    assert [name for name, _ in modules.items()] == ["c", "d"] and len(modules.values()) == 2
    modules.clear()
    assert len(modules) == 0
    for wrong, error in ((3, TypeError), ([3], TypeError), ([(1, 2, 3)], ValueError)):
        with pytest.raises(error):
            modules.update(wrong)
    with pytest.raises(KeyError):
        modules["keys"] = nn.ReLU()


def test_parameter_list(framework):
    nn = framework.nn
    values = nn.ParameterList([framework.ones(2), nn.Parameter(framework.zeros(1)), "text"])
    values.append(framework.ones(3)).extend([framework.ones(1)])
    values += [4]
    assert len(values) == 6 and values[2] == "text" and values[-1] == 4
    assert isinstance(values[0], nn.Parameter) and list(values.state_dict()) == ["0", "1", "3", "4"]
    assert len(values[1:4]) == 3 and [type(v) for v in values][5] is int
    values[0] = framework.zeros(5)
    assert values[0].shape == (5,) and isinstance(values[0], nn.Parameter)
    with pytest.raises(IndexError):
        _ = values[9]
    with pytest.raises(RuntimeError):
        values(1)
    with pytest.raises(TypeError):
        values.extend(framework.ones(2))


def test_parameter_dict(framework):
    nn = framework.nn
    values = nn.ParameterDict({"b": framework.ones(2), "a": 3})
    assert list(values) == ["a", "b"] and isinstance(values["b"], nn.Parameter)
    values.update(OrderedDict(z=framework.ones(1), y=framework.ones(1)))
    assert list(values.keys()) == ["a", "b", "z", "y"] and list(reversed(values))[0] == "y"
    assert values.popitem()[0] == "y" and values.pop("a") == 3
    assert values.get("no") is None and values.setdefault("n", 1) == 1
    merged = values | {"m": framework.ones(1)}
    assert list(merged) == ["b", "z", "n", "m"] and len(values) == 3
    assert list(values.state_dict()) == ["b", "z"]
    assert list(values.fromkeys(["p", "q"])) == ["p", "q"]
    for key in (3, None):
        with pytest.raises(TypeError):
            values[key]
    with pytest.raises(KeyError):
        del values["no"]
    values.clear()
    assert not len(values)


def test_texts_of_parameter_containers(torch):
    import rushlight

    def make(library):
        nn = library.nn
        return (
            nn.ParameterList([library.zeros(2, 3), 1, nn.Parameter(library.zeros(()))]),
            nn.ParameterDict({"x": library.zeros(2, 3), "y": None}),
            nn.ParameterList(),
        )

    for ours, theirs in zip(make(rushlight), make(torch)):
        assert repr(ours) == repr(theirs)
