"""Building plans by hand, for tests of the core."""

from __future__ import annotations

import numpy as np
from python_kernels import array_at, elementwise

from rushlight import _core, dtypes

f32, f64, i64 = dtypes.float32, dtypes.float64, dtypes.int64


def tensor(array):
    return _core.from_numpy(np.asarray(array))


def operator(plan, parameters=(("args", "T*"),)):
    """An operator that always gets the same plan."""
    planner = plan if callable(plan) else lambda *_: plan
    return _core.Operator("tested", parameters, planner, None)


def run(plan, *args, **options):
    return operator(plan, **options)(*args)


class Spec:
    """Builds a specification with slots for literal sizes."""

    def __init__(self, inputs):
        self.fields = {
            "inputs": inputs,
            "constants": [],
            "buffers": [],
            "views": [],
            "steps": [],
            "outputs": [],
        }

    def slot(self, value):
        self.fields["constants"].append(value)
        return len(self.fields["constants"]) - 1

    def slots(self, values):
        return [self.slot(value) for value in values]

    def view(self, buffer, *chain):
        self.fields["views"].append((buffer, chain))
        return len(self.fields["views"]) - 1

    def buffer(self, dtype, sizes, layout="contiguous", output=True):
        self.fields["buffers"].append((dtype, layout, self.slots(sizes)))
        index = self.fields["inputs"] + len(self.fields["buffers"]) - 1
        if output:
            self.fields["outputs"].append(("buffer", index))
        return index

    def kernel(self, kernel, domain, parallel, operands, scalars=(), ints=()):
        core = getattr(kernel, "core", kernel)
        self.fields["steps"].append(
            ("kernel", core, self.slots(domain), parallel, operands, scalars, ints)
        )

    def plan(self, **more):
        return _core.Plan(**self.fields | more)


def pointwise_plan(kernel, shapes, output, layout="contiguous", dtype=f32, **more):
    """Inputs broadcast to ``output`` by expanding views."""
    spec = Spec(len(shapes))
    identity = tuple(range(len(output)))
    views = [spec.view(i, ("expand", spec.slots(output))) for i in range(len(shapes))]
    layout = ("like", views) if layout == "like" else layout
    out = spec.view(spec.buffer(dtype, output, layout))
    spec.kernel(kernel, output, len(output), [(view, identity) for view in (*views, out)], **more)
    return spec.plan()


def add_kernel(dims, count=2):
    return elementwise(lambda *xs: sum(xs), [np.float32] * (count + 1), dims)


def valid_spec():
    spec = Spec(1)
    view = spec.view(0)
    out = spec.view(spec.buffer(f32, (3,)))
    spec.kernel(add_kernel(1, 1), (3,), 1, [(view, (0,)), (out, (0,))])
    return spec.fields


def random_array(rng, shape):
    """A float32 array of a shape that broadcasts to ``shape``, in a random layout."""
    shape = tuple(1 if rng.random() < 0.2 else n for n in shape)
    order = list(range(len(shape)))
    rng.shuffle(order)
    steps = [rng.choice([1, 1, 1, 2]) for _ in shape]
    base = np.asarray(np.random.random_sample([shape[d] * steps[d] for d in order]), np.float32)
    array = base.transpose(np.argsort(order)) if order else base
    array = array[tuple(slice(None, None, step) for step in steps)]
    if rng.random() < 0.2 and len(shape):
        array = np.broadcast_to(array[(slice(None),) * (len(shape) - 1) + (slice(0, 1),)], shape)
    return array


def strided_tensor(array):
    """A tensor with exactly this array's sizes, strides and elements."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    result = _core.empty_strided(array.shape, strides, f32.code, 0)
    array_at(result.data_ptr(), array.shape, np.float32, array.strides)[...] = array
    return result
