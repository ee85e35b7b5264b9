"""Loop structure: variants, strides, partial vectors, phases, reductions, splits."""

from __future__ import annotations

import itertools

import numpy
import pytest
from harness import Program, View, evaluate, evaluate_split, pack_scalars, view

from rushlight import dtypes
from rushlight.codegen import compile as codegen
from rushlight.codegen.nest import Nest
from rushlight.codegen.target import AVX2, AVX512, host_target

SIZES = [0, 1, 15, 16, 17, 33, 130]
F32, F64, I64, BOOL = dtypes.float32, dtypes.float64, dtypes.int64, dtypes.bool
TARGETS = (
    [AVX2]
    if host_target() == AVX2
    else [AVX2, AVX512]
    if host_target() == AVX512
    else [host_target()]
)
by_target = pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.cpu)
by_vector = pytest.mark.parametrize("vector", ["P", "R"])


def random(shape, dtype=F32, seed: int = 0) -> numpy.ndarray:
    generator = numpy.random.default_rng(seed)
    if dtype.kind == "f":
        return generator.normal(size=shape).astype(dtype.numpy)
    if dtype.kind == "c":
        return (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(
            dtype.numpy
        )
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    return generator.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype.numpy)


@by_target
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "dtype", [d for d in dtypes.ALL if d.numpy is not None], ids=lambda d: d.name
)
def test_pointwise_sizes_and_strides(dtype, size, target):
    base = random((3, 2 * size + 1, 2), dtype)
    layouts = [
        base[:, :size, 0].copy(),
        base[:, 1 : 2 * size + 1 : 2, 0],
        base[:, :size, 1][:, ::-1],
    ]
    p = Program(2, 0)
    a, b = p.read(dtype, "P"), p.read(dtype, "P")
    p.write(p.emit("add" if dtype is not BOOL else "xor", a, b, dtype=dtype), "P")
    nest = p.nest()
    for x, y in itertools.product(layouts, layouts):
        out = numpy.full((3, size + 2, 2), 77, dtype.numpy)
        for target_view in (out[:, 1 : size + 1, 0], numpy.full((3, size), 77, dtype.numpy)):
            views = [view(x, x.shape), view(y, x.shape), view(target_view, x.shape)]
            assert evaluate(nest, x.shape, views, target=target) == 0
            expected = x ^ y if dtype is BOOL else x + y
            numpy.testing.assert_array_equal(target_view, expected)
        assert (out[..., 1] == numpy.full((), 77, dtype.numpy)).all()
        assert (out[:, [0, -1], 0] == numpy.full((), 77, dtype.numpy)).all()


@by_target
def test_broadcast_scalars_and_constants(target):
    p = Program(2, 0, scalars=2)
    x, row, column = p.read(F32, "P"), p.read(F32, "P"), p.read(F32, "")
    scalar = p.emit("scalar", 0, dtype=F32)
    whole = p.emit("convert", p.emit("scalar", 1, dtype=I64), dtype=F32)
    half = p.emit("constant", 0.5, dtype=F32)
    value = p.emit(
        "add", p.emit("mul", x, row, dtype=F32), p.emit("mul", column, scalar, dtype=F32), dtype=F32
    )
    value = p.emit("add", value, p.emit("mul", half, whole, dtype=F32), dtype=F32)
    p.write(value, "P")
    a, r, c = random((5, 37)), random((5, 1)), random((1, 1))
    out = numpy.zeros((5, 37), "f4")
    views = [view(each, (5, 37)) for each in (a, r, c, out)]
    evaluate(p.nest(), (5, 37), views, scalars=pack_scalars(0.25, 3), target=target)
    numpy.testing.assert_allclose(
        out, a * r + c * numpy.float32(0.25) + numpy.float32(1.5), rtol=1e-6, atol=1e-6
    )


REDUCTIONS = {
    "reduce_sum": numpy.sum,
    "reduce_prod": numpy.prod,
    "reduce_max": numpy.max,
    "reduce_min": numpy.min,
}


