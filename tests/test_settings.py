"""Settings of the process, questions about types, and modules for hardware that is not there."""

from __future__ import annotations

import numpy
import pytest

import rushlight

torch = pytest.importorskip("torch")
DTYPES = [
    "bool",
    "uint8",
    "int32",
    "int64",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "complex64",
]


def test_result_type():
    def operands(module):
        numbers = [True, 2, 1.5, 1j]
        tensors = [module.ones(()).to(getattr(module, d)) for d in DTYPES]
        return [*numbers, *tensors, *(t.reshape(1) for t in tensors)]

    for a, b in zip(operands(rushlight), operands(torch)):
        for c, d in zip(operands(rushlight), operands(torch)):
            assert str(rushlight.result_type(a, c)) == str(torch.result_type(b, d)), (b, d)


def test_questions_about_tensors():
    x = rushlight.ones(2)
    assert rushlight.is_floating_point(x) and not rushlight.is_complex(x)
    assert rushlight.is_signed(x) and not rushlight.is_conj(x) and not rushlight.is_neg(x)
    assert rushlight.is_same_size(x, x) and rushlight.get_device(x) == -1
    for function in (rushlight.is_floating_point, rushlight.is_complex, rushlight.is_signed):
        with pytest.raises(TypeError, match="must be Tensor"):
            function(3)


def test_typename():
    for make in (
        lambda m: m.ones(2), lambda m: 3, lambda m: m.float32, lambda m: m.nn.Linear(1, 1),
        lambda m: m.ones(2, dtype=m.int64), lambda m: [],
    ):  # fmt: skip
        assert rushlight.typename(make(rushlight)) == torch.typename(make(torch))


def test_determinism():
    for module in (rushlight, torch):
        module.use_deterministic_algorithms(True)
        assert module.are_deterministic_algorithms_enabled()
        assert module.get_deterministic_debug_mode() == 2
        module.set_deterministic_debug_mode("warn")
        assert module.get_deterministic_debug_mode() == 1
        assert module.is_deterministic_algorithms_warn_only_enabled()
        module.set_deterministic_debug_mode(0)
        assert not module.are_deterministic_algorithms_enabled()
        with pytest.raises(RuntimeError):
            module.set_deterministic_debug_mode("always")
        with pytest.warns(UserWarning):
            module.set_float32_matmul_precision("low")
        module.set_float32_matmul_precision("high")
        assert module.get_float32_matmul_precision() == "high"
        module.set_float32_matmul_precision("highest")


def test_tensor_types():
    assert rushlight.FloatTensor([1, 2]).tolist() == [1, 2]
    assert rushlight.LongTensor(2, 3).shape == (2, 3)
    assert rushlight.IntTensor(rushlight.Size([2])).dtype is rushlight.int32
    assert rushlight.FloatTensor().shape == (0,)
    x = rushlight.ones(2)
    assert rushlight.FloatTensor(x).data_ptr() == x.data_ptr()
    assert isinstance(x, rushlight.FloatTensor) and not isinstance(x, rushlight.LongTensor)
    assert x.type(rushlight.LongTensor).dtype is rushlight.int64
    for bad in (lambda: rushlight.FloatTensor(3.5), lambda: rushlight.LongTensor(x)):
        with pytest.raises(TypeError):
            bad()
    with pytest.warns(UserWarning, match="deprecated"):
        rushlight.set_default_tensor_type(rushlight.DoubleTensor)
    assert rushlight.ones(1).dtype is rushlight.float64
    rushlight.set_default_dtype(rushlight.float32)


def test_fork_rng():
    rushlight.manual_seed(1)
    with rushlight.random.fork_rng():
        first = rushlight.rand(3)
    assert rushlight.equal(rushlight.rand(3), first)
    with rushlight.random.fork_rng(enabled=False):
        rushlight.rand(3)


