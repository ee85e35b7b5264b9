"""`Module`: registration, attributes, iterators, conversion, text."""

from __future__ import annotations

import copy
import warnings

import numpy
import pytest

import rushlight
from rushlight import nn


class Net(nn.Module):
    def __init__(self, module=nn, package=rushlight):
        super().__init__()
        self.inner = module.Linear(3, 4)
        self.twice = self.inner
        self.stack = module.Sequential(module.ReLU(), module.Linear(4, 2, bias=False))
        self.register_buffer("kept", package.ones(2))
        self.register_buffer("lost", package.zeros(1), persistent=False)

    def forward(self, x):
        return self.stack(self.inner(x)) + self.kept


def like_torch(torch):
    """The same network of PyTorch's modules."""
    body = {key: value for key, value in vars(Net).items() if not key.startswith("__")}
    base = type("Net", (torch.nn.Module,), body)

    def construct(self):
        torch.nn.Module.__init__(self)
        self.inner = torch.nn.Linear(3, 4)
        self.twice = self.inner
        self.stack = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 2, bias=False))
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("lost", torch.zeros(1), persistent=False)

    base.__init__ = construct
    return base()


def test_iterators_give_what_pytorch_gives(torch):
    ours, theirs = Net(), like_torch(torch)
    for call in (
        lambda m: [name for name, _ in m.named_parameters()],
        lambda m: [name for name, _ in m.named_parameters(remove_duplicate=False)],
        lambda m: [name for name, _ in m.named_parameters(prefix="p", recurse=False)],
        lambda m: [name for name, _ in m.named_buffers()],
        lambda m: [name for name, _ in m.named_modules()],
        lambda m: [name for name, _ in m.named_modules(remove_duplicate=False, prefix="x")],
        lambda m: [name for name, _ in m.named_children()],
        lambda m: [type(each).__name__ for each in m.modules()],
        lambda m: list(m.state_dict()),
        lambda m: list(m.state_dict(prefix="a.")),
        lambda m: dict(m.state_dict()._metadata),
        repr,
    ):
        assert call(ours) == call(theirs)


def test_same_seed_same_weights_and_results(torch):
    rushlight.manual_seed(4)
    torch.manual_seed(4)
    ours, theirs = Net(), like_torch(torch)
    for (name, a), (_, b) in zip(ours.named_parameters(), theirs.named_parameters()):
        numpy.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy(), err_msg=name)
    x = numpy.linspace(-1, 1, 6, dtype=numpy.float32).reshape(2, 3)
    result, expected = ours(rushlight.from_numpy(x)), theirs(torch.from_numpy(x))
    numpy.testing.assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    result.sum().backward()
    expected.sum().backward()
    for a, b in zip(ours.parameters(), theirs.parameters()):
        numpy.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-5)


BAD = {
    "arguments of the constructor": lambda m: nn.Module(1),
    "buffer before init": lambda m: nn.Module.__new__(nn.Module).register_buffer("a", None),
    "buffer name": lambda m: m.register_buffer(1, None),
    "dot in a name": lambda m: m.register_parameter("a.b", None),
    "empty name": lambda m: m.add_module("", None),
    "name taken": lambda m: m.register_buffer("training", None),
    "no buffer": lambda m: m.register_buffer("a", 3),
    "no parameter": lambda m: m.register_parameter("a", rushlight.ones(1)),
    "computed parameter": lambda m: m.register_parameter("a", nn.Parameter(rushlight.ones(1)) * 2),
    "no module": lambda m: m.add_module("a", 3),
    "tensor in the place of a parameter": lambda m: setattr(m.inner, "weight", rushlight.ones(1)),
    "number in the place of a part": lambda m: setattr(m, "inner", 3),
    "number in the place of a buffer": lambda m: setattr(m, "kept", 3),
    "unknown attribute": lambda m: m.unknown,
    "unknown path": lambda m: m.get_submodule("inner.unknown"),
    "no part": lambda m: m.get_submodule("inner.weight"),
    "no parameter at a path": lambda m: m.get_parameter("kept"),
    "no buffer at a path": lambda m: m.get_buffer("inner.weight"),
    "no path": lambda m: m.set_submodule("", nn.ReLU()),
    "mode": lambda m: m.train(1),
    "dtype": lambda m: m.to(rushlight.int32),
    "device": lambda m: m.cuda(),
    "no forward": lambda m: nn.Module()(1),
    "state": lambda m: m.load_state_dict(3),
}
EXPECTED = {
    TypeError: (
        "arguments of the constructor", "buffer name", "no buffer", "no parameter", "no module",
        "tensor in the place of a parameter", "number in the place of a part",
        "number in the place of a buffer", "dtype", "state",
    ),
    KeyError: ("dot in a name", "empty name", "name taken"),
    AttributeError: (
        "buffer before init", "unknown attribute", "unknown path", "no part",
        "no parameter at a path", "no buffer at a path",
    ),
    ValueError: ("no path", "mode"),
    AssertionError: ("device",),
    NotImplementedError: ("no forward",),
}  # fmt: skip
EXPECTED[TypeError] += ("computed parameter",)  # a product is no Parameter