def reduction_nest(name: str, dtype, result=None) -> Nest:
    p = Program(1, 1)
    p.write(p.emit(name, p.read(dtype, "PR"), dtype=result or dtype), "P")
    return p.nest()


@by_target
@by_vector
@pytest.mark.parametrize("name", list(REDUCTIONS))
@pytest.mark.parametrize(
    "dtype",
    [
        F32,
        F64,
        dtypes.float16,
        dtypes.complex64,
        dtypes.complex128,
        dtypes.uint8,
        dtypes.int32,
        I64,
    ],
    ids=lambda d: d.name,
)
def test_reductions(name, dtype, vector, target):
    if dtype.is_complex and name in ("reduce_max", "reduce_min"):
        pytest.skip("complex numbers have no order")
    nest = reduction_nest(name, dtype)
    for rows, size in itertools.product([1, 5, 17], SIZES):
        x = random((rows, size), dtype)
        if name == "reduce_prod":
            x = numpy.where(numpy.abs(x) > 2, 1, x).astype(x.dtype)
        for layout in (x, numpy.asfortranarray(x)):
            out = numpy.zeros(rows, dtype.numpy)
            if size == 0 and name in ("reduce_max", "reduce_min"):
                continue
            views = [view(layout, x.shape), View(out, (out.itemsize, 0))]
            assert evaluate(nest, x.shape, views, vector, target=target) == 0
            options = {"dtype": x.dtype} if name in ("reduce_sum", "reduce_prod") else {}
            if dtype.kind in "iu":
                numpy.testing.assert_array_equal(out, REDUCTIONS[name](x, axis=1, **options))
            else:
                wide = x.astype("c16" if dtype.is_complex else "f8")
                expected = REDUCTIONS[name](wide, axis=1)
                digits = {2: 1e-3, 4: 1e-6, 8: 1e-6 if dtype.is_complex else 1e-13, 16: 1e-13}[
                    dtype.itemsize
                ]
                numpy.testing.assert_allclose(out, expected, rtol=digits, atol=digits)