NAMES = (
    "is_available is_initialized device_count memory_allocated empty_cache seed_all "
    "get_rng_state_all is_bf16_supported init current_device synchronize current_stream "
    "get_device_name get_device_capability initial_seed mem_get_info ipc_collect"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_there_is_no_gpu(name):
    outcomes = []
    for module in (rushlight, torch):
        try:
            outcomes.append(getattr(module.cuda, name)())
        except Exception as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_other_hardware():
    assert not rushlight.backends.mps.is_available() and not rushlight.backends.cudnn.is_available()
    assert not rushlight.backends.cuda.is_built() and rushlight.backends.cudnn.version() is None
    assert rushlight.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512", "DEFAULT")
    with rushlight.backends.cudnn.flags(benchmark=True):
        assert rushlight.backends.cudnn.benchmark
    assert not rushlight.backends.cudnn.benchmark
    assert not rushlight.accelerator.is_available()
    assert rushlight.accelerator.current_accelerator() is None
    with pytest.raises(RuntimeError, match="accelerator"):
        rushlight.accelerator.synchronize()
    assert rushlight.cpu.device_count() == 1 and rushlight.cpu.is_available()
    with rushlight.cuda.device(-1), rushlight.cuda.stream(None):
        pass
    for make in (rushlight.cuda.Stream, rushlight.cuda.Event, rushlight.cuda.device(0).__enter__):
        with pytest.raises(RuntimeError):
            make()


def test_compiled_functions_run_eagerly():
    def double(x):
        return x * 2

    x = rushlight.ones(2)
    for make in (
        rushlight.compile, rushlight.compile(fullgraph=True), rushlight.jit.script,
        rushlight.jit.ignore, rushlight.jit.ignore(drop=True), rushlight.jit.export,
        rushlight.jit.unused, rushlight.compiler.disable, rushlight.compiler.disable(),
        lambda f: rushlight.jit.trace(f, (x,)), lambda f: rushlight.jit.trace(f, x),
    ):  # fmt: skip
        assert make(double)(x).tolist() == [2, 2]
    assert not rushlight.compiler.is_compiling() and not rushlight.jit.is_scripting()
    net = rushlight.nn.Linear(2, 1)
    assert rushlight.compile(net)(x).shape == (1,)
    with pytest.raises(RuntimeError):
        rushlight.compile(3)
    assert rushlight.jit.annotate(list[int], [1]) == [1]
    assert rushlight.jit.isinstance([1], list[int])


def test_protocols_of_tensors():
    def outcomes(module):
        t = module.tensor
        calls = [
            lambda: format(t(1.5), ".3f"), lambda: format(module.ones(2), ".3f"),
            lambda: f"{module.ones(2)}", lambda: [1, 2, 3][t(1)], lambda: [1, 2, 3][t(1.0)],
            lambda: [1, 2, 3][t([1])], lambda: [1, 2, 3][t([1, 1])], lambda: bool(module.ones(2)),
            lambda: bool(module.ones(0)), lambda: bool(t(0.0)), lambda: len(t(1)),
            lambda: len(module.ones(3, 2)), lambda: int(module.ones(2)), lambda: int(t(2.7)),
            lambda: float(t(3)), lambda: complex(t(1j)), lambda: float(t(1j)),
            lambda: list(iter(t(1.0))), lambda: [x.tolist() for x in module.ones(2, 2)],
            lambda: 1 in t([1, 2]), lambda: 5 in t([1, 2]), lambda: "a" in module.ones(2),
            lambda: t([[1]]).item(), lambda: module.ones(2).item(), lambda: t([1]).tolist(),
            lambda: hash(t(1)) != 0, lambda: module.numel(module.ones(2, 3)),
            lambda: module.is_tensor(3),
            lambda: str(module.promote_types(module.int8, module.uint8)),
            lambda: module.can_cast(module.float32, module.int8),
        ]  # fmt: skip
        found = []
        for call in calls:
            try:
                found.append(call())
            except Exception as error:
                found.append(type(error))
        return found

    assert outcomes(rushlight) == outcomes(torch)


def test_the_default_device():
    def places(module):
        makers = [
            lambda: module.zeros(2), lambda: module.tensor([1.0]), lambda: module.rand(2),
            lambda: module.arange(3), lambda: module.empty(2), lambda: module.full((2,), 1.0),
            lambda: module.empty_strided((2,), (1,)), lambda: module.as_tensor([1]),
            lambda: module.zeros_like(here), lambda: here.new_zeros(2), lambda: here + 1,
            lambda: module.zeros(2, device="cpu"), lambda: module.from_numpy(numpy.ones(2)),
            lambda: module.nn.Linear(2, 3).weight, lambda: module.randperm(3),
            lambda: module.eye(2),
            lambda: module.scalar_tensor(1.0), lambda: module.linspace(0, 1, 3),
        ]  # fmt: skip
        here = module.ones(2)
        outside = [make().device.type for make in makers]
        with module.device("meta"):
            inside = [make().device.type for make in makers]
            with module.device("cpu"):
                assert module.zeros(1).device.type == "cpu"
            assert module.get_default_device() == module.device("meta")
        module.set_default_device("meta")
        set_ = [make().device.type for make in makers]
        module.set_default_device(None)
        assert module.get_default_device() == module.device("cpu")
        return outside, inside, set_, [make().device.type for make in makers]

    assert places(rushlight) == places(torch)