@pytest.mark.parametrize("name", BAD)
def test_errors(name):
    (kind,) = (kind for kind, names in EXPECTED.items() if name in names)
    with pytest.raises(kind):
        BAD[name](Net())


def test_use_before_init_says_what_to_do():
    class Early(nn.Module):
        def __init__(self):
            self.size = 3

    with pytest.raises(AttributeError, match="super\\(\\).__init__\\(\\)"):
        Early()(1)

    class Parts(nn.Module):
        def __init__(self):
            self.part = nn.ReLU()

    with pytest.raises(AttributeError, match="before Module"):
        Parts()


def test_an_attribute_moves_between_kinds():
    module = nn.Module()
    module.x = 3
    module.x = nn.Parameter(rushlight.ones(1))
    assert "x" in module._parameters and "x" not in module.__dict__
    del module.x
    module.x = nn.ReLU()
    assert "x" in module._modules and "x" not in module._parameters
    del module.x
    module.x = nn.Buffer(rushlight.ones(2), persistent=False)
    assert "x" in module._buffers and "x" not in module._modules and not module.state_dict()
    module.x = None
    assert module.x is None and "x" in module._buffers
    del module.x
    assert not hasattr(module, "x")


def test_a_plain_attribute_hides_a_parameter():
    """Weight normalisation and the like put a tensor where the parameter was."""
    linear = nn.Linear(2, 2)
    del linear._parameters["weight"]
    linear.weight = rushlight.zeros(2, 2)
    assert not linear.weight.requires_grad and "weight" in linear.__dict__


def test_getattr_of_subclasses():
    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapper = Wrapper(nn.Linear(3, 2))
    assert wrapper.out_features == 2 and wrapper.weight is wrapper.inner.weight
    with pytest.raises(AttributeError, match="unknown"):
        _ = wrapper.unknown

    class Later(nn.Linear):
        pass

    later = Later(1, 1)
    Later.__getattr__ = lambda self, name: 7
    assert later.anything == 7 and isinstance(later.weight, nn.Parameter)

    class Failing(nn.Module):
        @property
        def broken(self):
            return {}.no_such_thing

    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = Failing().broken


def test_forward_and_call_may_be_replaced():
    linear = nn.Linear(2, 2)
    linear.forward = lambda x, scale=1: x * scale
    assert linear(3, scale=2) == 6

    class Counted(nn.Identity):
        calls = 0

        def __call__(self, *args, **kwargs):
            Counted.calls += 1
            return super().__call__(*args, **kwargs)

    assert Counted()(5) == 5 and Counted.calls == 1
    many = nn.Identity()
    many.forward = lambda *args, **kwargs: (args, kwargs)
    assert many(*range(20), last=1) == (tuple(range(20)), {"last": 1})


def test_the_path_is_noted_in_errors():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x)

    model = nn.Sequential(nn.Identity(), nn.ModuleDict({"a": nn.Sequential(Layer(), Layer())})["a"])
    with pytest.raises(RuntimeError) as info:
        model(rushlight.ones(2, 5))
    assert info.value.__notes__ == ["in module 1.0.linear (Linear)"]
    with pytest.raises(TypeError) as info:
        nn.Linear(2, 2)()
    assert info.value.__notes__ == ["in module Linear"]


def test_conversion():
    model = Net()
    optimised = list(model.parameters())
    model(rushlight.ones(1, 3)).sum().backward()
    assert model.double() is model
    assert all(a is b for a, b in zip(optimised, model.parameters()))
    assert all(p.dtype == rushlight.float64 == p.grad.dtype for p in model.parameters())
    assert model.kept.dtype == rushlight.float64
    model.register_buffer("count", rushlight.tensor(3))
    model.half()
    assert model.count.dtype == rushlight.int64 and model.kept.dtype == rushlight.float16
    model.to(rushlight.float32)
    model.to(dtype=rushlight.bfloat16, device="cpu")
    model.to(rushlight.zeros(1, dtype=rushlight.float64))
    assert model.inner.weight.dtype == rushlight.float64
    assert model.twice.weight is model.inner.weight
    model.to("meta")
    assert all(p.device.type == "meta" for p in model.parameters())
    assert model.inner.weight.requires_grad
    with pytest.raises(NotImplementedError, match="to_empty"):
        model.to("cpu")
    model.to_empty(device="cpu")
    assert model.inner.weight.shape == (4, 3) and model.inner.weight.device.type == "cpu"