@by_vector
@by_target
def test_extremes_let_nan_win_and_arg_takes_the_first(vector, target):
    for dtype in (F32, F64, dtypes.int32, dtypes.uint8, BOOL):
        for size in (1, 15, 16, 17, 33, 130):
            x = random((4, size), dtype)
            if dtype.kind == "f":
                x[1, size // 2] = numpy.nan
                x[1, -1] = numpy.nan
                x[2] = -numpy.inf
            p = Program(1, 1)
            value = p.read(dtype, "PR")
            index = p.emit("coordinate", p.operand(I64, "coordinate", "R"), dtype=I64)
            p.write(p.emit("reduce_argmax", value, index, dtype=I64), "P")
            p.write(p.emit("reduce_argmin", value, index, dtype=I64), "P")
            p.write(p.emit("reduce_max", value, dtype=dtype), "P")
            outs = [numpy.zeros(4, "i8"), numpy.zeros(4, "i8"), numpy.zeros(4, dtype.numpy)]
            views = [view(x, x.shape), View(None, (0, 1))] + [
                View(o, (o.itemsize, 0)) for o in outs
            ]
            assert evaluate(p.nest(), x.shape, views, vector, target=target) == 0
            numpy.testing.assert_array_equal(outs[0], x.argmax(1))
            numpy.testing.assert_array_equal(outs[1], x.argmin(1))
            numpy.testing.assert_array_equal(outs[2], x.max(1))


@by_vector
def test_any_and_all(vector):
    p = Program(1, 1)
    x = p.read(BOOL, "PR")
    p.write(p.emit("reduce_any", x, dtype=BOOL), "P")
    p.write(p.emit("reduce_all", x, dtype=BOOL), "P")
    for size in SIZES:
        a = numpy.zeros((6, size), bool)
        a[1:3], a[4:] = True, random((2, size), BOOL)
        if size:
            a[2, -1] = False
        outs = [numpy.zeros(6, bool), numpy.zeros(6, bool)]
        evaluate(p.nest(), a.shape, [view(a, a.shape)] + [View(o, (1, 0)) for o in outs], vector)
        numpy.testing.assert_array_equal(outs[0], a.any(1))
        numpy.testing.assert_array_equal(outs[1], a.all(1))


@by_vector
@pytest.mark.parametrize("dtype", [F32, F64], ids=lambda d: d.name)
def test_long_sums_are_right_to_the_last_bits(vector, dtype):
    x = (random((1, 1 << 20), F64) + 3).astype(dtype.numpy)
    layout = x if vector == "R" else numpy.asfortranarray(numpy.repeat(x[:, : 1 << 16], 3, 0))
    out = numpy.zeros(len(layout), dtype.numpy)
    evaluate(
        reduction_nest("reduce_sum", dtype),
        layout.shape,
        [view(layout, layout.shape), View(out, (out.itemsize, 0))],
        vector,
    )
    exact = layout.astype(numpy.longdouble).sum(1)
    assert (numpy.abs(out - exact) <= numpy.spacing(out)).all()


@by_vector
def test_sums_of_infinities(vector):
    rows = [
        [numpy.inf, 1, 2],
        [numpy.inf, -numpy.inf, 0],
        [-numpy.inf, 1, 1],
        [1, numpy.nan, 2],
        [1e308, 1e308, -1e308],
    ]
    for dtype in (F32, F64):
        with numpy.errstate(over="ignore"):
            x = numpy.array(rows, dtype.numpy)
        out = numpy.zeros(5, dtype.numpy)
        evaluate(
            reduction_nest("reduce_sum", dtype),
            x.shape,
            [view(x, x.shape), View(out, (out.itemsize, 0))],
            vector,
        )
        with numpy.errstate(invalid="ignore", over="ignore"):
            expected = x.sum(1)
        numpy.testing.assert_array_equal(out[:4], expected[:4])


def softmax_nest(dtype=F32) -> Nest:
    p = Program(1, 1)
    x = p.read(dtype, "PR")
    largest = p.emit("reduce_max", x, dtype=dtype)
    e = p.emit("exp", p.emit("sub", x, largest, dtype=dtype), dtype=dtype)
    total = p.emit("reduce_sum", e, dtype=dtype)
    p.write(p.emit("div", e, total, dtype=dtype), "PR")
    p.write(p.emit("log", total, dtype=dtype), "P")
    return p.nest()


@by_target
@by_vector
def test_three_phases_with_values_kept(vector, target):
    nest = softmax_nest()
    for rows, size in itertools.product([1, 7, 20], SIZES[1:]):
        x = random((rows, size)) * 5
        for layout in (x, numpy.asfortranarray(x)):
            out, logs = numpy.zeros_like(layout), numpy.zeros(rows, "f4")
            views = [view(layout, x.shape), view(out, x.shape), View(logs, (4, 0))]
            assert evaluate(nest, x.shape, views, vector, target=target) == 0
            e = numpy.exp(x.astype("f8") - x.max(1, keepdims=True))
            numpy.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)
            numpy.testing.assert_allclose(logs, numpy.log(e.sum(1)), rtol=1e-5, atol=1e-6)


def layer_norm_nest() -> Nest:
    p = Program(1, 1, scalars=1)
    x, weight, bias = p.read(F32, "PR"), p.read(F32, "R"), p.read(F32, "R")
    n = p.emit("scalar", 0, dtype=F32)
    mean = p.emit("div", p.emit("reduce_sum", x, dtype=F32), n, dtype=F32)
    centred = p.emit("sub", x, mean, dtype=F32)
    square = p.emit("mul", centred, centred, dtype=F32)
    variance = p.emit("div", p.emit("reduce_sum", square, dtype=F32), n, dtype=F32)
    rstd = p.emit(
        "rsqrt", p.emit("add", variance, p.emit("constant", 1e-5, dtype=F32), dtype=F32), dtype=F32
    )
    scaled = p.emit("mul", p.emit("mul", centred, rstd, dtype=F32), weight, dtype=F32)
    p.write(p.emit("add", scaled, bias, dtype=F32), "PR")
    p.write(mean, "P")
    p.write(rstd, "P")
    return p.nest()


@by_target
@by_vector
def test_layer_norm(vector, target):
    for rows, size in itertools.product([3, 18], [1, 16, 17, 100]):
        x, w, b = random((rows, size)), random((1, size), seed=1), random((1, size), seed=2)
        out, mean, rstd = numpy.zeros_like(x), numpy.zeros(rows, "f4"), numpy.zeros(rows, "f4")
        views = [view(each, x.shape) for each in (x, w, b, out)] + [
            View(mean, (4, 0)),
            View(rstd, (4, 0)),
        ]
        evaluate(
            layer_norm_nest(),
            x.shape,
            views,
            vector,
            scalars=pack_scalars(float(size)),
            target=target,
        )
        wide = x.astype("f8")
        scale = 1 / numpy.sqrt(wide.var(1) + 1e-5)
        expected = (wide - wide.mean(1)[:, None]) * scale[:, None] * w + b
        numpy.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
        numpy.testing.assert_allclose(rstd, scale, rtol=1e-4)


@by_target
@by_vector
def test_several_reduced_loops(vector, target):
    p = Program(2, 2)
    x = p.read(F32, "PR")
    total = p.emit("reduce_sum", p.emit("exp", x, dtype=F32), dtype=F32)
    p.write(total, "P")
    p.write(p.emit("div", p.emit("exp", x, dtype=F32), total, dtype=F32), "PR")
    shape = (2, 19, 5, 21)
    a = random(shape).transpose(1, 0, 3, 2).copy().transpose(1, 0, 3, 2)
    sums, out = numpy.zeros((2, 19), "f4"), numpy.zeros(shape, "f4")
    views = [view(a, shape), View(sums, (76, 4, 0, 0)), view(out, shape)]
    evaluate(p.nest(), shape, views, vector, target=target)
    expected = numpy.exp(a.astype("f8")).sum((2, 3))
    numpy.testing.assert_allclose(sums, expected, rtol=1e-5)
    numpy.testing.assert_allclose(out, numpy.exp(a) / expected[..., None, None], rtol=1e-5)


@by_target
@by_vector
@pytest.mark.parametrize("dtype", [F32, F64, I64, dtypes.complex64], ids=lambda d: d.name)
def test_scans(dtype, vector, target):
    p = Program(1, 1)
    x = p.read(dtype, "PR")
    p.write(p.emit("scan_sum", x, dtype=dtype), "PR")
    p.write(p.emit("scan_prod", x, dtype=dtype), "PR")
    for rows, size in itertools.product([1, 18], SIZES):
        a = random((rows, size), dtype)
        a = numpy.where(numpy.abs(a) > 1, 1, a).astype(a.dtype)
        sums, products = numpy.zeros_like(a), numpy.zeros_like(a)
        evaluate(
            p.nest(),
            a.shape,
            [view(each, a.shape) for each in (a, sums, products)],
            vector,
            target=target,
        )
        numpy.testing.assert_allclose(sums, a.cumsum(1), rtol=1e-4, atol=1e-4)
        numpy.testing.assert_allclose(products, a.cumprod(1), rtol=1e-4, atol=1e-4)


@by_target
@by_vector
def test_a_scan_that_a_later_phase_reads(vector, target):
    p = Program(1, 1)
    running = p.emit("scan_sum", p.read(F32, "PR"), dtype=F32)
    largest = p.emit("reduce_max", running, dtype=F32)
    p.write(p.emit("sub", running, largest, dtype=F32), "PR")
    a = random((18, 45))
    out = numpy.zeros_like(a)
    evaluate(p.nest(), a.shape, [view(a, a.shape), view(out, a.shape)], vector, target=target)
    sums = a.cumsum(1, dtype="f8")
    numpy.testing.assert_allclose(out, sums - sums.max(1, keepdims=True), rtol=1e-4, atol=1e-4)


def gather_nest(wrap: bool) -> Nest:
    p = Program(2, 0, ints=4)
    row = p.read(I64, "P")
    base = p.operand(F32, "base", "")
    column = p.emit("coordinate", p.operand(I64, "coordinate", "P"), dtype=I64)
    p.write(p.emit("load_indirect", base, 0, row, column, dtype=F32, wrap=wrap), "P")
    return p.nest()