def test_modes_and_gradients():
    model = Net()
    assert not any(part.training for part in model.eval().modules())
    assert all(part.training for part in model.train().modules())
    model.requires_grad_(False)
    assert not any(p.requires_grad for p in model.parameters())
    model.requires_grad_()
    model(rushlight.ones(1, 3)).sum().backward()
    gradient = model.inner.weight.grad
    model.zero_grad(set_to_none=False)
    assert model.inner.weight.grad is gradient and not gradient.any()
    model.zero_grad()
    assert model.inner.weight.grad is None


def test_apply_and_paths():
    model = Net()
    seen = []
    assert model.apply(lambda module: seen.append(type(module).__name__)) is model
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]
    assert model.get_submodule("") is model
    assert model.get_submodule("stack.1") is model.stack[1]
    assert model.get_parameter("inner.weight") is model.inner.weight
    assert model.get_buffer("kept") is model.kept
    model.set_submodule("stack.0", nn.Tanh())
    assert isinstance(model.stack[0], nn.Tanh)
    assert {"inner", "kept", "forward", "named_parameters"} <= set(dir(model))


def test_deepcopy_shares_nothing():
    model = Net()
    model.register_forward_hook(lambda module, args, output: output + 1)
    twin = copy.deepcopy(model)
    assert twin.twice is twin.inner is not model.inner
    x = rushlight.ones(1, 3)
    assert rushlight.equal(twin(x), model(x))
    with rushlight.no_grad():
        twin.inner.weight.zero_()
        twin.kept.zero_()
    assert model.inner.weight.any() and model.kept.all()
    assert isinstance(twin.inner.weight, nn.Parameter) and twin.inner.weight.requires_grad


def test_parameter(torch):
    parameter = nn.Parameter(rushlight.ones(2))
    assert repr(parameter) == str(parameter) == repr(torch.nn.Parameter(torch.ones(2)))
    assert isinstance(parameter, nn.Parameter) and isinstance(parameter, rushlight.Tensor)
    assert not isinstance(parameter * 1, nn.Parameter)
    assert not nn.Parameter(rushlight.ones(2), requires_grad=False).requires_grad
    assert nn.Parameter().shape == (0,)
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(rushlight.tensor([1]))
    with pytest.raises(TypeError, match="Tensor"):
        nn.Parameter(3)

    class Own(rushlight.Tensor):
        pass

    own = nn.Parameter(rushlight.ones(2).as_subclass(Own))
    assert type(own) is Own and isinstance(own, nn.Parameter) and own.requires_grad
    twin = copy.deepcopy(parameter)
    assert type(twin) is nn.Parameter and twin.data_ptr() != parameter.data_ptr()


def test_buffer():
    buffer = nn.Buffer(rushlight.ones(2))
    assert isinstance(buffer, nn.Buffer) and type(buffer) is rushlight.Tensor
    assert not isinstance(rushlight.ones(2), nn.Buffer)


def test_extra_arguments_with_call_super_init():
    class Other:
        def __init__(self, value):
            self.value = value

    class Both(nn.Module, Other):
        call_super_init = True

        def __init__(self):
            super().__init__(5)

    assert Both().value == 5


def test_hash_equality_and_weak_references():
    import gc
    import weakref

    module = nn.Linear(1, 1)
    reference = weakref.ref(module)
    module.cycle = [module]
    assert module in {module} and module != nn.Linear(1, 1)
    del module
    gc.collect()
    assert reference() is None


def test_no_warnings_from_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Net()(rushlight.ones(2, 3)).sum().backward()


def test_the_class_of_a_module_may_change():
    class Mixin:
        extra = 3

    class Mixed(Mixin, nn.Linear):
        pass

    module = nn.Linear(2, 2)
    module.__class__ = Mixed
    assert module.extra == 3 and module(rushlight.ones(1, 2)).shape == (1, 2)
    module.__class__ = nn.Linear
    assert module(rushlight.ones(1, 2)).shape == (1, 2)


def test_calls_of_all_modules_may_be_replaced():
    original, seen = nn.Module.__call__, []

    def patched(self, *args, **kwargs):
        seen.append(type(self).__name__)
        return original(self, *args, **kwargs)

    nn.Module.__call__ = patched
    try:
        nn.Sequential(nn.ReLU())(rushlight.ones(1))
    finally:
        del nn.Module.__call__
    assert seen == ["Sequential", "ReLU"]
    nn.ReLU()(rushlight.ones(1))
    assert len(seen) == 2


def test_dataclasses_may_be_modules():
    import dataclasses

    @dataclasses.dataclass(eq=False)
    class Scaled(nn.Module):
        factor: float = 2.0

        def __post_init__(self):
            super().__init__()
            self.weight = nn.Parameter(rushlight.ones(1))

        def forward(self, x):
            return x * self.factor * self.weight

    assert Scaled(3.0)(rushlight.ones(1)).item() == 3