@by_target
@pytest.mark.parametrize("size", SIZES)
def test_indirect_loads(size, target):
    table = random((9, size))
    rows = numpy.array([0, 8, -1, 3, -9])
    ints = [9, table.strides[0], size, 4]
    out = numpy.full((5, size), 7, "f4")
    strides = View(rows, (8, 0)), View(table, (0, 0)), View(None, (0, 1)), view(out, out.shape)
    assert evaluate(gather_nest(True), out.shape, strides, ints=ints, target=target) == 0
    numpy.testing.assert_array_equal(out, table[rows])
    status = evaluate(gather_nest(False), out.shape, strides, ints=ints, target=target)
    if size:
        assert status == 1
        expected = numpy.where((rows < 0)[:, None], 0, table[rows])
        numpy.testing.assert_array_equal(out, expected)
    rows[1] = 9
    assert evaluate(gather_nest(True), out.shape, strides, ints=ints, target=target) == (
        1 if size else 0
    )


@by_vector
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_split_reductions(vector, parts):
    p = Program(1, 1, scalars=1)
    x = p.read(F64, "PR")
    index = p.emit("coordinate", p.operand(I64, "coordinate", "R"), dtype=I64)
    total = p.emit("reduce_sum", x, dtype=F64)
    p.write(p.emit("div", total, p.emit("scalar", 0, dtype=F64), dtype=F64), "P")
    p.write(p.emit("reduce_argmax", x, index, dtype=I64), "P")
    positive = p.emit("gt", x, p.emit("constant", 3.0, dtype=F64), dtype=BOOL)
    p.write(p.emit("reduce_any", positive, dtype=BOOL), "P")
    nest = p.nest()
    assert codegen.splittable(nest)
    for rows, size in itertools.product([1, 2, 17], [0, 1, 5, 40, 333]):
        a = random((rows, size), F64)
        outs = [numpy.zeros(rows), numpy.zeros(rows, "i8"), numpy.zeros(rows, bool)]
        views = [view(a, a.shape), View(None, (0, 1))] + [View(o, (o.itemsize, 0)) for o in outs]
        assert evaluate_split(nest, a.shape, views, vector, parts, pack_scalars(float(size))) == 0
        with numpy.errstate(invalid="ignore"):
            numpy.testing.assert_allclose(outs[0], a.sum(1) / size, rtol=1e-12)
        if size:
            numpy.testing.assert_array_equal(outs[1], a.argmax(1))
        numpy.testing.assert_array_equal(outs[2], (a > 3).any(1))


def test_what_can_be_split():
    assert codegen.splittable(reduction_nest("reduce_sum", F32))
    assert not codegen.splittable(softmax_nest())
    assert not codegen.splittable(layer_norm_nest())
    p = Program(1, 0)
    p.write(p.read(F32, "P"), "P")
    assert not codegen.splittable(p.nest())


def test_values_may_overwrite_their_operands():
    p = Program(1, 0)
    p.write(p.emit("exp", p.read(F32, "P"), dtype=F32), "P")
    x = random(100)
    expected = numpy.exp(x.astype("f8"))
    evaluate(p.nest(), (100,), [view(x, (100,)), view(x, (100,))])
    numpy.testing.assert_allclose(x, expected, rtol=1e-6)


def test_unaligned_elements():
    raw = numpy.zeros(4 * 50 + 1, numpy.uint8)[1:]
    x = (
        raw.view(numpy.uint8).view("f4")
        if raw.flags.aligned and raw.ctypes.data % 4 == 0
        else numpy.frombuffer(raw, "f4")
    )
    p = Program(1, 0)
    p.write(p.emit("add", p.read(F32, "P"), p.emit("constant", 1.5, dtype=F32), dtype=F32), "P")
    evaluate(p.nest(), (50,), [view(x, (50,)), view(x, (50,))])
    assert (x == 1.5).all()
